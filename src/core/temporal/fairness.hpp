// What a run is assumed to do some time. A group of steps is weakly fair if a run that can take a step of it from some
// time on without end takes one again and again, strongly fair if it is enough that it can again and again.
//
// Steps of the protocol are grouped by level: all together, by process, by transition, or by what they consume as well.
// A step that is strongly fair is in the group of its level like any other, and makes no other step of it strongly
// fair: if the level is coarser than its transition, it is in a second group, of its transition, which is strongly
// fair. What the environment does (losses, duplicates, crashes) is never assumed; a recovery only if the caller says
// so. Nor is it assumed that an attacker says what it can say: a step that consumes such a message is in no group.
#pragma once

#include "temporal/graph.hpp"

namespace quorate {

enum class Level : std::uint8_t { none, progress, process, transition, message };
enum class Strength : std::uint8_t { unfair, weak, strong };

struct Assumption {
    Level level = Level::message;
    bool strong = false;                            // what would be weakly fair is strongly fair
    std::vector<std::vector<Strength>> steps = {};  // by column and transition; weak where nothing is said
    Strength discards = Strength::weak, recoveries = Strength::unfair;
    // Implicit crashes: these columns take no step on the loop, and nothing is assumed of them.
    std::vector<bool> stopped = {};

    Strength of(const Act& act) const;
    bool stops(const Act& act) const;
};

class Groups {
public:
    Groups(const Graph& graph, const Assumption& assumption);

    struct Group {
        Id act;  // one of its acts
        Strength strength;
    };
    std::vector<Group> all{};
    std::vector<Id> of{};         // by act: its group, or none
    std::vector<Id> besides{};    // by act: its second group, or none; empty if there are no such groups
    std::vector<char> allowed{};  // by act: may it occur on a loop?
    std::vector<std::uint64_t> weak{}, strong{};

    std::size_t words() const { return weak.size(); }
    bool any_strong() const { return size_of(strong) > 0; }
    // Adds the groups of an act to a set.
    void add(Id act, std::span<std::uint64_t> groups) const {
        if (of[act] != none) set_bit(groups, of[act]);
        if (!besides.empty() && besides[act] != none) set_bit(groups, besides[act]);
    }
    bool has(Id act, Id group) const { return of[act] == group || (!besides.empty() && besides[act] == group); }
    // The groups with a step in this state, be it one that a bound cuts off; what a full channel blocks is disabled.
    void enabled(const Graph& graph, Id state, std::span<std::uint64_t> groups) const {
        std::fill(groups.begin(), groups.end(), 0);
        for (std::uint64_t edge = graph.begin(state), end = graph.end(state); edge < end; ++edge) {
            if (graph.target(edge) != Graph::blocked) add(graph.act(edge), groups);
        }
    }
};

// Where a run may stop for ever: no step of a fair group is enabled. Where only a bound is the reason (`within`, a full
// channel, a limit of the search), the run does not end there: the bound ends it. Where `within` cuts a step, a run may
// go on beyond the bound, whatever else is possible there.
struct Ends {
    StateSet real, bounded, cut;
};
// With implicit crashes, up to so many of the crashable columns may have stopped.
Ends find_ends(const Graph& graph, const Groups& groups, const std::vector<bool>& crashable, std::size_t crashes);
// The columns that must have stopped for the run to end in this state.
std::vector<Id> waiting_columns(const Graph& graph, const Groups& groups, Id state);

}  // namespace quorate
