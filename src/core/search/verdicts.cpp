// What a breadth-first search finds, and reports.

#include "search/breadth_first.hpp"

namespace quorate {

void BreadthFirst::judge() {
    std::sort(unchecked_.begin(), unchecked_.end(),
              [&](const Unchecked& a, const Unchecked& b) { return content(a.cells) < content(b.cells); });
    std::size_t judged = 0;
    try {
        for (; judged < unchecked_.size(); ++judged)
            if (!judge(unchecked_[judged])) break;
    } catch (const Interrupted&) {
        stop_ = Stop::interrupt;
    }
    unchecked_.erase(unchecked_.begin(), unchecked_.begin() + static_cast<std::ptrdiff_t>(judged));
}

bool BreadthFirst::judge(const Unchecked& one) {
    look();
    for (std::size_t i = 0; i < properties_.size() && stop_ == Stop::finished; ++i) {
        if (properties_[i].kind == PropertyKind::bound) continue;
        if (one.stuck != (properties_[i].kind == PropertyKind::final)) continue;
        if (judge_.ask(i, one.cells) == Verdict::unknown) stop_ = Stop::regrown;
    }
    if (stop_ != Stop::finished) return false;
    if (one.stuck)
        check_stuck(*workers_[0], one.cells, one.length);
    else
        check(*workers_[0], one.cells, one.length);
    return true;
}

void BreadthFirst::merge_goals(Worker& worker) {
    for (auto& goal : worker.goals) {
        if (!goal) continue;
        const auto same = [&](const Witness& other) { return other.property == goal->property; };
        const auto known = std::find_if(goals_.begin(), goals_.end(), same);
        if (known == goals_.end())
            goals_.push_back(std::move(*goal));
        else if (goal->rank() < known->rank())
            *known = std::move(*goal);
        goal.reset();
    }
}

void BreadthFirst::check(Worker& worker, const std::vector<Id>& cells, std::uint64_t length) {
    std::vector<Witness> broken;
    const auto found = [&](Finding finding, std::size_t property) {
        if (finding != Finding::reached) {
            broken.push_back(witness(finding, property, cells, length));
        } else if (!reached(property)) {
            Witness goal = witness(finding, property, cells, length);
            auto& best = worker.goals[property];
            if (!best || goal.rank() < best->rank()) best = std::move(goal);
        }
        return true;
    };
    const bool known = judge_.state(cells, later, found);
    // What is put aside is judged again, and counted then.
    for (Witness& each : broken) offer(worker, std::move(each), known);
    if (!known) worker.unchecked.push_back({cells, length, false});
}

bool BreadthFirst::reached(std::size_t property) const {
    return std::any_of(goals_.begin(), goals_.end(), [&](const Witness& goal) { return goal.property == property; });
}

void BreadthFirst::check_stuck(Worker& worker, const std::vector<Id>& cells, std::uint64_t length) {
    const auto found = [&](Finding finding, std::size_t property) {
        offer(worker, witness(finding, property, cells, length));
    };
    if (!judge_.stuck(cells, later, found)) worker.unchecked.push_back({cells, length, true});
}

Witness BreadthFirst::witness(Finding finding, std::size_t property, const std::vector<Id>& cells,
                              std::uint64_t length) const {
    Witness result;
    result.finding = finding;
    result.property = property;
    result.length = length;
    result.faults = tables_.spent(cells);
    result.content = content(cells);
    result.cells = cells;
    return result;
}

bool BreadthFirst::has_broken() const {
    const auto is_set = [](const std::atomic<bool>& one) { return one.load(); };
    return (failed_ != none || std::any_of(broken_.begin(), broken_.end(), is_set)) && !tables_.outgrown;
}

void BreadthFirst::note_broken(const Witness& witness) {
    bool known;
    if (witness.finding == Finding::failure)
        known = failed_.exchange(witness.failure) != none;
    else
        known = broken_[witness.finding == Finding::deadlock ? properties_.size() : witness.property].exchange(true);
    if (!known) news_ = true;
}

void BreadthFirst::offer(Worker& worker, Witness witness, bool counts) {
    note_broken(witness);
    if (options_.all)
        add_to(worker.violations, {std::move(witness), counts ? 1u : 0u});
    else if (!worker.violation || witness.rank() < worker.violation->rank())
        worker.violation = std::move(witness);
}

void BreadthFirst::count_violations() {
    std::vector<Id> cells(width());
    std::vector<std::uint64_t> counts(properties_.size());
    const auto again = [&](std::size_t property) {
        try {
            return judge_.ask(property, cells);
        } catch (const Interrupted&) {
            return Verdict::unknown;
        }
    };
    // Of a search that was stopped, what can be counted quickly: nobody waits for long after Ctrl-C.
    const bool stopped = stop_ != Stop::finished;
    const auto until = Clock::now() + std::chrono::seconds(1);
    const auto is_over = [&] {
        const auto stop = watch_.look([&] { return progress(); });
        if (stop && !stopped) stop_ = *stop;
        return stopped ? Clock::now() > until : stop.has_value();
    };
    bool over = false;
    for (unsigned array = 0; array < store_.threads() && !over; ++array) {
        for (std::uint64_t i = 0; i < store_.count(array) && !over; ++i) {
            if ((i & 0xfffff) == 0) store_.rest();
            if ((i & 0xfff) == 0xfff) over = is_over();
            store_.layout().unpack(store_.state(array, i), cells.data());
            judge_.state(cells, again, [&](Finding finding, std::size_t property) {
                counts[property] += finding == Finding::violated;
                return true;
            });
        }
    }
    for (Violations& each : violations_)
        if (each.first.finding == Finding::violated)
            each.count = over ? std::max(each.count, counts[each.first.property]) : counts[each.first.property];
}

SearchResult BreadthFirst::report() {
    // The run to it is still to be found, which may take long: so that it is known by then that there is one.
    if (has_broken() && stop_ != Stop::regrown) oracle_.poll(progress());
    SearchResult result;
    result.states = store_.size();
    result.levels = level_starts();
    result.depth = depth_ + (next_level() > 0 && levels_.size() > 1);
    result.given_up = given_up_;
    result.cut.assign(tables_.columns.size() + 1, false);
    for (const auto& worker : workers_) {
        result.transitions += worker->transitions;
        result.deadlocks += worker->deadlocks;
        result.stands_for += worker->stands_for;
        for (std::size_t i = 0; i < result.cut.size(); ++i)
            if (worker->expander.cut[i]) result.cut[i] = true;
    }
    // All that was found is void if the search left the universe.
    if (tables_.outgrown && stop_ != Stop::regrown) {
        violation_.reset();
        goals_.clear();
        for (auto& worker : workers_) worker->goals.assign(properties_.size(), std::nullopt);
    }
    const bool is_void = tables_.outgrown && (stop_ == Stop::finished || stop_ == Stop::reached);
    result.frontier = violation_ || stop_ == Stop::finished ? 0 : remaining_ + next_level();
    const std::size_t now = resident_bytes();
    result.store_bytes = now > memory_before_ ? now - memory_before_ : 0;
    if (stop_ == Stop::regrown) violation_.reset();
    // A search that was stopped has not looked at what it asked for last.
    if (hubs_ && !hubs_->current()) take_apart();
    // Those of a level that was not finished, or of the initial states if one of them is a violation.
    for (auto& worker : workers_) merge_goals(*worker);
    for (auto& worker : workers_)
        for (Violations& each : worker->violations) add_to(violations_, std::move(each));
    if (stop_ == Stop::regrown || tables_.outgrown) violations_.clear();
    if (!violations_.empty() && !options_.fingerprints) count_violations();
    // A violation of the same level is void as well: the search is about to start over.
    result.stop = is_void ? Stop::outgrown : violation_ ? Stop::violation : stop_.load();
    std::sort(violations_.begin(), violations_.end(),
              [](const Violations& one, const Violations& two) { return one.first.rank() < two.first.rank(); });
    std::vector<Witness*> witnesses;
    if (violation_) witnesses.push_back(&*violation_);
    for (Violations& each : violations_) witnesses.push_back(&each.first);
    for (Witness& goal : goals_) witnesses.push_back(&goal);
    if (options_.fingerprints) {
        result.miss = miss();
        if (!witnesses.empty() && !find_again(witnesses)) {
            std::uint64_t deepest = 0;
            for (const Witness* witness : witnesses) deepest = std::max(deepest, witness->length);
            SearchResult exact = exactly(deepest);
            if (violation_ && !exact.violation)
                throw LimitError("a violation was found, and not enough memory to find the run that leads to it");
            violation_ = std::move(exact.violation);
            // It goes no deeper than the first of each kind: how many there are is known already.
            for (Violations& each : violations_)
                for (Violations& other : exact.violations)
                    if (other.same(each.first)) each.first = other.first;
            goals_ = std::move(exact.goals);
        }
    } else {
        try {
            for (Witness* witness : witnesses)
                find_path(tables_, store_, levels_, oracle_, options_.symmetry, hubs_.get(), *witness);
        } catch (const std::logic_error& error) {
            if (options_.checkpoints == nullptr || !options_.checkpoints->from) throw;
            throw Damaged(error.what());  // nothing that was saved was ever reached like this
        }
    }
    result.violation = std::move(violation_);
    result.violations = std::move(violations_);
    result.goals = std::move(goals_);
    tables_.part_values = hubs_ ? hubs_->values() : 0;
    if (options_.census) result.census = take_census(tables_, store_, levels_, watch_, progress());
    return result;
}

}  // namespace quorate
