#include "search/simulate.hpp"

#include <random>

#include "model/expander.hpp"
#include "model/watch.hpp"

namespace quorate {

void simulate(Tables& tables, Oracle& oracle, std::size_t walks, std::size_t most_steps) {
    Expander expander(tables);
    Watch watch(Limits{}, oracle);
    for (std::size_t walk = 0; walk < walks; ++walk) {
        // The same walks every time, on every machine: the raw numbers of this engine are fixed by the standard.
        std::mt19937_64 random(walk);
        std::vector<Id> state = tables.initial_cells(walk % tables.initials.size());
        for (std::size_t taken = 0; taken < most_steps; ++taken) {
            std::vector<std::vector<Id>> successors;
            const auto emit = [&](Id, const Step&, Id, std::uint64_t, bool) { successors.push_back(expander.cells); };
            expander.cells = state;
            while (expander.expand(expander.sum(), emit, [](Id, Id, Id) {}).missing) {
                ask(tables, oracle, expander.queries);
                successors.clear();
            }
            if (watch.look([] { return Progress{}; })) throw Interrupted();
            if (successors.empty()) break;
            state = successors[random() % successors.size()];
        }
    }
}

}  // namespace quorate
