// A naive explorer of toy protocols, written from the definitions alone, to compare the searches with.
#pragma once

#include <map>

#include "toy.hpp"

namespace toy {

inline constexpr std::uint64_t never = ~std::uint64_t{0};

struct Exploration {
    std::vector<std::uint64_t> level_states{}, level_transitions{}, level_deadlocks{};
    std::set<State> states{};
    std::uint64_t transitions = 0, deadlocks = 0;
    std::map<std::pair<Id, Id>, std::uint64_t> first{};  // column and local state -> steps to get there
    std::map<std::pair<Id, Id>, std::uint64_t> stuck{};  // the same in a deadlock
    std::uint64_t failure = never, deadlock = never;     // steps to the first one, a failing step included
    bool cut = false;

    std::uint64_t depth() const { return level_states.size() - 1; }
    std::uint64_t steps_to(Id column, Id local) const {
        const auto place = first.find({column, local});
        return place == first.end() ? never : place->second;
    }
};

class Explorer {
public:
    explicit Explorer(const Protocol& protocol) : p_(protocol) {}

    // Nothing, if there are more states than that.
    std::optional<Exploration> run(std::size_t most) {
        Exploration found;
        std::vector<State> level = initials();
        found.states.insert(level.begin(), level.end());
        while (!level.empty()) {
            const std::uint64_t depth = found.level_states.size(), before = found.transitions, stuck = found.deadlocks;
            std::vector<State> following;
            for (const State& state : level) {
                expand(state);
                found.cut |= cut_;
                found.transitions += next_.size() + failed_;
                if (failed_ > 0) found.failure = std::min(found.failure, depth + 1);
                if (!enabled_) found.deadlock = std::min(found.deadlock, depth);
                found.deadlocks += !enabled_;
                for (Id column = 0; column < state.locals.size(); ++column) {
                    found.first.emplace(std::pair(column, shown(state, column)), depth);
                    if (!enabled_) found.stuck.emplace(std::pair(column, shown(state, column)), depth);
                }
                for (State& next : next_)
                    if (found.states.insert(next).second) following.push_back(std::move(next));
                if (found.states.size() > most) return std::nullopt;
            }
            found.level_states.push_back(level.size());
            found.level_transitions.push_back(found.transitions - before);
            found.level_deadlocks.push_back(found.deadlocks - stuck);
            level = std::move(following);
        }
        return found;
    }

    std::vector<State> initials() const {
        State first;
        first.locals.assign(p_.processes + p_.monitor, 0);
        first.pending.resize(p_.processes);
        if (p_.attacker != none) first.pending.assign(p_.processes, {p_.attacker});
        std::copy(std::begin(p_.network.budget), std::end(p_.network.budget), std::begin(first.left));
        std::vector<State> result(p_.starts, first);
        for (Id start = 0; start < p_.starts; ++start) result[start].locals[0] = start;
        return result;
    }

    // The states after one step, and whether a protocol step is possible and one of them fails.
    struct Expansion {
        std::vector<State> next;
        bool enabled, fails;
    };
    Expansion successors(const State& state) {
        expand(state);
        return {next_, enabled_, failed_ > 0};
    }

    // The sets of pending messages that a rule may consume, each sorted.
    std::set<std::vector<Id>> consumable(Id column, Id rule, Id local, const std::vector<Id>& inbox) const {
        const Rule& how = p_.rules[rule];
        if (how.mode == Mode::spontaneous) return enabled(column, rule, local, {{}});
        const std::vector<Id> offered = offer(column, rule, local, inbox);
        if (how.mode == Mode::single) {
            std::set<std::vector<Id>> sets;
            for (Id message : offered) sets.insert({message});
            return enabled(column, rule, local, sets);
        }
        if (!p_.asks(column, rule, local)) return {};
        std::set<std::vector<Id>> fitting;  // non-empty, of one group, of distinct senders
        for (std::size_t chosen = 1; chosen < std::size_t{1} << offered.size(); ++chosen) {
            std::vector<Id> set;
            std::set<Id> senders, groups;
            for (std::size_t i = 0; i < offered.size(); ++i)
                if (chosen >> i & 1) {
                    set.push_back(offered[i]);
                    senders.insert(p_.sender(offered[i]));
                    groups.insert(p_.group(column, rule, local, offered[i]));
                }
            if (senders.size() != set.size() || groups.size() > 1 || *groups.begin() == rejected) continue;
            if (how.mode == Mode::exact && set.size() != how.size) continue;
            if (how.mode == Mode::each && (set.size() != how.size || *senders.rbegin() >= how.size)) continue;
            std::sort(set.begin(), set.end());
            fitting.insert(set);
        }
        fitting = enabled(column, rule, local, fitting);
        if (how.mode == Mode::exact || how.mode == Mode::each) return fitting;
        std::set<std::vector<Id>> best;
        for (const auto& one : fitting) {
            const bool beaten = std::any_of(fitting.begin(), fitting.end(), [&](const auto& other) {
                const auto& [small, large] = how.mode == Mode::minimal ? std::tie(other, one) : std::tie(one, other);
                return other != one && std::includes(large.begin(), large.end(), small.begin(), small.end());
            });
            if (!beaten) best.insert(one);
        }
        return best;
    }

private:
    using Sets = std::set<std::vector<Id>>;

