// What the network does to the pending messages of one receiver. An inbox is a sequence of message numbers: sorted
// where the network is unordered, and grouped by sender in order of arrival where it is FIFO.
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
    bool crashes_cut_short = false;     // a crash may come when a part of a step's messages has been sent
    Id budget[budgets] = {0, 0, 0};     // losses, duplicates, crashes in all

    bool bounded() const { return capacity != none; }
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
    if (network.order == Order::fifo) {
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
    if (network.order == Order::set && std::binary_search(inbox.begin(), inbox.end(), message)) return true;
    const Id from = sender(message);
    if (network.order == Order::fifo) {
        auto [begin, end] = channel(inbox, from, sender);
        if (network.bounded() && end - begin >= network.capacity) {
            if (network.when_full == WhenFull::block) return false;
            inbox.erase(inbox.begin() + static_cast<std::ptrdiff_t>(begin));
            --end;
        }
        inbox.insert(inbox.begin() + static_cast<std::ptrdiff_t>(end), message);
        return true;
    }
    if (network.bounded()) {
        const auto is_from = [&](Id other) { return sender(other) == from; };
        if (static_cast<std::size_t>(std::count_if(inbox.begin(), inbox.end(), is_from)) >= network.capacity) {
            if (network.when_full == WhenFull::block) return false;
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

// Removes the first copy of each message of the set.
template <typename Stands>
void consume(Inbox& inbox, std::span<const Id> set, Stands stands) {
    for (Id message : set)
        if (!stands(message)) inbox.erase(std::find(inbox.begin(), inbox.end(), message));
}

}  // namespace quorate
