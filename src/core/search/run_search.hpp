// What the searches share whose stack is the run that led to the present state: judging its states, and reporting it.
#pragma once

#include <unordered_map>

#include "reduce/symmetry/canonical.hpp"
#include "search/search.hpp"

namespace quorate {

class RunSearch {
protected:
    RunSearch(Tables& tables, std::vector<Property>& properties, Oracle& oracle, const SearchOptions& options)
        : tables_(tables),
          properties_(properties),
          oracle_(oracle),
          options_(options),
          width_(tables.width()),
          watch_(options.limits, oracle),
          memory_before_(resident_bytes()) {}
    ~RunSearch() = default;

    bool done() const { return stop_ != Stop::finished || result_.violation; }

    // Calls explore(cells) for every initial state, until the search is over.
    template <typename Explore>
    SearchResult run_from_initials(Explore explore) {
        try {
            for (const auto& locals : tables_.initials) {
                explore(tables_.initial_cells(locals));
                if (done()) break;
            }
        } catch (const std::bad_alloc&) {
            stop_ = Stop::memory;
        } catch (const Interrupted&) {
            stop_ = Stop::interrupt;
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

    Verdict verdict(std::size_t property, const std::vector<Id>& cells) {
        const bool final = properties_[property].kind == PropertyKind::final;
        if (options_.symmetry != nullptr && !options_.symmetry->judged_alike(cells, final) &&
            !options_.symmetry->judge_all(properties_, oracle_, cells, final)) {
            stop_ = Stop::regrown;
            return Verdict::unknown;
        }
        const Verdict known = properties_[property].trie.walk(tables_, cells);
        if (known != Verdict::unknown) return known;
        if (!oracle_.judge(property, locals_of(tables_, cells))) {
            stop_ = Stop::regrown;
            return Verdict::unknown;
        }
        return properties_[property].trie.walk(tables_, cells);
    }

    // False if the search is over.
    bool check(const std::vector<Id>& cells) {
        for (std::size_t i = 0; i < properties_.size() && !done(); ++i) {
            if (properties_[i].kind == PropertyKind::final) continue;
            const Verdict answer = verdict(i, cells);
            const bool goal = properties_[i].kind == PropertyKind::goal;
            if (answer == Verdict::raises) result_.violation = reach(Finding::raises, i, cells);
            if (answer == Verdict::no && !goal) result_.violation = reach(Finding::violated, i, cells);
            const auto same = [&](const Witness& other) { return other.property == i; };
            if (answer == Verdict::yes && goal && std::none_of(result_.goals.begin(), result_.goals.end(), same))
                result_.goals.push_back(reach(Finding::reached, i, cells));
        }
        return !done();
    }
    void check_stuck(const std::vector<Id>& cells) {
        for (std::size_t i = 0; i < properties_.size(); ++i) {
            if (properties_[i].kind != PropertyKind::final) continue;
            const Verdict answer = verdict(i, cells);
            if (answer == Verdict::raises) result_.violation = make(Finding::raises, i, cells);
            if (answer != Verdict::no) return;
        }
        result_.violation = make(Finding::deadlock, 0, cells);
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
            if (result_.states >= 2 * void_from_ + options_.void_states) stop_ = Stop::outgrown;
        }
        if (stop_ != Stop::finished) result_.frontier = frontier;
    }

    Tables& tables_;
    std::vector<Property>& properties_;
    Oracle& oracle_;
    const SearchOptions& options_;
    const std::size_t width_;
    std::vector<Id> path_{};  // the cells of every state on the stack
    std::unordered_multimap<std::uint64_t, std::size_t> on_path_{};
    Stop stop_ = Stop::finished;
    SearchResult result_{};

private:
    Watch watch_;
    std::size_t memory_before_;
    std::uint64_t void_from_ = 0;  // how many states there were when the search had left the optimistic universe
};

}  // namespace quorate