    Id shown(const State& state, Id column) const { return state.locals[column] % p_.locals; }

    Sets enabled(Id column, Id rule, Id local, const Sets& sets) const {
        Sets result;
        for (const auto& set : sets)
            if (!p_.fire(column, rule, local, set).empty()) result.insert(set);
        return result;
    }
    // Type and filter: `when` of a single message, the filter of a quorum.
    bool wants(Id column, Id rule, Id local, Id message) const {
        if (p_.rules[rule].mode == Mode::spontaneous || p_.rules[rule].type != p_.type(message)) return false;
        if (p_.rules[rule].mode == Mode::single) return !p_.fire(column, rule, local, {{message}}).empty();
        return p_.group(column, rule, local, message) != rejected;
    }
    // The messages among the pending ones that the order of the network lets a rule see.
    std::vector<Id> offer(Id column, Id rule, Id local, const std::vector<Id>& inbox) const {
        std::set<Id> wanted;
        for (Id message : inbox)
            if (wants(column, rule, local, message)) wanted.insert(message);
        if (p_.network.order != Order::fifo) return {wanted.begin(), wanted.end()};
        std::vector<Id> result;
        for (Id from = 0; from < p_.processes; ++from) {
            for (Id message : of(inbox, from)) {
                if (wanted.contains(message)) result.push_back(message);
                if (p_.stands(message)) continue;  // the attacker sends what is wanted, and nothing before it
                if (wanted.contains(message) || p_.network.head != Head::skip) break;
            }
        }
        return result;
    }
    std::vector<Id> of(const std::vector<Id>& inbox, Id from) const {
        std::vector<Id> result;
        for (Id message : inbox)
            if (p_.sender(message) == from) result.push_back(message);
        return result;
    }
    static void remove(std::vector<Id>& inbox, Id message) {
        inbox.erase(std::find(inbox.begin(), inbox.end(), message));
    }
    bool full(const std::vector<Id>& inbox, Id from) const {
        return p_.network.bounded() && of(inbox, from).size() >= p_.network.capacity;
    }
    bool put(std::vector<Id>& inbox, Id message) const {
        const bool there = std::find(inbox.begin(), inbox.end(), message) != inbox.end();
        if (there && (p_.network.order == Order::set || p_.stands(message))) return true;
        if (!p_.stands(message) && full(inbox, p_.sender(message))) {
            if (p_.network.when_full == WhenFull::block) return false;
            remove(inbox, of(inbox, p_.sender(message)).front());
        }
        inbox.push_back(message);
        p_.arrange(inbox);
        return true;
    }

