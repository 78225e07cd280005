// Monitors are shared (docs/soundness.md, rule 6): which of their events commute, and which a property may see.
#pragma once

#include "model/tables.hpp"

namespace quorate {

class MonitorEvents {
public:
    explicit MonitorEvents(const Tables& tables);

    // Two events commute if the monitor ends in the same local state either way, from every one it may be in, and fails
    // in neither.
    bool commute(Id monitor, Id a, Id b) const {
        const Events& events = monitors_[monitor];
        return events.commuting[a * events.visible.size() + b];
    }
    bool visible(Id monitor, Id event) const { return monitors_[monitor].visible[event]; }

private:
    struct Events {
        std::vector<char> commuting{}, visible{};
    };
    std::vector<Events> monitors_{};  // by column
};

}  // namespace quorate
