// A shortest run, found backwards: among the states of the level before, those with a step to the target; of these the
// one whose content is smallest. It depends on the levels alone, so every run and every number of threads finds the
// same.

#include "reduce/symmetry/canonical.hpp"
#include "search/search.hpp"

namespace quorate {

namespace {

// Does some step of the state in `expander.cells` lead to the target? A step changes its process, the budgets, and
// those it sends to: most steps need not be followed to see that they do not. (If the level was not finished, some
// steps are not known; its states have other ways on.)
bool leads_to(Expander& expander, const std::vector<Id>& target) {
    const std::vector<Id>& cells = expander.cells;
    std::size_t different = 0;
    for (std::size_t i = 0; i < cells.size(); ++i) different += cells[i] != target[i];
    bool found = false;
    expander.expand_where([&](const Step& step) { return !found && different <= step.send_count + 2u; },
                          [&](Id, const Step&, Id, std::uint64_t, bool) { found = cells == target; },
                          [](Id, Id, Id) {});
    return found;
}

// The same where the target stands for all its renamings.
bool leads_to_renamed(Expander& expander, Canonical& canonical, const std::vector<Id>& target) {
    bool found = false;
    canonical.expand(expander.cells);
    const auto emit = [&](Id, const Step&, Id, std::uint64_t, bool) {
        found = found || canonical.of(expander.cells, expander.changes()) == target;
    };
    expander.expand(0, emit, [](Id, Id, Id) {});
    return found;
}

}  // namespace

void find_path(Tables& tables, const Store& store, const std::vector<std::vector<std::uint64_t>>& levels,
               Oracle& oracle, Symmetry* symmetry, Witness& witness) {
    Expander expander(tables);
    std::optional<Canonical> canonical;
    if (symmetry != nullptr) canonical.emplace(*symmetry);
    std::vector<Id> best;
    witness.path.assign(1, witness.cells);
    const std::uint64_t steps = witness.finding == Finding::failure ? witness.length - 1 : witness.length;
    Clock::time_point next = Clock::now();
    for (std::uint64_t level = steps; level-- > 0;) {
        const std::vector<Id> target = witness.path.back();
        std::uint64_t smallest = 0;
        best.clear();
        for (unsigned array = 0; array < store.threads(); ++array) {
            for (std::uint64_t i = levels[level][array]; i < levels[level + 1][array]; ++i) {
                if ((i & 0xfff) == 0 && Clock::now() > next) {
                    next = Clock::now() + std::chrono::milliseconds(100);
                    Progress progress;
                    progress.states = store.size();
                    progress.depth = level;
                    progress.memory = resident_bytes();
                    oracle.poll(progress);  // a run that breaks the protocol is worth waiting for
                }
                expander.queries.clear();
                if (tables.step_bytes() > std::max(tables.most_step_bytes, store.bytes())) {
                    tables.forget_steps();
                    expander.forget_steps();
                }
                store.layout().unpack(store.state(array, i), expander.cells.data());
                if (canonical ? !leads_to_renamed(expander, *canonical, target) : !leads_to(expander, target)) continue;
                const std::uint64_t content = tables.content(expander.cells);
                if (best.empty() || content < smallest) {
                    best = expander.cells;
                    smallest = content;
                }
            }
        }
        if (best.empty()) throw std::logic_error("a state of the search has no predecessor in the level before it");
        witness.path.push_back(best);
    }
    std::reverse(witness.path.begin(), witness.path.end());
}

}  // namespace quorate
