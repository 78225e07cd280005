// The network: what it does to the pending messages of one receiver, and what follows from that for everybody else.
//
// This is the only place that knows which networks there are. All others ask a `Network` what they need to know: which
// messages are offered, what a delivery does, which sends commute, what a message that nobody will consume can still
// do. A new network is a new answer to these questions.
//
// An inbox is a sequence of message numbers: sorted where the network is unordered, and grouped by sender in order of
// arrival where it is FIFO.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "base/types.hpp"

namespace quorate {

enum class Order : std::uint8_t { set, multiset, fifo };
enum class WhenFull : std::uint8_t { block, replace };
enum class Head : std::uint8_t { block, skip, drop };

// The kinds of steps that draw on a global budget; `free` draws on none.
enum class Budget : std::uint8_t { losses, duplicates, crashes, free };
inline constexpr std::size_t budgets = 3;

struct Network {
    Order order = Order::set;
    WhenFull when_full = WhenFull::block;
    Head head = Head::block;
    Id capacity = none;  // messages pending from one sender at one receiver
    bool losses_unlimited = false;
    bool duplicates_unlimited = false;  // consuming never removes
    bool crashes_unlimited = false;
    bool crashes_cut_short = false;  // a crash may come when a part of a step's messages has been sent
    bool crashes_redeliver = false;  // what a step has consumed that a crash cuts short may still be pending
    bool loses_heads = false;        // of a queue only the head is lost
    Id most_down = none;             // so many processes may be crashed at once
    Id budget[budgets] = {0, 0, 0};  // losses, duplicates, crashes in all

    // --- channels ---

    // Messages of one sender are offered in the order in which they were sent.
    bool ordered() const { return order == Order::fifo; }
    // A message that is sent while an equal one is pending leaves no trace.
    bool merges_equal() const { return order == Order::set; }
    // A channel has room for so many messages.
    bool bounded() const { return capacity != none; }
    // A step that sends into a full channel is not possible.
    bool blocks_when_full() const { return bounded() && when_full == WhenFull::block; }
    // What is sent into a full channel removes what is there.
    bool replaces_when_full() const { return bounded() && when_full == WhenFull::replace; }
    // A message that a transition refuses does not keep it from what stands behind.
    bool skips_refused() const { return ordered() && head == Head::skip; }
    // A head that every transition refuses may be dropped, which is a step of the protocol.
    bool drops_refused() const { return ordered() && head == Head::drop; }
    // What a transition refuses decides what is offered to it, or dropped: it is behaviour.
    bool refusals_matter() const { return skips_refused() || drops_refused(); }

    // --- faults ---

    Id most(Budget kind) const { return budget[static_cast<std::size_t>(kind)]; }
    bool loses() const { return losses_unlimited || most(Budget::losses) > 0; }
    Budget loss() const { return losses_unlimited ? Budget::free : Budget::losses; }
    // The network adds copies of its own. (Where it may do so without limit, consuming never removes instead.)
    bool repeats() const { return most(Budget::duplicates) > 0; }
    bool crashes() const { return crashes_unlimited || most(Budget::crashes) > 0; }
    Budget crash() const { return crashes_unlimited ? Budget::free : Budget::crashes; }

    // --- what commutes (docs/soundness.md, rules 1 and 5) ---

