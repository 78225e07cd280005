// What the searches share whose stack is the run that led to the present state: judging its states, and reporting it.
#pragma once

#include <unordered_map>

#include "reduce/symmetry/canonical.hpp"
#include "search/judge.hpp"

namespace quorate {

class RunSearch {
protected:
    RunSearch(Tables& tables, std::vector<Property>& properties, Oracle& oracle, const SearchOptions& options)
        : tables_(tables),
          properties_(properties),
          oracle_(oracle),
          options_(options),
          width_(tables.width()),
          judge_(tables, properties, oracle, options.symmetry),
          watch_(options.limits, oracle),
          memory_before_(resident_bytes()) {}
    ~RunSearch() = default;

    bool done() const { return stop_ != Stop::finished || result_.violation; }

    // Calls explore(cells) for every initial state, until the search is over.
    template <typename Explore>
    SearchResult run_from_initials(Explore explore) {
        try {
            for (std::size_t i = 0; i < tables_.initials.size(); ++i) {
                explore(tables_.initial_cells(i));
                if (done()) break;
            }
        } catch (const std::bad_alloc&) {
            stop_ = Stop::memory;
        } catch (const Interrupted&) {
            stop_ = Stop::interrupt;
        } catch (const SymmetryBroken&) {
            stop_ = Stop::regrown;
            result_.violation.reset();
        }
        result_.stop = result_.violation ? Stop::violation : stop_;
        if (tables_.outgrown && stop_ != Stop::regrown) {
            // Outside of the universe nothing that was found counts.
            result_.violation.reset();
            result_.goals.clear();
            result_.stop = stop_ == Stop::finished || stop_ == Stop::reached ? Stop::outgrown : stop_;
        }
        const std::size_t now = resident_bytes();
        result_.store_bytes = now > memory_before_ ? now - memory_before_ : 0;
        return std::move(result_);
    }

    bool on_path(const Id* cells, std::uint64_t hash) const {
        const auto [begin, end] = on_path_.equal_range(hash);
        return std::any_of(begin, end, [&](const auto& entry) {
            return std::equal(cells, cells + width_, path_.begin() + static_cast<std::ptrdiff_t>(entry.second));
        });
    }
    // Notes where the state on top of the stack lies, and forgets the one that was taken off.
    void remember_top(std::uint64_t hash) { on_path_.emplace(hash, path_.size() - width_); }
    void forget_top(std::uint64_t hash) {
        const auto [first, last] = on_path_.equal_range(hash);
        on_path_.erase(std::find_if(first, last, [&](const auto& entry) { return entry.second == path_.size(); }));
    }

    // False if the search is over.
    bool check(const std::vector<Id>& cells) {
        judge_.state(
            cells, [&](std::size_t property) { return resolve(property, cells); },
            [&](Finding finding, std::size_t property) {
                const auto same = [&](const Witness& other) { return other.property == property; };
                if (finding != Finding::reached)
                    result_.violation = reach(finding, property, cells);
                else if (std::none_of(result_.goals.begin(), result_.goals.end(), same))
                    result_.goals.push_back(reach(finding, property, cells));
                return !done();
            });
        return !done();
    }
    void check_stuck(const std::vector<Id>& cells) {
        judge_.stuck(
            cells, [&](std::size_t property) { return resolve(property, cells); },
            [&](Finding finding, std::size_t property) { result_.violation = make(finding, property, cells); });
    }
    // A step from the state on top of the stack in which a handler or a monitor fails.
    void fail(Id column, Id failure, const std::vector<Id>& cells) {
        Witness witness = make(Finding::failure, 0, cells);
        witness.column = column;
        witness.failure = failure;
        ++witness.length;
        result_.violation = std::move(witness);
    }
    // A witness at the state on top of the stack.
    Witness make(Finding finding, std::size_t property, const std::vector<Id>& cells) const {
        Witness witness;
        witness.finding = finding;
        witness.property = property;
        witness.cells = cells;
        for (std::size_t i = 0; i < path_.size(); i += width_) {
            const auto begin = path_.begin() + static_cast<std::ptrdiff_t>(i);
            witness.path.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(width_));
        }
        witness.length = witness.path.size() - 1;
        return witness;
    }
    // A witness at a state about to be put on the stack.
    Witness reach(Finding finding, std::size_t property, const std::vector<Id>& cells) const {
        Witness witness = make(finding, property, cells);
        witness.path.push_back(cells);
        ++witness.length;
        return witness;
    }

    // Keeps the limits; `frontier` is the number of states on the stack.
    void look(std::size_t frontier) {
        const auto stop = watch_.look([&] {
            Progress progress;
            progress.states = result_.states;
            progress.transitions = result_.transitions;
            progress.frontier = frontier;
            progress.depth = result_.depth;
            return progress;
        });
        if (stop && stop_ == Stop::finished) stop_ = *stop;
        if (result_.states >= options_.limits.states && stop_ == Stop::finished) stop_ = Stop::states;
        if (goals_end(properties_, options_, result_.states, result_.goals.size()) && !done()) stop_ = Stop::reached;
        if (tables_.outgrown && stop_ == Stop::finished) {
            if (void_from_ == 0) void_from_ = result_.states;
            if (result_.states >= goes_on_to(void_from_, options_)) stop_ = Stop::outgrown;
        }
        if (options_.meanwhile && stop_ == Stop::finished && result_.states >= next_rest_) {
            next_rest_ += next_rest_ / 4;
            if (options_.meanwhile(result_.states, result_.transitions)) stop_ = Stop::overtaken;
        }
        if (stop_ != Stop::finished) result_.frontier = frontier;
    }

    Tables& tables_;
    std::vector<Property>& properties_;
    Oracle& oracle_;
    const SearchOptions& options_;
    const std::size_t width_;
    Judge judge_;
    std::vector<Id> path_{};  // the cells of every state on the stack
    std::unordered_multimap<std::uint64_t, std::size_t> on_path_{};
    Stop stop_ = Stop::finished;
    SearchResult result_{};

private:
    Verdict resolve(std::size_t property, const std::vector<Id>& cells) {
        const Verdict verdict = done() ? Verdict::unknown : judge_.ask(property, cells);
        if (verdict == Verdict::unknown && !done()) stop_ = Stop::regrown;
        return verdict;
    }

    Watch watch_;
    std::size_t memory_before_;
    std::uint64_t void_from_ = 0;  // how many states there were when the search had left the optimistic universe
    std::uint64_t next_rest_ = 10'000;
};

}  // namespace quorate
