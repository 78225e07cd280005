// Saving a breadth-first search between two rounds, and going on from what was saved: see checkpoint.hpp.

#include "search/breadth_first.hpp"

namespace quorate {

void BreadthFirst::put_off_saving(Clock::duration took) {
    if (options_.checkpoints == nullptr) return;
    const double seconds = options_.checkpoints->seconds;
    auto pause = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(std::min(seconds, 1e9)));
    if (seconds >= 1) pause = std::max(pause, 20 * took);
    next_save_ = Clock::now() + pause;
}

void BreadthFirst::save(const std::vector<Range>& again) {
    const Stop stop = stop_;
    if (options_.checkpoints == nullptr || stop == Stop::regrown) return;
    const auto begun = Clock::now();
    sequence_.extend(store_, levels_);
    Snapshot snapshot(store_, sequence_.since(saved_));
    snapshot.stop = stop;
    SearchState& state = snapshot.state;
    state.states = store_.size();
    state.depth = depth_;
    state.given_up = given_up_;
    state.next_trial = next_trial_;
    state.void_from = void_from_;
    state.outgrown = tables_.outgrown;
    state.cut.assign(tables_.columns.size() + 1, false);
    state.goals = goals_;
    std::vector<std::optional<Witness>> best(properties_.size());
    for (const auto& worker : workers_) {
        state.transitions += worker->transitions;
        state.deadlocks += worker->deadlocks;
        state.stands_for += worker->stands_for;
        state.offered += worker->offered;
        state.left_out += worker->left_out;
        for (std::size_t i = 0; i < state.cut.size(); ++i)
            if (worker->expander.cut[i]) state.cut[i] = true;
        for (std::size_t i = 0; i < best.size(); ++i)
            if (worker->goals[i] && (!best[i] || worker->goals[i]->rank() < best[i]->rank()))
                best[i] = worker->goals[i];
        for (const Violations& each : worker->violations) add_to(state.violations, each);
    }
    for (auto& goal : best)
        if (goal) state.goals_of_level.push_back(std::move(*goal));
    for (const auto& level : levels_) {
        std::uint64_t begin = 0;
        for (std::uint64_t of_array : level) begin += of_array;
        state.levels.push_back(begin);
    }
    state.pending = sequence_.places(again);
    state.unchecked = unchecked_;
    state.violation = violation_;
    if (options_.checkpoints->save(snapshot)) saved_ = sequence_.size();
    put_off_saving(Clock::now() - begun);
}

std::vector<Range> BreadthFirst::restore(const SearchState& from) {
    store_.widen();
    while (auto saved = options_.checkpoints->load()) {
        restore(*saved);
        look();
        if (stop_ != Stop::finished) return {};
    }
    if (store_.size() != from.states) throw Damaged("states are missing");
    const std::uint64_t others = options_.threads - 1;
    levels_.clear();
    for (std::uint64_t begin : from.levels) {
        levels_.emplace_back(1, begin);
        levels_.back().resize(1 + others, 0);
    }
    sequence_.extend(store_, levels_);
    saved_ = sequence_.size();
    depth_ = from.depth;
    given_up_ = from.given_up;
    next_trial_ = from.next_trial;
    void_from_ = from.void_from;
    if (from.outgrown) tables_.outgrown = true;
    Worker& first = *workers_[0];
    first.transitions = from.transitions;
    first.published = from.transitions;
    first.deadlocks = from.deadlocks;
    first.stands_for = from.stands_for;
    first.offered = from.offered;
    first.left_out = from.left_out;
    for (const Violations& each : from.violations) {
        first.violations.push_back({restored(each.first), each.count});
        note_broken(each.first);
    }
    for (const Witness& goal : from.goals_of_level) first.goals.at(goal.property) = restored(goal);
    if (from.cut.size() != tables_.columns.size() + 1) throw Damaged("bounds of other processes");
    for (std::size_t i = 0; i < from.cut.size(); ++i)
        if (from.cut[i]) first.expander.cut[i] = true;
    for (const Witness& goal : from.goals) goals_.push_back(restored(goal));
    if (from.violation) {
        violation_ = restored(*from.violation);
        note_broken(*violation_);
    }
    for (const Unchecked& one : from.unchecked) require(one.cells);
    if (given_up_ > 0)
        for (auto& worker : workers_) worker->chooser.reset();
    for (const Pending& one : from.pending)
        left_over_.push_back(
            {.array = 0, .begin = one.begin, .end = one.end, .in_full = one.in_full, .counted = one.counted});
    unchecked_ = from.unchecked;
    return settle();
}

void BreadthFirst::require(const std::vector<Id>& cells) const {
    if (cells.size() != tables_.width()) throw Damaged("a state of another shape");
    for (Id column = 0; column < cells.size(); ++column)
        if (cells[column] >= tables_.cell_count(column)) throw Damaged("a state of cells that are not there");
}

Witness BreadthFirst::restored(Witness one) const {
    require(one.cells);
    const bool failure = one.finding == Finding::failure;
    if (one.length < failure || one.length - failure >= levels_.size()) throw Damaged("a run beyond its levels");
    const bool of_property = !failure && one.finding != Finding::deadlock;
    if ((of_property && one.property >= properties_.size()) || (failure && one.column >= tables_.columns.size()))
        throw Damaged("it found something unknown");
    one.faults = tables_.spent(one.cells);
    return one;
}

void BreadthFirst::restore(const SavedStates& saved) {
    const Layout layout = Layout::of(saved.bits);
    const std::size_t width = tables_.width(), words = store_.layout().words();
    if (saved.bits.size() != width || saved.bytes % layout.stride() != 0) throw Damaged("states of another shape");
    constexpr std::size_t ahead = 64;
    std::vector<Id> cells(width);
    std::vector<Word> packed(ahead * words);
    std::uint64_t hashes[ahead], known = 0;
    const std::size_t count = saved.bytes / layout.stride();
    for (std::size_t begin = 0; begin < count; begin += ahead) {
        while (store_.room() < portion * options_.threads + ahead || store_.needs_growth()) grow();
        const std::size_t some = std::min(ahead, count - begin);
        for (std::size_t i = 0; i < some; ++i) {
            layout.unpack(saved.packed.data() + (begin + i) * layout.stride(), cells.data());
            require(cells);
            store_.layout().pack(cells.data(), packed.data() + i * words);
            hashes[i] = spread(tables_.sum(cells.data()));
            store_.prefetch(hashes[i]);
        }
        for (std::size_t i = 0; i < some; ++i)
            if (store_.insert(0, packed.data() + i * words, hashes[i], known) == Store::Insertion::known)
                throw Damaged("a state is there twice");
    }
}

}  // namespace quorate
