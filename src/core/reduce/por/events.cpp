#include "reduce/por/events.hpp"

namespace quorate {

MonitorEvents::MonitorEvents(const Tables& tables) : monitors_(tables.columns.size()) {
    for (const auto& owner : tables.columns) {
        if (!owner->monitor) continue;
        const Column& column = *owner;
        const Id count = static_cast<Id>(column.messages.size());
        auto& [commuting, visible] = monitors_[column.index];
        // Of a monitor that grows nothing is known: any order may count, and any event may make it fail.
        commuting.assign(static_cast<std::size_t>(count) * count, !column.grows);
        visible.assign(count, column.grows);
        if (column.grows) continue;
        const auto after = [&](Id local, Id event) {
            const auto* behaviour = column.behaviours.find(column.key(0, local, event));
            const Id next = behaviour == nullptr ? none : (*behaviour)->outcomes.front().local;
            return next == none || column.locals[next].failure != none ? none : next;
        };
        for (Id local = 0; local < column.locals.size(); ++local) {
            if (column.locals[local].failure != none) continue;
            std::vector<Id> next(count);
            for (Id event = 0; event < count; ++event) {
                next[event] = after(local, event);
                visible[event] |=
                    next[event] == none || column.locals[next[event]].observation != column.locals[local].observation;
            }
            for (Id a = 0; a < count; ++a) {
                for (Id b = 0; b <= a; ++b) {
                    const Id ab = next[a] == none ? none : after(next[a], b);
                    const Id ba = next[b] == none ? none : after(next[b], a);
                    if (ab != none && tables.merged(column, ab) == tables.merged(column, ba)) continue;
                    commuting[a * count + b] = commuting[b * count + a] = false;
                }
            }
        }
    }
}

}  // namespace quorate
