// Partial-order reduction by persistent sets: in a state, a set P of processes such that it is enough to take all steps
// of these processes. What P must hold in any state follows from flows (flows.hpp); in a state, also
//  1. on a set channel, a possible step of P sends m, and m is pending already: the receiver, because to consume the
//     twin before or after that is not the same (docs/soundness.md, rule 1). A twin that comes later is none of others:
//     messages carry their sender, who is in P.
//  2. a possible step of P shows something to a property: all processes and monitors that are observed. So either what
//     P does is not seen, or nothing that the others do without it (docs/soundness.md, rule 8). Not where only
//     deadlocks count.
//  3. P has a step that moves. What fails or is cut leads nowhere, and the search would have to take all steps after
//     all.
#pragma once

#include "reduce/por/chooser.hpp"
#include "reduce/por/flows.hpp"

namespace quorate {

class Persistent final : public Chooser {
public:
    // `visible` says whether there are properties besides deadlock.
    Persistent(Tables& tables, const Flows& flows, bool visible);

    bool choose(std::span<const Id> cells) override;
    // Whatever a process of P does: the others cannot disturb it, so each outcome can still come after all they do.
    Id keeping(Id, Id step) const override { return step; }

private:
    // Makes the smallest set with this process; false if it has as many possible steps as the limit, or more.
    bool close(Id seed, Id limit);
    void add(Id column);
    bool shows(const Step& step) const;
    bool twin_of(const Send& send) const;

    Tables& tables_;
    const Flows& flows_;
    const bool twins_;  // do they matter on this network?
    Id processes_ = 0;
    std::vector<Id> observed_{};  // columns
    std::vector<char> is_observed_{};
    std::span<const Id> cells_{};
    std::vector<const StepList*> steps_{};
    std::vector<Id> leaders_{};  // the first of all processes that need the same
    std::vector<char> tried_{};  // by leader
    std::vector<char> inside_{};
    std::vector<Id> members_{}, best_{};
    Id possible_ = 0;  // steps of the members
    std::vector<char> all_{};
    std::vector<Query> queries_{};
};

}  // namespace quorate
