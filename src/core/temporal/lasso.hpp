// A run that shows a violation: a stem, and then a loop that is repeated for ever, or no further step at all.
#pragma once

#include "temporal/breadth.hpp"

namespace quorate {

struct Lasso {
    Way way{};                  // the stem, and then the loop, which leads back to where it began
    std::size_t loop_from = 0;  // the step with which the loop begins; as many as there are steps: nothing happens
    std::vector<Id> stopped{};  // columns that have crashed implicitly
    // What could be done on the loop again and again, or all the time, and never is: acts.
    struct Starved {
        Id act;
        bool always;
    };
    std::vector<Starved> starved{};
};

// The shortest way to the component, which is one that `Accepting` has found, and a shortest way back to where that
// ends on which all acceptance sets and fair groups are met. If there are too many, from mark to mark by short ways.
Lasso make_lasso(const Product& product, const Groups& groups, const std::vector<Spot>& component, Pace& pace);
// What a loop (or a state in which the run stops) leaves undone for ever.
void find_starved(const Graph& graph, const Assumption& assumption, Lasso& lasso);

}  // namespace quorate
