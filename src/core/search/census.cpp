#include "search/census.hpp"

#include <map>
#include <set>

namespace quorate {

namespace {

class Counter {
public:
    Counter(Tables& tables, const Store& store) : tables_(tables), store_(store), expander_(tables) {
        for (const auto& column : tables.columns) cells_.emplace_back(column->cells.size());
        taken_.resize(tables.columns.size());
    }

    void state(unsigned array, std::uint64_t position, std::uint64_t depth) {
        ++number_;
        if (tables_.step_bytes() > std::max(tables_.most_step_bytes, store_.bytes())) {
            tables_.forget_steps();
            expander_.forget_steps();
        }
        store_.layout().unpack(store_.state(array, position), expander_.cells.data());
        here_ = expander_.cells;
        for (Id column = 0; column < tables_.columns.size(); ++column) {
            auto& cells = cells_[column];
            if (here_[column] >= cells.size()) cells.resize(tables_.columns[column]->cells.size());
            if (cells[here_[column]].states++ == 0) cells[here_[column]].depth = depth;
        }
        // Of a state that was not expanded some steps are not known; those that are count.
        expander_.queries.clear();
        expander_.expand_where([](const Step&) { return true; },
                               [&](Id column, const Step& step, Id, std::uint64_t, bool) { took(column, step, depth); },
                               [&](Id column, Id step, Id) {
                                   took(column, (*tables_.steps(column, here_[column], expander_.queries))[step],
                                        depth);
                               });
    }

    Census finish() {
        Census census;
        std::map<std::pair<Id, Id>, Census::Visited> places;
        for (Id column = 0; column < tables_.columns.size(); ++column) {
            const Column& table = *tables_.columns[column];
            for (Id cell = 0; cell < cells_[column].size(); ++cell) {
                if (cells_[column][cell].states == 0) continue;
                const Id local = table.cells[cell].local;
                count_cut(column, cell);
                auto& place = places.try_emplace({column, local}, Census::Visited{column, local}).first->second;
                place.states += cells_[column][cell].states;
                const std::span<const Id> inbox = table.inboxes[table.cells[cell].inbox];
                place.pending.insert(place.pending.end(), inbox.begin(), inbox.end());
            }
            for (const auto& [transition, local, set] : taken_[column]) {
                std::vector<Id> consumed;
                if (set != none) consumed.assign(table.sets[set].begin(), table.sets[set].end());
                census.behaviours.push_back({column, transition, local, std::move(consumed)});
            }
        }
        for (auto& [key, place] : places) {
            std::sort(place.pending.begin(), place.pending.end());
            place.pending.erase(std::unique(place.pending.begin(), place.pending.end()), place.pending.end());
            census.visited.push_back(std::move(place));
        }
        for (const auto& [key, counted] : fired_) census.fired.push_back(counted.fired);
        return census;
    }

private:
    struct Counted {
        Census::Fired fired;
        std::uint64_t last = 0;  // the state that was counted last
    };

    struct Occupied {
        std::uint64_t states = 0, depth = 0;
    };

    Counted& counted(Id column, const Step& step, std::uint64_t depth) {
        const auto key = std::make_tuple(column, step.kind, step.transition);
        const auto found = fired_.find(key);
        if (found != fired_.end()) return found->second;
        return fired_.emplace(key, Counted{{column, step.kind, step.transition, 0, 0, depth}}).first->second;
    }
    void took(Id column, const Step& step, std::uint64_t depth) {
        Counted& here = counted(column, step, depth);
        ++here.fired.steps;
        here.fired.states += here.last != number_;
        here.last = number_;
        if (step.kind == Kind::step)
            taken_[column].emplace(step.transition, tables_.columns[column]->cells[here_[column]].local, step.set);
    }
    // A handler ran, and a bound (`within`) cut what it did: the expander takes no such step.
    void count_cut(Id column, Id cell) {
        const StepList* steps =
            tables_.columns[column]->monitor ? nullptr : tables_.steps(column, cell, expander_.queries);
        const Occupied& occupied = cells_[column][cell];
        const Id local = tables_.columns[column]->cells[cell].local;
        std::set<Id> seen;
        for (std::size_t i = 0; steps != nullptr && i < steps->size(); ++i) {
            const Step& step = (*steps)[i];
            if (step.effect != Effect::cut) continue;
            Counted& cut = counted(column, step, occupied.depth);
            cut.fired.steps += occupied.states;
            if (seen.insert(step.transition).second) cut.fired.states += occupied.states;
            cut.fired.depth = std::min(cut.fired.depth, occupied.depth);
            taken_[column].emplace(step.transition, local, step.set);
        }
    }

    Tables& tables_;
    const Store& store_;
    Expander expander_;
    std::vector<Id> here_{};
    std::uint64_t number_ = 0;
    std::vector<std::vector<Occupied>> cells_{};  // by column and cell
    std::vector<std::set<std::tuple<Id, Id, Id>>> taken_{};
    std::map<std::tuple<Id, Kind, Id>, Counted> fired_{};
};

}  // namespace

Census take_census(Tables& tables, const Store& store, const std::vector<std::vector<std::uint64_t>>& levels,
                   Watch& watch) {
    Counter counter(tables, store);
    bool complete = true;
    for (std::uint64_t depth = 0; depth < levels.size() && complete; ++depth) {
        for (unsigned array = 0; array < store.threads() && complete; ++array) {
            const bool last = depth + 1 == levels.size();
            const std::uint64_t end = last ? store.count(array) : levels[depth + 1][array];
            for (std::uint64_t i = levels[depth][array]; i < end && complete; ++i) {
                if ((i & 0xff) == 0)
                    complete = !watch.look([&] { return Progress{.states = store.size(), .depth = depth}; });
                counter.state(array, i, depth);
            }
        }
    }
    Census census = counter.finish();
    census.complete = complete;
    return census;
}

}  // namespace quorate
