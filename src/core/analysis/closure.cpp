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

void Closing::go_on(Oracle& oracle, std::size_t most_behaviours) {
    while (!closure_.complete) {
        if (open_.empty()) {
            if (!sweep(oracle, most_behaviours)) return;
            if (open_.empty()) {
                for (const auto& column : tables_.columns)
                    if (column->monitor) close_monitor(tables_, oracle, *column, all_messages(*column), closure_);
                closure_.complete = true;
                closure_.why.clear();
                closure_.local_states = closure_.messages = 0;
                for (const auto& column : tables_.columns) {
                    if (column->grows) continue;
                    closure_.local_states += column->locals.size();
                    closure_.messages += column->messages.size();
                }
                break;
            }
            put_in_order(tables_, open_);
            round_ = tables_.round;
        }
        if (closure_.behaviours >= most_behaviours) {
            closure_.why = "it did not end within its budget";
            return;
        }
        const auto some = std::min(open_.size(), most_behaviours - closure_.behaviours);
        const auto end = open_.begin() + static_cast<std::ptrdiff_t>(some);
        std::vector<Query> asked(open_.begin(), end);
        if (tables_.round != round_)  // a search may have asked meanwhile
            std::erase_if(asked, [&](const Query& query) { return is_answered(tables_, query); });
        round_ = ++tables_.round;
        oracle.fill(asked);
        open_.erase(open_.begin(), end);
        closure_.behaviours += some;
    }
}

bool Closing::sweep(Oracle& oracle, std::size_t most_behaviours) {
    Watch watch(Limits{}, oracle);
    for (auto& column : tables_.columns) {
        if (column->monitor) continue;
        const std::vector<Id> messages = all_messages(*column);
        const std::size_t locals = column->locals.size();
        auto& done = done_[column->index];
        auto& enabled = closure_.enabled[column->index];
        done.resize(locals, none);
        enabled.resize(locals);
        for (Id local = 0; local < locals; ++local) {
            if (done[local] == messages.size()) continue;
            const std::size_t asked = open_.size();
            try {
                enabled[local] = behaviours_of(tables_, *column, local, messages, open_, most_behaviours);
            } catch (const LimitError&) {
                open_.clear();  // asked for again when there is more to spend
                closure_.why = "a process has too many consumable sets of messages";
                return false;
            }
            if (open_.size() == asked) done[local] = messages.size();
            if (watch.look([] { return Progress{}; })) {
                open_.clear();
                throw Interrupted();
            }
        }
    }
    return true;
}

}  // namespace quorate
