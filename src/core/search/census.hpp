// What a search met, counted afterwards over the states that it stored: which local states, which steps, how often, and
// how soon. Only what is possible in a state that was met is counted; behaviours that the analysis merely tried are
// not.
#pragma once

#include "model/expander.hpp"
#include "model/watch.hpp"
#include "store/store.hpp"

namespace quorate {

struct Census {
    // A local state, and the messages that were pending in some state together with it.
    struct Visited {
        Id column, local;
        std::uint64_t states = 0;
        std::vector<Id> pending{};
    };
    // A transition of a process, or something that the environment did to it.
    struct Fired {
        Id column;
        Kind kind;
        Id transition;
        std::uint64_t states = 0, steps = 0;  // in which it was possible, and how often, choices and sets counted
        std::uint64_t depth = 0;              // of the first of these states
        std::uint64_t blocked = 0;            // steps that were not possible because a channel was full
        std::uint64_t cut = 0;                // steps that were not taken because they lead out of a bound (`within`)
    };
    // What a transition did in a local state: of its outcomes, those that were possible. Of a monitor, which has no
    // transitions: the event that it heard of there.
    struct Reached {
        Id column, transition, local;
        std::vector<Id> consumed{}, outcomes{};
    };
    std::vector<Visited> visited{};
    std::vector<Fired> fired{};
    std::vector<Reached> behaviours{};
    bool complete = true;  // nothing has stopped it on the way
};

// `levels[d]` says, per thread, where level d begins in the store. `found` is told meanwhile as the search's progress.
Census take_census(Tables& tables, const Store& store, const std::vector<std::vector<std::uint64_t>>& levels,
                   Watch& watch, const Progress& found);

}  // namespace quorate
