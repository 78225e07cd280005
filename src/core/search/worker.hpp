// What one thread of a breadth-first search holds: the successors it has found and not yet looked up, and what else it
// has to tell when all threads rest.
#pragma once

#include <exception>

#include "reduce/symmetry/canonical.hpp"
#include "search/search.hpp"

namespace quorate {

struct Unchecked {
    std::vector<Id> cells;
    std::uint64_t length;
    bool stuck;  // only the final predicate is open
};

struct Range {
    unsigned array;
    std::uint64_t begin, end;
    bool in_full = false;       // without partial-order reduction
    std::uint64_t counted = 0;  // transitions that were counted when it was tried with reduction
};

// A state of which only a stubborn set was taken. The successors by some step that keeps possible what was left out
// must all lie in the next level, or that could be put off for ever: from level to level the search gets to a state
// that is expanded in full (stubborn.hpp).
struct Partly {
    Range state;
    bool progressed = false;
};

// The successors by one such step.
struct Keeping {
    Id source;  // the number of the state among `partly`
    bool further = true;
};

struct Worker {
    Worker(Tables& tables, unsigned number) : expander(tables), number(number) {}

    Expander expander;
    unsigned number;
    // Successors waiting to be looked up together: packed, with their hashes. Both lists are longer than what they
    // hold.
    std::vector<Word> buffer{};
    struct Waiting {
        std::uint64_t hash;
        double orbit;  // how many states it stands for
        Id keeping;    // the number of its step among `keeping`, or none
        bool observed;
    };
    std::vector<Waiting> successors{};
    std::size_t waiting = 0, most = 0;
    void make_room(std::size_t words) {
        most = std::max(most, waiting * 2 + 64);
        successors.resize(most);
        buffer.resize(most * words);
    }
    std::unique_ptr<Chooser> chooser{};
    std::uint64_t offered = 0, left_out = 0;  // steps, of the states it was asked about
    std::optional<Canonical> canonical{};
    std::vector<Partly> partly{};
    std::vector<Keeping> keeping{};
    std::vector<Range> deferred{};
    std::vector<Unchecked> unchecked{};
    std::vector<Witness> failures{};  // of the state that is being expanded
    std::optional<Witness> violation{};
    std::vector<Violations> violations{};  // where all are looked for
    std::vector<std::optional<Witness>> goals{};
    std::vector<Word> here{};  // that state, packed
    std::vector<Id> scratch{};
    std::uint64_t transitions = 0, deadlocks = 0;
    double stands_for = 0;                    // states, with those that differ in names only
    std::atomic<std::uint64_t> published{0};  // transitions, for others to read
    std::size_t batches_left = 0;             // until it looks how much of the states in files is in memory
    std::exception_ptr error{};
};

}  // namespace quorate
