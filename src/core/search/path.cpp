// A shortest run, found backwards: see path.hpp.

#include "search/path.hpp"

namespace quorate {

StepBack::StepBack(Tables& tables, const Store& store, Oracle& oracle, Symmetry* symmetry, Hubs* hubs, bool asks)
    : tables_(tables), store_(store), oracle_(oracle), hubs_(hubs), asks_(asks), expander_(tables, hubs) {
    if (symmetry != nullptr) canonical_.emplace(*symmetry);
}

void StepBack::begin(std::vector<Id> target, std::uint64_t level) {
    target_ = std::move(target);
    level_ = level;
    smallest_ = 0;
    best_.clear();
}

void StepBack::look(unsigned array, std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i < end; ++i) {
        if ((i & 0xfff) == 0 && Clock::now() > next_) {
            next_ = Clock::now() + std::chrono::milliseconds(100);
            Progress progress;
            progress.states = store_.size();
            progress.depth = level_;
            progress.memory = resident_bytes();
            oracle_.poll(progress);  // a run that breaks the protocol is worth waiting for
            store_.rest();
        }
        expander_.queries.clear();
        if (step_bytes(tables_, hubs_) > std::max(tables_.most_step_bytes, store_.bytes())) {
            forget_steps(tables_, hubs_);
            expander_.forget_steps();
        }
        store_.layout().unpack(store_.state(array, i), expander_.cells.data());
        Way way = canonical_ ? leads_to_renamed() : leads_to();
        while (asks_ && way != Way::protocol && !expander_.queries.empty()) {
            ask(tables_, oracle_, expander_.queries);
            way = canonical_ ? leads_to_renamed() : leads_to();
        }
        if (way == Way::none) continue;
        const std::uint64_t content = content_of(tables_, hubs_, expander_.cells);
        const std::uint64_t rank = content >> 1 | (way == Way::fault ? std::uint64_t{1} << 63 : 0);
        if (best_.empty() || rank < smallest_) {
            best_ = expander_.cells;
            smallest_ = rank;
        }
    }
}

// How many faults there were is a part of the state, unless they have no bound.
StepBack::Way StepBack::way_of(const Step& step) const {
    const bool counted = !tables_.network.losses_unlimited && !tables_.network.crashes_unlimited;
    return counted || step.protocol ? Way::protocol : Way::fault;
}

// How does a step of the state in `cells` lead to the target? A step changes its process, the budgets, and those it
// sends to: most steps need not be followed to see that they do not. (If the level was not finished, some steps are not
// known; its states have other ways on.)
StepBack::Way StepBack::leads_to() {
    const std::vector<Id>& cells = expander_.cells;
    std::size_t different = 0;
    for (std::size_t i = 0; i < cells.size(); ++i) different += cells[i] != target_[i];
    Way found = Way::none;
    expander_.expand_where(
        [&](const Step& step) { return found != Way::protocol && different <= expander_.most_changes(step); },
        [&](Id, const Step& step, Id, std::uint64_t, bool) {
            if (cells == target_) found = std::max(found, way_of(step));
        },
        [](Id, Id, Id) {});
    return found;
}

// The same where the target stands for all its renamings.
StepBack::Way StepBack::leads_to_renamed() {
    Way found = Way::none;
    canonical_->expand(expander_.cells);
    const auto emit = [&](Id, const Step& step, Id, std::uint64_t, bool) {
        const Way way = way_of(step);
        if (way > found && canonical_->of(expander_.cells, expander_.changes()) == target_) found = way;
    };
    expander_.expand(0, emit, [](Id, Id, Id) {});
    return found;
}

void find_path(Tables& tables, const Store& store, const std::vector<std::vector<std::uint64_t>>& levels,
               Oracle& oracle, Symmetry* symmetry, Hubs* hubs, Witness& witness) {
    StepBack back(tables, store, oracle, symmetry, hubs, false);
    witness.path.assign(1, witness.cells);
    const std::uint64_t steps = witness.finding == Finding::failure ? witness.length - 1 : witness.length;
    for (std::uint64_t level = steps; level-- > 0;) {
        back.begin(witness.path.back(), level);
        for (unsigned array = 0; array < store.threads(); ++array)
            back.look(array, levels[level][array], levels[level + 1][array]);
        if (back.best().empty())
            throw std::logic_error("a state of the search has no predecessor in the level before it");
        witness.path.push_back(back.best());
    }
    std::reverse(witness.path.begin(), witness.path.end());
    if (hubs == nullptr) return;
    for (auto& cells : witness.path) cells = hubs->join(cells);
    witness.cells = hubs->join(witness.cells);
}

}  // namespace quorate
