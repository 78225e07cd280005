// Messages that nobody will ever consume are dropped.
#pragma once

#include "analysis/closure.hpp"

namespace quorate {

struct DeadMessages {
    std::size_t dead = 0, pairs = 0;  // pairs of local state and message, and how many of them are dead
};

// Finds, per local state, the messages that no later local state can consume. Exact for networks in which a message
// that is never consumed has no effect: unordered ones without a capacity (docs/soundness.md, rule 5). Outside of the
// universe every message is alive.
DeadMessages find_dead_messages(Tables& tables, const Closure& closure);

}  // namespace quorate
