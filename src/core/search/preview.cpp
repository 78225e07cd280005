#include "search/preview.hpp"

namespace quorate {

Preview preview(Tables& tables, Oracle& oracle, Chooser* chooser, const std::vector<Id>& cells) {
    Expander expander(tables);
    expander.cells = cells;
    while (!expander.steps_known()) ask(tables, oracle, expander.queries);
    for (;;) {
        Preview seen;
        seen.reduced = chooser != nullptr && chooser->choose(expander.cells);
        const auto emit = [&](Id column, const Step&, Id, std::uint64_t, bool) {
            seen.taken.push_back({column, expander.cells});
        };
        const auto fail = [&](Id column, Id, Id) { seen.taken.push_back({column}); };
        const auto summary = expander.expand(expander.sum(), emit, fail, seen.reduced ? &chooser->chosen() : nullptr);
        if (!summary.missing) return seen;
        ask(tables, oracle, expander.queries);
    }
}

}  // namespace quorate
