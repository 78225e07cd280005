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
    const Local& state = column.locals[local];
    if (state.reads != none) {  // what it does, its views do: one for every value that may be there
        for (Id value = 0; value < tables.columns[state.reads]->locals.size(); ++value)
            if (state.view(value) == none) queries.push_back({Query::Kind::read, column.index, 0, local, value});
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
                    takes(column, Scope::closure, transition, local, message, queries);
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
    if (monitor.shared) {  // what is written is what it holds then
        enabled.resize(monitor.locals.size());
        return;
    }
    if (monitor.grows) return;
    // Every local state is asked about all events at once, so one that was asked about needs no second look.
    for (Id local = 0; local < monitor.locals.size();) {
        for (; local < monitor.locals.size() && asked + queries.size() <= thresholds.most_reactions; ++local)
            behaviours_of(tables, monitor, local, events, queries, none);
        asked += queries.size();
        // Local states that get larger and larger make few reactions expensive.
        if (asked > thresholds.most_reactions || monitor.weight > thresholds.heaviest_monitor) {
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
            ++closure_.rounds;
        }
        if (spent_ >= most_behaviours * Cost::evaluated) {
            closure_.why = "it did not end within its budget";
            return;
        }
        // At least a few at a time: most answers may cost hardly anything.
        const auto left = most_behaviours - spent_ / Cost::evaluated;
        const auto some = std::min(open_.size(), std::max<std::size_t>(left, Cost::evaluated));
        const auto end = open_.begin() + static_cast<std::ptrdiff_t>(some);
        std::vector<Query> asked(open_.begin(), end);
        // A search may have asked meanwhile, or whoever brings the model to where it was (native/journal.py).
        std::erase_if(asked, [&](const Query& query) { return is_answered(tables_, query); });
        ++tables_.round;
        spent_ += oracle.fill(asked) + (some - asked.size()) * Cost::recalled;
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
        Settled& settled = settled_[column->index];
        if (settled.messages != messages.size()) settled = {0, messages.size()};
        for (Id local = settled.locals; local < locals; ++local) {
            if (done[local] == messages.size() && column->locals[local].reads == none) {
                if (local == settled.locals) ++settled.locals;
                continue;
            }
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
