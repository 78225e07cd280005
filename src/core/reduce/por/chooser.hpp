// What a search asks of partial-order reduction, whatever that is based on: in a state, the steps that are enough.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "model/expander.hpp"

namespace quorate {

// Chooses steps, state after state; one per thread.
class Chooser {
public:
    virtual ~Chooser() = default;

    // Chooses the steps to be taken; false if nothing is saved. The steps of all cells must be known.
    virtual bool choose(std::span<const Id> cells) = 0;
    const Choice& chosen() const { return chosen_; }
    // Which chosen steps keep possible all that was left out, so that it can still be done after them: a number, or
    // none where a step does not. Steps of one process with the same number are the outcomes of one step, and it is not
    // known which of them keeps what: only all of them together do. (What the ignoring proviso counts, stubborn.hpp.)
    virtual Id keeping(Id column, Id step) const = 0;
    // The possible steps of that state, and how many of them the choice leaves out.
    Id offered() const { return offered_; }
    Id left_out() const { return left_out_; }

protected:
    Choice chosen_{};
    Id offered_ = 0, left_out_ = 0;
};

struct PartialOrders {
    std::function<std::unique_ptr<Chooser>()> chooser{};
    bool proviso = true;      // steps could be put off for ever, round a cycle, unless the search sees to it
    bool whole_runs = false;  // properties of whole runs are to be kept, not only what is reachable
};

}  // namespace quorate
