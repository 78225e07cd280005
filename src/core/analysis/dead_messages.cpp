#include "analysis/dead_messages.hpp"

#include <algorithm>

namespace quorate {

DeadMessages find_dead_messages(Tables& tables, const Closure& closure) {
    DeadMessages found;
    for (auto& owner : tables.columns) {
        Column& column = *owner;
        if (column.monitor) continue;
        const std::size_t count = column.locals.size(), messages = column.messages.size();
        const std::size_t words = (messages + 63) / 64;
        std::vector<std::uint64_t> live(count * words, 0);
        std::vector<std::vector<Id>> successors(count);
        for (Id local = 0; local < count; ++local) {
            for (Id after : {column.locals[local].crash, column.locals[local].recovery})
                if (after != none) successors[local].push_back(after);
            for (Id view : column.locals[local].views)
                if (view != none) successors[local].push_back(view);
            for (const Closure::Enabled& one : closure.enabled[column.index][local]) {
                for (Id message : column.sets[one.set]) live[local * words + message / 64] |= 1ull << (message % 64);
                for (const Outcome& outcome : one.behaviour->outcomes)
                    if (outcome.effect == Effect::moves) successors[local].push_back(outcome.local);
            }
            std::sort(successors[local].begin(), successors[local].end());
            successors[local].erase(std::unique(successors[local].begin(), successors[local].end()),
                                    successors[local].end());
        }
        for (bool changed = true; changed;) {
            changed = false;
            for (std::size_t local = count; local-- > 0;) {
                for (Id next : successors[local]) {
                    for (std::size_t word = 0; word < words; ++word) {
                        const std::uint64_t more = live[next * words + word] & ~live[local * words + word];
                        live[local * words + word] |= more;
                        changed |= more != 0;
                    }
                }
            }
        }
        for (Id local = 0; local < count; ++local) {
            auto& bits = column.locals[local].live;
            bits.assign(messages, true);
            if (!closure.holds(column, column.locals[local])) continue;
            for (Id message = 0; message < messages; ++message) {
                if (!closure.holds(column, column.messages[message])) continue;
                bits[message] = live[local * words + message / 64] >> (message % 64) & 1;
                found.dead += !bits[message];
                ++found.pairs;
            }
        }
    }
    return found;
}

}  // namespace quorate
