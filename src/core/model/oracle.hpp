// Whom the core asks what the protocol does: everything the tables do not hold yet.
#pragma once

#include "model/tables.hpp"

namespace quorate {

struct Progress {
    std::uint64_t states = 0, transitions = 0, frontier = 0, depth = 0;
    std::size_t memory = 0;
    std::vector<std::uint64_t> levels{};  // of a breadth-first search: how many states there were before each level
    // What has been violated so far: properties, `deadlock`, and a failure of a handler. Not replayed yet.
    std::vector<std::size_t> violated{};
    bool deadlock = false;
    Id failure = none;
};

// The user asked to stop while the oracle was at work.
struct Interrupted : std::runtime_error {
    Interrupted() : std::runtime_error("interrupted") {}
};

// A monitor turned out to tell interchangeable names apart: the search has to start over.
struct SymmetryBroken : std::runtime_error {
    SymmetryBroken() : std::runtime_error("symmetry broken") {}
};

// What an answer costs, more or less, compared with one from the handler itself: a number and no clock, so that the
// same is done on every machine.
struct Cost {
    static constexpr std::size_t evaluated = 64, numbered = 8, recalled = 1;
};

// Who knows the protocol. Called from the thread that started the search, while all others rest.
struct Oracle {
    virtual ~Oracle() = default;
    // Puts the answers to all queries into the tables, and says what that has cost, in `Cost`s.
    virtual std::size_t fill(const std::vector<Query>& queries) = 0;
    // Evaluates a property on a state, given by its local states (followed by what it may read of each inbox, where
    // properties read messages), and adds the path to its trie. False: it read a field
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
