#include "stubborn.hpp"

namespace quorate {

Stubborn::Stubborn(Tables& tables, Relations& relations) : tables_(tables), relations_(relations) {
    for (const auto& column : tables.columns) processes_ += !column->monitor;
    roots_.resize(processes_);
    steps_.resize(processes_);
    queued_.resize(processes_);
    settled_.resize(processes_);
}

bool Stubborn::choose(std::span<const Id> cells) {
    cells_ = cells;
    unsigned spent = 0;
    for (unsigned kind = 0; kind < budgets && tables_.has_budget(); ++kind)
        if (tables_.left(cells.back(), static_cast<Budget>(kind)) == 0) spent |= 1u << kind;
    Id all = 0;
    for (Id column = 0; column < processes_; ++column) {
        steps_[column] = tables_.steps(column, cells[column], queries_);
        roots_[column] = &relations_.root(column, cells[column], *steps_[column], spent);
        all += roots_[column]->all;
    }
    foresee();
    const PorOptions& options = relations_.options;
    Id best = all;
    // Processes with few steps first: they are likely to make small sets, and cheap to look at.
    order_.clear();
    for (Id column = 0; column < processes_; ++column)
        if (!roots_[column]->seeds.empty()) order_.push_back(column);
    std::stable_sort(order_.begin(), order_.end(),
                     [&](Id a, Id b) { return roots_[a]->seeds.size() < roots_[b]->seeds.size(); });
    for (const Id seed : order_) {
        for (const Id key : roots_[seed]->seeds) {
            if (close(seed, key, best)) {
                best = enabled_;
                best_ = footprints_;
            }
            if (best <= 1 || !options.smallest) break;
        }
        if (best <= 1 || !options.smallest) break;
    }
    if (best >= all) return false;
    chosen_.assign(processes_, nullptr);
    for (Id column = 0; column < processes_; ++column)
        if (!best_[column]->labels.empty()) chosen_[column] = &best_[column]->steps;
    return true;
}

const Footprint& Stubborn::grown(const Footprint& from, const Labels& more) {
    question_.assign({from.column, static_cast<Id>(from.serial)});
    more.write(question_);
    const Id number = grown_.intern(question_);
    if (number == growths_.size()) growths_.push_back(&relations_.grow(from, more));
    return *growths_[number];
}

const Footprint& Stubborn::started(Id seed, Id key) {
    const auto [first, count] = relations_.range(seed);
    const std::span<const std::uint64_t> sendable(coming_.data() + first, count);
    ask(seed, key, sendable);
    const Id number = started_.intern(question_);
    if (number == starts_.size()) starts_.push_back(&relations_.start(*roots_[seed], key, sendable));
    return *starts_[number];
}

bool Stubborn::add(Id column, const Labels& labels) {
    if (labels.within(footprints_[column]->labels)) return false;
    put(column, grown(*footprints_[column], labels));
    return true;
}

void Stubborn::put(Id column, const Footprint& next) {
    enabled_ += next.enabled - footprints_[column]->enabled;
    footprints_[column] = &next;
    visible_ |= next.visible;
    draws_ |= next.draws;
    settled_[column] = 0;
    if (!queued_[column]) {
        queued_[column] = true;
        queue_.push_back(column);
    }
}

// A process gets nothing, then what the others can send without getting anything, and so on.
void Stubborn::foresee() {
    coming_.assign(relations_.words(), relations_.options.conditional ? 0 : ~std::uint64_t{0});
    dirty_.assign(tables_.columns.size(), relations_.options.conditional);
    for (bool changed = relations_.options.conditional; changed;) {
        changed = false;
        for (Id column = 0; column < processes_; ++column) {
            if (!dirty_[column]) continue;
            dirty_[column] = false;
            const auto [first, count] = relations_.range(column);
            const std::span<const std::uint64_t> sendable(coming_.data() + first, count);
            ask(column, none, sendable);
            const Id number = asked_.intern(question_);
            if (number == answers_.size()) answers_.push_back(&relations_.forward(*roots_[column], sendable));
            const std::vector<std::uint64_t>& sends = *answers_[number];
            for (std::size_t i = 0; i < sends.size(); ++i) {
                if ((sends[i] & ~coming_[i]) == 0) continue;
                coming_[i] |= sends[i];
                dirty_[relations_.receiver(i)] = true;
                changed = true;
            }
        }
    }
}

// Puts a question about a cell into numbers.
void Stubborn::ask(Id column, Id key, std::span<const std::uint64_t> sendable) {
    question_.assign({column, static_cast<Id>(roots_[column]->serial), key});
    for (const std::uint64_t word : sendable) {
        question_.push_back(static_cast<Id>(word));
        question_.push_back(static_cast<Id>(word >> 32));
    }
}

bool Stubborn::pending(Id receiver, Id message) const {
    const Column& column = *tables_.columns[receiver];
    const std::span<const Id> inbox = column.inboxes[column.cells[cells_[receiver]].inbox];
    return std::binary_search(inbox.begin(), inbox.end(), message);
}

bool Stubborn::sendable(Id receiver, Id message) const {
    const std::size_t bit = relations_.bit(receiver, message);
    if (!(coming_[bit / 64] >> (bit % 64) & 1)) return false;
    for (const Id sender : relations_.emitters(bit))
        if (Relations::may_send(*footprints_[sender]->outside, bit)) return true;
    return false;
}

void Stubborn::keep_from(Id receiver, Id message) {
    const std::size_t bit = relations_.bit(receiver, message);
    for (const Id sender : relations_.emitters(bit))
        add(sender, May::labels(footprints_[sender]->outside->senders, bit));
}

Id Stubborn::cost(Id receiver, Id message) {
    const std::size_t bit = relations_.bit(receiver, message);
    Id sum = 0;
    for (const Id sender : relations_.emitters(bit)) {
        const Labels& labels = May::labels(footprints_[sender]->outside->senders, bit);
        if (!labels.empty()) sum += grown(*footprints_[sender], labels).enabled - footprints_[sender]->enabled;
    }
    return sum;
}

// What must come along without a choice.
void Stubborn::oblige(Id column) {
    const Footprint& footprint = *footprints_[column];
    for (const Id message : footprint.consumed)
        if (sendable(column, message)) keep_from(column, message);
    const bool set_channel = tables_.network.order == Order::set;
    for (const Send& send : footprint.sends) {
        const Column& receiver = *tables_.columns[send.column];
        add(send.column, May::labels(footprints_[send.column]->outside->greedy, send.message));
        if (set_channel && !receiver.messages[send.message].stands &&
            (pending(send.column, send.message) || sendable(send.column, send.message)))
            add(send.column, May::labels(footprints_[send.column]->outside->takers, send.message));
    }
    for (Id other = 0; other < processes_ && !footprint.events.empty(); ++other) {
        Labels labels;
        for (const auto& [monitor, another, label] : footprints_[other]->outside->events)
            for (const Send& event : footprint.events)
                if (monitor == event.column && !relations_.events_commute(monitor, event.message, another))
                    labels.add(label);
        add(other, labels);
    }
    for (const Footprint::Pardon& pardon : footprint.pardons) {
        const auto asked_for = [&](const Send& send) {
            const Column& receiver = *tables_.columns[send.column];
            const std::vector<bool>& live = receiver.locals[receiver.cells[cells_[send.column]].local].live;
            return send.message >= live.size() || live[send.message];
        };
        if (std::any_of(pardon.sends.begin(), pardon.sends.end(), asked_for)) add(column, pardon.label);
    }
    if (tables_.network.bounded()) oblige_channels(column);
}

void Stubborn::oblige_channels(Id column) {
    const Footprint& footprint = *footprints_[column];
    const std::vector<Id> cells(cells_.begin(), cells_.end());
    for (Id number = 0; number < footprint.steps.size(); ++number) {
        const Step& step = (*steps_[column])[number];
        if (!footprint.steps[number] || step.effect != Effect::moves) continue;
        if (tables_.room(cells, column, step, queries_) < full) continue;
        for (Id i = 0; i < step.send_count; ++i) {
            const Send& send = step.sends[i];
            const Column& receiver = *tables_.columns[send.column];
            if (receiver.monitor || send.message >= bundle_bit || receiver.messages[send.message].stands) continue;
            const Id from = receiver.messages[send.message].sender;
            Labels labels;
            for (const auto& [message, takers] : footprints_[send.column]->outside->takers)
                if (receiver.messages[message].sender == from) labels.add(takers);
            add(send.column, labels);
        }
    }
}

bool Stubborn::possible(Id column, Id tag) {
    const std::vector<Id> cells(cells_.begin(), cells_.end());
    return std::any_of(steps_[column]->begin(), steps_[column]->end(), [&](const Step& step) {
        return step.effect == Effect::moves && relations_.tag(*tables_.columns[column], step) == tag &&
               tables_.room(cells, column, step, queries_) < full;
    });
}

bool Stubborn::settle(Id column) {
    const Footprint& footprint = *footprints_[column];
    if (settled_[column] == footprint.clauses.size()) return false;
    const auto [first, count] = relations_.range(column);
    open_.assign(count, 0);
    for (const Footprint* other : footprints_)
        for (std::size_t i = 0; i < count; ++i) open_[i] |= other->outside->sends[first + i] & coming_[first + i];
    for (std::size_t& next = settled_[column]; next < footprint.clauses.size(); ++next) {
        const Footprint::Clause& clause = footprint.clauses[next];
        bool kept = false;
        for (std::size_t i = 0; i < count; ++i) kept |= (clause.missing[i] & ~open_[i]) != 0;
        if (kept) continue;
        Id cheapest = none, candidate = none;
        for (std::size_t i = 0; i < count; ++i) {
            for (std::uint64_t rest = clause.missing[i]; rest != 0; rest &= rest - 1) {
                const Id message = static_cast<Id>(i * 64) + static_cast<Id>(std::countr_zero(rest));
                if (!relations_.options.necessary) {
                    keep_from(column, message);
                    continue;
                }
                const Id price = cost(column, message);
                if (price >= cheapest) continue;
                cheapest = price;
                candidate = message;
            }
        }
        if (!relations_.options.necessary) {
            add(column, clause.way);
        } else if (!clause.way.empty() && grown(footprint, clause.way).enabled - footprint.enabled <= cheapest) {
            add(column, clause.way);
        } else {
            keep_from(column, candidate);
        }
        return true;
    }
    return false;
}

// The smallest set with the seed, as far as choices allow; false as soon as it has `limit` possible steps.
bool Stubborn::close(Id seed, Id key, Id limit) {
    footprints_ = roots_;
    std::fill(queued_.begin(), queued_.end(), false);
    queue_.clear();
    enabled_ = 0;
    visible_ = false;
    draws_ = 0;
    unsigned drawn = 0;
    bool seen = false;
    if (tables_.network.bounded() && !possible(seed, key)) return false;
    put(seed, started(seed, key));
    const Keep keep = relations_.options.keep;
    for (;;) {
        if (enabled_ >= limit) return false;
        if (!queue_.empty()) {
            const Id column = queue_.back();
            queue_.pop_back();
            queued_[column] = false;
            oblige(column);
            continue;
        }
        if (visible_ && keep > Keep::safety) return false;
        if (visible_ && !seen && keep == Keep::safety) {
            seen = true;
            for (Id other = 0; other < processes_; ++other) {
                const Labels& labels = footprints_[other]->outside->visible;
                add(other, labels);
            }
            continue;
        }
        if (!relations_.weak() && draws_ != drawn) {
            drawn = draws_;
            for (Id other = 0; other < processes_; ++other) {
                for (unsigned kind = 0; kind < budgets; ++kind)
                    if (drawn >> kind & 1) add(other, footprints_[other]->outside->draws[kind]);
            }
            continue;
        }
        bool open = false;
        for (Id column = 0; column < processes_ && !open; ++column)
            if (!footprints_[column]->labels.empty()) open = settle(column);
        if (!open) break;
    }
    if (keep == Keep::branching) {
        // NB: one step, which is deterministic.
        if (enabled_ != 1) return false;
        for (const Footprint* footprint : footprints_)
            if (!footprint->single) return false;
    }
    return true;
}

}  // namespace quorate
