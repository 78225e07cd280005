#include "model/tables.hpp"

#include <set>

#include "model/consume.hpp"
#include "model/oracle.hpp"

namespace quorate {

namespace {

// What goes into one FIFO channel is sent in order: a crash cuts off its end, and leaves nothing out before.
bool keeps_order(const std::vector<Send>& messages, std::size_t chosen) {
    for (std::size_t later = 0; later < messages.size(); ++later)
        for (std::size_t earlier = 0; earlier < later; ++earlier)
            if (messages[earlier].column == messages[later].column && chosen >> later & 1 && !(chosen >> earlier & 1))
                return false;
    return true;
}

}  // namespace

void classify(const Network& network, const Column& column, Id cell, StepList& list) {
    for (Step& step : list) {
        step.observed = step.next != none && column.cells[step.next].observation != column.cells[cell].observation;
        step.protocol = step.kind == Kind::step || step.kind == Kind::discard;
        step.special = step.effect != Effect::moves || step.budget != Budget::free || step.whole != none ||
                       (step.kind == Kind::crash && network.most_down != none);
    }
}

Column& Tables::add_column(bool monitor) {
    columns.push_back(std::make_unique<Column>(static_cast<Id>(columns.size()), monitor));
    factors_.push_back(column_factor(static_cast<Id>(columns.size())));
    return *columns.back();
}

std::size_t Tables::cell_count(Id column) const {
    if (column < columns.size()) return columns[column]->cells.size();
    return (network.budget[0] + 1ull) * (network.budget[1] + 1ull) * (network.budget[2] + 1ull);
}

Id Tables::cell(Column& column, Id local, const Inbox& inbox) {
    if (optimistic && !column.as_is && !column.grows && !column.locals[local].member) outgrown = true;
    if (quotient && !column.grows && column.locals[local].home == none) {
        const Id representative = column.locals[local].representative;
        if (representative != none)
            local = representative;
        else if (!optimistic)
            throw std::logic_error("the search met a local state that the closure does not hold");
    }
    const Local& state = column.locals[local];
    Id inbox_id;
    if (dead_messages && !column.monitor) {
        Inbox alive;
        // What is dead for what the process sees now may be consumed after another look: its home decides.
        const auto& live = column.locals[column.home(local)].live;
        for (Id message : inbox)
            if (message >= live.size() || live[message]) alive.push_back(message);
        inbox_id = column.inboxes.intern(alive);
    } else {
        inbox_id = column.inboxes.intern(inbox);
    }
    const std::uint64_t key = static_cast<std::uint64_t>(local) << 32 | inbox_id;
    if (const Id* known = column.cell_of.find(key)) return *known;
    checked_id(column.cells.size(), "cells");
    const Id id = static_cast<Id>(column.cells.append([&](Cell& cell) {
        cell.local = local;
        cell.inbox = inbox_id;
        cell.observation = state.observation;
        if (shows_messages) {
            cell.seen = column.shown(column.inboxes[inbox_id]);
            cell.observation = column.classify(state.observation, cell.seen);
        }
        cell.failure = state.failure;
    }));
    column.cell_of.insert(key, id);
    return id;
}

std::uint64_t Tables::ranks(Column& column, Id cell) {
    const std::lock_guard guard(column.lock);
    Ranks& ranks = column.ranks;
    if (cell < ranks.known.size() && ranks.known[cell]) return ranks.of_cell[cell];
    if (ranks.known.size() < column.cells.size()) {
        ranks.known.resize(column.cells.size(), false);
        ranks.of_cell.resize(column.cells.size(), 0);
    }
    std::uint64_t found = ranks.locals.ranks(column.cells[cell].local);
    for (const Id message : column.inboxes[column.cells[cell].inbox]) found |= ranks.messages.ranks(message);
    ranks.known[cell] = true;
    return ranks.of_cell[cell] = found;
}

Id Tables::renumbered_cell(Column& column, Id cell, std::uint64_t all) {
    const std::lock_guard guard(column.lock);
    Ranks& ranks = column.ranks;
    const auto [place, is_new] = ranks.images.try_emplace({cell, all}, none);
    if (!is_new) return place->second;
    const std::span<const Id> pending = column.inboxes[column.cells[cell].inbox];
    Inbox inbox(pending.begin(), pending.end());
    for (Id& message : inbox) message = ranks.messages.image(message, all);
    if (!network.ordered()) std::sort(inbox.begin(), inbox.end());
    return place->second = this->cell(column, ranks.locals.image(column.cells[cell].local, all), inbox);
}

void Tables::add_steps(Column& column, Id transition, Id local, const Inbox& inbox, bool alone, StepList& steps,
                       std::vector<Query>& queries, std::size_t asked) {
    std::vector<Consumption> found;
    list_consumptions(column, network, Scope::cell, transition, local, inbox, queries, found);
    if (queries.size() > asked) return;  // gather what else is missing, so that it is asked in one go
    const bool stays = column.transitions[transition].keep || network.duplicates_unlimited;
    for (const Consumption& consumption : found) {
        if (column.clean && column.sets[consumption.set].size() != inbox.size()) continue;
        Inbox rest;
        if (!alone) {
            rest = inbox;
            if (!stays) consume(rest, column.sets[consumption.set], column.stands());
        }
        const auto& outcomes = consumption.behaviour->outcomes;
        for (Id i = 0; i < outcomes.size(); ++i) {
            const Outcome& outcome = outcomes[i];
            Step step;
            step.transition = transition;
            step.set = consumption.set;
            step.outcome = i;
            step.failure = outcome.failure;
            step.effect = outcome.effect;
            if (outcome.effect == Effect::moves) {
                step.next = this->cell(column, outcome.local, rest);
                const auto& sends = outcome.bundled.empty() ? outcome.sends : outcome.bundled;
                step.sends = sends.data();
                step.send_count = static_cast<Id>(sends.size());
            }
            steps.push_back(step);
        }
    }
}

const StepList* Tables::build_steps(Column& column, Id cell, std::vector<Query>& queries) {
    const std::lock_guard guard(column.lock);
    if (const StepList* known = column.cells[cell].steps.load(std::memory_order_relaxed)) return known;
    if (column.cells[cell].asked == round) return nullptr;
    auto list = std::make_unique<StepList>();
    const Id local = column.cells[cell].local;
    if (!column.monitor && column.locals[local].reads == none) {
        const std::span<const Id> pending = column.inboxes[column.cells[cell].inbox];
        const Inbox inbox(pending.begin(), pending.end());
        const std::size_t asked = queries.size();
        const Id transitions = column.locals[local].crashed ? 0 : static_cast<Id>(column.transitions.size());
        for (Id transition = 0; transition < transitions; ++transition)
            add_steps(column, transition, local, inbox, false, *list, queries, asked);
        add_environment(column, local, inbox, *list, queries);
        if (queries.size() > asked) {
            column.cells[cell].asked = round;
            return nullptr;
        }
    }
    classify(network, column, cell, *list);
    if (optimistic && note_leaving(column, cell, *list)) {
        column.cells[cell].asked = round;
        return nullptr;
    }
    if (step_observer != nullptr && step_observer->note(column, *list)) outgrown = true;
    step_bytes_ += sizeof(StepList) + list->capacity() * sizeof(Step);
    const StepList* result = list.get();
    column.step_lists.push_back(std::move(list));
    column.cells[cell].steps.store(result, std::memory_order_release);
    return result;
}

// A state whose cells and steps all lie in the universe is one that the relations between steps hold for.
bool Tables::note_leaving(Column& column, Id cell, const StepList& steps) {
    std::vector<bool*> found;
    const auto note = [&](Column& owner, bool& member) {
        if (!owner.as_is && !member) found.push_back(&member);
    };
    note(column, column.locals[column.cells[cell].local].member);
    for (Id message : column.inboxes[column.cells[cell].inbox]) note(column, column.messages[message].member);
    for (const Step& step : steps) {
        if (step.next != none) note(column, column.locals[column.cells[step.next].local].member);
        for (Id i = 0; i < step.send_count; ++i) {
            Column& receiver = *columns[step.sends[i].column];
            const Id message = step.sends[i].message;
            if (message < bundle_bit)
                note(receiver, receiver.messages[message].member);
            else
                for (Id one : receiver.bundles[message - bundle_bit]) note(receiver, receiver.messages[one].member);
        }
    }
    column.cells[cell].leaves = !found.empty();
    if (found.empty()) return false;
    outgrown = true;
    if (!stays_inside) return false;
    const std::lock_guard guard(outside_lock);
    outside.insert(outside.end(), found.begin(), found.end());
    return true;
}

void Tables::add_environment(Column& column, Id local, const Inbox& inbox, std::vector<Step>& steps,
                             std::vector<Query>& queries) {
    const Id home = column.home(local);
    const auto add = [&](Kind kind, Budget budget, Id next, Id subject) {
        Step step;
        step.kind = kind;
        step.budget = budget;
        step.next = next;
        step.set = subject == none ? none : column.sets.intern({&subject, 1});
        steps.push_back(step);
    };
    const auto without = [&](std::size_t position) {
        Inbox rest = inbox;
        rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(position));
        return cell(column, home, rest);
    };
    for (std::size_t i = 0; i < inbox.size() && !column.input; ++i) {
        if (i > 0 && inbox[i] == inbox[i - 1]) continue;  // losing or doubling either copy is the same step
        if (column.messages[inbox[i]].stands) continue;
        if (network.loses() && (!network.loses_heads || is_head(inbox, i, column.sender(), column.stands())))
            add(Kind::lose, network.loss(), without(i), inbox[i]);
        if (network.repeats()) {
            Inbox more = inbox;
            if (duplicate(network, more, i, column.sender()))
                add(Kind::duplicate, Budget::duplicates, cell(column, home, more), inbox[i]);
        }
    }
    if (network.drops_refused() && !column.locals[local].crashed) {
        for (std::size_t i = 0; i < inbox.size(); ++i) {
            if (!is_head(inbox, i, column.sender(), column.stands())) continue;
            const Message& head = column.messages[inbox[i]];
            bool wanted = false;
            for (Id transition = 0; transition < column.transitions.size(); ++transition)
                if (column.transitions[transition].takes(head.type))
                    wanted |= takes(column, Scope::cell, transition, local, inbox[i], queries) != Taken::no;
            if (!wanted) add(Kind::discard, Budget::free, without(i), inbox[i]);
        }
    }
    if (column.locals[local].recovery != none)
        add(Kind::recover, Budget::free, cell(column, column.locals[local].recovery, inbox), none);
    add_crashes(column, inbox, local, steps);
}

