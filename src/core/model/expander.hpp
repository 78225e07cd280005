// What a state leads to: every step of every process, applied to the state.
#pragma once

#include "model/tables.hpp"

namespace quorate {

// Per process, which of its steps are to be taken; a process without an entry takes none.
using Choice = std::vector<const std::vector<char>*>;

// The successors of one state, one after another, in a buffer of cells that is changed and restored.
struct Expander {
    explicit Expander(Tables& tables) : tables(tables), cells(tables.width()), cut(tables.columns.size(), false) {
        for (const auto& column : tables.columns) processes_ += !column->monitor;
        views_.resize(tables.width());
        ready_.resize(processes_ + 1);
        for (Id column = 0; column < tables.width(); ++column) lanes_.push_back({.factor = tables.factor(column)});
    }

    Tables& tables;
    std::vector<Id> cells;  // the state; during a call-back, the successor
    struct Change {
        Id column, before, after;
    };
    // From the state to the successor, in order; a column may occur twice.
    std::span<const Change> changes() const { return {changes_.data(), changed_}; }
    std::vector<bool> cut;  // the columns whose bound (`within`) has cut a step
    std::vector<Query> queries{};

    struct Summary {
        bool missing = false;  // some facts are not known: what was produced so far must not be used
        bool enabled = false;  // a protocol step is enabled, be it one that a bound cuts
    };

    // Calls emit(column, step, step number, hash, observed) for every step that moves, with the successor in `cells`,
    // and fail(column, step number, failure) for every step in which a handler or a monitor fails.
    // With `chosen`, only for the steps it holds.
    template <typename Emit, typename Fail>
    Summary expand(std::uint64_t sum, Emit emit, Fail fail, const Choice* chosen = nullptr) {
        Summary summary;
        if (!gather(chosen)) {
            summary.missing = true;
            return summary;
        }
        for (const Ready *ready = ready_.data(), *last = ready + ready_count_; ready != last; ++ready) {
            const std::vector<char>* wanted = chosen == nullptr ? nullptr : (*chosen)[ready->column];
            for (const Step* step = ready->begin; step != ready->end; ++step)
                if (wanted == nullptr || (*wanted)[static_cast<std::size_t>(step - ready->begin)])
                    take(ready->column, *step, ready->begin, sum, summary, emit, fail);
        }
        return summary;
    }
    // The same for the steps that are wanted, of all processes whose steps are known.
    template <typename Wanted, typename Emit, typename Fail>
    void expand_where(Wanted wanted, Emit emit, Fail fail) {
        Summary summary;
        gather(nullptr);
        for (const Ready *ready = ready_.data(), *last = ready + ready_count_; ready != last; ++ready)
            for (const Step* step = ready->begin; step != ready->end; ++step)
                if (wanted(*step)) take(ready->column, *step, ready->begin, 0, summary, emit, fail);
    }
    // The same for one step alone: the step of that number among those of a process's cell.
    template <typename Emit, typename Fail>
    Summary follow(Id column, const StepList& steps, Id number, Emit emit, Fail fail) {
        Summary summary;
        const Step& step = steps[number];
        make_room_for(step);
        take(column, step, steps.data(), 0, summary, emit, fail);
        return summary;
    }
    // Calls look(column, steps, number) for every step of every process, whether or not there is room for what it
    // sends, and takes none of them. False if some process's steps are not known.
    template <typename Look>
    bool look_at_steps(Look look) {
        bool known = true;
        for (Id column = 0; column < processes_; ++column) {
            const StepList* list = tables.steps(column, cells[column], queries);
            known &= list != nullptr;
            for (Id i = 0; list != nullptr && i < list->size(); ++i) look(column, *list, i);
        }
        return known;
    }
    // Are the steps of every process known? What is missing is asked for.
    bool steps_known() {
        bool known = true;
        for (Id column = 0; column < processes_; ++column)
            known &= tables.steps(column, cells[column], queries) != nullptr;
        return known;
    }
    // Does a cell of the state, or a step of one, lie outside of the optimistic universe? The steps must be known.
    bool leaves() const {
        for (Id column = 0; column < processes_ && tables.optimistic; ++column)
            if (tables.columns[column]->cells[cells[column]].leaves) return true;
        return false;
    }
    // The tables have forgotten their steps.
    void forget_steps() {
        for (auto& views : views_) views.assign(views.size(), {});
    }
    // The sum of the columns' shares; `spread` makes a hash of it.
    std::uint64_t sum() const {
        std::uint64_t sum = 0;
        const Id* cell = cells.data();
        for (const Lane& lane : lanes_) sum += lane.factor * *cell++;
        return sum;
    }

private:
    // What the tables hold of a cell, copied to where this thread finds it at once.
    struct alignas(32) View {
        const Step *begin = nullptr, *end = nullptr;
        const Row* row = nullptr;
    };
    struct Ready {
        const Step *begin, *end;
        Id column;
    };
    struct Lane {
        const View* views = nullptr;
        std::size_t count = 0;
        std::uint64_t factor = 0;
    };
    // Lists the processes that have steps; false if some process's steps are not known.
    bool gather(const Choice* chosen) {
        bool known = true;
        Ready* ready = ready_.data();
        const Id* cell = cells.data();
        const Lane* lane = lanes_.data();
        for (Id column = 0; column < processes_; ++column, ++cell, ++lane) {
            if (chosen != nullptr && (*chosen)[column] == nullptr) continue;
            const Step* begin = *cell < lane->count ? lane->views[*cell].begin : nullptr;
            if (begin == nullptr) [[unlikely]] {
                begin = copy_steps(column, *cell);
                if (begin == nullptr) {
                    known = false;
                    continue;
                }
            }
            const Step* const end = lane->views[*cell].end;
            *ready = {begin, end, column};
            ready += begin != end;
        }
        ready_count_ = static_cast<std::size_t>(ready - ready_.data());
        return known;
    }
    const Step* copy_steps(Id column, Id cell) {
        static const Step nothing{};
        const StepList* list = tables.steps(column, cell, queries);
        if (list == nullptr) return nullptr;
        View& view = room(column, cell);
        view.begin = list->empty() ? &nothing : list->data();
        view.end = view.begin + list->size();
        for (const Step& step : *list) make_room_for(step);
        return view.begin;
    }
    void make_room_for(const Step& step) {
        if (changes_.size() < step.send_count + 2u) changes_.resize(step.send_count + 2u);
    }
    Id deliver(Id column, Id cell, Id message) {
        const Lane& lane = lanes_[column];
        const Row* row = cell < lane.count ? lane.views[cell].row : nullptr;
        const Id known = row != nullptr ? row->find(message) : none;
        return known != none ? known : copy_delivery(column, cell, message);
    }
    Id copy_delivery(Id column, Id cell, Id message) {
        const Id next = tables.deliver(column, cell, message, queries);
        if (next != none) room(column, cell).row = tables.columns[column]->cells[cell].row.load();
        return next;
    }
    View& room(Id column, Id cell) {
        auto& views = views_[column];
        if (cell >= views.size()) {
            views.resize(std::max<std::size_t>(cell + 1, views.size() + views.size() / 2));
            lanes_[column].views = views.data();
            lanes_[column].count = views.size();
        }
        return views[cell];
    }

