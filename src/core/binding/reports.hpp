// What goes back to Python: structs with names, made from what the core found.
#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "model/column.hpp"
#include "search/random_runs.hpp"
#include "search/search.hpp"
#include "search/verify.hpp"

namespace quorate {

// A state: per column its local state and pending messages; and what is left of the budgets.
using ColumnState = std::tuple<Id, std::vector<Id>>;
using State = std::tuple<std::vector<ColumnState>, std::vector<std::uint64_t>>;
// Receiver (or monitor) and message (or event).
using Sent = std::vector<std::tuple<Id, Id>>;

inline std::optional<Id> if_any(Id number) { return number == none ? std::nullopt : std::optional<Id>(number); }

// A question for Python: its kind, column, transition, local state, subject, and the messages it is about. They are
// many, and a tuple is unpacked at once.
using AskedQuery = std::tuple<Query::Kind, Id, Id, Id, Id, std::vector<Id>>;

struct UniverseReport {
    bool complete = false;
    std::string why{};
    std::size_t local_states = 0, messages = 0, behaviours = 0, rounds = 0, enabled = 0;
    std::vector<Id> as_is{};  // processes that nothing is assumed of
};

struct ReductionReport {
    std::size_t local_states = 0;     // after merging
    std::size_t dead = 0, pairs = 0;  // pairs of local state and message, and how many of them are dead
};

struct WitnessReport {
    Finding finding;
    std::size_t property;
    std::uint64_t length;
    std::optional<Id> column, failure;
    std::vector<State> path;
};

struct SearchReport {
    SearchResult figures{};
    std::optional<WitnessReport> violation{};
    std::vector<WitnessReport> goals{};
    std::vector<std::tuple<WitnessReport, std::uint64_t>> violations{};  // of each kind the first, and how many
};

struct RunReport {
    RunResult figures{};
    std::optional<WitnessReport> violation{};
    std::vector<WitnessReport> goals{};
};

// What the last search has seen of the fields that properties read: hashes, and those of deadlocks.
struct SeenReport {
    std::vector<std::vector<bool>> fields{};
    std::vector<std::uint64_t> seen{}, stuck{};
};

struct NamedStep {
    Id column;
    std::optional<Id> transition;  // nothing for a step of the environment
    std::vector<Id> messages;
};

struct RefutationReport {
    Refutation::Kind kind;
    State state;
    std::vector<NamedStep> chosen, path;
};

struct VerificationReport {
    Verification figures{};
    std::vector<RefutationReport> wrong{};
};

// The graph of states that a depth-first search runs through. The initial states come first.
struct GraphReport {
    struct Node {
        State state;
        std::vector<Id> observed;  // a number per column: the class of what properties can see of it
    };
    struct Edge {
        std::size_t source, target;
        Id column;
        std::optional<Id> transition;  // nothing for a step of the environment
        std::vector<Id> messages;
    };
    std::size_t initial = 0;
    std::vector<Node> states{};
    std::vector<Edge> edges{};
};

// What a search would take in a state.
struct PreviewReport {
    std::vector<std::tuple<Id, std::optional<State>>> taken{};  // the column, and where that leads unless it fails
    bool reduced = false;                                       // partial-order reduction leaves something out
};

// What the closure holds of a process: a transition that is enabled in a local state.
struct EnabledReport {
    Id local, transition;
    std::vector<Id> consumed;
    std::vector<Outcome> outcomes;
};

// What a crash in the midst of a transition could leave out, over all that is known of the transition.
struct SendingReport {
    Id transition;
    std::size_t messages = 0;  // at most, to processes
    std::vector<Id> told{};    // monitors and shared cells that learn of a step which also sends messages
    bool shows = false;        // such a step changes what a property reads of the process
};

// A family of names that a property tells apart; without a property there were too many renamings to judge.
struct BrokenFamily {
    Id family;
    std::optional<std::size_t> property;
};

}  // namespace quorate
