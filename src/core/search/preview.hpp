// What a search would do in one state: for whoever wants to look at a reduction at work.
#pragma once

#include "search/search.hpp"

namespace quorate {

struct Preview {
    struct Taken {
        Id column;
        std::vector<Id> cells{};  // of the successor; nothing if the step fails
    };
    std::vector<Taken> taken{};
    bool reduced = false;  // partial-order reduction leaves something out
};

// Without a chooser every step is taken. (A search that would close a cycle takes all steps there; that depends on the
// way it came, so it is not seen here.)
Preview preview(Tables& tables, Oracle& oracle, Chooser* chooser, const std::vector<Id>& cells);

}  // namespace quorate
