#include "model/hubs.hpp"

#include <numeric>

namespace quorate {

namespace {

// Types of messages that one quorum may take together belong to one part; so do those that nothing takes. The part of
// each type.
std::vector<Id> classes_of(const Column& column) {
    std::size_t types = 0;
    for (std::size_t i = 0; i < column.messages.size(); ++i)
        types = std::max<std::size_t>(types, column.messages[i].type + std::size_t{1});
    std::vector<Id> first(types);
    std::iota(first.begin(), first.end(), Id{0});
    const auto unite = [&](Id one, Id two) {
        const Id from = std::max(first[one], first[two]), to = std::min(first[one], first[two]);
        std::replace(first.begin(), first.end(), from, to);
    };
    Id untaken = none;
    for (Id type = 0; type < types; ++type) {
        bool taken = false;
        for (const Transition& transition : column.transitions) {
            if (!transition.takes(type)) continue;
            taken = true;
            if (transition.mode == Mode::single) continue;
            for (Id other = 0; other < type; ++other)
                if (transition.takes(other)) unite(type, other);
        }
        if (taken) continue;
        if (untaken != none) unite(type, untaken);
        untaken = type;
    }
    std::map<Id, Id> parts;
    for (Id& type : first) type = parts.emplace(type, static_cast<Id>(parts.size())).first->second;
    return first;
}

}  // namespace

// With order, a message hides others; copies, bounds and crashes in the midst of a step concern all that is pending or
// all that can be done at once.
bool Hub::possible(const Network& network) {
    const bool in_the_midst = network.crashes() && network.crashes_cut_short;
    return !network.ordered() && !network.loses_heads && !network.bounded() && !network.repeats() && !in_the_midst;
}

bool Hub::possible(const Column& column) {
    if (column.monitor || column.clean || column.reading || !column.bundles.empty()) return false;
    for (std::size_t i = 0; i < column.messages.size(); ++i)
        if (column.messages[i].stands) return false;
    return true;
}

Hub::Hub(Tables& tables, Column& column, Id first)
    : column(column), first(first), tables_(tables), part_of_type_(classes_of(column)) {
    Id count = 0;
    for (const Id part : part_of_type_) count = std::max(count, part + 1);
    for (Id number = 0; number < count; ++number) {
        auto part = std::make_unique<Part>();
        for (Id transition = 0; transition < column.transitions.size(); ++transition) {
            const Transition& taker = column.transitions[transition];
            bool takes = false;
            for (Id type = 0; type < part_of_type_.size(); ++type)
                takes |= part_of_type_[type] == number && taker.takes(type);
            if (!takes) continue;
            part->transitions.push_back(transition);
            part->one_by_one &= taker.mode == Mode::single;
        }
        part->values.intern({});
        parts_.push_back(std::move(part));
    }
    looked_at_ = column.messages.size();
    forget_rows();
}

bool Hub::current() {
    for (; looked_at_ < column.messages.size(); ++looked_at_) {
        const Message& message = column.messages[looked_at_];
        if (message.type >= part_of_type_.size() || message.stands) return false;
    }
    return column.bundles.empty();
}

void Hub::divide(std::span<const Id> inbox, Id* values) {
    std::vector<Inbox> divided(parts_.size());
    for (const Id message : inbox) divided[part_of_type_[column.messages[message].type]].push_back(message);
    for (Id part = 0; part < parts_.size(); ++part) values[part] = parts_[part]->values.intern(divided[part]);
}

Inbox Hub::join(const Id* values) const {
    Inbox inbox;
    for (Id part = 0; part < parts_.size(); ++part) {
        const std::span<const Id> some = parts_[part]->values[values[part]];
        inbox.insert(inbox.end(), some.begin(), some.end());
    }
    std::sort(inbox.begin(), inbox.end());
    return inbox;
}

const PartSteps* Hub::steps(Id cell, Id part, Id unit, std::vector<Query>& queries) {
    // The steps without any message are those of the cell, whose inbox is empty.
    const StepList* alone = part == own ? tables_.steps(column.index, cell, queries) : nullptr;
    if (part == own && alone == nullptr) return nullptr;
    const std::lock_guard guard(column.lock);
    Part& where = part == own ? own_ : *parts_[part];
    const std::uint64_t key = static_cast<std::uint64_t>(cell) << 32 | unit;
    Part::Listed* known = where.lists.find(key);
    if (known == nullptr) {
        where.lists.insert(key, {});
        known = where.lists.find(key);
        if (known == nullptr) throw std::logic_error("an entry that was just made is not there");
    }
    if (known->list != nullptr) return known->list.get();
    if (known->asked == tables_.round) return nullptr;
    auto fresh = std::make_unique<PartSteps>();
    if (part == own) {
        fresh->steps = *alone;
        fresh->moves.resize(alone->size());
    } else {
        Inbox inbox{unit};
        if (!where.one_by_one) {
            const std::span<const Id> messages = where.values[unit];
            inbox.assign(messages.begin(), messages.end());
        }
        if (!list(where, column.cells[cell].local, inbox, *fresh, queries)) {
            known->asked = tables_.round;
            return nullptr;
        }
        classify(tables_.network, column, cell, fresh->steps);
    }
    const Id before = liveness(column.cells[cell].local);
    for (std::size_t i = 0; i < fresh->steps.size(); ++i) {
        const Id next = fresh->steps[i].next;
        const Id after = next == none ? before : liveness(column.cells[next].local);
        if (after != before) fresh->moves[i].liveness = live_bit | after;
    }
    bytes_ += sizeof(PartSteps) + fresh->steps.capacity() * (sizeof(Step) + sizeof(PartMove));
    known->list = std::move(fresh);
    return known->list.get();
}

bool Hub::list(Part& part, Id local, const Inbox& inbox, PartSteps& found, std::vector<Query>& queries) {
    const std::size_t asked = queries.size();
    const auto taken = [&](Id set) {
        if (set >= taken_bit) throw LimitError("more than 1,073,741,824 sets of messages at one process");
        return taken_bit | set;
    };
    if (!column.locals[local].crashed) {
        for (const Id transition : part.transitions) {
            tables_.add_steps(column, transition, local, inbox, true, found.steps, queries, asked);
            const bool stays = column.transitions[transition].keep || tables_.network.duplicates_unlimited;
            while (found.moves.size() < found.steps.size())
                found.moves.push_back({stays ? none : taken(found.steps[found.moves.size()].set)});
        }
    }
    if (queries.size() > asked) return false;
    if (!tables_.network.loses() || column.input) return true;
    for (std::size_t i = 0; i < inbox.size(); ++i) {
        const Id message = inbox[i];
        if (i > 0 && inbox[i - 1] == message) continue;  // losing either copy is the same step
        Step lose;
        lose.kind = Kind::lose;
        lose.budget = tables_.network.loss();
        lose.next = tables_.cell(column, local, {});
        lose.set = column.sets.intern({&message, 1});
        found.steps.push_back(lose);
        found.moves.push_back({taken(lose.set)});
    }
    return true;
}

// Which messages can still be consumed: a number for each answer there is.
Id Hub::liveness(Id local) {
    if (!tables_.dead_messages) return 0;
    const auto [place, fresh] =
        classes_of_live_.emplace(column.locals[local].live, static_cast<Id>(classes_of_live_.size()));
    if (fresh) live_.push_back(&place->first);
    return place->second;
}

const Row* Hub::receive(Id cell, Id message) {
    const std::lock_guard guard(column.lock);
    const Row* row = rows_->get(cell);
    if (row != nullptr && row->find(message) != none) return row;
    if (message >= taken_bit) throw LimitError("more than 1,073,741,824 messages to one process");
    const Id type = column.messages[message].type;
    if (type >= part_of_type_.size()) throw std::logic_error("a message of a type that the parts were not made for");
    const std::vector<bool>& live = column.locals[column.cells[cell].local].live;
    const bool dead = tables_.dead_messages && message < live.size() && !live[message];
    const Id where = dead ? cell : redirected + first + part_of_type_[type];
    row = with_entry(row, message, where, kept_, bytes_);
    rows_->put(cell, row);
    return row;
}

const Row* Hub::change(Id part, Id value, Id key) {
    const std::lock_guard guard(column.lock);
    Lazy<const Row*>& rows = *parts_[part]->rows;
    const Row* row = rows.get(value);
    if (row != nullptr && row->find(key) != none) return row;
    row = with_entry(row, key, build(*parts_[part], value, key), kept_, bytes_);
    rows.put(value, row);
    return row;
}

Id Hub::build(Part& part, Id value, Id key) {
    const std::span<const Id> messages = part.values[value];
    Inbox inbox(messages.begin(), messages.end());
    if (key & live_bit) {
        const std::vector<bool>& live = *live_[key ^ live_bit];
        std::erase_if(inbox, [&](Id message) { return message < live.size() && !live[message]; });
    } else if (key & taken_bit) {
        consume(inbox, column.sets[key ^ taken_bit], column.stands());
    } else {
        deliver(tables_.network, inbox, key, column.sender(), column.stands());
    }
    return part.values.intern(inbox);
}

void Hub::forget_rows() {
    rows_ = std::make_unique<Lazy<const Row*>>(nullptr);
    for (auto& part : parts_) part->rows = std::make_unique<Lazy<const Row*>>(nullptr);
    kept_.clear();
    bytes_ = 0;
}

void Hub::forget_steps() {
    forget_rows();
    own_.lists.clear();
    for (auto& part : parts_) part->lists.clear();
}

Hubs::Hubs(Tables& tables, const std::vector<Id>& columns) : tables_(tables), by_column_(tables.columns.size()) {
    for (const Id column : columns) {
        Hub& parts = *processes_.emplace_back(std::make_unique<Hub>(tables, *tables.columns[column], width()));
        by_column_[column] = &parts;
        for (Id part = 0; part < parts.count(); ++part) slots_.push_back({width(), column, part, &parts});
    }
    if (width() > full - redirected) throw std::logic_error("a state of more slots than a delivery can name");
}

bool Hubs::current() const {
    return std::all_of(processes_.begin(), processes_.end(), [](const auto& parts) { return parts->current(); });
}

Id Hubs::most_parts() const {
    Id most = 0;
    for (const auto& parts : processes_) most = std::max(most, parts->count());
    return most;
}

std::vector<Id> Hubs::divide(const std::vector<Id>& cells) {
    std::vector<Id> slots = cells;
    slots.resize(width());
    divided_.resize(processes_.size());
    for (std::size_t i = 0; i < processes_.size(); ++i) {
        Hub& parts = *processes_[i];
        Column& column = parts.column;
        const std::size_t stride = parts.count() + 1, place = cells[column.index] * stride;
        std::vector<Id>& known = divided_[i];
        if (known.size() < place + stride) known.resize(column.cells.size() * stride, none);
        if (known[place] == none) {
            const std::lock_guard guard(column.lock);
            const Cell& whole = column.cells[cells[column.index]];
            parts.divide(column.inboxes[whole.inbox], &known[place + 1]);
            known[place] = tables_.cell(column, whole.local, {});
        }
        slots[column.index] = known[place];
        std::copy_n(&known[place + 1], parts.count(), slots.data() + parts.first);
    }
    return slots;
}

std::vector<Id> Hubs::join(const std::vector<Id>& slots) {
    std::vector<Id> cells(slots.begin(), slots.begin() + tables_.width());
    for (const auto& parts : processes_) {
        Column& column = parts->column;
        const std::lock_guard guard(column.lock);
        const Id local = column.cells[slots[column.index]].local;
        cells[column.index] = tables_.cell(column, local, parts->join(slots.data() + parts->first));
    }
    return cells;
}

std::uint64_t Hubs::content(std::span<const Id> slots) const {
    std::uint64_t h = 0;
    for (Id i = 0; i < tables_.width(); ++i) {
        const Hub* parts = i < by_column_.size() ? by_column_[i] : nullptr;
        const std::uint64_t own = parts == nullptr ? tables_.content(i, slots[i])
                                                   : tables_.content(parts->column, parts->column.cells[slots[i]].local,
                                                                     parts->join(slots.data() + parts->first));
        h = mix(h + own + i);
    }
    return h;
}

std::size_t Hubs::bytes() const {
    std::size_t sum = 0;
    for (const auto& parts : processes_) sum += parts->bytes();
    return sum;
}

std::size_t Hubs::values() const {
    std::size_t sum = 0;
    for (const Slot& slot : slots_) sum += slot.parts->values(slot.part);
    return sum;
}

void Hubs::forget_steps() {
    for (auto& parts : processes_) parts->forget_steps();
}

std::size_t numbers_needed(Tables& tables, Column& column) {
    Hub parts(tables, column, 0);
    if (parts.count() == 0) return column.cells.size();
    std::vector<Id> values(parts.count());
    std::vector<bool> locals(column.locals.size());
    std::size_t sum = 0;
    for (std::size_t i = 0; i < column.cells.size(); ++i) {
        parts.divide(column.inboxes[column.cells[i].inbox], values.data());
        sum += !locals[column.cells[i].local];
        locals[column.cells[i].local] = true;
    }
    for (Id part = 0; part < parts.count(); ++part) sum += parts.values(part);
    return sum;
}

}  // namespace quorate
