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
            ++cells[here_[column]];
        }
        note_seen();
        // Of a state that was not expanded some steps are not known; those that are count.
        expander_.queries.clear();
        expander_.outside.clear();
        expander_.expand_where([](const Step&) { return true; },
                               [&](Id column, const Step& step, Id, std::uint64_t, bool) { took(column, step, depth); },
                               [&](Id column, Id step, Id) {
                                   took(column, (*tables_.steps(column, here_, expander_.queries))[step], depth);
                               });
        for (const auto& [column, step] : expander_.outside)
            found_.cut(column, (*tables_.steps(column, here_, expander_.queries))[step], 1);
        if (tables_.network.blocks_when_full())
            expander_.look_at_steps([&](Id column, const StepList& list, Id number) {
                const Step& step = list[number];
                if (step.kind == Kind::step && step.effect == Effect::moves &&
                    tables_.room(here_, column, step, expander_.queries) == full)
                    found_.blocked(column, step);
            });
    }

    Census finish() {
        for (Id column = 0; column < tables_.columns.size(); ++column)
            for (Id cell = 0; cell < cells_[column].size(); ++cell) {
                const std::uint64_t states = cells_[column][cell];
                if (states == 0 || tables_.reads(column, cell) != none) continue;
                found_.visited(column, cell, states);
                count_cut(column, cell, states);
            }
        for (const auto& [place, states] : seen_) {
            found_.visited(place.first, place.second, states);
            count_cut(place.first, place.second, states);
        }
        return found_.finish();
    }

private:
    void took(Id column, const Step& step, std::uint64_t depth) {
        const Id cell = tables_.seen(column, here_[column], here_.data(), expander_.queries);
        Census::Fired& fired = found_.took(column, cell, step, depth);
        ++fired.steps;
        std::uint64_t& last = last_[{column, step.kind, step.transition}];
        fired.states += last != number_;
        last = number_;
        hear(step);
    }
    // What monitors hear of a step, one event after another.
    void hear(const Step& step) {
        std::map<Id, Id> moved;
        for (const Send *send = step.sends, *end = send + step.send_count; send != end; ++send) {
            const Column& table = *tables_.columns[send->column];
            if (!table.monitor || table.shared) continue;
            Id& cell = moved.try_emplace(send->column, here_[send->column]).first->second;
            if (cell >= full) continue;
            found_.heard(send->column, cell, send->message);
            cell = tables_.deliver(send->column, cell, send->message, expander_.queries);
            if (cell < full && table.cells[cell].failure != none) return;
        }
    }
    // Of processes that read shared cells, how often each was in a cell with what it read there.
    void note_seen() {
        for (Id column = 0; column < tables_.columns.size(); ++column) {
            if (tables_.reads(column, here_[column]) == none) continue;
            const Id cell = tables_.seen(column, here_[column], here_.data(), expander_.queries);
            if (cell != none) ++seen_[{column, cell}];
        }
    }
    // A bound (`within`) of a process cuts what its handler would do: no search takes such a step.
    void count_cut(Id column, Id cell, std::uint64_t states) {
        const StepList* steps =
            tables_.columns[column]->monitor ? nullptr : tables_.steps(column, cell, expander_.queries);
        for (std::size_t i = 0; steps != nullptr && i < steps->size(); ++i)
            if ((*steps)[i].effect == Effect::cut) found_.cut(column, (*steps)[i], states);
    }

    Tables& tables_;
    const Store& store_;
    Expander expander_;
    std::vector<Id> here_{};
    std::uint64_t number_ = 0;
    std::vector<std::vector<std::uint64_t>> cells_{};  // by column and cell, in how many states
    std::map<std::pair<Id, Id>, std::uint64_t> seen_{};
    std::map<std::tuple<Id, Kind, Id>, std::uint64_t> last_{};  // the state in which each was counted last
    CensusBuilder found_;
};

}  // namespace

Census take_census(Tables& tables, const Store& store, const std::vector<std::vector<std::uint64_t>>& levels,
                   Watch& watch, const Progress& found) {
    Counter counter(tables, store);
    bool complete = true;
    for (std::uint64_t depth = 0; depth < levels.size() && complete; ++depth) {
        for (unsigned array = 0; array < store.threads() && complete; ++array) {
            const bool last = depth + 1 == levels.size();
            const std::uint64_t end = last ? store.count(array) : levels[depth + 1][array];
            for (std::uint64_t i = levels[depth][array]; i < end && complete; ++i) {
                if ((i & 0xff) == 0)
                    complete = !watch.look([&] {
                        store.rest();
                        return found;
                    });
                counter.state(array, i, depth);
            }
        }
    }
    Census census = counter.finish();
    census.complete = complete;
    return census;
}

}  // namespace quorate
