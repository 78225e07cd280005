// A transition-based generalised Büchi automaton over predicates. It accepts the runs that violate the property: those
// on which it can take edges of every acceptance set again and again. An edge reads the state a step starts from.
#pragma once

#include <vector>

#include "base/types.hpp"

namespace quorate {

struct Automaton {
    struct Edge {
        Id source = 0;
        std::uint64_t must = 0, must_not = 0;  // predicates that have to hold, and not to hold
        Id target = 0;
        std::uint64_t acceptance = 0;  // a bit per acceptance set

        bool reads(std::uint64_t label) const { return (label & must) == must && (label & must_not) == 0; }
    };
    Id states = 1, initial = 0;
    unsigned sets = 0;
    std::vector<Edge> edges{};

    // The masks of all acceptance sets together.
    std::uint64_t all() const { return sets == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << sets) - 1; }
    void validate() const {
        if (sets > 64) throw LimitError("more than 64 acceptance sets; the formula is too large");
        if (states > 65536) throw LimitError("more than 65,536 states of an automaton; the formula is too large");
        if (states == 0 || initial >= states) throw std::invalid_argument("the automaton has no such initial state");
        for (const Edge& edge : edges)
            if (edge.source >= states || edge.target >= states || (edge.acceptance & ~all()) != 0)
                throw std::invalid_argument("an edge of the automaton names a state or a set that it does not have");
    }
};

}  // namespace quorate
