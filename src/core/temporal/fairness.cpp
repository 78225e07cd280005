#include "temporal/fairness.hpp"

#include <map>
#include <tuple>

namespace quorate {

Strength Assumption::of(const Act& act) const {
    Strength strength = Strength::unfair;
    if (act.optional) return strength;
    if (act.kind == Kind::recover) strength = recoveries;
    if (act.kind == Kind::discard) strength = discards;
    if (act.kind == Kind::step) {
        strength = Strength::weak;
        if (act.column < steps.size() && act.transition < steps[act.column].size())
            strength = steps[act.column][act.transition];
    }
    return strong && strength == Strength::weak ? Strength::strong : strength;
}

// What is lost or repeated at a crashed process is the network's doing, and goes on.
bool Assumption::stops(const Act& act) const {
    return act.column < stopped.size() && stopped[act.column] && act.kind != Kind::lose && act.kind != Kind::duplicate;
}

Groups::Groups(const Graph& graph, const Assumption& assumption) {
    using Key = std::tuple<Strength, Id, Kind, Id, Id>;
    std::map<Key, Id> known;
    const auto group = [&](Id act, const Key& key) {
        const auto [place, fresh] = known.emplace(key, static_cast<Id>(all.size()));
        if (fresh) all.push_back({act, std::get<0>(key)});
        return place->second;
    };
    const bool coarse = assumption.level < Level::transition;
    for (Id i = 0; i < graph.acts.size(); ++i) {
        const Act& act = graph.acts[i];
        const bool stops = assumption.stops(act);
        allowed.push_back(!stops);
        const Strength strength = assumption.of(act);
        if (stops || strength == Strength::unfair || assumption.level == Level::none) {
            of.push_back(none);
            continue;
        }
        // A coarse group is as fair as the level says, whatever single steps of it are.
        const Strength common = assumption.strong ? Strength::strong : Strength::weak;
        Key key{coarse ? common : strength, none, Kind::step, none, none};
        if (assumption.level >= Level::process) std::get<1>(key) = act.column;
        // A recovery is no step of the protocol: a process that only recovers has not done its part.
        if (!coarse || act.kind == Kind::recover) std::get<2>(key) = act.kind;
        if (!coarse) std::get<3>(key) = act.transition;
        if (assumption.level >= Level::message) std::get<4>(key) = act.alike;
        of.push_back(group(i, key));
        if (!coarse || strength == common) continue;
        besides.resize(graph.acts.size(), none);
        besides[i] = group(i, {strength, act.column, act.kind, act.transition, none});
    }
    weak.assign((all.size() + 63) / 64, 0);
    strong = weak;
    for (Id i = 0; i < all.size(); ++i) set_bit(all[i].strength == Strength::weak ? weak : strong, i);
}

Ends find_ends(const Graph& graph, const Groups& groups, const std::vector<bool>& crashable, std::size_t crashes) {
    Ends ends{StateSet(graph.states()), StateSet(graph.states()), StateSet(graph.states())};
    const auto note = [](std::vector<Id>& columns, Id column) {
        if (std::find(columns.begin(), columns.end(), column) == columns.end()) columns.push_back(column);
    };
    const auto may_stop = [&](Id column) { return column < crashable.size() && crashable[column]; };
    std::vector<Id> able, all;  // columns with a fair step, and those that have none but for a bound too
    for (Id state = 0; state < graph.states(); ++state) {
        if (state >= graph.expanded()) {
            ends.bounded.add(state);
            continue;
        }
        able.clear();
        all.clear();
        bool goes_on = false;
        for (std::uint64_t edge = graph.begin(state), end = graph.end(state); edge < end; ++edge) {
            const Id act = graph.act(edge), target = graph.target(edge);
            if (target == Graph::cut) ends.cut.add(state);
            if (goes_on || groups.of[act] == none) continue;
            const Id column = graph.acts[act].column;
            note(all, column);
            if (target == Graph::cut || target == Graph::blocked) continue;
            note(able, column);
            goes_on = able.size() > crashes || !may_stop(column);
            if (goes_on && !graph.cuts()) break;
        }
        if (goes_on) continue;
        const bool real = all.size() <= crashes && std::all_of(all.begin(), all.end(), may_stop);
        (real ? ends.real : ends.bounded).add(state);
    }
    return ends;
}

std::vector<Id> waiting_columns(const Graph& graph, const Groups& groups, Id state) {
    std::vector<bool> waits;
    for (std::uint64_t edge = graph.begin(state), end = graph.end(state); edge < end; ++edge) {
        const Id act = graph.act(edge);
        if (groups.of[act] == none) continue;
        const Id column = graph.acts[act].column;
        if (waits.size() <= column) waits.resize(column + 1, false);
        waits[column] = true;
    }
    std::vector<Id> columns;
    for (Id column = 0; column < waits.size(); ++column)
        if (waits[column]) columns.push_back(column);
    return columns;
}

}  // namespace quorate
