#include "search/census_builder.hpp"

namespace quorate {

namespace {

class Counter {
public:
    Counter(Tables& tables, const Store& store) : tables_(tables), store_(store), expander_(tables), found_(tables) {
        for (const auto& column : tables.columns) cells_.emplace_back(column->cells.size());
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
        for (Id column = 0; column < tables_.columns.size(); ++column)
            for (Id cell = 0; cell < cells_[column].size(); ++cell) {
                if (cells_[column][cell].states == 0) continue;
                found_.visited(column, cell, cells_[column][cell].states);
                count_cut(column, cell);
            }
        return found_.finish();
    }

private:
    struct Occupied {
        std::uint64_t states = 0, depth = 0;
    };

    void took(Id column, const Step& step, std::uint64_t depth) {
        Census::Fired& fired = found_.took(column, here_[column], step, depth);
        ++fired.steps;
        std::uint64_t& last = last_[{column, step.kind, step.transition}];
        fired.states += last != number_;
        last = number_;
    }
    // A handler ran, and a bound (`within`) cut what it did: the expander takes no such step.
    void count_cut(Id column, Id cell) {
        const StepList* steps =
            tables_.columns[column]->monitor ? nullptr : tables_.steps(column, cell, expander_.queries);
        const Occupied& occupied = cells_[column][cell];
        std::set<Id> seen;
        for (std::size_t i = 0; steps != nullptr && i < steps->size(); ++i) {
            const Step& step = (*steps)[i];
            if (step.effect != Effect::cut) continue;
            Census::Fired& cut = found_.took(column, cell, step, occupied.depth);
            cut.steps += occupied.states;
            if (seen.insert(step.transition).second) cut.states += occupied.states;
        }
    }

    Tables& tables_;
    const Store& store_;
    Expander expander_;
    std::vector<Id> here_{};
    std::uint64_t number_ = 0;
    std::vector<std::vector<Occupied>> cells_{};                // by column and cell
    std::map<std::tuple<Id, Kind, Id>, std::uint64_t> last_{};  // the state in which each was counted last
    CensusBuilder found_;
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
