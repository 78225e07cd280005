// Saving a breadth-first search while all threads rest, and going on from what was saved.
//
// The states of a search are a sequence that only grows: level by level, within a level in any order. So what is new
// since the last time is appended, and nothing that was saved before is touched. A state is saved as it is packed, with
// the widths of its fields, since fields get wider as cells are met. The numbers of cells are the same when the search
// goes on, because the tables get the saved cells back in the same order. Everything else is a `SearchState`.
//
// Between two rounds nothing is half done: what was found is stored and judged, or listed here as open. Therefore a
// search can be saved in the midst of a level too, and goes on with exactly the states that were still to be expanded.
#pragma once

#include "search/worker.hpp"

namespace quorate {

// States that are still to be expanded, by their places in the sequence.
struct Pending {
    std::uint64_t begin, end;
    bool in_full;
    std::uint64_t counted;
};

// All of a search but its states and cells.
struct SearchState {
    std::uint64_t states = 0, depth = 0, given_up = 0, next_trial = 0, void_from = 0;
    std::uint64_t transitions = 0, deadlocks = 0, offered = 0, left_out = 0;
    double stands_for = 0;
    bool outgrown = false;
    std::vector<std::uint64_t> levels{};  // where each begins in the sequence
    std::vector<Pending> pending{};
    std::vector<Unchecked> unchecked{};
    std::optional<Witness> violation{};
    std::vector<Witness> goals{}, goals_of_level{};  // those of a level that is not over may still be bettered
    std::vector<Violations> violations{};
    std::vector<bool> cut{};

    // As numbers, and back. `failures` says what becomes of the numbers of failures.
    std::vector<std::uint64_t> encode(const std::vector<Id>& failures) const;
    static SearchState decode(std::span<const std::uint64_t> words, const std::vector<Id>& failures);
};

// Where a part of a thread's array lies in the sequence.
struct Segment {
    unsigned array;
    std::uint64_t begin, end;  // in the array
    std::uint64_t place;       // of the first one, in the sequence
};

// The places of states in the sequence.
class Sequence {
public:
    explicit Sequence(unsigned threads) : arrays_(threads), ends_(threads) {}
    // Appends what the store has and the sequence has not.
    void extend(const Store& store, const std::vector<std::vector<std::uint64_t>>& levels);
    std::uint64_t size() const { return size_; }
    std::vector<Pending> places(const std::vector<Range>& ranges) const;
    // The segments from this place on, one after the other.
    std::vector<Segment> since(std::uint64_t place) const;

private:
    std::vector<std::vector<Segment>> arrays_;
    std::vector<std::uint64_t> ends_;  // of each array: how much of it is in the sequence
    std::uint64_t size_ = 0;
};

// A search at rest, as whoever saves it gets to see it: only as long as that lasts.
class Snapshot {
public:
    Snapshot(const Store& store, std::vector<Segment> fresh) : store_(store), fresh_(std::move(fresh)) {
        for (const Segment& segment : fresh_) left += segment.end - segment.begin;
    }
    Stop stop = Stop::finished;  // why the search ends; finished: it goes on
    SearchState state{};
    std::uint64_t left = 0;  // states that are new, and were not copied yet

    std::vector<unsigned> bits() const { return store_.layout().bits(); }
    std::size_t stride() const { return store_.layout().stride(); }
    // Copies the next new states, packed, and says how many: as many as there are, up to `most`.
    std::size_t copy(std::byte* to, std::size_t most);

private:
    const Store& store_;
    std::vector<Segment> fresh_;
    std::size_t segment_ = 0;
    std::uint64_t done_ = 0;  // of that segment
};

// A part of the sequence, as it was saved. Behind the last state there is room for a word.
struct SavedStates {
    std::vector<unsigned> bits{};
    std::size_t bytes = 0;
    std::vector<std::byte> packed{};
};

// What is wrong with what was saved.
struct Damaged : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct Checkpoints {
    double seconds = 60;  // between two
    // False: it could not be saved, so that what is new will be new the next time as well.
    std::function<bool(Snapshot&)> save{};
    std::optional<SearchState> from{};
    std::function<std::optional<SavedStates>()> load{};
};

}  // namespace quorate
