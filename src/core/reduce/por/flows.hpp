// Which classes of messages processes send to whom: what partial-order reduction can go by where neither a closure nor
// a universe tells what a process may do (docs/architecture.md, universes).
//
// From it follow sets of whole processes that nobody outside of them can disturb. One column (a process or a monitor)
// needs another, so that a set with the one holds the other, if
//  1. the other has sent it a message of a class that some transition of its takes;
//  2. it sends such a message to the other, and a maximal quorum counts there: one more message may disable that;
//  3. one is a monitor and the other emits events to it: the order of events counts (docs/soundness.md, rule 6), so all
//  who emit to
//     one monitor are in a set together;
//  4. one sends under the other's name: only one of them may be in the midst of filling a channel.
//
// Like an optimistic universe this is taken from what was met, and a search that meets a need which does not follow
// from those assumed is void; then all that was met is assumed, and the next search starts over. There are only so many
// needs, so that ends. In contrast to relations between steps, which must not be read off what was met
// (docs/architecture.md, universes), nothing is concluded here about combinations that nobody evaluated: the steps of a
// set of processes are all taken, as the tables have them.
//
// Why it is sound. A set P of processes that holds all it needs, and a few more that a state asks for, is chosen in
// each state (persistent.hpp). Call a run of the full system bad if its last step shows a need that does not follow
// from the assumed ones. Suppose that bad runs start in visited states, and take a shortest one, w, from a visited
// state s. The bad step cannot be the first: all steps of the cells of s were looked at. Let P be what was chosen in s.
//  - If a process of P takes a step in w, let x be the first such step. The steps before it are not bad, so none of
//    them sent to P what P can take, none emitted to a monitor that P emits to, and none sent into a channel that P
//    sends into. So the process of x is as it was in s but for messages it has no use for; x was possible in s, and was
//    taken there. What x sends does not disable the steps before it: only maximal quorums and, on a set, a twin that is
//    pending (persistent.hpp) make that differ. So x can go first, and the rest of w is a shorter bad run from a state
//    that was visited; or x is the bad step, but then it was looked at in s.
//  - If none does, every step that P takes in s leaves w as it is, and leads to a visited state with a bad run just as
//    long. By the ignoring proviso, which is always on, this way leads to a state of which all steps were taken, and
//    there the first case applies.
// So no run is bad. Then the same argument holds for runs that end in a deadlock (the second case cannot be: P has a
// step, which stays possible), in a step that fails or is cut (what it does depends on the cell of its process and on
// monitors to which nobody else emits), and in a state that shows something to a property (persistent.hpp says when P
// has to hold all processes that are observed). If the local quotient or dead messages are on for some processes, over
// a universe, take runs of the reduced tables, and call a step bad that leaves the universe too.
#pragma once

#include "model/tables.hpp"

namespace quorate {

class Flows final : public StepObserver {
public:
    // All columns must be there.
    explicit Flows(const Tables& tables)
        : tables_(tables), size_(static_cast<Id>(tables.columns.size())), met_(std::size_t{size_} * size_) {}

    // Why nothing is proven for this network; or nothing.
    static std::string unsupported(const Tables& tables);

    // Notes what all steps show that are known now.
    void note_all();
    // Notes what these steps of a process show: true if it does not follow from what is assumed.
    bool note(const Column& column, const StepList& steps) override;
    // From now on, all that was met is assumed, and nothing else.
    void assume();
    // Whether every process needs every other: then no set leaves anything out.
    bool hopeless() const;
    // All that a column needs, by way of others too; itself among them. By number.
    const std::vector<Id>& needs(Id column) const { return needs_[column]; }

    static bool takes(const Column& receiver, Id type);

private:
    bool note(Id dependent, Id needed);

    const Tables& tables_;
    const Id size_;
    std::vector<std::atomic<bool>> met_;  // [dependent][needed]
    std::vector<char> assumed_{};         // the same, by way of others too; empty: nothing is assumed yet
    std::vector<std::vector<Id>> needs_{};
};

}  // namespace quorate
