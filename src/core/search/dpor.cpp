// Two ways to go through the traces, which share the runs and the races:
//
//  * classical (Flanagan and Godefroid 2005): each state on the stack has a set of processes to be tried, with all
//    their alternatives; a race adds one that leads to the other order. The sets become persistent, not smallest.
//  * optimal (Abdulla, Aronis, Jonsson and Sagonas 2014): each state on the stack has the steps that need no more be
//    taken first (its sleep set) and a tree of sequences to be run. Every maximal trace is run once, and no run is
//    given up on the way. The trees may grow with the number of traces. Where they hold too many steps, only the first
//    step of a sequence is added: these are source sets (section 5 of the same paper). The argument below speaks of
//    first steps alone, so nothing is missed; but runs may be given up on the way then, when all that is left sleeps.
//
// Why this stays complete although steps may be disabled by alternatives: let w be a maximal run from a state whose
// exploration is over, and suppose that no step taken there is a weak initial of w. Of the steps taken, let a have the
// longest prefix v of w that is independent of it, and let b be the next step of w, so that b depends on a. If b is of
// another process than a it stays enabled after a, a run with a, v, b was made, and reversing that race has led to a
// step whose independent prefix of w is longer: a contradiction. If b is of a's process, a run with a, v was made; in
// the place of a the process could have made the step b, after v and whatever else of that run, x, does not happen
// after a. Asking for v, x, b has led to a step whose prefix is longer, or to one of x, which depends on b and is of
// another process, with the same prefix: the first case.

#include "search/dpor.hpp"

#include "base/thresholds.hpp"
#include "search/run_search.hpp"

namespace quorate {

namespace {

class Dpor : RunSearch {
public:
    Dpor(Tables& tables, std::vector<Property>& properties, Oracle& oracle, const SearchOptions& options)
        : RunSearch(tables, properties, oracle, options),
          expander_(tables),
          dependence_(tables, options.visible),
          processes_(count_processes(tables)),
          run_(processes_),
          optimal_(options.traversal == Traversal::dpor_optimal),
          bounded_(options.most_depth != ~std::uint64_t{0}),
          cut_(tables.columns.size(), false) {}

    SearchResult run() {
        SearchResult found = run_from_initials([&](const std::vector<Id>& cells) {
            if (check(cells)) explore(cells);
        });
        found.cut = cut_;
        if (found.stop == Stop::finished && too_deep_) found.stop = Stop::depth;
        return found;
    }

private:
    struct Frame {
        std::uint64_t hash = 0;
        bool begun = false, ended = false;
        // Optimal: what need not come first, and what is to be run.
        std::vector<Event> sleep{};
        WakeupTree tree{}, subtree{};
        // Classical: the processes to try, those tried, and the next step of the one being tried.
        std::vector<char> chosen{}, tried{};
        Id column = none, number = 0;
    };

    static Id count_processes(const Tables& tables) {
        Id count = 0;
        for (const auto& column : tables.columns) count += !column->monitor;
        return count;
    }

    void explore(const std::vector<Id>& initial) {
        enter(initial, {});
        while (!frames_.empty() && !done()) {
            const std::optional<Event> event = next(frames_.back());
            if (!event)
                leave();
            else
                take(*event);
        }
    }

    // Puts a state on the stack. If the run ends there, its races are reversed.
    void enter(const std::vector<Id>& cells, Frame frame) {
        frame.hash = spread(tables_.sum(cells.data()));
        if (!bounded_ && on_path(cells.data(), frame.hash)) stop_ = Stop::cycle;
        path_.insert(path_.end(), cells.begin(), cells.end());
        remember_top(frame.hash);
        frames_.push_back(std::move(frame));
        ++result_.states;
        result_.depth = std::max<std::uint64_t>(result_.depth, frames_.size() - 1);
        if (done()) return;
        bool enabled = false, moves = false;
        for (Id column = 0; column < processes_; ++column) {
            for (const Step& step : steps(column, cells[column])) {
                enabled = true;
                moves |= step.effect == Effect::moves;
                if (step.effect == Effect::cut) cut_[column] = true;
                if (step.effect == Effect::fails && !done()) fail(column, step.failure, cells);
            }
        }
        if (options_.evidence != nullptr) options_.evidence->note(tables_, cells, false, !enabled);
        if (!enabled) {
            ++result_.deadlocks;
            if (options_.deadlock && !done()) check_stuck(cells);
        }
        const bool deepest = moves && frames_.size() > options_.most_depth;
        if (!moves || deepest) {
            frames_.back().ended = true;
            too_deep_ |= deepest;
            ++result_.executions;
            if (!done()) reverse_races();
        }
        look(frames_.size());
    }

    void leave() {
        path_.resize(path_.size() - width_);
        forget_top(frames_.back().hash);
        frames_.pop_back();
        if (frames_.empty()) return;
        // Every run that could begin with this step has been made.
        if (optimal_) frames_.back().sleep.push_back(run_[run_.size() - 1]);
        run_.pop();
    }

