// Which sets of pending messages a transition may consume: enumerated by type, filter, sender and size, never over
// the power set of the inbox.
#pragma once

#include "model/column.hpp"

namespace quorate {

struct Consumption {
    Id set;
    const Behaviour* behaviour;
};

// In a search, `pending` is the inbox of a cell. In the closure it is every message the process may ever receive; then
// any of them may stand at the head of a channel, and every set that satisfies a guard may at some time be maximal.
enum class Scope : std::uint8_t { cell, closure };

// The most sets that are tried for one transition in one local state; past it a LimitError says so.
inline constexpr std::size_t most_sets = 1 << 20;

// Appends every enabled consumption to `found`, and what is not known yet to `queries`; as long as there are
// queries, `found` may be incomplete.
void list_consumptions(Column& column, const Network& network, Scope scope, Id transition, Id local,
                       std::span<const Id> pending, std::vector<Query>& queries, std::vector<Consumption>& found,
                       std::size_t most = most_sets);

// Is this message, by type and filter, one the transition takes in this local state? Empty when not known yet.
enum class Taken : std::uint8_t { no, yes, unknown };
Taken takes(Column& column, Scope scope, Id transition, Id local, Id message, std::vector<Query>& queries);

}  // namespace quorate