// Definition 3 of the thesis: a crash comes between steps, or in the midst of one that has sent a part of its messages.
void Tables::add_crashes(Column& column, const Inbox& inbox, Id local, std::vector<Step>& steps) {
    if (column.locals[local].crash == none || !network.crashes()) return;
    Step stop;
    stop.kind = Kind::crash;
    stop.budget = network.crash();
    stop.next = cell(column, column.locals[local].crash, inbox);
    stop.sends = column.notices.data();
    stop.send_count = static_cast<Id>(column.notices.size());
    const std::size_t count = steps.size();
    steps.push_back(stop);
    for (std::size_t i = 0; i < count && network.crashes_cut_short; ++i) {
        const Step step = steps[i];
        if (step.kind != Kind::step || step.effect != Effect::moves) continue;
        std::vector<Send> messages, events;
        for (Id k = 0; k < step.send_count; ++k)
            (columns[step.sends[k].column]->monitor ? events : messages).push_back(step.sends[k]);
        if (messages.size() > 20) throw LimitError("a crash may cut short a step that sends more than 20 messages");
        const Cell& whole = column.cells[step.next];
        const std::span<const Id> rest = column.inboxes[whole.inbox];
        stop = step;
        stop.kind = Kind::crash;
        stop.budget = network.crash();
        stop.next = cell(column, column.locals[whole.local].crash, Inbox(rest.begin(), rest.end()));
        // Condition (1) of the definition: what cannot be done as a whole cannot be cut short either.
        if (network.blocks_when_full()) stop.whole = static_cast<Id>(i);
        std::set<std::vector<Id>> seen;
        const auto flat = [](const std::vector<Send>& sends) {
            std::vector<Id> ids;
            for (const Send& send : sends) ids.insert(ids.end(), {send.column, send.message});
            return ids;
        };
        const auto add = [&](const std::vector<Send>& messages_sent, Id next) {
            auto part = std::make_unique<std::vector<Send>>(messages_sent);
            part->insert(part->end(), column.notices.begin(), column.notices.end());
            part->insert(part->end(), events.begin(), events.end());
            stop.next = next;
            stop.sends = part->data();
            stop.send_count = static_cast<Id>(part->size());
            steps.push_back(stop);
            column.parts.push_back(std::move(part));
        };
        const Id taken = stop.next;
        // What was consumed and not acknowledged is delivered again: it never left. Then all may have been sent as
        // well.
        const bool redelivers = network.crashes_redeliver && removes(column, step, inbox);
        const Id again = redelivers ? cell(column, column.locals[whole.local].crash, inbox) : none;
        seen.insert(flat(messages));  // the whole step, and then a crash, are two steps
        if (redelivers) add(messages, again);
        for (std::size_t chosen = 0; chosen + 1 < std::size_t{1} << messages.size(); ++chosen) {
            std::vector<Send> part;
            for (std::size_t k = 0; k < messages.size(); ++k)
                if (chosen >> k & 1) part.push_back(messages[k]);
            if (network.ordered() && !keeps_order(messages, chosen)) continue;
            if (!seen.insert(flat(part)).second) continue;
            add(part, taken);
            if (redelivers) add(part, again);
        }
    }
}

