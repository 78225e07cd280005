// Partial-order reduction by stubborn sets: in a state, a set of labels such that it is enough to take the steps with
// these labels.
//
// The set T of a state s is a weak stubborn set (Valmari 1998; Valmari and Hansen 2017). Let w be any sequence of steps
// that are not in T, possible in s. Then
//  D1: if a step t of T is possible after w, then t w is possible in s too, and leads to the same state;
//  D2: the key, one step of T, is possible after w. (Without the refinement `key`: all that are possible in s.)
// The rules that T is closed under make that so:
//
//  1. Within a process: a possible step of the set commutes with every step that can come about without the set, in
//     every local state on the way (the footprint's labels are closed under this).
//  2. A step of the set is not possible because messages are missing: one of them is not sent without the set, or the
//     local state that the step starts from is not reached without it (a necessary enabling set).
//  3. On a set channel, a possible step consumes m: m is not sent again without the set. It sends m, and an equal
//     message is pending or may be sent: nobody takes that without the set (docs/soundness.md, rule 1). Multisets and
//     FIFO channels have no such conflict. But in a FIFO channel a message can be lost or repeated at any place: where
//     the environment does that to m and is in the set, m is not sent again without the set.
//  4. Where a maximal set counts, one more message may disable: a message of the set is not sent to such a step.
//  5. Bounded channels: where there is no room, the steps that make room are in the set. (Senders into one channel do
//     not commute.)
//  6. Events that do not commute, by the monitor's table, and steps that draw on one budget are in the set together.
//  7. If the set has a possible step that a property may see, now or after steps without the set, it holds every step
//     that may be seen. (Visible in the present local state alone is not enough: a step that shows nothing now may
//     overwrite what another one would have shown before it.)
//
// Theorem (Valmari 1998, theorem 4.2 with D2 for the key alone; what follows is all that the code relies on). Every
// run w of the full system from a visited state s to a deadlock, a failing step, or a state that properties see is
// matched by one of the reduced search. By induction on the length of w:
//  - Some step of w is in T(s). The first such can be moved to the front by D1; the rest is shorter and starts in a
//    visited state. By 7 properties see the same states along the way, in the same order.
//  - None is. Then w does not end in a deadlock (D2). The key k is possible after w, so k w is possible in s by D1 and
//    D2 and, if k is not seen, shows the same; if it is seen, w shows nothing, and s itself is a match. So w is still
//    possible after *k*, that is after one outcome of k, which D1 does not name. It may not be possible after any other
//    step of T: those need not be possible after w, so D1 says nothing about them. Go on in that successor of k.
// The second case must not happen for ever. The search sees to it (the ignoring proviso): a state whose T leaves
// something out has only successors by k in the next level (breadth first) or off the path (depth first), or else it is
// expanded in full. Then along the successors by keys the level grows, or the moment at which the depth-first search
// leaves a state becomes earlier; either ends, in a state that was expanded in full. If no run of the system comes back
// to a state it has been in, no proviso is needed. Twins and steps that are made up for (independence.cpp, twins.cpp)
// fit in: a step of w falls away or is replaced by the key, and w does not get longer (docs/partial-orders.md).
//
// For what comes about without the set, messages are taken to be there if they may be sent from the present local
// states. Deadlock means that no step of the protocol is possible; so the set holds one if there is one.
#pragma once

#include "reduce/por/chooser.hpp"
#include "reduce/por/relations.hpp"

namespace quorate {

// Numbers for sets of messages: a single word is its own.
class Numbers {
public:
    std::uint64_t number(const std::vector<std::uint64_t>& set) {
        if (set.size() == 1) return set[0];
        halves_.clear();
        for (const std::uint64_t word : set) {
            halves_.push_back(static_cast<Id>(word));
            halves_.push_back(static_cast<Id>(word >> 32));
        }
        return sets_.intern(halves_);
    }

private:
    Interner sets_{};
    std::vector<Id> halves_{};
};

// Finds stubborn sets, state after state; one per thread.
class Stubborn final : public Chooser {
public:
    Stubborn(Tables& tables, Relations& relations);

    bool choose(std::span<const Id> cells) override;
    Id keeping(Id column, Id step) const override {
        if (relations_.options().weak() && column != key_column_) return none;
        const Id tag = roots_[column]->tags[step];
        return relations_.options().weak() && tag != key_ ? none : tag;
    }

private:
    bool close(Id seed, std::size_t which, Id limit);
    void put(Id column, const Footprint& next);
    void add(Id column, const Labels& labels, Id number);
    void add(Id column, const Future::Listed& listed) { add(column, listed.labels, listed.number); }
    // The same with labels that have no number yet.
    void add(Id column, const Labels& labels);
    const Footprint& grown(const Footprint& from, const Labels& more, Id number);
    const Footprint& started(Id seed, std::size_t which);
    // Finds out what may still be sent at all, from this state on.
    void foresee();
    const std::vector<Futures::Sent>& forwarded(Id column);
    // The messages to a process that may still be sent, as far as it has a use for them, and those that it has already.
    void ask(const Footprint& root, bool pending);
    bool sendable(Id receiver, Id message) const;
    // Adds the labels that send a message.
    void keep_from(Id receiver, Id message);
    // What adding them would cost, in possible steps; or the limit or more.
    Id cost(Id receiver, Id message, Id limit);
    void oblige(Id column);
    void oblige_channels(Id column);
    // Is there room for what some step with this tag sends?
    bool possible(Id column, Id tag);
    // Settles the first clause that is open, if there is a way that adds less than `limit` possible steps.
    enum class Settled : std::uint8_t { already, now, too_dear };
    Settled settle(Id column, Id limit);
    bool pending(Id receiver, Id message) const;

    Tables& tables_;
    Relations& relations_;
    Id processes_ = 0;
    std::span<const Id> cells_{};
    std::vector<const StepList*> steps_{};
    std::vector<const Footprint*> roots_{}, footprints_{}, best_{};
    std::vector<char> queued_{}, dirty_{};
    std::vector<char> unsettled_{};  // whose clauses are to be looked at
    std::vector<std::size_t> settled_{};
    std::vector<Id> queue_{}, order_{};
    std::vector<Query> queries_{};
    std::vector<std::uint64_t> coming_{};  // the messages that may still be sent
    std::vector<std::uint64_t> open_{};    // to one process, without the set
    std::vector<std::uint64_t> asked_{};   // about, see above
    std::vector<Id> question_{};
    Id key_column_ = none, key_ = none;  // of the set that was chosen
    Id enabled_ = 0;
    bool visible_ = false;
    unsigned draws_ = 0;
    // What was looked up before, process by process.
    struct Memory {
        Interner labels{};
        Numbers sendable{}, gotten{};
        std::vector<FlatMap<const std::vector<Futures::Sent>*>> answers{};  // by local state and what it gets
        // The last answers to the first questions about a state: from state to state most processes stay as they are.
        struct Last {
            const Footprint* root = nullptr;
            std::vector<std::uint64_t> coming{};
            const std::vector<Futures::Sent>* answer = nullptr;
        };
        std::array<Last, 3> last{};
        std::size_t asked = 0;
        std::vector<const Footprint*>* seeds = nullptr;  // the starts of this state, once they were looked up
        FlatMap<const Footprint*> growths{};             // by footprint and number of labels
        std::vector<FlatMap<std::vector<const Footprint*>>> starts{};  // by root and what is sendable: by seed
    };
    std::vector<std::unique_ptr<Memory>> memory_{};
};

}  // namespace quorate
