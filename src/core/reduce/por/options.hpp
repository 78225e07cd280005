// What is asked of partial-order reduction.
#pragma once

#include <cstdint>

namespace quorate {

// Which properties the reduced search has to keep: deadlocks, what is reachable, LTL without next, CTL* without next.
// The last two are for depth-first search, which sees when it closes a cycle.
enum class Keep : std::uint8_t { deadlocks, safety, linear, branching };

struct PorOptions {
    bool necessary = true;    // of the ways to keep a step disabled one is chosen (NET); otherwise all are taken
    bool conditional = true;  // what a process may still do starts at its present local state, otherwise at any
    bool smallest = true;     // try every step as a start and keep the smallest set, otherwise the first
    bool commuting = true;    // steps of one process may be independent; otherwise they never are
    bool key = true;          // one step of the set must stay possible, not all of them (weak stubborn sets)
    bool twins = true;        // a step may stand for others that do the same with other messages
    bool split_quorums = false, split_replies = false;
    Keep keep = Keep::safety;

    // Linear and branching time need strong sets: D3 of Valmari 1998, theorem 10 of the thesis.
    bool weak() const { return key && keep <= Keep::safety; }
};

}  // namespace quorate
