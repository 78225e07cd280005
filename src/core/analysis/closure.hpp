// What can be found out before any search: what each process may ever be, receive and do.
#pragma once

#include "model/consume.hpp"
#include "model/oracle.hpp"

namespace quorate {

// The closure: per process, the local states it may ever take and the messages it may ever receive, grown together
// while ignoring that consumption removes messages. It over-approximates every run. Afterwards the tables hold the
// behaviour of every local state on every consumable set (evaluated whether or not a search meets it:
// docs/architecture.md, universes).
struct Closure {
    bool complete = false;
    bool optimistic = false;  // no closure, but a universe that was taken from a search (universe.hpp)
    std::string why{};        // where it was given up
    std::size_t local_states = 0, messages = 0, behaviours = 0;
    std::size_t rounds = 0;  // how often it has asked about what the answers before have led to

    struct Enabled {
        Id transition, set;
        const Behaviour* behaviour;
    };
    std::vector<std::vector<std::vector<Enabled>>> enabled{};  // per column and local state

    // Does the analysis say anything of this local state, or of this message of the column?
    bool holds(const Column& column, const Local& local) const {
        return !optimistic || (!column.as_is && local.member);
    }
    bool holds(const Column& column, const Message& message) const {
        return !optimistic || (!column.as_is && message.member);
    }
};

// Of the processes first: their closure does not depend on monitors, which only watch. Then each monitor is closed over
// the events that they may emit, within a small budget of its own (thresholds.hpp). One that does not end there
// `grows`: the search fills its table, and reductions argue about the processes without it.
//
// A closure that is being made. It can be stopped and taken up again, since nobody knows beforehand what it will cost:
// a search goes on beside it, and each gets as much as the other (docs/architecture.md).
class Closing {
public:
    explicit Closing(Tables& tables) : tables_(tables), done_(tables.columns.size()), settled_(tables.columns.size()) {
        closure_.enabled.resize(tables.columns.size());
    }

    // Goes on until it is complete, or has cost as much as `most_behaviours` runs of a handler in all.
    void go_on(Oracle& oracle, std::size_t most_behaviours);
    Closure& closure() { return closure_; }

private:
    // Tries every local state on what was not there when it was tried last. False if that takes too much.
    bool sweep(Oracle& oracle, std::size_t most_behaviours);

    Tables& tables_;
    Closure closure_{};
    std::vector<std::vector<std::size_t>> done_;  // per local state: the messages it was tried on
    // Per column: up to which local state all were tried on so many messages, so that a round costs what is new in it.
    struct Settled {
        Id locals = 0;
        std::size_t messages = 0;
    };
    std::vector<Settled> settled_;
    std::vector<Query> open_{};  // what is to be asked next, in order
    std::size_t spent_ = 0;      // what the answers have cost so far
};

// Asks for the reactions of a monitor to these events from every local state that they lead to, or says that it grows.
void close_monitor(Tables& tables, Oracle& oracle, Column& monitor, const std::vector<Id>& events, Closure& closure);

// What the local state does with every consumable set of these messages; incomplete if anything was appended to
// `queries`.
std::vector<Closure::Enabled> behaviours_of(Tables& tables, Column& column, Id local, const std::vector<Id>& messages,
                                            std::vector<Query>& queries, std::size_t most);

}  // namespace quorate
