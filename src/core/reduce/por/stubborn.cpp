#include "reduce/por/stubborn.hpp"

namespace quorate {

Stubborn::Stubborn(Tables& tables, Relations& relations) : tables_(tables), relations_(relations) {
    for (const auto& column : tables.columns) processes_ += !column->monitor;
    roots_.resize(processes_);
    steps_.resize(processes_);
    queued_.resize(processes_);
    unsettled_.resize(processes_);
    settled_.resize(processes_);
    for (Id column = 0; column < processes_; ++column) memory_.push_back(std::make_unique<Memory>());
}

bool Stubborn::choose(std::span<const Id> cells) {
    cells_ = cells;
    unsigned spent = 0;
    for (unsigned kind = 0; kind < budgets && tables_.has_budget(); ++kind)
        if (tables_.left(cells.back(), static_cast<Budget>(kind)) == 0) spent |= 1u << kind;
    Id all = 0;
    for (Id column = 0; column < processes_; ++column) {
        steps_[column] = tables_.steps(column, cells, queries_);
        roots_[column] = &relations_.footprints.root(column, cells[column], *steps_[column], spent);
        all += roots_[column]->all;
    }
    foresee();
    const PorOptions& options = relations_.options();
    Id best = all;
    // Processes with few steps first: they are likely to make small sets, and cheap to look at.
    order_.clear();
    for (Id column = 0; column < processes_; ++column) {
        memory_[column]->seeds = nullptr;
        if (!roots_[column]->seeds.empty()) order_.push_back(column);
    }
    std::sort(order_.begin(), order_.end(), [&](Id a, Id b) {
        return std::make_pair(roots_[a]->seeds.size(), a) < std::make_pair(roots_[b]->seeds.size(), b);
    });
    // Sets with less than `least` steps there are none.
    const auto find = [&](Id limit, Id least) {
        for (const Id seed : order_) {
            for (std::size_t which = 0; which < roots_[seed]->seeds.size(); ++which) {
                if (close(seed, which, std::min(limit, best))) {
                    best = enabled_;
                    best_ = footprints_;
                    key_column_ = seed;
                    key_ = roots_[seed]->seeds[which];
                }
                if (best <= least || !options.smallest) return;
            }
        }
    };
    // A set of one step is what most states have, and what is not one is seen soon.
    if (options.smallest) find(2, 1);
    if (best > 1) find(best, 2);
    offered_ = all;
    left_out_ = all - std::min(best, all);
    if (best >= all) return false;
    chosen_.assign(processes_, nullptr);
    for (Id column = 0; column < processes_; ++column)
        if (!best_[column]->labels.empty()) chosen_[column] = &best_[column]->steps;
    return true;
}

const Footprint& Stubborn::grown(const Footprint& from, const Labels& more, Id number) {
    FlatMap<const Footprint*>& known = memory_[from.column]->growths;
    const std::uint64_t question = from.serial << 32 | number;
    if (const Footprint* const* found = known.find(question)) return **found;
    const Footprint& result = relations_.footprints.grow(from, more);
    known.insert(question, &result);
    return result;
}

const Footprint& Stubborn::started(Id seed, std::size_t which) {
    const Footprint& root = *roots_[seed];
    Memory& memory = *memory_[seed];
    if (memory.seeds == nullptr) {
        ask(root, false);
        const std::uint64_t question = memory.sendable.number(asked_);
        if (memory.starts.size() <= root.serial) memory.starts.resize(root.serial + 1);
        auto& starts = memory.starts[root.serial];
        memory.seeds = starts.find(question);
        if (memory.seeds == nullptr) {
            starts.insert(question, std::vector<const Footprint*>(root.seeds.size()));
            memory.seeds = starts.find(question);
        }
    }
    const Footprint*& result = (*memory.seeds)[which];
    if (result == nullptr) {
        ask(root, false);
        result = &relations_.footprints.start(root, root.seeds[which], asked_);
    }
    return *result;
}

void Stubborn::add(Id column, const Labels& labels, Id number) {
    if (!labels.within(footprints_[column]->labels)) put(column, grown(*footprints_[column], labels, number));
}

void Stubborn::add(Id column, const Labels& labels) {
    if (labels.within(footprints_[column]->labels)) return;
    question_.clear();
    labels.write(question_);
    constexpr Id unlisted = Id{1} << 31;  // above all numbers of the relations
    add(column, labels, unlisted | memory_[column]->labels.intern(question_));
}

void Stubborn::put(Id column, const Footprint& next) {
    enabled_ += next.enabled - footprints_[column]->enabled;
    footprints_[column] = &next;
    visible_ |= next.visible;
    draws_ |= next.draws;
    settled_[column] = 0;
    unsettled_[column] = true;
    if (!queued_[column]) {
        queued_[column] = true;
        queue_.push_back(column);
    }
}

// A process gets nothing, then what the others can send without getting anything, and so on.
void Stubborn::foresee() {
    coming_.assign(relations_.instances.space.words(), relations_.options().conditional ? 0 : ~std::uint64_t{0});
    if (!relations_.options().conditional) return;
    dirty_.assign(processes_, true);
    for (const auto& memory : memory_) memory->asked = 0;
    for (bool changed = true; changed;) {
        changed = false;
        for (Id column = 0; column < processes_; ++column) {
            if (!dirty_[column]) continue;
            dirty_[column] = false;
            if (roots_[column]->silent) continue;
            for (const auto& [word, bits] : forwarded(column)) {
                if ((bits & ~coming_[word]) == 0) continue;
                coming_[word] |= bits;
                dirty_[relations_.instances.space.receiver(word)] = true;
                changed = true;
            }
        }
    }
}

const std::vector<Futures::Sent>& Stubborn::forwarded(Id column) {
    Memory& memory = *memory_[column];
    const auto [first, count] = relations_.instances.space.range(column);
    const auto coming = coming_.begin() + static_cast<std::ptrdiff_t>(first);
    Memory::Last& last = memory.last[std::min(memory.asked++, memory.last.size() - 1)];
    if (last.root == roots_[column] && std::equal(last.coming.begin(), last.coming.end(), coming)) return *last.answer;
    last.root = roots_[column];
    last.coming.assign(coming, coming + static_cast<std::ptrdiff_t>(count));
    ask(*last.root, true);
    const Id local = tables_.columns[column]->cells[last.root->cell].local;
    if (memory.answers.size() <= local) memory.answers.resize(local + 1);
    auto& answers = memory.answers[local];
    const std::uint64_t question = memory.gotten.number(asked_);
    if (const auto* known = answers.find(question)) {
        last.answer = *known;
    } else {
        last.answer = &relations_.footprints.futures.forward(column, local, asked_);
        answers.insert(question, last.answer);
    }
    return *last.answer;
}

void Stubborn::ask(const Footprint& root, bool pending) {
    const auto [first, count] = relations_.instances.space.range(root.column);
    asked_.resize(count);
    for (std::size_t i = 0; i < count; ++i)
        asked_[i] = (coming_[first + i] | (pending ? root.pending[i] : 0)) & root.used[i];
}

bool Stubborn::pending(Id receiver, Id message) const { return has_bit(roots_[receiver]->pending, message); }

bool Stubborn::sendable(Id receiver, Id message) const {
    const std::size_t bit = relations_.instances.space.bit(receiver, message);
    if (!has_bit(coming_, bit)) return false;
    for (const Id sender : relations_.instances.space.emitters(bit))
        if (footprints_[sender]->outside->may_send(bit)) return true;
    return false;
}

void Stubborn::keep_from(Id receiver, Id message) {
    const std::size_t bit = relations_.instances.space.bit(receiver, message);
    for (const Id sender : relations_.instances.space.emitters(bit)) {
        const Future& outside = *footprints_[sender]->outside;
        if (outside.may_send(bit)) add(sender, Future::find(outside.senders, bit));
    }
}

Id Stubborn::cost(Id receiver, Id message, Id limit) {
    const std::size_t bit = relations_.instances.space.bit(receiver, message);
    Id sum = 0;
    for (const Id sender : relations_.instances.space.emitters(bit)) {
        if (sum >= limit) break;
        const Footprint& footprint = *footprints_[sender];
        if (!footprint.outside->may_send(bit)) continue;
        const Future::Listed& found = Future::find(footprint.outside->senders, bit);
        sum += grown(footprint, found.labels, found.number).enabled - footprint.enabled;
    }
    return sum;
}

// What must come along without a choice.
void Stubborn::oblige(Id column) {
    const Footprint& footprint = *footprints_[column];
    for (const Id message : footprint.consumed)
        if (sendable(column, message)) keep_from(column, message);
    for (const Send& send : footprint.sends) {
        const Column& receiver = *tables_.columns[send.column];
        add(send.column, Future::find(footprints_[send.column]->outside->disabled, send.message));
        if (tables_.network.merges_equal() && !receiver.messages[send.message].stands &&
            (pending(send.column, send.message) || sendable(send.column, send.message)))
            add(send.column, Future::find(footprints_[send.column]->outside->takers, send.message));
    }
    for (Id other = 0; other < processes_ && !footprint.events.empty(); ++other) {
        Labels labels;
        for (const auto& [monitor, another, label] : footprints_[other]->outside->events)
            for (const Send& event : footprint.events)
                if (monitor == event.column && !relations_.instances.events.commute(monitor, event.message, another))
                    labels.add(label);
        add(other, labels);
    }
    for (const Footprint::Absorbed& absorbed : footprint.absorbed) {
        const auto asked_for = [&](const Send& send) {
            const Column& receiver = *tables_.columns[send.column];
            const std::vector<bool>& live = receiver.locals[receiver.cells[cells_[send.column]].local].live;
            return send.message >= live.size() || live[send.message];
        };
        if (std::any_of(absorbed.unsent.begin(), absorbed.unsent.end(), asked_for)) add(column, absorbed.label);
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
            for (const Future::Listed& takers : footprints_[send.column]->outside->takers)
                if (receiver.messages[takers.at].sender == from) labels.add(takers.labels);
            add(send.column, labels);
        }
    }
}

