#include "reduce/por/proviso.hpp"

#include <set>

namespace quorate {

namespace {

// A cycle of states takes every process it moves round a cycle of local states, and every message it consumes is sent
// again along the way. So start from the moves that lie on cycles of local states, and strike those that consume what
// no remaining move sends, until nothing changes.
bool may_cycle(const Tables& tables, const Closure& closure) {
    const Network& network = tables.network;
    struct Move {
        Id column, from, to, transition, set;
        const std::vector<Send>* sends;
    };
    std::vector<Move> moves;
    for (const auto& column : tables.columns)
        for (Id local = 0; local < column->locals.size() && !column->monitor; ++local)
            for (const Closure::Enabled& one : closure.enabled[column->index][local])
                for (const Outcome& outcome : one.behaviour->outcomes)
                    if (outcome.effect == Effect::moves)
                        moves.push_back({column->index, local, outcome.local, one.transition, one.set, &outcome.sends});
    for (std::size_t before = moves.size() + 1; moves.size() < before;) {
        before = moves.size();
        // Local states that can be left and come back to: strike those without a way in or a way out, again and again.
        for (std::size_t count = moves.size() + 1; moves.size() < count;) {
            count = moves.size();
            std::set<std::pair<Id, Id>> entered, left;
            for (const Move& move : moves) {
                entered.emplace(move.column, move.to);
                left.emplace(move.column, move.from);
            }
            std::erase_if(moves, [&](const Move& move) {
                return !entered.contains({move.column, move.from}) || !left.contains({move.column, move.to});
            });
        }
        std::set<std::pair<Id, Id>> sent;
        for (const Move& move : moves)
            for (const Send& send : *move.sends) sent.emplace(send.column, send.message);
        std::erase_if(moves, [&](const Move& move) {
            const Column& column = *tables.columns[move.column];
            if (column.transitions[move.transition].keep || network.duplicates_unlimited) return false;
            const auto set = column.sets[move.set];
            return std::any_of(set.begin(), set.end(), [&](Id message) {
                return !column.messages[message].stands && !sent.contains({move.column, message});
            });
        });
    }
    return !moves.empty();
}

bool may_fail(const Tables& tables, const Closure& closure) {
    for (const auto& column : tables.columns) {
        if (column->grows) return true;
        for (Id local = 0; local < column->locals.size(); ++local)
            if (column->locals[local].failure != none) return true;
        for (const auto& behaviours : closure.enabled[column->index])
            for (const Closure::Enabled& one : behaviours)
                for (const Outcome& outcome : one.behaviour->outcomes)
                    if (outcome.effect != Effect::moves) return true;
    }
    return false;
}

}  // namespace

// Failures of handlers and monitors are looked for in every mode, and what a bound cuts is reported: where there are
// any, no step may be put off for ever. Nor with an optimistic universe (docs/soundness.md, rule 4). A recovery brings
// back a local state, so then any run may be a cycle.
bool needs_proviso(const Tables& tables, const Closure& closure, const PorOptions& options) {
    if (options.keep == Keep::deadlocks && !closure.optimistic && !may_fail(tables, closure)) return false;
    for (const auto& column : tables.columns)
        for (Id local = 0; local < column->locals.size(); ++local)
            if (column->locals[local].recovery != none) return true;
    return may_cycle(tables, closure);
}

}  // namespace quorate
