// Which steps of one process commute. Instances of different processes meet in inboxes, monitors and budgets only; what
// can go wrong there is listed where stubborn sets are closed (stubborn.hpp).
#pragma once

#include "reduce/por/instances.hpp"

namespace quorate {

class Independence {
public:
    explicit Independence(const Instances& instances)
        : instances_(instances), known_(instances.tables.columns.size()) {}

    // A step of the set and those of another label, which is not in it.
    struct Pair {
        bool conflicts = false;      // the order matters, with one of them at least
        bool absorbed = false;       // the step makes up for some of them
        std::vector<Send> unsent{};  // what those would have sent
    };
    // In a local state. A lasting step must stay possible. Take the column's lock first.
    const Pair& meet(const Column& column, Id local, Id tag, Id label, bool lasting);

private:
    bool commutes(const Column& column, Id tag, const Instance* step, const Instance& other, bool lasting) const;
    bool absorbs(const Column& column, Id tag, const Instance* step, const Instance& other, bool lasting) const;

    const Instances& instances_;
    using ByLocal = std::vector<std::array<FlatMap<Pair>, 2>>;  // lasting or not; by tag and label
    std::vector<ByLocal> known_;                                // by column
};

}  // namespace quorate