Id Tables::build_delivery(Column& column, Id cell, Id message, std::vector<Query>& queries) {
    const std::lock_guard guard(column.lock);
    const Id known = column.known_delivery(cell, message);
    if (known != none) return known;
    const Id local = column.cells[cell].local;
    Id next = cell;
    if (column.shared) {
        next = this->cell(column, column.written[message], {});
    } else if (message < bundle_bit && message >= reading_bit) {
        next = build_view(column, cell, message - reading_bit, queries);
        if (next == none) return none;
    } else if (column.monitor) {
        const std::uint64_t key = column.key(0, local, message);
        const auto* behaviour = column.usable(Query::Kind::observe, key) ? column.behaviours.find(key) : nullptr;
        std::vector<Configurations::Pair> missing;
        const Id reaction =
            behaviour == nullptr && column.configurations ? column.react(local, message, missing) : none;
        if (reaction != none) {
            next = this->cell(column, reaction, {});
        } else if (behaviour == nullptr) {
            queries.push_back({Query::Kind::observe, column.index, 0, local, message});
            return none;
        } else {
            next = this->cell(column, (*behaviour)->outcomes.front().local, {});
        }
    } else {
        const std::span<const Id> pending = column.inboxes[column.cells[cell].inbox];
        Inbox inbox(pending.begin(), pending.end());
        bool room = true;
        if (message < bundle_bit)
            room = quorate::deliver(network, inbox, message, column.sender(), column.stands());
        else
            for (Id member : column.bundles[message - bundle_bit])
                deliver_standing(network, inbox, member, column.sender());
        next = room ? this->cell(column, local, inbox) : full;
    }
    remember_delivery(column, cell, message, next);
    return next;
}