    // Two sends into one channel do not: they are received in order, or compete for room.
    bool sends_conflict() const { return ordered() || bounded(); }
    // To send a message before or after an equal one is consumed is not the same.
    bool resending_conflicts() const { return merges_equal() && !duplicates_unlimited; }
    // A step takes away, or the environment loses or repeats, a message: does it matter if an equal one is sent before?
    // On a set, unless it stays where it is; in a channel with order, if what is done is done at any place in it.
    bool resending_matters(bool stays, bool at_any_place) const {
        return merges_equal() ? !stays : ordered() && at_any_place;
    }
    // What was consumed is gone, until it is sent again.
    bool single_copies() const { return merges_equal() && !repeats(); }
};

using Inbox = std::vector<Id>;

// `sender(m)` names the sender of a message number, `stands(m)` says whether an attacker keeps it available. All
// functions keep the canonical form of the inbox.

template <typename Sender>
std::pair<std::size_t, std::size_t> channel(const Inbox& inbox, Id from, Sender sender) {
    std::size_t begin = 0;
    while (begin < inbox.size() && sender(inbox[begin]) < from) ++begin;
    std::size_t end = begin;
    while (end < inbox.size() && sender(inbox[end]) == from) ++end;
    return {begin, end};
}

inline void insert_sorted(Inbox& inbox, Id message) {
    inbox.insert(std::upper_bound(inbox.begin(), inbox.end(), message), message);
}

// A standing message lies there once, takes up no room and has no place in the order: by number, among its sender's.
template <typename Sender>
void deliver_standing(const Network& network, Inbox& inbox, Id message, Sender sender) {
    auto first = inbox.begin(), last = inbox.end();
    if (network.ordered()) {
        const auto [begin, end] = channel(inbox, sender(message), sender);
        last = first + static_cast<std::ptrdiff_t>(end);
        first += static_cast<std::ptrdiff_t>(begin);
    }
    const auto place = std::lower_bound(first, last, message);
    if (place == last || *place != message) inbox.insert(place, message);
}

// False if the channel is full and blocks; the inbox is then unchanged.
template <typename Sender, typename Stands>
bool deliver(const Network& network, Inbox& inbox, Id message, Sender sender, Stands stands) {
    if (stands(message)) {
        deliver_standing(network, inbox, message, sender);
        return true;
    }
    if (network.merges_equal() && std::binary_search(inbox.begin(), inbox.end(), message)) return true;
    const Id from = sender(message);
    if (network.ordered()) {
        auto [begin, end] = channel(inbox, from, sender);
        if (network.bounded() && end - begin >= network.capacity) {
            if (network.blocks_when_full()) return false;
            inbox.erase(inbox.begin() + static_cast<std::ptrdiff_t>(begin));
            --end;
        }
        inbox.insert(inbox.begin() + static_cast<std::ptrdiff_t>(end), message);
        return true;
    }
    if (network.bounded()) {
        const auto is_from = [&](Id other) { return sender(other) == from; };
        if (static_cast<std::size_t>(std::count_if(inbox.begin(), inbox.end(), is_from)) >= network.capacity) {
            if (network.blocks_when_full()) return false;
            inbox.erase(std::find_if(inbox.begin(), inbox.end(), is_from));
        }
    }
    insert_sorted(inbox, message);
    return true;
}

// Adds a copy made by the network itself, right behind the original where order matters. False if there is no room.
template <typename Sender>
bool duplicate(const Network& network, Inbox& inbox, std::size_t position, Sender sender) {
    const Id message = inbox[position];
    if (network.bounded()) {
        const auto is_from = [&](Id other) { return sender(other) == sender(message); };
        if (static_cast<std::size_t>(std::count_if(inbox.begin(), inbox.end(), is_from)) >= network.capacity)
            return false;
    }
    inbox.insert(inbox.begin() + static_cast<std::ptrdiff_t>(position) + 1, message);
    return true;
}

// Gives an inbox whose messages were renamed its canonical form again; messages of one sender keep their order.
template <typename Sender, typename Stands>
void arrange(const Network& network, Inbox& inbox, Sender sender, Stands stands) {
    if (!network.ordered()) return std::sort(inbox.begin(), inbox.end());
    std::stable_sort(inbox.begin(), inbox.end(), [&](Id a, Id b) {
        if (sender(a) != sender(b)) return sender(a) < sender(b);
        return stands(a) && a < b;
    });
}

// The messages of an inbox that a transition is offered: those that it wants, as far as the order lets it see them.
// `refuses(m)` says whether it would not take m, or that this is not known. Equal messages are offered once.
enum class Refuses : std::uint8_t { no, yes, unknown };
template <typename Sender, typename Stands, typename Wants, typename RefusesIt>
std::vector<Id> offered(const Network& network, std::span<const Id> inbox, Sender sender, Stands stands, Wants wants,
                        RefusesIt refuses) {
    std::vector<Id> result;
    for (std::size_t i = 0; i < inbox.size(); ++i) {
        const Id message = inbox[i];
        if (network.ordered() && !stands(message)) {
            const Id from = sender(message);
            if (network.skips_refused()) {
                // The first message of the channel that the transition takes; the rest of the channel waits behind it.
                std::size_t end = i;
                while (end < inbox.size() && sender(inbox[end]) == from) ++end;
                for (; i < end; ++i) {
                    if (!wants(inbox[i])) continue;
                    const Refuses refused = refuses(inbox[i]);
                    if (refused == Refuses::no) result.push_back(inbox[i]);
                    if (refused != Refuses::yes) break;
                }
                i = end - 1;
                continue;
            }
            if (i > 0 && sender(inbox[i - 1]) == from) continue;
        }
        if (wants(message) && (result.empty() || result.back() != message)) result.push_back(message);
    }
    return result;
}

// Does a message stand at the head of its channel?
template <typename Sender, typename Stands>
bool is_head(const Inbox& inbox, std::size_t position, Sender sender, Stands stands) {
    const Id message = inbox[position];
    return !stands(message) && (position == 0 || sender(inbox[position - 1]) != sender(message));
}

// Removes the first copy of each message of the set.
template <typename Stands>
void consume(Inbox& inbox, std::span<const Id> set, Stands stands) {
    for (Id message : set)
        if (!stands(message)) inbox.erase(std::find(inbox.begin(), inbox.end(), message));
}

}  // namespace quorate
