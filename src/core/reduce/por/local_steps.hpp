// Partial-order reduction where processes share cells: steps that concern nobody else are taken first, and alone.
//
// In a state, let p be a process that takes no messages, whose present steps depend on no shared cell, and all of whose
// steps only change its own local state: they send nothing, write no cell, tell no monitor, draw on no budget, cannot
// fail or be cut, and show nothing to a property. Then all steps of p are a persistent set. Let w be any sequence of
// steps of others. It leaves the local state of p as it is, and there is nothing else that the steps of p depend on: so
// each of them is possible after w if and only if it is possible now, and it does what it would do now. Nor does it
// change anything on which a step of w depends. So both orders lead to the same state, D1 and D2 of stubborn.hpp hold
// for every step of p as the key, and so does its theorem; w shows the same with the step before it. Steps of p are
// seen neither now nor after w, since its local state is the same (docs/soundness.md, rule 17).
//
// Nothing has to be known beforehand for that, neither a closure nor what processes do elsewhere. Where a process
// reads or writes a cell its steps are not put off or preferred: who else may come to that cell is not looked for.
#pragma once

#include <string>

#include "reduce/por/chooser.hpp"

namespace quorate {

class LocalSteps final : public Chooser {
public:
    explicit LocalSteps(Tables& tables);

    // Why nothing is proven for this system; or nothing.
    static std::string unsupported(const Tables& tables);

    bool choose(std::span<const Id> cells) override;
    // Whatever the process does, the others can still do all that they could.
    Id keeping(Id, Id step) const override { return step; }

private:
    static bool concerns_nobody(const StepList& steps);

    Tables& tables_;
    std::vector<char> hears_{};  // by process: may it ever take a message?
    std::vector<char> all_{};
    std::vector<Query> queries_{};
};

}  // namespace quorate