const StepList* Tables::seen_steps(Id column, std::span<const Id> cells, std::vector<Query>& queries) {
    const Id cell = seen(column, cells[column], cells.data(), queries);
    return cell == none ? nullptr : steps(column, cell, queries);
}

Id Tables::seen(Id column, Id cell, const Id* cells, std::vector<Query>& queries) {
    while (cell != none) {
        const Id shared = reads(column, cell);
        if (shared == none) break;
        cell = deliver(column, cell, reading_bit | cells[shared], queries);
    }
    return cell;
}

Id Tables::build_view(Column& column, Id cell, Id value, std::vector<Query>& queries) {
    const Local& local = column.locals[column.cells[cell].local];
    const Id read = columns[local.reads]->cells[value].local;
    const Id view = local.view(read);
    if (view == none) {
        queries.push_back({Query::Kind::read, column.index, 0, column.cells[cell].local, read});
        return none;
    }
    const std::span<const Id> pending = column.inboxes[column.cells[cell].inbox];
    return this->cell(column, view, Inbox(pending.begin(), pending.end()));
}

void Tables::remember_delivery(Column& column, Id cell, Id message, Id next) {
    auto& row = column.cells[cell].row;
    row.store(with_entry(row.load(std::memory_order_relaxed), message, next, column.rows, step_bytes_),
              std::memory_order_release);
}

