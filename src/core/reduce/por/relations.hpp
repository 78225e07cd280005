// Who can disturb whom, read off the closure: what stubborn sets need to know about steps, put together.
//
//   instances          the steps that the closure holds, numbered: tags and labels (and events.hpp, message_space.hpp)
//   independence       which steps of one process commute (docs/soundness.md, rule 3)
//   future             what a process may still do and send while it takes no step of the set
//   twins              steps that do the same with other messages
//   footprint          what the steps of one cell with given labels depend on
//   necessary_enabling what keeps its other steps disabled
//   proviso            whether steps could be put off for ever
#pragma once

#include "reduce/por/footprint.hpp"

namespace quorate {

class Relations {
public:
    // The closure must be complete. Observations must be set.
    Relations(Tables& tables, const Closure& closure, const PorOptions& options);

    // Why the relations do not hold for this system; empty if they do.
    static std::string unsupported(const Tables& tables, const Closure& closure, Keep keep);

    const PorOptions& options() const { return instances.options; }
    // Must steps that are left out again and again be taken some time?
    const bool proviso;
    const Instances instances;
    Footprints footprints;
};

}  // namespace quorate