    void expand(const State& state) {
        next_.clear();
        enabled_ = cut_ = false;
        failed_ = 0;
        for (Id column = 0; column < p_.processes; ++column) {
            environment(state, column);
            if (p_.crashed(column, state.locals[column])) {
                if (!p_.recovers) continue;
                State next = state;
                next.locals[column] = p_.recovered(state.locals[column]);
                next_.push_back(std::move(next));
                continue;
            }
            discard(state, column);
            const bool may_crash = state.left[2] > 0 && p_.may_crash(column);
            if (may_crash) send(crash(state, column), p_.notices(column));
            const std::vector<Id>& inbox = state.pending[column];
            for (Id rule = 0; rule < p_.rules.size(); ++rule)
                for (const auto& set : consumable(column, rule, state.locals[column], inbox)) {
                    if (p_.clean && set.size() != inbox.size()) continue;
                    for (const Result& result : p_.fire(column, rule, state.locals[column], set)) {
                        const bool possible = take(state, column, rule, set, result);
                        enabled_ |= possible;
                        if (possible && may_crash && p_.network.crashes_cut_short && result.effect == Effect::moves)
                            cut_short(state, column, rule, set, result);
                    }
                }
        }
    }
    State moved(const State& state, Id column, Id rule, const std::vector<Id>& set, Id local) const {
        State next = state;
        next.locals[column] = local;
        if (!p_.rules[rule].keep && !p_.network.duplicates_unlimited)
            for (Id message : set)
                if (!p_.stands(message)) remove(next.pending[column], message);
        return next;
    }
    // Sends what a step sends, and adds the state after it, unless that is not possible or fails.
    bool send(State next, const std::vector<Send>& sends) {
        for (const Send& one : sends) {
            if (one.column < p_.processes) {
                if (!put(next.pending[one.column], one.message)) return false;
                continue;
            }
            Id& monitor = next.locals[one.column];
            monitor = p_.observe(monitor, one.message);
            if (p_.failed(one.column, monitor)) {
                ++failed_;
                return true;
            }
        }
        next_.push_back(std::move(next));
        return true;
    }
    bool take(const State& state, Id column, Id rule, const std::vector<Id>& set, const Result& result) {
        failed_ += result.effect == Effect::fails;
        cut_ |= result.effect == Effect::cut;
        if (result.effect != Effect::moves) return true;
        return send(moved(state, column, rule, set, result.local), result.sends);
    }
    State crash(State state, Id column) const {
        state.locals[column] += p_.locals;
        --state.left[2];
        return state;
    }
    // A crash in the midst of a step: any part of the messages was sent, on FIFO channels those that come first.
    void cut_short(const State& state, Id column, Id rule, const std::vector<Id>& set, const Result& result) {
        std::vector<Send> messages, events;
        for (const Send& one : result.sends) (one.column < p_.processes ? messages : events).push_back(one);
        std::map<std::vector<Id>, std::vector<Send>> parts;
        for (std::size_t chosen = 0; chosen < std::size_t{1} << messages.size(); ++chosen) {
            Result part;
            std::set<Id> left_out;
            bool in_order = true;
            for (std::size_t i = 0; i < messages.size(); ++i) {
                if (!(chosen >> i & 1)) {
                    left_out.insert(messages[i].column);
                } else {
                    in_order &= !left_out.contains(messages[i].column);
                    part.sends.push_back(messages[i]);
                }
            }
            if (in_order || p_.network.order != Order::fifo) parts.emplace(part.key(), part.sends);
        }
        parts.erase(Result{Effect::moves, none, messages}.key());  // the step as a whole, and then a crash
        for (auto& [key, part] : parts) {
            for (const Send& notice : p_.notices(column)) part.push_back(notice);
            part.insert(part.end(), events.begin(), events.end());
            send(crash(moved(state, column, rule, set, result.local), column), part);
        }
    }
    void discard(const State& state, Id column) {
        if (p_.network.order != Order::fifo || p_.network.head != Head::drop) return;
        for (Id from = 0; from < p_.processes; ++from) {
            const std::vector<Id> channel = of(state.pending[column], from);
            if (channel.empty() || from == p_.attacker) continue;
            bool wanted = false;
            for (Id rule = 0; rule < p_.rules.size(); ++rule)
                wanted |= wants(column, rule, state.locals[column], channel.front());
            if (wanted) continue;
            State next = state;
            remove(next.pending[column], channel.front());
            next_.push_back(std::move(next));
            enabled_ = true;
        }
    }
    void environment(const State& state, Id column) {
        const std::vector<Id>& inbox = state.pending[column];
        for (std::size_t i = 0; i < inbox.size() && !p_.input; ++i) {
            if ((i > 0 && inbox[i] == inbox[i - 1]) || p_.stands(inbox[i])) continue;
            if (p_.network.losses_unlimited || state.left[0] > 0) {
                State next = state;
                next.pending[column].erase(next.pending[column].begin() + static_cast<std::ptrdiff_t>(i));
                next.left[0] -= !p_.network.losses_unlimited;
                next_.push_back(std::move(next));
            }
            if (state.left[1] > 0 && !full(inbox, p_.sender(inbox[i]))) {
                State next = state;
                next.pending[column].insert(next.pending[column].begin() + static_cast<std::ptrdiff_t>(i), inbox[i]);
                --next.left[1];
                next_.push_back(std::move(next));
            }
        }
    }

    const Protocol p_;
    std::vector<State> next_{};
    bool enabled_ = false, cut_ = false;
    std::uint64_t failed_ = 0;
};

}  // namespace toy