    // Takes a step from the state on top of the stack.
    void take(const Event& event) {
        const std::vector<Id> cells(top(), top() + width_);
        std::vector<Id> reached;
        bool observed = false;
        Id failure = none;
        const StepList& list = steps(event.column, cells[event.column]);
        const auto emit = [&](Id, const Step&, Id, std::uint64_t, bool seen) {
            reached = expander_.cells;
            observed = seen;
        };
        const auto note = [&](Id, Id, Id found) { failure = found; };
        expander_.cells = cells;
        while (expander_.follow(event.column, list, static_cast<Id>(event.step - list.data()), emit, note).missing)
            ask(tables_, oracle_, expander_.queries);
        ++result_.transitions;
        if (failure != none) return fail(event.column, failure, cells);
        if (observed && !check(reached)) return;
        Frame frame;
        if (optimal_) {
            Frame& here = frames_.back();
            for (const Event& asleep : here.sleep)
                if (!dependence_.dependent(asleep, event)) frame.sleep.push_back(asleep);
            frame.tree = std::move(here.subtree);
        }
        run_.push(event, dependence_);
        enter(reached, std::move(frame));
    }

    // The next step to take from a state, if any is left.
    std::optional<Event> next(Frame& frame) {
        if (frame.ended) return std::nullopt;
        const bool begins = !frame.begun;
        frame.begun = true;
        return optimal_ ? next_optimal(frame, begins) : next_classical(frame, begins);
    }

    std::optional<Event> next_optimal(Frame& frame, bool begins) {
        if (begins && frame.tree.branches.empty()) {
            for (Id column = 0; column < processes_ && frame.tree.branches.empty(); ++column)
                for (const Step& step : steps(column, top()[column])) {
                    const Event event = dependence_.event(column, step);
                    if (step.effect != Effect::moves || asleep(frame, {event})) continue;
                    frame.tree.branches.push_back({event, {}});
                    ++sequenced_;
                    break;
                }
            if (frame.tree.branches.empty()) ++result_.blocked;
        }
        if (frame.tree.branches.empty()) return std::nullopt;
        WakeupTree::Branch first = std::move(frame.tree.branches.front());
        frame.tree.branches.erase(frame.tree.branches.begin());
        --sequenced_;
        frame.subtree = std::move(first.rest);
        const Step* step = find(first.event, top()[first.event.column]);
        if (step == nullptr) throw std::logic_error("a sequence that reverses a race cannot be run");
        return dependence_.event(first.event.column, *step);
    }

    std::optional<Event> next_classical(Frame& frame, bool begins) {
        const Id* cells = top();
        if (begins) {
            frame.chosen.assign(processes_, false);
            frame.tried.assign(processes_, false);
            for (Id column = 0; column < processes_; ++column)
                if (moves(column, cells[column])) {
                    frame.chosen[column] = true;
                    break;
                }
        }
        for (;;) {
            if (frame.column != none) {
                const StepList& list = steps(frame.column, cells[frame.column]);
                while (frame.number < list.size())
                    if (const Step& step = list[frame.number++]; step.effect == Effect::moves)
                        return dependence_.event(frame.column, step);
            }
            frame.column = 0;
            frame.number = 0;
            while (frame.column < processes_ && (!frame.chosen[frame.column] || frame.tried[frame.column]))
                ++frame.column;
            if (frame.column == processes_) return std::nullopt;
            frame.tried[frame.column] = true;
        }
    }

    // For every step of the run: what might have come first instead, judging from this run?
    void reverse_races() {
        for (std::size_t i = 0; i < run_.size(); ++i) {
            const std::vector<std::size_t> rest = run_.after_but_not_because_of(i);
            const Event& event = run_[i];
            // The process itself, had it waited.
            for (const Step& step : steps(event.column, cell_after(event.column, i, rest))) {
                if (step.effect == Effect::cut) cut_[event.column] = true;
                const Event other = dependence_.event(event.column, step);
                if (step.effect == Effect::cut || other == event) continue;
                if (optimal_)
                    wake(i, rest, other);
                else
                    try_senders(i, rest, other);
            }
            // The others that this step was in time for, unless it enabled them.
            for (std::size_t j = i + 1; j < run_.size(); ++j) {
                const std::vector<std::size_t>& races = run_.races(j);
                if (std::find(races.begin(), races.end(), i) == races.end()) continue;
                if (find(run_[j], cell_after(run_[j].column, i, rest)) == nullptr) continue;
                if (optimal_)
                    wake(i, rest, run_[j]);
                else
                    try_earlier(i, j);
            }
        }
    }

    // The cell of a process after the run up to step i (not included) and then the steps of `rest`.
    Id cell_after(Id column, std::size_t i, const std::vector<std::size_t>& rest) {
        Id cell = path_[i * width_ + column];
        for (std::size_t k : rest) {
            const Event& event = run_[k];
            if (event.column == column) {
                const Step* step = find(event, cell);
                if (step == nullptr) throw std::logic_error("independent steps do not commute");
                cell = step->next;
            }
            for (Id s = 0; s < event.step->send_count; ++s)
                if (event.step->sends[s].column == column) cell = deliver(column, cell, event.step->sends[s].message);
        }
        return cell;
    }

