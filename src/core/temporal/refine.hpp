// Part of a set of nodes that a fair accepted run can stay in. A strongly fair group that is enabled somewhere in a
// component but has no step in it must be avoided: the states where it is enabled are taken out, and what is left falls
// into smaller components. (Emerson and Lei 1987.)
#pragma once

#include "temporal/breadth.hpp"

namespace quorate {

// The nodes of such a part, or nothing. Weak fairness and acceptance are judged too.
std::optional<std::vector<Spot>> refine(const Product& product, const Groups& groups, std::vector<Spot> nodes,
                                        Pace& pace);

}  // namespace quorate
