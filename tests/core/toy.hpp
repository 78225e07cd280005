// Toy protocols: what a handler does is a hash of its arguments, so there are as many protocols as there are seeds.
#pragma once

#include <optional>
#include <set>

#include "dice.hpp"
#include "search/search.hpp"

namespace toy {

using namespace quorate;

struct Rule {
    Mode mode = Mode::single;
    Id type = 0;
    Id size = 2;  // exact: so many; each: from the first so many processes
    bool keep = false;
};

struct Result {
    Effect effect = Effect::moves;
    Id local = none;
    std::vector<Send> sends{};  // events come last

    auto key() const {
        std::vector<Id> ids{static_cast<Id>(effect), local};
        for (const Send& send : sends) ids.insert(ids.end(), {send.column, send.message});
        return ids;
    }
};

// Processes of equal shape and, behind them, a monitor. Message m of any receiver comes from process m % processes.
// A process that has crashed in local state s is in local state `locals + s`.
struct Protocol {
    std::uint64_t seed = 1;
    Id processes = 3, locals = 3, kinds = 2;  // kinds of messages, by sender
    Id classes = none;  // of local states that are alike in one respect: guards, filters, targets, sends or events
    Id targets = none;  // handlers lead to one of the first so many local states
    Id starts = 1;      // process 0 begins in one of so many local states
    Id choices = 2;     // a handler has one outcome, or up to so many
    Network network{};
    std::vector<Rule> rules{{Mode::spontaneous}, {Mode::single, 0}, {Mode::single, 1}};
    std::uint64_t rarity = 3;    // one in so many guards is false
    std::uint64_t failures = 0;  // one in so many behaviours fails, 0 for none
    std::uint64_t cuts = 0;      // one in so many outcomes is cut
    bool monitor = false;
    bool monitor_fails = false;  // in its last local state
    bool recovers = false, notifies = false;
    bool input = false, clean = false;
    Id attacker = none;  // the process whose messages stand; those of the first kind from the beginning

    Id messages() const { return processes * kinds; }
    Id type(Id message) const { return message / processes; }
    Id sender(Id message) const { return message % processes; }
    bool stands(Id message) const { return sender(message) == attacker; }
    Id events() const { return 2; }
    bool crashed(Id column, Id local) const { return column < processes && local >= locals; }
    bool may_crash(Id column) const { return column < processes && column != attacker && network.budget[2] > 0; }
    Id recovered(Id local) const { return local % 2; }
    bool failed(Id column, Id local) const { return column == processes && monitor_fails && local + 1 == locals; }

