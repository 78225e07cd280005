// Whom the core asks what the protocol does: everything the tables do not hold yet.
#pragma once

#include "model/tables.hpp"

namespace quorate {

struct Progress {
    std::uint64_t states = 0, transitions = 0, frontier = 0, depth = 0;
    std::size_t memory = 0;
    std::vector<std::uint64_t> levels{};  // of a breadth-first search: how many states there were before each level
};

// The user asked to stop while the oracle was at work.
struct Interrupted : std::runtime_error {
    Interrupted() : std::runtime_error("interrupted") {}
};

// A monitor turned out to tell interchangeable names apart: the search has to start over.
struct SymmetryBroken : std::runtime_error {
    SymmetryBroken() : std::runtime_error("symmetry broken") {}
};

// Who knows the protocol. Called from the thread that started the search, while all others rest.
struct Oracle {
    virtual ~Oracle() = default;
    // Puts the answers to all queries into the tables.
    virtual void fill(const std::vector<Query>& queries) = 0;
    // Evaluates a property on a state, given by its local states, and adds the path to its trie. False: it read a field
    // that was not observed before while the local quotient is on, so the answer is void and the search has to start
    // over (docs/soundness.md, rule 8). Both throw Interrupted where it is time to stop.
    virtual bool judge(std::size_t property, std::span<const Id> locals) = 0;
    // About ten times a second. True: stop.
    virtual bool poll(const Progress& progress) = 0;
};

std::vector<Id> locals_of(const Tables& tables, std::span<const Id> cells);

// Sorts by content and drops repetitions.
void put_in_order(const Tables& tables, std::vector<Query>& queries);
// Do the tables hold the answer?
bool is_answered(const Tables& tables, const Query& query);

// Sorts by content, drops repetitions and asks: the same questions in the same order for any number of threads.
void ask(Tables& tables, Oracle& oracle, std::vector<Query>& queries);

}  // namespace quorate
