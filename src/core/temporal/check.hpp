// Is there a fair run that the automaton accepts? Ends first, since they give the shortest runs and decide graphs
// without cycles; then components with a cycle.
#pragma once

#include "temporal/lasso.hpp"

namespace quorate {

struct Question {
    Automaton automaton{};
    std::vector<StateSet> atoms{};  // where each predicate holds
    Assumption assumption{};
    // Implicit crashes: up to so many of these columns stop for ever some time.
    std::vector<bool> crashable{};
    std::size_t crashes = 0;
    bool even_if_acyclic = false;  // look for cycles though there are none: to measure, and to test
};

struct Answer {
    Stop stop = Stop::finished;  // `violation` if there is a lasso
    std::optional<Lasso> lasso{};
    // A run that would be a violation if it ended where a full channel or a limit of the search ends it, or if it went
    // on in some way beyond `within`.
    std::optional<Lasso> bounded{};
    std::uint64_t nodes = 0;   // of the product
    std::uint64_t passes = 0;  // over it, for cycles
    std::size_t groups = 0;    // of fairness
    double seconds = 0;
};

// Does no cycle lead through any state?
bool is_acyclic(const Graph& graph);

Answer check(const Graph& graph, const Question& question, bool acyclic, Watch& watch);

// The states in which a fair run begins that the automaton accepts. `bounded`: some state's runs are ended by a bound,
// so that states may be missing.
struct Beginnings {
    Stop stop = Stop::finished;
    StateSet states;
    bool bounded = false;
};
Beginnings beginnings(const Graph& graph, const Question& question, Watch& watch);

}  // namespace quorate