    void wake(std::size_t i, const std::vector<std::size_t>& rest, const Event& last) {
        std::vector<Event> sequence;
        for (std::size_t k : rest) sequence.push_back(run_[k]);
        sequence.push_back(last);
        if (asleep(frames_[i], sequence)) return;
        WakeupTree& tree = frames_[i].tree;
        if (sequenced_ < thresholds.most_sequenced)
            sequenced_ += tree.insert(std::move(sequence), dependence_);
        else
            sequenced_ += tree.insert_first(sequence, dependence_);
    }
    // Would a run along this sequence only repeat, up to order, what was explored from the state?
    bool asleep(const Frame& frame, const std::vector<Event>& sequence) const {
        return std::any_of(frame.sleep.begin(), frame.sleep.end(),
                           [&](const Event& event) { return dependence_.initial(event, sequence).has_value(); });
    }

    // Step j, or one that happens before it, is to be tried in the state before step i.
    void try_earlier(std::size_t i, std::size_t j) {
        std::vector<char> useful(processes_, false);
        useful[run_[j].column] = true;
        for (std::size_t k = i + 1; k < j; ++k)
            if (run_.before(k, j)) useful[run_[k].column] = true;
        choose(i, useful);
    }
    // The senders of what the alternative lacks, or what happens before those, are to be tried in the state before i.
    void try_senders(std::size_t i, const std::vector<std::size_t>& rest, const Event& alternative) {
        const Id cell = path_[i * width_ + alternative.column];
        if (find(alternative, cell) != nullptr) return;  // tried with the process
        const Column& column = *tables_.columns[alternative.column];
        const std::span<const Id> inbox = column.inboxes[column.cells[cell].inbox];
        std::vector<char> useful(processes_, false);
        for (Id message : column.sets[alternative.step->set]) {
            if (std::find(inbox.begin(), inbox.end(), message) != inbox.end()) continue;
            // The first that sends it: equal messages have one sender, so every order has this one first.
            const auto sender = std::find_if(
                rest.begin(), rest.end(), [&](std::size_t k) { return sends(run_[k], alternative.column, message); });
            if (sender == rest.end()) throw std::logic_error("nobody sends what an alternative step lacks");
            for (std::size_t k : rest)
                if (k == *sender || (k < *sender && run_.before(k, *sender))) useful[run_[k].column] = true;
        }
        choose(i, useful);
    }
    void choose(std::size_t i, const std::vector<char>& useful) {
        Frame& frame = frames_[i];
        const auto enabled = [&](Id column) { return moves(column, path_[i * width_ + column]); };
        Id best = none;
        for (Id column = processes_; column-- > 0;) {
            if (!useful[column] || !enabled(column)) continue;
            if (frame.chosen[column]) return;
            best = column;
        }
        for (Id column = 0; column < processes_; ++column)
            if (best == none ? enabled(column) : column == best) frame.chosen[column] = true;
    }

    bool sends(const Event& event, Id column, Id message) const {
        for (Id i = 0; i < event.step->send_count; ++i) {
            const Send& send = event.step->sends[i];
            if (send.column != column) continue;
            if (send.message == message) return true;
            if (send.message < bundle_bit) continue;
            const std::vector<Id>& bundle = tables_.columns[column]->bundles[send.message - bundle_bit];
            if (std::find(bundle.begin(), bundle.end(), message) != bundle.end()) return true;
        }
        return false;
    }
    const Step* find(const Event& event, Id cell) {
        for (const Step& step : steps(event.column, cell))
            if (Event{event.column, &step} == event) return &step;
        return nullptr;
    }
    bool moves(Id column, Id cell) {
        const StepList& list = steps(column, cell);
        return std::any_of(list.begin(), list.end(), [](const Step& step) { return step.effect == Effect::moves; });
    }

    const StepList& steps(Id column, Id cell) {
        const StepList* list = tables_.steps(column, cell, queries_);
        for (; list == nullptr; list = tables_.steps(column, cell, queries_)) ask(tables_, oracle_, queries_);
        return *list;
    }
    Id deliver(Id column, Id cell, Id message) {
        Id next = tables_.deliver(column, cell, message, queries_);
        for (; next == none; next = tables_.deliver(column, cell, message, queries_)) ask(tables_, oracle_, queries_);
        return next;
    }
    const Id* top() const { return path_.data() + path_.size() - width_; }

    Expander expander_;
    const Dependence dependence_;
    const Id processes_;
    HappensBefore run_;
    const bool optimal_, bounded_;
    bool too_deep_ = false;
    std::vector<bool> cut_;
    std::vector<Frame> frames_{};
    std::size_t sequenced_ = 0;  // steps in all trees
    std::vector<Query> queries_{};
};

}  // namespace

SearchResult dpor(Tables& tables, std::vector<Property>& properties, Oracle& oracle, const SearchOptions& options) {
    return Dpor(tables, properties, oracle, options).run();
}

}  // namespace quorate