Id Tables::room(const std::vector<Id>& cells, Id column, const Step& step, std::vector<Query>& queries) {
    std::vector<Id> moved = cells;
    moved[column] = step.next;
    for (Id i = 0; i < step.send_count; ++i) {
        const Send& send = step.sends[i];
        if (columns[send.column]->monitor) continue;
        const Id next = deliver(send.column, moved[send.column], send.message, queries);
        if (next >= full) return next;
        moved[send.column] = next;
    }
    return step.next;
}

Id Tables::initial_budget() const { return static_cast<Id>(cell_count(static_cast<Id>(columns.size())) - 1); }

std::uint64_t Tables::left(Id budget_cell, Budget kind) const {
    std::uint64_t rest = budget_cell;
    for (std::size_t i = 0; i < static_cast<std::size_t>(kind); ++i) rest /= network.budget[i] + 1ull;
    return rest % (network.most(kind) + 1ull);
}

std::uint64_t Tables::spent(std::span<const Id> cells) const {
    std::uint64_t sum = 0;
    for (const Budget kind : {Budget::losses, Budget::duplicates, Budget::crashes})
        if (has_budget()) sum += network.most(kind) - left(cells[columns.size()], kind);
    return sum;
}

Id Tables::budget(const std::vector<std::uint64_t>& left) const {
    std::uint64_t cell = 0;
    for (std::size_t i = left.size(); i-- > 0;) cell = cell * (network.budget[i] + 1ull) + left[i];
    return static_cast<Id>(cell);
}

Id Tables::spend(Id budget_cell, Budget kind) const {
    if (left(budget_cell, kind) == 0) return none;
    std::uint64_t stride = 1;
    for (std::size_t i = 0; i < static_cast<std::size_t>(kind); ++i) stride *= network.budget[i] + 1ull;
    return static_cast<Id>(budget_cell - stride);
}

void Tables::observe(const std::vector<std::vector<bool>>& observed) {
    ++observations;
    for (auto& column : columns) {
        column->observe(observed[column->index]);
        for (std::size_t i = 0; i < column->cells.size(); ++i) {
            Cell& cell = column->cells[i];
            cell.observation = column->locals[cell.local].observation;
            if (shows_messages) cell.observation = column->classify(cell.observation, cell.seen);
        }
        for (std::size_t i = 0; i < column->cells.size(); ++i)
            if (auto* list = const_cast<StepList*>(column->cells[i].steps.load(std::memory_order_relaxed)))
                classify(network, *column, static_cast<Id>(i), *list);
    }
}

