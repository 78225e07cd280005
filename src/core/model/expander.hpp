// What a state leads to: every step of every process, applied to the state.
#pragma once

#include "model/hubs.hpp"
#include "model/property.hpp"

namespace quorate {

// Per process, which of its steps are to be taken; a process without an entry takes none.
using Choice = std::vector<const std::vector<char>*>;

// The successors of one state, one after another, in a buffer of cells that is changed and restored.
struct Expander {
    explicit Expander(Tables& tables, Hubs* hubs = nullptr)
        : tables(tables), cut(tables.columns.size() + 1, false), changes_(2) {
        for (const auto& column : tables.columns) processes_ += !column->monitor;
        ready_.resize(processes_ + 1);
        use(hubs);
    }
    // States are those of whole cells, or have slots for the parts of processes that are hubs.
    void use(Hubs* hubs) {
        hubs_ = hubs;
        const Id width = hubs == nullptr ? tables.width() : hubs->width();
        most_parts_ = hubs == nullptr ? 0 : hubs->most_parts();
        cells.assign(width, 0);
        views_.assign(tables.width(), {});
        lanes_.clear();
        for (Id slot = 0; slot < width; ++slot) lanes_.push_back({.factor = column_factor(slot)});
        hub_views_.clear();
        for (Id i = 0; hubs != nullptr && i < hubs->processes().size(); ++i)
            hub_views_.emplace_back(*hubs->processes()[i]);
        changes_.resize(std::max<std::size_t>(changes_.size(), most_parts_ + 3u));
    }

    Tables& tables;
    std::vector<Id> cells;  // the state; during a call-back, the successor
    struct Change {
        Id column, before, after;
    };
    // From the state to the successor, in order; a column may occur twice.
    std::span<const Change> changes() const { return {changes_.data(), changed_}; }
    // No step changes more than this.
    std::size_t most_changes(const Step& step) const {
        return step.send_count + 2u + (hubs_ == nullptr ? 0 : most_parts_ + 1u) +
               (tables.most_ranks != 0 ? tables.width() : 0);
    }
    // Where a step fails: that step.
    const Step& failing() const { return *failing_; }
    std::vector<bool> cut;  // the columns whose bound (`within`) has cut a step; last, that of the system
    // The steps of the last expansion that lead out of the bound of the system: the process, and the number of the
    // step.
    std::vector<std::pair<Id, Id>> outside{};
    std::vector<Query> queries{};

    struct Summary {
        bool missing = false;  // some facts are not known: what was produced so far must not be used
        bool enabled = false;  // a protocol step is enabled, be it one that a bound cuts
        bool cut = false;      // the bound of a process cuts one
    };

