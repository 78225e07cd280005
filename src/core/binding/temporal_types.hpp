// What goes across for temporal properties: structs with names (docs/architecture.md, the binding).
#pragma once

#include "binding/engine.hpp"
#include "temporal/check.hpp"
#include "temporal/system_graph.hpp"

namespace quorate {

struct ActReport {
    Id column;
    Kind kind;
    std::optional<Id> transition;
    std::vector<Id> messages;
};

// Where a step leads: to a state, or why to none.
enum class Leads : std::uint8_t { state, cut, blocked, fails, left_out };

struct EdgeReport {
    ActReport act;
    Leads leads;
    std::optional<Id> target;
};

struct GroupReport {
    ActReport act;  // one of them
    Strength strength;
};

struct ExplorationReport {
    Stop stop;
    bool paused;
    std::size_t states, expanded;
    std::uint64_t transitions, depth, deadlocks;
    bool acyclic;
    std::vector<Id> cut;
    bool blocked, redelivers;
    std::size_t store_bytes, graph_bytes;
    std::uint64_t por_given_up;
    double stands_for;
    std::optional<WitnessReport> violation;
};

struct LassoReport {
    std::vector<State> path{};
    std::size_t loop_from = 0;
    std::vector<ActReport> steps{};
    std::vector<Id> places{};  // of the automaton, along the path
    std::vector<Id> stopped{};
    struct Starved {
        ActReport act;
        bool always;
    };
    std::vector<Starved> starved{};
};

struct AnswerReport {
    Stop stop;
    bool complete;
    std::uint64_t product_states, passes;
    std::size_t groups;
    double seconds;
    std::optional<LassoReport> violation, bounded;
};

struct BeginningsReport {
    Stop stop;
    StateSet states;
    bool open;  // a bound or a limit may hide some
};

void bind_temporal_types(nb::module_& module);

}  // namespace quorate
