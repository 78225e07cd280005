// The graph of a model: every reachable state is stored once, packed, and its steps are listed beside it.
//
// Sequential and breadth-first, so the numbers of the states are the same whatever else the machine does. The exact
// reductions of the tables (quotient, dead messages) are used as they are: both keep the steps of every process with
// what they consume, hence every group of fairness. Symmetry and partial orders are not used.
#pragma once

#include "search/search.hpp"
#include "temporal/graph.hpp"

namespace quorate {

struct Exploration {
    Stop stop = Stop::finished;
    std::uint64_t depth = 0, deadlocks = 0;
    std::vector<bool> cut{};           // the columns whose bound cut a step
    bool blocked = false;              // a full channel held up a step
    std::optional<Witness> witness{};  // a handler or a monitor that fails, a predicate that raises
};

class SystemGraph {
public:
    explicit SystemGraph(Tables& tables) : tables(tables), store(tables, 1), forgotten_(tables.forgotten) {}

    Tables& tables;
    Graph graph{};
    Store store;

    // Once. `predicates` are indices of properties, at most 64; the verdict of each is noted for every state.
    Exploration explore(std::vector<Property>& properties, Oracle& oracle, const std::vector<std::size_t>& predicates,
                        const Limits& limits);
    std::vector<Id> cells(Id state) const {
        if (tables.forgotten != forgotten_) throw std::logic_error("the model was reduced anew since it was explored");
        std::vector<Id> cells(tables.width());
        store.layout().unpack(store.state(0, state), cells.data());
        return cells;
    }

private:
    const std::uint64_t forgotten_;
};

}  // namespace quorate
