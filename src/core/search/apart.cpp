// Taking processes apart in the midst of a breadth-first search, because they have too many cells: see model/hubs.hpp.

#include "search/breadth_first.hpp"

namespace quorate {

void BreadthFirst::take_apart() {
    constexpr std::size_t many = 8;  // times as many states: cells are met again often enough
    bool changes = hubs_ != nullptr && !hubs_->current();
    std::vector<Id> chosen;
    for (Id column = 0; column < tables_.columns.size(); ++column) {
        Column& process = *tables_.columns[column];
        bool apart = hubs_ != nullptr && hubs_->of(column) != nullptr;
        if (apart && changes) apart = Hub::possible(process);
        const std::size_t cells = process.cells.size();
        if (!apart && cells >= next_look_[column]) {
            next_look_[column] = 2 * cells;
            // The states are there twice for a moment.
            if (resident_bytes() + store_.bytes() > options_.limits.memory) continue;
            apart = Hub::possible(process) && (cells * many >= store_.size() || thresholds.hub_gain == 0) &&
                    numbers_needed(tables_, process) * thresholds.hub_gain <= cells;
            changes |= apart;
        }
        if (apart) chosen.push_back(column);
    }
    if (changes) convert(chosen.empty() ? nullptr : std::make_unique<Hubs>(tables_, chosen));
}

bool BreadthFirst::too_many_cells() const {
    for (Id column = 0; may_take_apart_ && column < next_look_.size(); ++column)
        if (tables_.columns[column]->cells.size() >= next_look_[column] && (!hubs_ || hubs_->of(column) == nullptr))
            return true;
    return false;
}

void BreadthFirst::convert(std::unique_ptr<Hubs> next) {
    const auto converted = [&](const std::vector<Id>& cells) {
        const std::vector<Id> whole = hubs_ ? hubs_->join(cells) : cells;
        return next ? next->divide(whole) : whole;
    };
    store_.convert(next.get(), converted);
    const auto convert_all = [&](std::vector<Violations>& all) {
        for (Violations& each : all) each.first.cells = converted(each.first.cells);
    };
    for (Unchecked& one : unchecked_) one.cells = converted(one.cells);
    for (Witness& goal : goals_) goal.cells = converted(goal.cells);
    convert_all(violations_);
    if (violation_) violation_->cells = converted(violation_->cells);
    for (auto& worker : workers_) {
        if (worker->violation) worker->violation->cells = converted(worker->violation->cells);
        for (auto& goal : worker->goals)
            if (goal) goal->cells = converted(goal->cells);
        convert_all(worker->violations);
        worker->expander.use(next.get());
        worker->most = 0;  // a state may have more words now
    }
    hubs_ = std::move(next);
}

}  // namespace quorate
