// Partial-order reduction checked by its definition, in given states: what was chosen against all ways to go on
// without.
//
// Let T be the chosen steps of a state s, and w any sequence of steps that are not among them, up to a depth. After w
//  1. some step of T is possible (D2 of Valmari 1998), so that no deadlock is missed;
//  2. wherever a step of T leads, it also leads from s if it is taken first, followed by steps of w's kind (D1), or to
//     a state that differs only in having more left of a budget: a step of T may make a message dead, and then it is
//     neither lost nor repeated any more. Who has more left can do all that who has less can;
//  3. if a property may see a step of T, it sees none of w, so that all orders of visible steps are kept;
//  4. what fails in w, fails as well after a step of T.
// Where a step of T fails in s itself, the search reports that, and T has nothing to keep.
// That steps which are left out again and again are taken some time is a matter of the whole search, and not seen here.
#pragma once

#include "search/search.hpp"

namespace quorate {

struct Refutation {
    enum class Kind : std::uint8_t { stuck, differs, unseen, fails } kind;
    struct Named {
        Id column, transition;
        std::vector<Id> messages;
    };
    std::vector<Id> cells;        // the state
    std::vector<Named> chosen{};  // in it
    std::vector<Named> path{};    // of steps that were left out
};

struct Verification {
    std::size_t sets = 0;   // chosen in a state, with something left out
    std::size_t paths = 0;  // states reached by steps that were left out
    std::size_t pairs = 0;  // of a chosen step and one left out, fired both ways
    std::size_t depth = 0;  // the longest path followed
    std::vector<Refutation> wrong{};
};

// `most` bounds the states per set, on either side; `visible` says whether properties besides deadlock are to be kept.
Verification verify(Tables& tables, Oracle& oracle, Chooser& chooser, const std::vector<std::vector<Id>>& states,
                    std::size_t depth, std::size_t most, bool visible);

}  // namespace quorate