    // Calls emit(column, step, step number, hash, observed) for every step that moves, with the successor in `cells`,
    // and fail(column, step number, failure) for every step in which a handler or a monitor fails.
    // With `chosen`, only for the steps it holds; no process is hubs then.
    template <typename Emit, typename Fail>
    Summary expand(std::uint64_t sum, Emit emit, Fail fail, const Choice* chosen = nullptr) {
        if (rare()) [[unlikely]]
            return expand_rare(sum, emit, fail, chosen);
        return expand_as<false>(sum, emit, fail, chosen);
    }
    // The same for the steps that are wanted, of all processes whose steps are known.
    template <typename Wanted, typename Emit, typename Fail>
    void expand_where(Wanted wanted, Emit emit, Fail fail) {
        Summary summary;
        gather(nullptr);
        for (const Ready *ready = ready_.data(), *last = ready + ready_count_; ready != last; ++ready)
            for (const Step* step = ready->begin; step != ready->end; ++step)
                if (wanted(*step)) take_either(ready->column, *step, ready->begin, summary, emit, fail);
        if (hubs_ == nullptr) return;
        for (const PartReady& ready : part_ready_)
            for (const Step& step : ready.list->steps)
                if (wanted(step))
                    take<true>(ready.hub->column, step, ready.list->steps.data(), 0, summary, emit, fail, &ready);
    }
    // The same for one step alone: the step of that number among those of a process's cell.
    template <typename Emit, typename Fail>
    Summary follow(Id column, const StepList& steps, Id number, Emit emit, Fail fail) {
        Summary summary;
        outside.clear();
        const Step& step = steps[number];
        make_room_for(step);
        take_either(column, step, steps.data(), summary, emit, fail);
        return summary;
    }
    // Calls look(column, steps, number) for every step of every process, whether or not there is room for what it
    // sends, and takes none of them. False if some process's steps are not known.
    template <typename Look>
    bool look_at_steps(Look look) {
        bool known = true;
        for (Id column = 0; column < processes_; ++column) {
            const StepList* list = tables.steps(column, cells, queries);
            known &= list != nullptr;
            for (Id i = 0; list != nullptr && i < list->size(); ++i) look(column, *list, i);
        }
        return known;
    }
    // Are the steps of every process known? What is missing is asked for.
    bool steps_known() {
        bool known = true;
        for (Id column = 0; column < processes_; ++column) known &= tables.steps(column, cells, queries) != nullptr;
        return known;
    }
    // The steps of a process in the state, as the last expansion has numbered them, if it missed nothing. The tables
    // may know by now that the process reads a shared cell in its local state, with other messages: then they would
    // have to ask what it is seen as, though these steps do not depend on it.
    std::span<const Step> listed(Id column) {
        const Id cell = cells[column];
        const Step* begin = cell < lanes_[column].count ? lanes_[column].views[cell].begin : nullptr;
        if (begin == nullptr) begin = seen_steps(column, cell);
        if (begin == nullptr) throw std::logic_error("the steps of a process are not known after its expansion");
        return {begin, lanes_[column].views[cell].end};
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
        for (HubView& hub : hub_views_) hub.forget();
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
        Id reads = unknown;  // the shared cell on which its steps depend
    };
    static constexpr Id unknown = none - 1;
    struct Ready {
        const Step *begin, *end;
        Id column;
    };
    struct Lane {
        const View* views = nullptr;
        std::size_t count = 0;
        std::uint64_t factor = 0;
    };
    // A process that is hubs: of its steps and its parts what this thread has met.
    struct PartView {
        const Id *begin = nullptr, *end = nullptr;  // the messages
        const Row* row = nullptr;
    };
    struct HubView {
        explicit HubView(Hub& parts)
            : parts(&parts),
              column(parts.column.index),
              first(parts.first),
              views(parts.count()),
              lists(parts.count()) {
            for (Id part = 0; part < parts.count(); ++part) one_by_one.push_back(parts.one_by_one(part));
        }
        PartView& view(Id part, Id value) {
            auto& here = views[part];
            if (value >= here.size()) here.resize(std::max<std::size_t>(value + 1, here.size() + here.size() / 2));
            PartView& found = here[value];
            if (found.begin == nullptr) {
                const std::span<const Id> messages = parts->messages(part, value);
                found.begin = messages.data();
                found.end = found.begin + messages.size();
            }
            return found;
        }
        void forget() {
            for (auto& each : views) each.clear();
            for (auto& each : lists) each.clear();
            own.clear();
        }
        Hub* parts;
        Id column, first;
        std::vector<char> one_by_one{};
        std::vector<std::vector<PartView>> views;      // per part, by value
        std::vector<FlatMap<const PartSteps*>> lists;  // per part, by cell and unit
        FlatMap<const PartSteps*> own{};               // by cell
    };
    struct PartReady {
        const PartSteps* list;
        HubView* hub;
        Id part;
    };
    // The same for the processes that are hubs: a list for what each does without any message, and for every part.
    [[gnu::noinline]] bool gather_parts() {
        bool known = true;
        part_ready_.clear();
        for (HubView& hub : hub_views_) {
            const Id cell = cells[hub.column];
            const auto add = [&](FlatMap<const PartSteps*>& lists, Id part, Id unit) {
                const std::uint64_t key = static_cast<std::uint64_t>(cell) << 32 | unit;
                const PartSteps* const* found = lists.find(key);
                const PartSteps* list = found == nullptr ? copy_part(hub, lists, key, part, unit) : *found;
                if (list == nullptr)
                    known = false;
                else if (!list->steps.empty())
                    part_ready_.push_back({list, &hub, part});
            };
            add(hub.own, Hub::own, 0);
            for (Id part = 0; part < hub.views.size(); ++part) {
                const Id value = cells[hub.first + part];
                if (!hub.one_by_one[part]) {
                    add(hub.lists[part], part, value);
                    continue;
                }
                const PartView& view = hub.view(part, value);
                for (const Id* message = view.begin; message != view.end; ++message)
                    if (message == view.begin || message[-1] != *message) add(hub.lists[part], part, *message);
            }
        }
        return known;
    }
    const PartSteps* copy_part(HubView& hub, FlatMap<const PartSteps*>& lists, std::uint64_t key, Id part, Id unit) {
        const PartSteps* list = hub.parts->steps(static_cast<Id>(key >> 32), part, unit, queries);
        if (list == nullptr) return nullptr;
        lists.insert(key, list);
        for (const Step& step : list->steps) make_room_for(step);
        return list;
    }
    Id change_part(HubView& hub, Id part, Id value, Id key) {
        PartView& view = hub.view(part, value);
        const Id known = view.row != nullptr ? view.row->find(key) : none;
        if (known != none) return known;
        view.row = hub.parts->change(part, value, key);
        return view.row->find(key);
    }
    HubView& hub_of(Id column) {
        HubView* hub = hub_views_.data();
        while (hub->column != column) ++hub;
        return *hub;
    }
    // Lists the processes that have steps; false if some process's steps are not known.
    [[gnu::always_inline]] bool gather(const Choice* chosen) {
        bool known = true;
        Ready* ready = ready_.data();
        const Id* cell = cells.data();
        const Lane* lane = lanes_.data();
        for (Id column = 0; column < processes_; ++column, ++cell, ++lane) {
            if (chosen != nullptr && (*chosen)[column] == nullptr) continue;
            const Step* begin = *cell < lane->count ? lane->views[*cell].begin : nullptr;
            if (begin == nullptr) [[unlikely]] {
                begin = seen_steps(column, *cell);
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
        if (hubs_ != nullptr) [[unlikely]]
            known &= gather_parts();
        return known;
    }
    // Of a cell that reads, the steps of what it is seen as now. Where they end is noted with the cell, where they
    // begin is not: that is looked up in every state.
    [[gnu::noinline]] const Step* seen_steps(Id column, Id cell) {
        const Id at = seen(column, cell);
        if (at == none) return nullptr;
        const View& view = lanes_[column].views[at];
        if (at != cell) views_[column][cell].end = view.end;
        return view.begin;
    }
    // The cell together with what its process reads, once the steps of that one are here; `none` if they are not known.
    Id seen(Id column, Id cell) {
        for (;;) {
            const Lane& lane = lanes_[column];
            if (cell >= lane.count || lane.views[cell].reads == unknown) {
                room(column, cell).reads = tables.reads(column, cell);
                continue;
            }
            const View& view = lane.views[cell];
            if (view.reads != none) {
                cell = deliver(column, cell, reading_bit | cells[view.reads]);
                if (cell == none) return none;
            } else if (view.begin != nullptr) {
                return cell;
            } else if (copy_steps(column, cell) == nullptr) {
                return none;
            } else {  // only now it may have turned out that there is something to read
                View& copied = room(column, cell);
                copied.reads = tables.reads(column, cell);
                if (copied.reads != none) copied.begin = nullptr;
            }
        }
    }
    [[gnu::noinline]] const Step* copy_steps(Id column, Id cell) {
        static const Step nothing{};
        static const StepList no_steps{};  // those of a process that is hubs are listed elsewhere
        const bool whole = hubs_ == nullptr || hubs_->of(column) == nullptr;
        const StepList* list = whole ? tables.steps(column, cell, queries) : &no_steps;
        if (list == nullptr) return nullptr;
        View& view = room(column, cell);
        view.begin = list->empty() ? &nothing : list->data();
        view.end = view.begin + list->size();
        for (const Step& step : *list) make_room_for(step);
        return view.begin;
    }
    void make_room_for(const Step& step) {
        if (changes_.size() < most_changes(step)) changes_.resize(most_changes(step));
    }
    [[gnu::always_inline]] Id deliver(Id column, Id cell, Id message) {
        const Lane& lane = lanes_[column];
        const Row* row = cell < lane.count ? lane.views[cell].row : nullptr;
        const Id known = row != nullptr ? row->find(message) : none;
        return known != none ? known : copy_delivery(column, cell, message);
    }
    [[gnu::noinline]] Id copy_delivery(Id column, Id cell, Id message) {
        if (Hub* parts = hubs_ == nullptr ? nullptr : hubs_->of(column)) {
            const Row* row = parts->receive(cell, message);
            room(column, cell).row = row;
            return row->find(message);
        }
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

    // What a step of a process that is hubs does to its parts: it takes messages from one of them, and where fewer can
    // be consumed from now on, the dead ones are dropped from all.
    template <typename Move>
    void move_parts(const PartReady& from, const PartMove& moves, Move& move) {
        const auto change = [&](Id part, Id key) {
            const Id slot = from.hub->first + part, value = cells[slot];
            const Id next = change_part(*from.hub, part, value, key);
            if (next != value) move(slot, value, next);
        };
        if (moves.taken != none) change(from.part, moves.taken);
        if (moves.liveness == none) return;
        for (Id part = 0; part < from.hub->views.size(); ++part) change(part, moves.liveness);
    }
    // Processes that are taken apart, ranks, a bound of the system, and properties that read messages are rare, and
    // what they need is kept out of the way of all others: there it would cost registers.
    bool rare() const {
        return hubs_ != nullptr || tables.most_ranks != 0 || tables.bound != nullptr || tables.shows_messages;
    }
    template <typename Emit, typename Fail>
    [[gnu::noinline]] Summary expand_rare(std::uint64_t sum, Emit emit, Fail fail, const Choice* chosen) {
        outside.clear();
        return expand_as<true>(sum, emit, fail, chosen);
    }
    template <bool Rare, typename Emit, typename Fail>
    [[gnu::always_inline]] Summary expand_as(std::uint64_t sum, Emit& emit, Fail& fail, const Choice* chosen) {
        Summary summary;
        if (!gather(chosen)) {
            summary.missing = true;
            return summary;
        }
        for (const Ready *ready = ready_.data(), *last = ready + ready_count_; ready != last; ++ready) {
            const std::vector<char>* wanted = chosen == nullptr ? nullptr : (*chosen)[ready->column];
            for (const Step* step = ready->begin; step != ready->end; ++step)
                if (wanted == nullptr || (*wanted)[static_cast<std::size_t>(step - ready->begin)])
                    take<Rare>(ready->column, *step, ready->begin, sum, summary, emit, fail);
        }
        if constexpr (Rare) {
            if (hubs_ == nullptr) return summary;
            for (const PartReady& ready : part_ready_)
                for (const Step& step : ready.list->steps)
                    take<true>(ready.hub->column, step, ready.list->steps.data(), sum, summary, emit, fail, &ready);
        }
        return summary;
    }
    template <typename Emit, typename Fail>
    void take_either(Id column, const Step& step, const Step* first, Summary& summary, Emit& emit, Fail& fail) {
        if (rare()) [[unlikely]]
            take<true>(column, step, first, 0, summary, emit, fail);
        else
            take<false>(column, step, first, 0, summary, emit, fail);
    }
    template <bool Rare, typename Emit, typename Fail>
    [[gnu::always_inline]] void take(Id column, const Step& step, const Step* first, std::uint64_t sum,
                                     Summary& summary, Emit& emit, Fail& fail, const PartReady* from = nullptr) {
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
                    cut[column] = summary.cut = true;
                else
                    report(column, step, first, step.failure, fail);
                return;
            }
            if (step.kind == Kind::crash && tables.network.most_down != none && !tables.may_go_down(now)) return;
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
        if constexpr (Rare) {
            if (from != nullptr) move_parts(*from, from->list->moves[static_cast<std::size_t>(&step - first)], move);
        }
        for (const Send *send = step.sends, *end = send + step.send_count; send != end; ++send) {
            const Id old = now[send->column];
            const Id next = deliver(send->column, old, send->message);
            if (next == old) continue;
            if (next >= (Rare ? redirected : full)) [[unlikely]] {
                if constexpr (Rare) {
                    if (next < full) {
                        HubView& hub = hub_of(send->column);
                        const Id slot = next - redirected, value = now[slot];
                        const Id more = change_part(hub, slot - hub.first, value, send->message);
                        if (more != value) move(slot, value, more);
                        continue;
                    }
                }
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
            } else if constexpr (Rare) {
                const Column& receiver = *tables.columns[send->column];
                observed |= tables.shows_messages && receiver.cells[next].seen != receiver.cells[old].seen;
            }
            move(send->column, old, next);
        }
        if (possible) [[likely]] {
            summary.enabled |= step.protocol;
            bool inside = failure == none;
            if constexpr (Rare) {
                if (tables.most_ranks != 0 && inside) {
                    const auto renumber = [&](Id which, Id before, Id after) {
                        const Column& renumbered = *tables.columns[which];
                        observed |= renumbered.cells[before].observation != renumbered.cells[after].observation;
                        move(which, before, after);
                    };
                    tables.normalise(now, renumber);
                }
                if (tables.bound != nullptr && inside) inside = lies_inside(column, step, first, summary);
            }
            changed_ = changed;
            if (inside) [[likely]]
                emit(column, step, static_cast<Id>(&step - first), spread(sum), observed);
        }
        while (changed > 0) {
            --changed;
            now[changes[changed].column] = changes[changed].before;
        }
        if (possible && failure != none) report(column, step, first, failure, fail);
    }
    template <typename Fail>
    void report(Id column, const Step& step, const Step* first, Id failure, Fail& fail) {
        failing_ = &step;
        fail(column, static_cast<Id>(&step - first), failure);
    }
    // Whether the successor lies inside the bound of the system; not before that is known.
    bool lies_inside(Id column, const Step& step, const Step* first, Summary& summary) {
        const Verdict verdict = tables.bound->walk(tables, cells);
        if (verdict == Verdict::yes) return true;
        if (verdict == Verdict::unknown) {
            summary.missing = true;
            queries.push_back(tables.question(cells));
        } else {
            cut[tables.columns.size()] = true;
            outside.emplace_back(column, static_cast<Id>(&step - first));
        }
        return false;
    }
    std::vector<std::vector<View>> views_{};
    std::vector<Lane> lanes_{};
    std::vector<Ready> ready_{};
    std::size_t ready_count_ = 0;
    std::vector<Change> changes_{};
    std::size_t changed_ = 0;
    Id processes_ = 0, most_parts_ = 0;
    Hubs* hubs_ = nullptr;
    std::vector<HubView> hub_views_{};
    std::vector<PartReady> part_ready_{};
    const Step* failing_ = nullptr;
};

}  // namespace quorate
