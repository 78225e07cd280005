// Partial-order reduction by stubborn sets, process by process.
//
// In a state, a set C of processes is sought such that it is enough to take the steps of C. All steps of a process are
// taken or none, so a process outside C may move while those in C stay where they are, and only what their inboxes
// receive in the meantime matters. C is closed under four rules, each for a condition of strong stubborn sets (Valmari
// 1998):
//
//  1. A step of p in C that is not possible now because messages are missing: one of the missing messages must come
//  from a
//     process in C, unless one of them can never be sent any more (D1 for disabled steps: a necessary enabling set).
//  2. On a set channel, p in C has a possible step that consumes m, and m may be sent again: the sender is in C. And p
//  in C may
//     send m to q, where an equal message is pending: q is in C. Before or after its twin was consumed, sending m
//     differs (design rule 1). On multisets and FIFO channels there is no such conflict.
//  3. Steps that emit events are dependent on each other (rule 6).
//  4. If C has a possible step that a property may see, C holds every process that may still make a visible step.
//
// Whether a message may still be sent is read off the closure: some local state that can be reached from the sender's
// present one sends it, ignoring whether the messages for getting there arrive. (Following the chain further back, to
// who must act before the sender can, was tried and gained nothing on Paxos.) The ignoring problem is left to the
// search.
#pragma once

#include "analysis.hpp"

namespace quorate {

struct PorOptions {
    bool necessary = true;    // rule 1 chooses one missing message (NET); otherwise every sender of one is taken
    bool conditional = true;  // "may still" starts at the present local state, otherwise at any
    bool smallest = true;     // try every process as a start and keep the smallest set, otherwise the first
    bool visible = true;      // there are properties besides deadlock
};

// What a cell's steps depend on; built once per cell.
struct Footprint {
    struct Missing {
        Id sender;
        std::vector<Id> messages{};  // any of them would be of use
    };
    using Clause = std::vector<Missing>;  // one of the senders must be in the set

    Id enabled = 0;  // possible steps
    bool emits = false, visible = false;
    std::vector<Id> consumed{};  // messages of this process that a possible step takes away
    std::vector<Send> sends{};   // to processes, by possible steps
    std::vector<Clause> clauses{};
};

class Relations {
public:
    // The closure must be complete. Observations must be set.
    Relations(Tables& tables, const Closure& closure, PorOptions options);

    // Why the relations do not hold for this system; empty if they do.
    static std::string unsupported(const Tables& tables, const Closure& closure);

    const PorOptions options;
    // May a run come back to a state it has been in? If not, no step is ever put off for ever. With an optimistic
    // universe this is about runs inside of it; the proviso is on in every mode where there may be such cycles (rule
    // 4).
    const bool cyclic;
    const Footprint& footprint(Id column, Id cell, const StepList& steps);
    bool may_send(Id sender, Id local, Id receiver, Id message) const {
        const std::size_t bit = first_[receiver] + message;
        return may_[sender][options.conditional ? local : 0].sends[bit / 64] >> (bit % 64) & 1;
    }
    bool may_emit(Id column, Id local) const { return may_[column][options.conditional ? local : 0].emits; }
    bool may_show(Id column, Id local) const { return may_[column][options.conditional ? local : 0].visible; }

private:
    struct May {
        std::vector<std::uint64_t> sends{};  // by receiver and message
        bool emits = false, visible = false;
    };
    static bool may_cycle(const Tables& tables, const Closure& closure);
    std::unique_ptr<Footprint> build(Column& column, Id cell, const StepList& steps) const;

    void list_missing(const Column& column, Id cell, Footprint& footprint) const;

    Tables& tables_;
    const Closure& closure_;
    std::vector<std::vector<std::uint64_t>> bits_{};  // per column and message: a bit for its sender
    std::vector<std::size_t> first_{};
    std::vector<std::vector<May>> may_{};
    std::vector<std::unique_ptr<Segmented<std::atomic<const Footprint*>>>> known_{};
    std::vector<std::vector<std::unique_ptr<Footprint>>> owned_{};
    bool monitors_seen_ = false;
};

// Finds stubborn sets, state after state; one per thread.
class Stubborn {
public:
    Stubborn(Tables& tables, Relations& relations);

    // Chooses the processes whose steps are to be taken; false if nothing is saved. The steps of all cells must be
    // known.
    bool choose(std::span<const Id> cells);
    const std::vector<char>& chosen() const { return best_; }

private:
    bool close(Id seed, std::span<const Id> cells, Id limit);
    void add(Id column);
    Id local(Id column) const { return tables_.columns[column]->cells[cells_[column]].local; }
    // May this message still be sent while no process of the set moves?
    bool possible(Id receiver, Id message) const;
    // Makes sure that the step a clause stands for does not come about while no process of the set moves.
    void settle(Id receiver, const Footprint::Clause& clause);

    Tables& tables_;
    Relations& relations_;
    Id processes_ = 0;
    std::vector<const Footprint*> footprints_{};
    std::vector<char> in_{}, best_{};
    std::vector<Id> queue_{};
    std::span<const Id> cells_{};
    Id enabled_ = 0;
};

}  // namespace quorate