bool Stubborn::possible(Id column, Id tag) {
    const std::vector<Id> cells(cells_.begin(), cells_.end());
    return std::any_of(steps_[column]->begin(), steps_[column]->end(), [&](const Step& step) {
        return step.effect == Effect::moves && relations_.instances.tag(*tables_.columns[column], step) == tag &&
               tables_.room(cells, column, step, queries_) < full;
    });
}

Stubborn::Settled Stubborn::settle(Id column, Id limit) {
    const Footprint& footprint = *footprints_[column];
    const std::vector<Footprint::Clause>& clauses = relations_.footprints.clauses(footprint);
    const auto [first, count] = relations_.instances.space.range(column);
    open_.assign(count, 0);
    for (const Id other : relations_.instances.space.sources(column))
        for (std::size_t i = 0; i < count; ++i)
            open_[i] |= footprints_[other]->outside->sends[first + i] & coming_[first + i];
    for (std::size_t& next = settled_[column]; next < clauses.size(); ++next) {
        const std::uint64_t* missing = footprint.missing.data() + next * count;
        bool kept = false;
        for (std::size_t i = 0; i < count; ++i) kept |= (missing[i] & ~open_[i]) != 0;
        if (kept) continue;
        const Footprint::Clause& clause = clauses[next];
        if (!relations_.options().necessary) {
            for (std::size_t i = 0; i < count; ++i)
                for (std::uint64_t rest = missing[i]; rest != 0; rest &= rest - 1)
                    keep_from(column, static_cast<Id>(lowest(i, rest)));
            add(column, clause.way, clause.number);
            return Settled::now;
        }
        Id cheapest = limit, candidate = none;
        bool by_way = false;
        if (!clause.way.empty()) {
            const Id price = grown(footprint, clause.way, clause.number).enabled - footprint.enabled;
            by_way = price < cheapest;
            cheapest = std::min(cheapest, price);
        }
        for (std::size_t i = 0; i < count; ++i) {
            for (std::uint64_t rest = missing[i]; rest != 0; rest &= rest - 1) {
                if (cheapest == 0) break;
                const Id message = static_cast<Id>(lowest(i, rest));
                const Id price = cost(column, message, cheapest);
                if (price >= cheapest) continue;
                cheapest = price;
                candidate = message;
            }
        }
        if (candidate != none)
            keep_from(column, candidate);
        else if (by_way)
            add(column, clause.way, clause.number);
        else
            return Settled::too_dear;
        return Settled::now;
    }
    return Settled::already;
}

