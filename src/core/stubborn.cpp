#include "stubborn.hpp"

#include <functional>
#include <map>
#include <set>

namespace quorate {

Relations::Relations(Tables& tables, const Closure& closure, PorOptions options)
    : options(options), cyclic(may_cycle(tables, closure)), tables_(tables), closure_(closure) {
    std::size_t total = 0;
    for (const auto& column : tables.columns) {
        first_.push_back(total);
        total += column->monitor ? 0 : column->messages.size();
        known_.push_back(std::make_unique<Segmented<std::atomic<const Footprint*>>>());
        if (column->monitor)
            monitors_seen_ |=
                std::find(column->observed.begin(), column->observed.end(), true) != column->observed.end();
    }
    owned_.resize(tables.columns.size());
    const std::size_t words = (total + 63) / 64;
    for (const auto& column : tables.columns) {
        std::map<Id, unsigned> bit;
        for (Id message = 0; message < column->messages.size() && !column->monitor; ++message)
            bit.emplace(column->messages[message].sender, static_cast<unsigned>(bit.size()));
        bits_.emplace_back();
        for (Id message = 0; message < column->messages.size() && !column->monitor; ++message)
            bits_.back().push_back(std::uint64_t{1} << bit[column->messages[message].sender]);
    }
    for (const auto& column : tables.columns) {
        std::vector<May> may(column->locals.size());
        std::vector<std::vector<Id>> next(column->locals.size());
        for (Id local = 0; local < may.size(); ++local) {
            may[local].sends.assign(words, 0);
            if (column->monitor) continue;
            for (const Closure::Enabled& one : closure.enabled[column->index][local]) {
                for (const Outcome& outcome : one.behaviour->outcomes) {
                    if (outcome.effect != Effect::moves) continue;
                    next[local].push_back(outcome.local);
                    if (column->locals[outcome.local].observation != column->locals[local].observation)
                        may[local].visible = true;
                    for (const Send& send : outcome.sends) {
                        if (tables.columns[send.column]->monitor) {
                            may[local].emits = true;
                            may[local].visible |= monitors_seen_;
                        } else {
                            const std::size_t bit = first_[send.column] + send.message;
                            may[local].sends[bit / 64] |= std::uint64_t{1} << (bit % 64);
                        }
                    }
                }
            }
        }
        for (bool changed = true; changed;) {
            changed = false;
            for (std::size_t local = may.size(); local-- > 0;) {
                May& here = may[local];
                for (Id after : next[local]) {
                    const May& there = may[after];
                    for (std::size_t i = 0; i < words; ++i) {
                        const std::uint64_t more = there.sends[i] & ~here.sends[i];
                        here.sends[i] |= more;
                        changed |= more != 0;
                    }
                    changed |= (there.emits && !here.emits) || (there.visible && !here.visible);
                    here.emits |= there.emits;
                    here.visible |= there.visible;
                }
            }
        }
        if (!options.conditional && !may.empty()) {
            // What any local state may do, in the place of the first.
            for (std::size_t local = 1; local < may.size(); ++local) {
                for (std::size_t i = 0; i < words; ++i) may[0].sends[i] |= may[local].sends[i];
                may[0].emits |= may[local].emits;
                may[0].visible |= may[local].visible;
            }
        }
        may_.push_back(std::move(may));
    }
}

// A cycle of states takes every process it moves round a cycle of local states, and every message it consumes is sent
// again along the way. So start from the moves that lie on cycles of local states, and strike those that consume what
// no remaining move sends, until nothing changes.
bool Relations::may_cycle(const Tables& tables, const Closure& closure) {
    struct Move {
        Id column, from, to, transition, set;
        const std::vector<Send>* sends;
    };
    std::vector<Move> moves;
    for (const auto& column : tables.columns)
        for (Id local = 0; local < column->locals.size() && !column->monitor; ++local)
            for (const Closure::Enabled& one : closure.enabled[column->index][local])
                for (const Outcome& outcome : one.behaviour->outcomes)
                    if (outcome.effect == Effect::moves)
                        moves.push_back({column->index, local, outcome.local, one.transition, one.set, &outcome.sends});
    for (std::size_t before = moves.size() + 1; moves.size() < before;) {
        before = moves.size();
        // Local states that can be left and come back to: strike those without a way in or a way out, again and again.
        for (std::size_t count = moves.size() + 1; moves.size() < count;) {
            count = moves.size();
            std::set<std::pair<Id, Id>> entered, left;
            for (const Move& move : moves) {
                entered.emplace(move.column, move.to);
                left.emplace(move.column, move.from);
            }
            std::erase_if(moves, [&](const Move& move) {
                return !entered.contains({move.column, move.from}) || !left.contains({move.column, move.to});
            });
        }
        std::set<std::pair<Id, Id>> sent;
        for (const Move& move : moves)
            for (const Send& send : *move.sends) sent.emplace(send.column, send.message);
        std::erase_if(moves, [&](const Move& move) {
            const Column& column = *tables.columns[move.column];
            if (column.transitions[move.transition].keep) return false;
            const auto set = column.sets[move.set];
            return std::any_of(set.begin(), set.end(), [&](Id message) {
                return !column.messages[message].stands && !sent.contains({move.column, message});
            });
        });
    }
    return !moves.empty();
}

std::string Relations::unsupported(const Tables& tables, const Closure& closure) {
    for (const auto& column : tables.columns)
        if (column->as_is) return "nothing is known of a process that is too large for the optimistic universe";
    if (tables.network.bounded()) return "a bounded channel makes steps depend on how full it is";
    if (tables.has_budget()) return "steps that draw on a common budget depend on each other";
    if (tables.network.order == Order::fifo && tables.network.head == Head::drop)
        return "throwing away what arrives is a step that the closure does not list";
    if (tables.network.losses_unlimited) return "no relation is proven for a network that loses messages";
    if (tables.network.duplicates_unlimited) return "no relation is proven for a network that repeats messages";
    for (const auto& column : tables.columns) {
        std::set<Id> senders;
        for (Id message = 0; message < column->messages.size() && !column->monitor; ++message)
            senders.insert(column->messages[message].sender);
        if (senders.size() > 64) return "more than 64 processes send to one";
    }
    for (const auto& column : tables.columns)
        for (const auto& behaviours : closure.enabled[column->index])
            for (const Closure::Enabled& one : behaviours)
                for (const Outcome& outcome : one.behaviour->outcomes)
                    for (const Send& send : outcome.sends) {
                        const Column& receiver = *tables.columns[send.column];
                        if (!receiver.monitor && receiver.messages[send.message].sender != column->index)
                            return "a process passes on what others have sent";
                    }
    for (const auto& column : tables.columns)
        for (const Transition& transition : column->transitions)
            if (transition.mode == Mode::maximal) return "a maximal quorum may be disabled by a message that arrives";
    return {};
}

const Footprint& Relations::footprint(Id column, Id cell, const StepList& steps) {
    auto& known = *known_[column];
    if (cell < known.size())
        if (const Footprint* found = known[cell].load(std::memory_order_acquire)) return *found;
    Column& owner = *tables_.columns[column];
    const std::lock_guard guard(owner.lock);
    while (known.size() <= cell) known.append([](auto&) {});
    if (const Footprint* found = known[cell].load(std::memory_order_relaxed)) return *found;
    owned_[column].push_back(build(owner, cell, steps));
    known[cell].store(owned_[column].back().get(), std::memory_order_release);
    return *owned_[column].back();
}

std::unique_ptr<Footprint> Relations::build(Column& column, Id cell, const StepList& steps) const {
    auto result = std::make_unique<Footprint>();
    const bool set_channel = tables_.network.order == Order::set;
    for (const Step& step : steps) {
        if (step.effect == Effect::cut) continue;  // it leads nowhere
        ++result->enabled;
        result->visible |= step.observed;
        if (step.kind == Kind::step && set_channel && !column.transitions[step.transition].keep)
            for (Id message : column.sets[step.set]) result->consumed.push_back(message);
        for (Id i = 0; i < step.send_count; ++i) {
            if (tables_.columns[step.sends[i].column]->monitor) {
                result->emits = true;
                result->visible |= monitors_seen_;
            } else if (set_channel) {
                result->sends.push_back(step.sends[i]);
            }
        }
    }
    const auto once = [](auto& list, auto less) {
        std::sort(list.begin(), list.end(), less);
        const auto same = [&](const auto& a, const auto& b) { return !less(a, b) && !less(b, a); };
        list.erase(std::unique(list.begin(), list.end(), same), list.end());
    };
    once(result->consumed, std::less<Id>());
    once(result->sends,
         [](const Send& a, const Send& b) { return std::tie(a.column, a.message) < std::tie(b.column, b.message); });
    list_missing(column, cell, *result);
    return result;
}

// The steps that only lack messages, by the senders of what is missing. Where the senders of one are among those of
// another, the smaller set of senders stands for both, with the messages of both.
void Relations::list_missing(const Column& column, Id cell, Footprint& footprint) const {
    const std::span<const Id> pending = column.inboxes[column.cells[cell].inbox];
    std::vector<char> there(column.messages.size(), 0);
    for (std::size_t i = 0; i < pending.size(); ++i) {
        const bool head = i == 0 || column.messages[pending[i - 1]].sender != column.messages[pending[i]].sender;
        if (tables_.network.order != Order::fifo || head) there[pending[i]] = 1;
    }
    const std::vector<std::uint64_t>& bits = bits_[column.index];
    struct Lack {
        std::uint64_t senders;
        std::span<const Id> set;
    };
    std::vector<Lack> lacks;
    std::vector<std::uint64_t> smallest;
    for (const Closure::Enabled& one : closure_.enabled[column.index][column.cells[cell].local]) {
        Lack lack{0, column.sets[one.set]};
        for (Id message : lack.set)
            if (!there[message]) lack.senders |= bits[message];
        if (lack.senders == 0) continue;  // it is possible now
        lacks.push_back(lack);
        const auto within = [&](std::uint64_t other) { return (other & ~lack.senders) == 0; };
        if (std::any_of(smallest.begin(), smallest.end(), within)) continue;
        std::erase_if(smallest, [&](std::uint64_t other) { return (lack.senders & ~other) == 0; });
        smallest.push_back(lack.senders);
    }
    std::sort(smallest.begin(), smallest.end(), [](std::uint64_t a, std::uint64_t b) {
        return std::make_pair(std::popcount(a), a) < std::make_pair(std::popcount(b), b);
    });
    std::vector<char> listed(column.messages.size());
    for (const std::uint64_t senders : smallest) {
        std::fill(listed.begin(), listed.end(), 0);
        for (const Lack& lack : lacks)
            if ((senders & ~lack.senders) == 0)
                for (Id message : lack.set)
                    if (!there[message] && (bits[message] & senders) != 0) listed[message] = 1;
        Footprint::Clause clause;
        for (Id message = 0; message < listed.size(); ++message) {
            if (!listed[message]) continue;
            const Id sender = column.messages[message].sender;
            const auto same = [&](const Footprint::Missing& other) { return other.sender == sender; };
            auto place = std::find_if(clause.begin(), clause.end(), same);
            if (place == clause.end()) place = clause.insert(clause.end(), {sender, {}});
            place->messages.push_back(message);
        }
        footprint.clauses.push_back(std::move(clause));
    }
}

Stubborn::Stubborn(Tables& tables, Relations& relations) : tables_(tables), relations_(relations) {
    for (const auto& column : tables.columns) processes_ += !column->monitor;
    footprints_.resize(processes_);
    in_.resize(processes_);
}

void Stubborn::add(Id column) {
    if (in_[column]) return;
    in_[column] = 1;
    enabled_ += footprints_[column]->enabled;
    queue_.push_back(column);
}

bool Stubborn::choose(std::span<const Id> cells) {
    std::vector<Query> none_asked;
    Id all = 0;
    for (Id column = 0; column < processes_; ++column) {
        const StepList* steps = tables_.steps(column, cells[column], none_asked);
        footprints_[column] = &relations_.footprint(column, cells[column], *steps);
        all += footprints_[column]->enabled;
    }
    Id best = all;
    for (Id seed = 0; seed < processes_; ++seed) {
        if (footprints_[seed]->enabled == 0) continue;
        if (close(seed, cells, best)) {
            best = enabled_;
            best_ = in_;
            if (best == 1 || !relations_.options.smallest) break;
        } else if (!relations_.options.smallest) {
            break;
        }
    }
    return best < all;
}

bool Stubborn::possible(Id receiver, Id message) const {
    const Id sender = tables_.columns[receiver]->messages[message].sender;
    return !in_[sender] && relations_.may_send(sender, local(sender), receiver, message);
}

void Stubborn::settle(Id receiver, const Footprint::Clause& clause) {
    Id candidate = none;
    for (const Footprint::Missing& missing : clause) {
        const bool can_come = std::any_of(missing.messages.begin(), missing.messages.end(),
                                          [&](Id message) { return possible(receiver, message); });
        if (!relations_.options.necessary) {
            if (can_come) add(missing.sender);
            continue;
        }
        if (!can_come) return;
        if (candidate == none || footprints_[missing.sender]->enabled < footprints_[candidate]->enabled)
            candidate = missing.sender;
    }
    if (candidate != none) add(candidate);
}

// The smallest set with the seed, as far as choices allow; false as soon as it has `limit` possible steps.
bool Stubborn::close(Id seed, std::span<const Id> cells, Id limit) {
    std::fill(in_.begin(), in_.end(), 0);
    queue_.clear();
    cells_ = cells;
    enabled_ = 0;
    add(seed);
    bool emits = false, visible = false;
    for (std::size_t next = 0; next < queue_.size(); ++next) {
        if (enabled_ >= limit) return false;
        const Id column = queue_[next];
        const Footprint& footprint = *footprints_[column];
        for (Id message : footprint.consumed)
            if (possible(column, message)) add(tables_.columns[column]->messages[message].sender);
        for (const Send& send : footprint.sends) {
            if (in_[send.column]) continue;
            const Column& receiver = *tables_.columns[send.column];
            const std::span<const Id> pending = receiver.inboxes[receiver.cells[cells[send.column]].inbox];
            if (std::binary_search(pending.begin(), pending.end(), send.message)) add(send.column);
        }
        if (footprint.emits && !emits) {
            emits = true;
            for (Id other = 0; other < processes_; ++other)
                if (relations_.may_emit(other, local(other))) add(other);
        }
        if (footprint.visible && !visible && relations_.options.visible) {
            visible = true;
            for (Id other = 0; other < processes_; ++other)
                if (relations_.may_show(other, local(other))) add(other);
        }
        for (const Footprint::Clause& clause : footprint.clauses) {
            if (enabled_ >= limit) return false;
            settle(column, clause);
        }
    }
    return enabled_ < limit;
}

}  // namespace quorate
