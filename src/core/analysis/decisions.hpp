// What was decided by an optimistic universe, so that it can be told whether it stands in a larger one
// (docs/soundness.md, rule 24).
//
// A search that has stayed inside of a universe has used no more than which of its local states were merged, and which
// of its messages were dropped where. If the same is decided of these in a larger universe, then a search by that one
// would have come to the same states so far.
#pragma once

#include "model/tables.hpp"

namespace quorate {

class Decisions {
public:
    explicit Decisions(const Tables& tables);

    // Whether they stand after everything was decided anew. Classes that have been met keep their representatives then.
    bool stand(Tables& tables) const;

private:
    struct Decided {
        Id local, representative;
        std::vector<bool> live;
    };
    struct Process {
        bool as_is, grows;
        std::vector<Id> messages;
        std::vector<Decided> locals;
    };
    std::vector<Process> processes_{};
};

}  // namespace quorate
