// Random walks: they seed the optimistic universe (universe.hpp).
#pragma once

#include "model/oracle.hpp"

namespace quorate {

// Takes random walks from the initial states, for the cells that they meet.
void simulate(Tables& tables, Oracle& oracle, std::size_t walks, std::size_t most_steps);

}  // namespace quorate
