// Dynamic partial-order reduction: a stateless search that learns which orders of steps matter from the runs it makes.
//
// Two steps are independent if neither can enable or disable the other and both orders lead to the same state. Runs
// that differ only in the order of independent steps form a trace (Mazurkiewicz), and one run of each maximal trace is
// enough to see every deadlock. Whether two steps are dependent is read off the steps alone:
//
//  1. Steps of one process are dependent: its alternatives exclude each other.
//  2. A step that sends m to p and one of p that consumes m are dependent: the send enables the consumption, and on a
//     set channel it makes a difference whether an equal message is pending still or consumed already
//     (docs/soundness.md, rule 1).
//     Any other send to p commutes with p's step, which stays enabled.
//  3. Steps that emit events are dependent: monitors are shared (docs/soundness.md, rule 6).
//  4. Steps that a property may see are dependent: so every order in which what it reads can change is kept.
//
// By 1 and 2 only steps of its own process can disable a step. A step that was disabled in this way leaves no mark in
// the run, so races are not only sought between steps of a run: for every step a of p on the run, the steps are listed
// that p could have made in its place had all that does not happen after a come first.
#pragma once

#include "search/search.hpp"

namespace quorate {

// A step of a process, known again in other states: the same process, transition, messages consumed and outcome.
struct Event {
    Id column = none;
    const Step* step = nullptr;
    std::uint64_t receivers = 0;  // a bit for each column it sends to, by number modulo 64: most pairs need no more
    bool emits = false, visible = false;

    bool operator==(const Event& other) const {
        return StepIdentity::of(column, *step) == StepIdentity::of(other.column, *other.step);
    }
};

class Dependence {
public:
    // `visible`: there are properties besides deadlock. Observations must be set.
    Dependence(const Tables& tables, bool visible);

    // Why steps of this system may be dependent in other ways too; empty if they are not.
    static std::string unsupported(const Tables& tables);

    Event event(Id column, const Step& step) const;
    bool dependent(const Event& a, const Event& b) const;
    // Where `event`, possible now, can be moved to the front of `sequence`: its place, or the end if the sequence does
    // not hold it but is independent of it; nothing if it cannot. In the first two cases it is a weak initial (Abdulla
    // et al. 2014): some run that begins with it continues the sequence.
    std::optional<std::size_t> initial(const Event& event, const std::vector<Event>& sequence) const;

private:
    bool feeds(const Event& sender, const Event& receiver) const;
    const Tables& tables_;
    const bool visible_;
    bool monitors_seen_ = false;
};

// Sequences of events still to be run from a state, as an ordered tree (Abdulla et al. 2014, section 6).
struct WakeupTree {
    struct Branch;
    std::vector<Branch> branches{};

    // Adds a sequence, unless a run along one of the leaves will be equivalent to one that begins with it. How many
    // steps that took.
    std::size_t insert(std::vector<Event> sequence, const Dependence& dependence);
    // Adds its first step, unless a step is there already that the sequence could begin with.
    std::size_t insert_first(const std::vector<Event>& sequence, const Dependence& dependence);
};

struct WakeupTree::Branch {
    Event event{};
    WakeupTree rest{};
};

// The steps of a run so far, and which of them happen before which.
class HappensBefore {
public:
    explicit HappensBefore(std::size_t processes) : processes_(processes), last_(processes, npos) {}

    void push(const Event& event, const Dependence& dependence);
    void pop();
    std::size_t size() const { return taken_.size(); }
    const Event& operator[](std::size_t i) const { return taken_[i].event; }
    bool before(std::size_t i, std::size_t j) const {
        return clocks_[j * processes_ + taken_[i].event.column] >= taken_[i].number;
    }
    // The earlier steps of other processes that a step depends on with nothing in between.
    const std::vector<std::size_t>& races(std::size_t j) const { return taken_[j].races; }
    // What follows step i without happening after it.
    std::vector<std::size_t> after_but_not_because_of(std::size_t i) const;

private:
    static constexpr std::size_t npos = ~std::size_t{0};
    struct Taken {
        Event event;
        Id number;             // among the steps of its process, from 1
        std::size_t previous;  // step of the same process
        std::vector<std::size_t> races{};
    };
    std::size_t processes_;
    std::vector<std::size_t> last_;  // step of each process
    std::vector<Taken> taken_{};
    // A vector clock per step: how many steps of each process happen before it, itself included. A quorum transition
    // takes the maximum over the clocks of all its messages (thesis, section 4.6).
    std::vector<Id> clocks_{};
};

SearchResult dpor(Tables& tables, std::vector<Property>& properties, Oracle& oracle, const SearchOptions& options);

}  // namespace quorate
