// Puts a census together from cells that were visited and steps that were taken, whoever has counted them.
#pragma once

#include <map>
#include <set>

#include "search/census.hpp"

namespace quorate {

class CensusBuilder {
public:
    explicit CensusBuilder(const Tables& tables) : tables_(tables) {}

    void visited(Id column, Id cell, std::uint64_t times) {
        const Column& table = *tables_.columns[column];
        const Id local = table.cells[cell].local;
        auto& place = visited_.try_emplace({column, local}, Census::Visited{column, local}).first->second;
        place.states += times;
        const std::span<const Id> inbox = table.inboxes[table.cells[cell].inbox];
        place.pending.insert(place.pending.end(), inbox.begin(), inbox.end());
    }
    // The count of a step from this cell; what it does there is a behaviour that was reached.
    Census::Fired& took(Id column, Id cell, const Step& step, std::uint64_t depth) {
        const auto key = std::make_tuple(column, step.kind, step.transition);
        auto& fired =
            fired_.try_emplace(key, Census::Fired{column, step.kind, step.transition, 0, 0, depth}).first->second;
        fired.depth = std::min(fired.depth, depth);
        if (step.kind == Kind::step)
            reached_[{column, step.transition, tables_.columns[column]->cells[cell].local, step.set}].insert(
                step.outcome);
        return fired;
    }
    // What was not taken: there was no room for what it sends, or it leads out of a bound.
    void blocked(Id column, const Step& step) { ++not_taken(column, step).blocked; }
    void cut(Id column, const Step& step, std::uint64_t times) { not_taken(column, step).cut += times; }
    // A monitor heard of an event in this cell.
    void heard(Id column, Id cell, Id event) {
        heard_.emplace(column, tables_.columns[column]->cells[cell].local, event);
    }
    Census finish() {
        Census census;
        for (auto& [key, place] : visited_) {
            std::sort(place.pending.begin(), place.pending.end());
            place.pending.erase(std::unique(place.pending.begin(), place.pending.end()), place.pending.end());
            census.visited.push_back(std::move(place));
        }
        for (const auto& [key, fired] : fired_) census.fired.push_back(fired);
        for (const auto& [key, outcomes] : reached_) {
            const auto& [column, transition, local, set] = key;
            Census::Reached one{column, transition, local};
            one.outcomes.assign(outcomes.begin(), outcomes.end());
            if (set != none) {
                const std::span<const Id> messages = tables_.columns[column]->sets[set];
                one.consumed.assign(messages.begin(), messages.end());
            }
            census.behaviours.push_back(std::move(one));
        }
        for (const auto& [column, local, event] : heard_)
            census.behaviours.push_back({column, none, local, {event}, {}});
        return census;
    }

private:
    Census::Fired& not_taken(Id column, const Step& step) {
        Census::Fired none_yet{column, step.kind, step.transition, 0, 0, ~std::uint64_t{0}};
        return fired_.try_emplace(std::make_tuple(column, step.kind, step.transition), none_yet).first->second;
    }

    const Tables& tables_;
    std::map<std::pair<Id, Id>, Census::Visited> visited_{};
    std::map<std::tuple<Id, Kind, Id>, Census::Fired> fired_{};
    std::map<std::tuple<Id, Id, Id, Id>, std::set<Id>> reached_{};
    std::set<std::tuple<Id, Id, Id>> heard_{};
};

}  // namespace quorate
