#include "analysis/local_quotient.hpp"

#include <algorithm>
#include <map>

namespace quorate {

std::size_t merge_local_states(Tables& tables, const Closure& closure) {
    std::size_t total = 0;
    for (auto& owner : tables.columns) {
        Column& column = *owner;
        if (column.grows) continue;
        if (column.shared) {  // processes tell any two values apart
            for (Id local = 0; local < column.locals.size(); ++local) column.locals[local].representative = local;
            total += column.locals.size();
            continue;
        }
        const std::size_t count = column.locals.size();
        const auto& enabled = closure.enabled[column.index];
        const bool filters_matter = tables.network.refusals_matter();
        std::vector<Id> block(count);
        std::vector<Id> inside;
        std::size_t blocks = 0;
        {
            std::map<std::tuple<Id, bool, Id>, Id> first;
            for (Id local = 0; local < count; ++local) {
                const Local& state = column.locals[local];
                if (!closure.holds(column, state)) {
                    block[local] = static_cast<Id>(count + local);
                    continue;
                }
                inside.push_back(local);
                const auto key = std::make_tuple(state.observation, state.crashed, state.failure);
                block[local] = first.emplace(key, static_cast<Id>(first.size())).first->second;
            }
            blocks = first.size();
        }
        for (;;) {
            // The signature is compared whole: merging on a hash alone would be unsound.
            std::map<std::vector<Id>, Id> classes;
            std::vector<Id> next = block;
            for (Id local : inside) {
                // A crash and a recovery are steps too.
                const Local& state = column.locals[local];
                std::vector<Id> signature{block[local], state.reads, state.crash == none ? none : block[state.crash],
                                          state.recovery == none ? none : block[state.recovery]};
                // What it does depends on what it reads.
                for (std::size_t value = 0; state.reads != none && value < state.views.size(); ++value)
                    signature.push_back(state.views[value] == none ? none : block[state.views[value]]);
                for (const Closure::Enabled& one : enabled[local]) {
                    std::vector<std::vector<Id>> outcomes;
                    for (const Outcome& outcome : one.behaviour->outcomes) {
                        std::vector<Id> entry{static_cast<Id>(outcome.effect), outcome.failure,
                                              outcome.local == none ? none : block[outcome.local]};
                        for (const Send& send : outcome.sends) {
                            entry.push_back(send.column);
                            entry.push_back(send.message);
                        }
                        outcomes.push_back(std::move(entry));
                    }
                    std::sort(outcomes.begin(), outcomes.end());
                    outcomes.erase(std::unique(outcomes.begin(), outcomes.end()), outcomes.end());
                    signature.insert(signature.end(), {one.transition, one.set, static_cast<Id>(outcomes.size())});
                    for (const auto& entry : outcomes) {
                        signature.push_back(static_cast<Id>(entry.size()));
                        signature.insert(signature.end(), entry.begin(), entry.end());
                    }
                }
                if (filters_matter) {
                    // Which messages a transition passes over, or drops, is behaviour too.
                    std::vector<Query> unknown;
                    for (Id transition = 0; transition < column.transitions.size(); ++transition)
                        for (Id message = 0; message < column.messages.size(); ++message)
                            if (column.transitions[transition].takes(column.messages[message].type) &&
                                closure.holds(column, column.messages[message]))
                                signature.push_back(static_cast<Id>(
                                    takes(column, Scope::closure, transition, local, message, unknown)));
                }
                next[local] = classes.emplace(std::move(signature), static_cast<Id>(classes.size())).first->second;
            }
            block.swap(next);
            if (classes.size() == blocks) break;
            blocks = classes.size();
        }
        std::vector<Id> representative(blocks, none);
        for (Id local : inside) {
            Id& best = representative[block[local]];
            if (column.locals[local].home != none) continue;  // a view is no part of any state
            if (best == none || column.locals[local].content < column.locals[best].content) best = local;
        }
        for (Id local = 0; local < count; ++local) column.locals[local].representative = local;
        for (Id local : inside)
            if (column.locals[local].home == none) column.locals[local].representative = representative[block[local]];
        total += blocks;
    }
    return total;
}

}  // namespace quorate
