// CTL without next over a stored graph, by labelling: sets of states from sets of states. Path quantifiers range over
// fair runs. Any run can be gone on with fairly (or it is ended by a bound), so "there is a fair run to a goal" is
// "there is a run to the goal".
#pragma once

#include "temporal/check.hpp"

namespace quorate {

// E[holds U goal]: backwards from the goal.
StateSet until(const Graph& graph, const StateSet& holds, const StateSet& goal);
// E G holds: the ends and the fair components inside `holds`, and what leads to them inside `holds`.
Beginnings always(const Graph& graph, const StateSet& holds, const Assumption& assumption, Watch& watch);

}  // namespace quorate
