#include "analysis/closure.hpp"

#include <numeric>

#include "base/thresholds.hpp"
#include "model/watch.hpp"

namespace quorate {

namespace {

std::vector<Id> all_messages(const Column& column) {
    std::vector<Id> result(column.messages.size());
    std::iota(result.begin(), result.end(), Id{0});
    return result;
}

}  // namespace

std::vector<Closure::Enabled> behaviours_of(Tables& tables, Column& column, Id local, const std::vector<Id>& messages,
                                            std::vector<Query>& queries, std::size_t most) {
    std::vector<Closure::Enabled> result;
    if (column.locals[local].crashed || column.locals[local].failure != none) return result;
    if (column.monitor) {
        for (Id event : messages) {
            if (const auto* known = column.behaviours.find(column.key(0, local, event)))
                result.push_back({0, event, known->get()});
            else
                queries.push_back({Query::Kind::observe, column.index, 0, local, event});
        }
        return result;
    }
    for (Id transition = 0; transition < column.transitions.size(); ++transition) {
        std::vector<Consumption> found;
        list_consumptions(column, tables.network, Scope::closure, transition, local, messages, queries, found, most);
        for (const Consumption& one : found) result.push_back({transition, one.set, one.behaviour});
        // A head that passes the filter of a quorum is not discarded, even where the quorum itself is not asked for.
        if (tables.network.drops_refused())
            for (Id message : messages)
                if (column.transitions[transition].takes(column.messages[message].type))
                    takes(column, transition, local, message, queries);
    }
    return result;
}

void close_monitor(Tables& tables, Oracle& oracle, Column& monitor, const std::vector<Id>& events, Closure& closure) {
    auto& enabled = closure.enabled[monitor.index];
    Watch watch(Limits{}, oracle);
    std::vector<Query> queries;
    std::size_t asked = 0;
    monitor.grows = monitor.configurations != nullptr;
    enabled.clear();
    if (monitor.grows) return;
    // Every local state is asked about all events at once, so one that was asked about needs no second look.
    for (Id local = 0; local < monitor.locals.size();) {
        for (; local < monitor.locals.size() && asked + queries.size() <= thresholds.most_reactions; ++local)
            behaviours_of(tables, monitor, local, events, queries, none);
        asked += queries.size();
        if (asked > thresholds.most_reactions) {
            monitor.grows = true;
            return;
        }
        closure.behaviours += queries.size();
        ask(tables, oracle, queries);
        if (watch.look([] { return Progress{}; })) throw Interrupted();
    }
    for (Id local = 0; local < monitor.locals.size(); ++local)
        enabled.push_back(behaviours_of(tables, monitor, local, events, queries, none));
}

Closure close(Tables& tables, Oracle& oracle, std::size_t most_behaviours) {
    Closure closure;
    std::vector<std::vector<std::size_t>> done(tables.columns.size());  // per local state: the messages it was tried on
    closure.enabled.resize(tables.columns.size());
    const auto give_up = [&](std::string why) {
        closure.why = std::move(why);
        closure.enabled.clear();
        return std::move(closure);
    };
    Watch watch(Limits{}, oracle);
    std::vector<Query> queries;
    for (bool changed = true; changed;) {
        changed = false;
        for (auto& column : tables.columns) {
            if (column->monitor) continue;
            const std::vector<Id> messages = all_messages(*column);
            const std::size_t locals = column->locals.size();
            done[column->index].resize(locals, none);
            closure.enabled[column->index].resize(locals);
            for (Id local = 0; local < locals; ++local) {
                if (done[column->index][local] == messages.size()) continue;
                changed = true;
                const std::size_t asked = queries.size();
                try {
                    closure.enabled[column->index][local] =
                        behaviours_of(tables, *column, local, messages, queries, most_behaviours);
                } catch (const LimitError&) {
                    return give_up("a process has too many consumable sets of messages");
                }
                if (queries.size() == asked) done[column->index][local] = messages.size();
                if (watch.look([] { return Progress{}; })) throw Interrupted();
            }
        }
        closure.behaviours += queries.size();
        if (closure.behaviours > most_behaviours) return give_up("it did not end within its budget");
        ask(tables, oracle, queries);
    }
    for (const auto& column : tables.columns)
        if (column->monitor) close_monitor(tables, oracle, *column, all_messages(*column), closure);
    for (const auto& column : tables.columns) {
        if (column->grows) continue;
        closure.local_states += column->locals.size();
        closure.messages += column->messages.size();
    }
    closure.complete = true;
    return closure;
}

}  // namespace quorate
