// Local states that nobody can tell apart count as one.
#pragma once

#include "analysis/closure.hpp"

namespace quorate {

// Merges local states that no property and no other process can tell apart: a strong bisimulation, process by process.
// Observations must be set. Exact for every property over the observed fields. A local state outside of the universe is
// merged with no other, so that a step which leaves the universe is matched by one that leaves it for the same place.
std::size_t merge_local_states(Tables& tables, const Closure& closure);

}  // namespace quorate