// The smallest set with the seed, as far as choices allow; false as soon as it has `limit` possible steps.
bool Stubborn::close(Id seed, std::size_t which, Id limit) {
    footprints_ = roots_;
    std::fill(queued_.begin(), queued_.end(), false);
    std::fill(unsettled_.begin(), unsettled_.end(), false);
    queue_.clear();
    enabled_ = 0;
    visible_ = false;
    draws_ = 0;
    unsigned drawn = 0;
    bool seen = false;
    if (tables_.network.bounded() && !possible(seed, roots_[seed]->seeds[which])) return false;
    put(seed, started(seed, which));
    const Keep keep = relations_.options().keep;
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
        if (!relations_.options().weak() && draws_ != drawn) {
            drawn = draws_;
            for (Id other = 0; other < processes_; ++other) {
                for (unsigned kind = 0; kind < budgets; ++kind)
                    if (drawn >> kind & 1) add(other, footprints_[other]->outside->draws[kind]);
            }
            continue;
        }
        Settled open = Settled::already;
        for (Id column = 0; column < processes_ && open == Settled::already; ++column) {
            if (!unsettled_[column]) continue;
            open = settle(column, limit - enabled_);
            if (open == Settled::already) unsettled_[column] = false;
        }
        if (open == Settled::too_dear) return false;
        if (open == Settled::already) break;
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
