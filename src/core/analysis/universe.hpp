// Where the closure does not end: an optimistic universe, taken from the search itself (docs/architecture.md,
// universes).
//
// The universe U is a set of local states and messages per process. It is seeded with what a first search met. The
// analysis then asks for the behaviour of every local state of U on every consumable set of messages of U, met together
// or not, and the reductions argue about U as they do about a closure. A search that meets something outside of U makes
// its own answer void: U is extended by what was met, and everything starts over. It ends when a reduced search stays
// within U.
//
// A breadth-first search may wait instead: a step out of U is not taken, and when nothing else is left of a level, U is
// extended by what the steps lead to. If the same is merged and dropped of what was in U before (decisions.hpp), all
// states so far are those that a search by the larger U would have come to, so the search goes on as that one.
//
// Why that is enough: take the shortest run of the full system that leaves U. Up to its last step it is a run inside of
// U, for which the reductions are right, and its last step was evaluated. So the reduced search has a run that ends in
// the same step, and U was not final. Partial-order reduction needs the ignoring proviso for that in every mode
// (docs/soundness.md, rule 4), unless no run inside of U is endless: then every run is, up to commuting independent
// steps, the prefix of a visited one.
//
// A process whose local states and consumable sets are too many to be asked for is taken as it is: nothing is
// merged or dropped there, nothing it does leaves U, and the relations between steps, which would have to know all that
// it may do, are not to be had.
#pragma once

#include "analysis/closure.hpp"

namespace quorate {

// Adds to the universe all that the present cells hold, and their steps.
void extend_universe(Tables& tables);

// Evaluates the universe. A process that needs more than `most` answers of the oracle in all is taken as it is from
// then on; they are counted before they are asked for. `only_met` leaves out what no search has met: that is wrong, and
// there to show that it is.
Closure evaluate_universe(Tables& tables, Oracle& oracle, std::size_t most, bool only_met = false);

}  // namespace quorate
