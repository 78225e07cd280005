// What delivering, losing, doubling and consuming do to an inbox.

#include "check.hpp"
#include "model/network.hpp"

using namespace quorate;

namespace {

// Messages 0, 2, 4 ... come from process 0, messages 1, 3, 5 ... from process 1.
const auto sender = [](Id message) { return message % 2; };
const auto never = [](Id) { return false; };

Inbox after(const Network& network, Inbox inbox, std::initializer_list<Id> messages) {
    for (Id message : messages) CHECK(deliver(network, inbox, message, sender, never));
    return inbox;
}

}  // namespace

TEST("a set takes a message once, and keeps the copies of the network") {
    const Network set{};
    CHECK(after(set, {}, {4, 1, 4, 0, 1}) == (Inbox{0, 1, 4}));
    Inbox doubled{1, 4};
    CHECK(duplicate(set, doubled, 1, sender));
    CHECK(doubled == (Inbox{1, 4, 4}));
    CHECK(after(set, doubled, {4}) == doubled);
    const Id consumed[] = {1, 4};
    consume(doubled, consumed, never);
    CHECK(doubled == (Inbox{4}));
}

TEST("a multiset takes every message") {
    Network multiset{};
    multiset.order = Order::multiset;
    CHECK(after(multiset, {}, {4, 1, 4, 0, 1}) == (Inbox{0, 1, 1, 4, 4}));
}

TEST("a FIFO channel keeps the order of its sender") {
    Network fifo{};
    fifo.order = Order::fifo;
    Inbox inbox = after(fifo, {}, {3, 4, 1, 0, 3, 4});
    CHECK(inbox == (Inbox{4, 0, 4, 3, 1, 3}));
    const Id consumed[] = {3, 4};
    consume(inbox, consumed, never);  // the oldest of each
    CHECK(inbox == (Inbox{0, 4, 1, 3}));
    CHECK(duplicate(fifo, inbox, 1, sender));
    CHECK(inbox == (Inbox{0, 4, 4, 1, 3}));
}

TEST("a full channel blocks, and the channel of another sender does not") {
    for (Order order : {Order::set, Order::multiset, Order::fifo}) {
        Network network{};
        network.order = order;
        network.capacity = 2;
        Inbox inbox = after(network, {}, {2, 0});
        const Inbox before = inbox;
        CHECK(!deliver(network, inbox, 4, sender, never));
        CHECK(inbox == before);
        CHECK(!duplicate(network, inbox, 0, sender));
        CHECK(deliver(network, inbox, 1, sender, never));
        CHECK_EQUAL(inbox.size(), std::size_t{3});
        // On a set, what is pending already needs no room.
        CHECK_EQUAL(deliver(network, inbox, 2, sender, never), order == Order::set);
    }
}

TEST("a full channel that replaces loses its oldest message") {
    Network fifo{};
    fifo.order = Order::fifo;
    fifo.capacity = 2;
    fifo.when_full = WhenFull::replace;
    CHECK(after(fifo, {}, {2, 0, 1, 4}) == (Inbox{0, 4, 1}));
    Network set{};
    set.capacity = 1;
    set.when_full = WhenFull::replace;
    CHECK(after(set, {}, {2, 1, 0}) == (Inbox{0, 1}));
}

TEST("standing messages lie there once, take up no room and are never used up") {
    const auto stands = [](Id message) { return message >= 4; };
    for (Order order : {Order::set, Order::multiset, Order::fifo}) {
        Network network{};
        network.order = order;
        Inbox inbox;
        for (Id message : {6u, 4u, 6u}) CHECK(deliver(network, inbox, message, sender, stands));
        CHECK(inbox == (Inbox{4, 6}));
        const Id consumed[] = {6};
        consume(inbox, consumed, stands);
        CHECK(inbox == (Inbox{4, 6}));
    }
}
