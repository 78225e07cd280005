#include "analysis/universe.hpp"

#include "model/watch.hpp"

namespace quorate {

void extend_universe(Tables& tables) {
    tables.optimistic = true;
    for (const auto& sends : tables.posted)
        for (const Send& send : sends) tables.columns[send.column]->messages[send.message].member = true;
    for (auto& owner : tables.columns) {
        Column& column = *owner;
        for (Id message : column.opening) column.messages[message].member = true;
        for (std::size_t i = 0; i < column.cells.size(); ++i) {
            const Cell& cell = column.cells[i];
            column.locals[cell.local].member = true;
            for (Id message : column.inboxes[cell.inbox]) column.messages[message].member = true;
            const StepList* steps = cell.steps.load(std::memory_order_acquire);
            if (steps == nullptr) continue;
            for (const Step& step : *steps)
                for (Id k = 0; k < step.send_count; ++k) {
                    Column& receiver = *tables.columns[step.sends[k].column];
                    const Id message = step.sends[k].message;
                    if (message < bundle_bit)
                        receiver.messages[message].member = true;
                    else
                        for (Id one : receiver.bundles[message - bundle_bit]) receiver.messages[one].member = true;
                }
        }
    }
}

Closure evaluate_universe(Tables& tables, Oracle& oracle, std::size_t most, bool only_met) {
    Closure universe;
    universe.optimistic = true;
    universe.enabled.resize(tables.columns.size());
    std::vector<std::vector<char>> done(tables.columns.size());
    Watch watch(Limits{}, oracle);
    std::vector<Query> queries;
    for (bool changed = true; changed;) {
        changed = false;
        for (auto& owner : tables.columns) {
            Column& column = *owner;
            if (column.monitor) continue;
            done[column.index].resize(column.locals.size(), 0);
            universe.enabled[column.index].resize(column.locals.size());
            std::vector<Id> messages;
            for (Id message = 0; message < column.messages.size(); ++message)
                if (universe.holds(column, column.messages[message])) messages.push_back(message);
            const std::size_t before = queries.size();
            for (Id local = 0; local < column.locals.size(); ++local) {
                if (done[column.index][local] || !universe.holds(column, column.locals[local])) continue;
                const std::size_t known = queries.size();
                bool too_many = false;
                try {
                    universe.enabled[column.index][local] =
                        behaviours_of(tables, column, local, messages, queries, most);
                } catch (const LimitError&) {
                    too_many = true;
                }
                if (too_many || column.evaluated + queries.size() - before > most) {
                    column.as_is = true;
                    queries.resize(before);
                    universe.enabled[column.index].assign(column.locals.size(), {});
                    break;
                }
                if (only_met) queries.resize(known);
                done[column.index][local] = queries.size() == known;
                if (watch.look([] { return Progress{}; })) throw Interrupted();
            }
            column.evaluated += queries.size() - before;
            universe.behaviours += queries.size() - before;
            changed |= queries.size() > before;
        }
        ask(tables, oracle, queries);
    }
    // What a monitor may be follows from the events: it is closed over those of the universe, and never left.
    for (const auto& column : tables.columns) {
        if (!column->monitor) continue;
        std::vector<Id> events;
        for (Id event = 0; event < column->messages.size(); ++event)
            if (column->messages[event].member) events.push_back(event);
        close_monitor(tables, oracle, *column, events, universe);
        for (Id local = 0; local < column->locals.size() && !column->grows; ++local)
            column->locals[local].member = true;
    }
    for (const auto& column : tables.columns) {
        if (column->grows) continue;
        universe.enabled[column->index].resize(column->locals.size());
        for (Id local = 0; local < column->locals.size(); ++local)
            universe.local_states += universe.holds(*column, column->locals[local]);
        for (Id message = 0; message < column->messages.size(); ++message)
            universe.messages += universe.holds(*column, column->messages[message]);
    }
    universe.complete = true;
    return universe;
}

}  // namespace quorate
