// Breadth-first with fingerprints: what is kept, how probable it is that a state was missed, and how a run is found.
//
// A state is kept until it was expanded. So after a violation there are no levels to walk back through (path.hpp), and
// the search is made again, to the level before: with as many of its last levels as there is memory for. From the first
// of these on it is made once more, until the run begins at an initial state. Nothing is asked this time, since all
// answers are in the tables.

#include <cmath>

#include "search/breadth_first.hpp"
#include "search/path.hpp"

namespace quorate {

namespace {

// A run that breaks the protocol is worth waiting for. What it breaks is told all the while.
class Patient : public Oracle {
public:
    Patient(Oracle& oracle, Progress found) : oracle_(oracle), found_(std::move(found)) {}
    std::size_t fill(const std::vector<Query>& queries) override { return oracle_.fill(queries); }
    bool judge(std::size_t property, std::span<const Id> locals) override { return oracle_.judge(property, locals); }
    bool poll(const Progress& progress) override {
        Progress told = progress;
        told.violated = found_.violated;
        told.deadlock = found_.deadlock;
        told.failure = found_.failure;
        oracle_.poll(told);
        return false;
    }

private:
    Oracle& oracle_;
    const Progress found_;
};

// The same search, no deeper, for its levels alone.
SearchOptions limited(const SearchOptions& options, std::uint64_t depth) {
    SearchOptions result = options;
    result.most_depth = depth;
    result.goals_end_from = ~std::uint64_t{0};
    result.evidence = nullptr;
    result.meanwhile = {};
    result.limits.states = ~std::uint64_t{0};
    result.limits.seconds = Limits{}.seconds;
    return result;
}

}  // namespace

// Rule 36 (docs/soundness.md). Two states have the same fingerprint if their sums are equal, or if the hashes of
// different sums agree in its bits. The first one that is missed is taken for one of those before it, and is among the
// repetitions: either bounds the number of comparisons that may have gone wrong.
double BreadthFirst::miss() const {
    const auto states = static_cast<double>(store_.size());
    const double repetitions = static_cast<double>(transitions() + tables_.initials.size()) - states;
    const double comparisons = states * std::min((states + 1) / 2, std::max(repetitions, 0.0));
    const double same = std::exp2(-static_cast<double>(thresholds.fingerprint_bits)) + std::exp2(-62);
    return std::min(1.0, comparisons * same);
}

void BreadthFirst::forget_expanded(const std::vector<Range>& again) {
    if (keeps_levels_) return;
    std::vector<std::uint64_t> needed = levels_.back();
    for (const Range& range : again) needed[range.array] = std::min(needed[range.array], range.begin);
    for (unsigned i = 0; i < options_.threads; ++i) store_.forget(i, needed[i]);
}

void BreadthFirst::forget_levels() {
    const auto too_much = [&] {
        return levels_.size() - oldest_ > thresholds.most_levels + 1 ||
               resident_bytes() > options_.limits.memory / 10 * 8;
    };
    while (too_much() && forget_oldest()) {
    }
}

bool BreadthFirst::forget_oldest() {
    if (!keeps_levels_ || oldest_ + 2 >= levels_.size()) return false;
    ++oldest_;
    for (unsigned i = 0; i < options_.threads; ++i) store_.forget(i, levels_[oldest_][i]);
    return true;
}

bool BreadthFirst::find_again(const std::vector<Witness*>& witnesses) {
    store_.forget_all();
    Patient patient(oracle_, progress());
    std::vector<std::uint64_t> levels;  // of the first state of each path so far, which is its last one
    for (Witness* witness : witnesses) {
        witness->path.assign(1, witness->cells);
        levels.push_back(witness->finding == Finding::failure ? witness->length - 1 : witness->length);
    }
    for (;;) {
        const std::uint64_t deepest = *std::max_element(levels.begin(), levels.end());
        if (deepest == 0) break;
        SearchOptions options = limited(options_, deepest - 1);
        options.all = true;  // it goes on after what was found
        // It needs what the search before needed, give or take a page.
        options.limits.memory += std::min(options.limits.memory / 32, ~std::size_t{0} - options.limits.memory);
        BreadthFirst again(tables_, properties_, patient, options);
        again.keeps_levels_ = true;
        {
            Crew crew(options.threads, [&](unsigned number) { again.process(*again.workers_[number]); });
            try {
                again.search(crew);
            } catch (const std::bad_alloc&) {
                return false;
            }
        }
        if (again.stop_ != Stop::finished) return false;
        again.levels_.push_back(again.counts());
        StepBack back(tables_, again.store_, patient, options_.symmetry, nullptr, false);
        for (std::size_t i = 0; i < witnesses.size(); ++i) {
            auto& path = witnesses[i]->path;
            for (; levels[i] > again.oldest_; --levels[i]) {
                const std::uint64_t level = levels[i] - 1;
                back.begin(path.back(), level);
                for (unsigned array = 0; level + 1 < again.levels_.size() && array < options.threads; ++array)
                    back.look(array, again.levels_[level][array], again.levels_[level + 1][array]);
                if (back.best().empty()) return false;
                path.push_back(back.best());
            }
        }
    }
    for (Witness* witness : witnesses) std::reverse(witness->path.begin(), witness->path.end());
    return true;
}

SearchResult BreadthFirst::exactly(std::uint64_t depth) {
    Patient patient(oracle_, progress());
    SearchOptions options = limited(options_, depth);
    options.fingerprints = false;
    return breadth_first(tables_, properties_, patient, options);
}

}  // namespace quorate