    bool asks(Id column, Id rule, Id local) const { return hash(11, column, rule, like(11, local)) % 4 != 0; }
    // The group of a message in the eyes of a quorum's filter, or `rejected`.
    Id group(Id column, Id rule, Id local, Id message) const {
        const std::uint64_t h = hash(12, column, rule, like(12, local), message);
        return h % 5 == 0 ? rejected : static_cast<Id>(h / 8 % 2);
    }
    // What a rule does with a sorted set of messages; nothing if its guard is false.
    std::vector<Result> fire(Id column, Id rule, Id local, std::span<const Id> set) const {
        std::uint64_t consumed = 0;
        for (Id message : set) consumed = mix(consumed * 31 + message + 1);
        const std::uint64_t h = hash(13, column, rule, like(13, local), consumed);
        if (h % rarity == 0) return {};
        if (failures > 0 && h / 16 % failures == 0) return {{Effect::fails}};
        std::vector<Result> results;
        std::set<std::vector<Id>> known;
        for (std::uint64_t choice = 0; choice < (h / 8 % 3 == 0 ? choices : 1); ++choice) {
            Result result = outcome(column, local, hash(18, column, rule, consumed, choice));
            if (known.insert(result.key()).second) results.push_back(std::move(result));
        }
        return results;
    }
    Id observe(Id local, Id event) const { return static_cast<Id>(hash(17, local, event) % locals); }
    // Puts pending messages into their order: in FIFO channels, those of a sender stay as they came.
    void arrange(std::vector<Id>& inbox) const {
        const auto place = [&](Id message) {
            const bool by_number = network.order != Order::fifo || stands(message);
            return std::pair(network.order == Order::fifo ? sender(message) : 0, by_number ? message : 0);
        };
        std::stable_sort(inbox.begin(), inbox.end(), [&](Id a, Id b) { return place(a) < place(b); });
    }
    std::vector<Send> notices(Id column) const {
        std::vector<Send> result;
        for (Id other = 0; other < processes && notifies; ++other)
            if (other != column) result.push_back({other, column});
        return result;
    }

private:
    template <typename... Parts>
    std::uint64_t hash(Parts... parts) const {
        std::uint64_t h = mix(seed);
        ((h = mix(h * 31 + static_cast<std::uint64_t>(parts) + 1)), ...);
        return h;
    }
    Id like(Id respect, Id local) const {
        return classes == none ? local : static_cast<Id>(hash(respect, local) % classes);
    }
    Result outcome(Id column, Id local, std::uint64_t h) const {
        if (cuts > 0 && h % cuts == 0) return {Effect::cut};
        const std::uint64_t target = hash(14, h, like(14, local)), send = hash(15, h, like(15, local)),
                            event = hash(16, h, like(16, local));
        Result result{Effect::moves, static_cast<Id>(target % std::min(locals, targets)), {}};
        for (std::uint64_t k = 0; k < send % 3; ++k) {
            const std::uint64_t more = mix(send + k);
            const Id receiver = static_cast<Id>(more % processes), kind = static_cast<Id>(more / 8 % kinds);
            result.sends.push_back({receiver, kind * processes + column});
        }
        if (monitor && event % 2 == 0) result.sends.push_back({processes, static_cast<Id>(event / 2 % events())});
        return result;
    }
};

// A state as the definitions have it.
struct State {
    std::vector<Id> locals{};
    std::vector<std::vector<Id>> pending{};  // sorted, or for FIFO by sender and then oldest first
    Id left[budgets] = {0, 0, 0};

    auto operator<=>(const State&) const = default;
};

// Any combination of what the core knows: networks, faults, quorums, monitors, attackers.
inline Protocol any(std::uint64_t seed) {
    Dice dice{seed};
    const auto one_in = [&](std::uint64_t sides) { return dice(sides) == 0; };
    Protocol protocol;
    protocol.seed = seed;
    protocol.processes = 2 + dice(2);
    protocol.locals = 2 + dice(3);
    protocol.starts = 1 + dice(2);
    if (one_in(2)) protocol.classes = 1 + dice(3);
    protocol.rarity = 2 + dice(3);
    if (one_in(4)) protocol.cuts = 9;
    protocol.monitor = one_in(2);
    protocol.rules = {{Mode::spontaneous}, {Mode::single, 0, 2, one_in(6)}, {static_cast<Mode>(1 + dice(5)), 1}};
    if (one_in(4)) protocol.rules.push_back({static_cast<Mode>(1 + dice(5)), 0});
    if (one_in(8)) protocol.attacker = protocol.processes - 1;
    if (one_in(6)) protocol.input = true;
    if (one_in(12)) protocol.clean = true;
    Network& network = protocol.network;
    network.order = static_cast<Order>(dice(3));
    network.head = static_cast<Head>(dice(3));
    if (network.order != Order::set || one_in(4)) network.capacity = 1 + dice(2);
    if (network.order == Order::fifo && one_in(2)) network.when_full = WhenFull::replace;
    if (one_in(6)) network.losses_unlimited = true;
    if (one_in(8)) network.duplicates_unlimited = true;
    if (one_in(6)) network.budget[0] = 1;
    if (one_in(6)) network.budget[1] = 1;
    if (one_in(4)) network.budget[2] = 1 + dice(2);
    if (network.budget[2] > 0) {
        network.crashes_cut_short = one_in(2);
        protocol.recovers = one_in(3);
        protocol.notifies = one_in(2);
    }
    return protocol;
}

}  // namespace toy