    template <typename Emit, typename Fail>
    void take(Id column, const Step& step, const Step* first, std::uint64_t sum, Summary& summary, Emit& emit,
              Fail& fail) {
        Change* const changes = changes_.data();
        Id* const now = cells.data();
        std::size_t changed = 0;
        const auto move = [&](Id which, Id before, Id after) {
            sum += lanes_[which].factor * (static_cast<std::uint64_t>(after) - before);
            changes[changed++] = {which, before, after};
            now[which] = after;
        };
        if (step.special) [[unlikely]] {
            if (step.whole != none) {
                const Id room = tables.room(cells, column, first[step.whole], queries);
                summary.missing |= room == none;
                if (room >= full) return;
            }
            if (step.effect != Effect::moves) {
                summary.enabled = true;
                if (step.effect == Effect::cut)
                    cut[column] = true;
                else
                    fail(column, static_cast<Id>(&step - first), step.failure);
                return;
            }
            if (step.budget != Budget::free) {
                const Id purse = static_cast<Id>(tables.columns.size());
                const Id rest = tables.spend(now[purse], step.budget);
                if (rest == none) return;
                move(purse, now[purse], rest);
            }
        }
        bool observed = step.observed, possible = true;
        Id failure = none;
        move(column, now[column], step.next);
        for (const Send *send = step.sends, *end = send + step.send_count; send != end; ++send) {
            const Id old = now[send->column];
            const Id next = deliver(send->column, old, send->message);
            if (next == old) continue;
            if (next >= full) [[unlikely]] {
                possible = false;
                summary.missing |= next == none;
                break;
            }
            if (send->column >= processes_) {
                const Cell& reached = tables.columns[send->column]->cells[next];
                if (reached.failure != none) {
                    failure = reached.failure;
                    break;
                }
                observed |= reached.observation != tables.columns[send->column]->cells[old].observation;
            }
            move(send->column, old, next);
        }
        if (possible) [[likely]] {
            summary.enabled |= step.protocol;
            changed_ = changed;
            if (failure == none) [[likely]]
                emit(column, step, static_cast<Id>(&step - first), spread(sum), observed);
        }
        while (changed > 0) {
            --changed;
            now[changes[changed].column] = changes[changed].before;
        }
        if (possible && failure != none) fail(column, static_cast<Id>(&step - first), failure);
    }
    std::vector<std::vector<View>> views_{};
    std::vector<Lane> lanes_{};
    std::vector<Ready> ready_{};
    std::size_t ready_count_ = 0;
    std::vector<Change> changes_{};
    std::size_t changed_ = 0;
    Id processes_ = 0;
};

}  // namespace quorate