void Tables::forget_cells() {
    outgrown = false;
    ++forgotten;
    for (auto& column : columns) column->forget_cells();
    step_bytes_ = 0;
}

void Tables::forget_steps() {
    for (auto& column : columns) column->forget_steps();
    step_bytes_ = 0;
}

std::vector<Inbox> Tables::initial_inboxes(std::size_t number) const {
    std::vector<Inbox> inboxes;
    for (const auto& column : columns) inboxes.push_back(column->opening);
    if (number >= posted.size()) return inboxes;
    for (const Send& send : posted[number]) {
        const Column& receiver = *columns[send.column];
        if (!quorate::deliver(network, inboxes[send.column], send.message, receiver.sender(), receiver.stands()))
            throw std::logic_error("more is pending at the beginning than a channel holds");
    }
    return inboxes;
}

std::vector<Id> Tables::initial_cells(std::size_t number) {
    std::vector<Id> cells;
    const std::vector<Inbox> inboxes = initial_inboxes(number);
    for (Id i = 0; i < columns.size(); ++i) cells.push_back(cell(*columns[i], initials[number][i], inboxes[i]));
    if (has_budget()) cells.push_back(initial_budget());
    return cells;
}

Query Tables::question(std::span<const Id> cells) {
    std::vector<Id> locals = locals_of(*this, cells);
    const std::lock_guard guard(open_lock);
    open.push_back(std::move(locals));
    return {Query::Kind::bound, 0, 0, 0, static_cast<Id>(open.size() - 1)};
}

bool Tables::removes(const Column& column, const Step& step, const Inbox& inbox) const {
    if (column.transitions[step.transition].keep || network.duplicates_unlimited) return false;
    Inbox rest = inbox;
    consume(rest, column.sets[step.set], column.stands());
    return rest != inbox;
}

bool Tables::may_go_down(const Id* cells) const {
    Id down = 0;
    for (const auto& column : columns)
        down += !column->monitor && column->locals[column->cells[cells[column->index]].local].crashed;
    return down < network.most_down;
}

std::uint64_t Tables::content(Id column, Id cell) const {
    if (column == columns.size()) return cell;
    const Column& owner = *columns[column];
    return content(owner, owner.cells[cell].local, owner.inboxes[owner.cells[cell].inbox]);
}

std::uint64_t Tables::content(const Column& owner, Id local, std::span<const Id> inbox) const {
    std::uint64_t h = mix(owner.locals[local].content);
    std::uint64_t sum = 0, standing = 0;
    for (Id message : inbox) {
        // Where order counts it is part of the content; elsewhere a sum does not depend on how numbers were given.
        if (owner.messages[message].stands) {
            standing += mix(owner.messages[message].content);
            continue;
        }
        if (network.ordered()) sum = mix(sum + owner.messages[message].sender);
        sum += mix(owner.messages[message].content);
    }
    return mix(h ^ ((sum + standing) * 0x9e3779b97f4a7c15ULL));
}

std::uint64_t Tables::content(const StepIdentity& step) const {
    const Column& column = *columns[step.column];
    std::uint64_t h = 0, sum = 0;
    for (const std::uint64_t part : {std::uint64_t{step.column}, static_cast<std::uint64_t>(step.kind),
                                     std::uint64_t{step.transition}, std::uint64_t{step.outcome}})
        h = mix(h + part);
    if (step.set != none)
        for (Id message : column.sets[step.set]) sum += mix(column.messages[message].content);
    return mix(h + sum);
}

std::uint64_t Tables::content(std::span<const Id> cells) const {
    std::uint64_t h = 0;
    for (Id i = 0; i < cells.size(); ++i) h = mix(h + content(i, cells[i]) + i);
    return h;
}

}  // namespace quorate
