// Searches, and states as Python gets to see them.

#include <map>

#include "binding/oracle.hpp"
#include "search/peek.hpp"

namespace quorate {

namespace {

const char* name(Stop stop) {
    switch (stop) {
        case Stop::finished:
            return "finished";
        case Stop::violation:
            return "violation";
        case Stop::states:
            return "states";
        case Stop::memory:
            return "memory";
        case Stop::time:
            return "time";
        case Stop::interrupt:
            return "interrupt";
        case Stop::regrown:
            return "regrown";
        case Stop::outgrown:
            return "outgrown";
        case Stop::depth:
            return "depth";
        case Stop::cycle:
            return "cycle";
        case Stop::reached:
            return "reached";
    }
    return "";
}

const char* name(Finding finding) {
    switch (finding) {
        case Finding::violated:
            return "violated";
        case Finding::reached:
            return "reached";
        case Finding::raises:
            return "raises";
        case Finding::deadlock:
            return "deadlock";
        case Finding::failure:
            return "failure";
    }
    return "";
}

}  // namespace

nb::dict Engine::search(const nb::object& object, bool depth_first_search, unsigned threads, bool deadlock,
                        bool stateless, std::size_t bitstate, std::optional<std::uint64_t> states,
                        std::optional<std::size_t> memory, std::optional<double> seconds,
                        std::optional<std::uint64_t> depth, std::uint64_t void_states, int dpor_variant, bool visible,
                        std::optional<std::size_t> sample, std::optional<std::uint64_t> goals_end_from) {
    PythonOracle oracle(*this, object);
    SearchOptions options;
    options.threads = threads;
    options.deadlock = deadlock;
    if (goals_end_from) options.goals_end_from = *goals_end_from;
    options.stateless = stateless;
    options.bitstate = bitstate;
    options.partial_orders = partial_orders();
    options.symmetry = symmetry.get();
    options.dpor = static_cast<DporVariant>(dpor_variant);
    options.visible = visible;
    if (depth) options.most_depth = *depth;
    options.void_states = void_states;
    survey.reset();
    if (sample) survey.emplace(tables, *sample);
    options.survey = survey ? &*survey : nullptr;
    if (states) options.limits.states = *states;
    if (memory) options.limits.memory = *memory;
    if (seconds) options.limits.seconds = *seconds;
    SearchResult found;
    {
        nb::gil_scoped_release release;
        found = options.dpor != DporVariant::none ? dpor(tables, properties, oracle, options)
                : depth_first_search              ? depth_first(tables, properties, oracle, options)
                                                  : breadth_first(tables, properties, oracle, options);
    }
    nb::dict result;
    result["stop"] = name(found.stop);
    result["states"] = found.states;
    result["transitions"] = found.transitions;
    result["depth"] = found.depth;
    result["deadlocks"] = found.deadlocks;
    result["stands_for"] = found.stands_for;
    result["frontier"] = found.frontier;
    result["coverage"] = found.coverage;
    result["store_bytes"] = found.store_bytes;
    result["por_given_up"] = found.given_up;
    result["executions"] = found.executions;
    result["blocked"] = found.blocked;
    nb::list cut;
    for (Id i = 0; i < found.cut.size(); ++i)
        if (found.cut[i]) cut.append(i);
    result["cut"] = cut;
    result["violation"] = found.violation ? nb::object(describe(*found.violation)) : nb::none();
    nb::list goals;
    for (const Witness& goal : found.goals) goals.append(describe(goal));
    result["goals"] = goals;
    return result;
}

nb::tuple Engine::seen() const {
    return nb::make_tuple(survey->fields, std::vector<std::uint64_t>(survey->seen.begin(), survey->seen.end()),
                          std::vector<std::uint64_t>(survey->stuck.begin(), survey->stuck.end()));
}

nb::dict Engine::verify(const nb::object& object, std::size_t depth, std::size_t most, bool visible) {
    Verification found;
    const auto por = partial_orders();
    if (por && survey) {
        PythonOracle oracle(*this, object);
        std::vector<std::vector<Id>> states;
        for (const auto& [content, cells] : survey->sample) states.push_back(cells);
        const auto chooser = por->chooser();
        nb::gil_scoped_release release;
        found = quorate::verify(tables, oracle, *chooser, states, depth, most, visible);
    }
    const auto steps = [](const std::vector<Refutation::Named>& list) {
        nb::list result;
        for (const auto& one : list)
            result.append(nb::make_tuple(
                one.column, one.transition == none ? nb::object(nb::none()) : nb::object(nb::int_(one.transition)),
                one.messages));
        return result;
    };
    nb::dict result;
    result["sets"] = found.sets;
    result["paths"] = found.paths;
    result["pairs"] = found.pairs;
    result["depth"] = found.depth;
    nb::list wrong;
    for (const Refutation& one : found.wrong)
        wrong.append(nb::make_tuple(static_cast<int>(one.kind), state(one.cells), steps(one.chosen), steps(one.path)));
    result["wrong"] = wrong;
    return result;
}

nb::tuple Engine::graph(const nb::object& object) {
    PythonOracle oracle(*this, object);
    std::vector<StepTaken> steps;
    SearchOptions options;
    options.partial_orders = partial_orders();
    options.record = &steps;
    std::vector<Property> nothing;
    depth_first(tables, nothing, oracle, options);
    std::map<std::vector<Id>, std::size_t> numbers;
    nb::list states, edges;
    const auto number = [&](const std::vector<Id>& cells) {
        const auto [place, fresh] = numbers.emplace(cells, numbers.size());
        if (fresh) {
            nb::list seen;
            for (Id i = 0; i < tables.columns.size(); ++i) seen.append(tables.columns[i]->cells[cells[i]].observation);
            states.append(nb::make_tuple(state(cells), seen));
        }
        return place->second;
    };
    for (const auto& locals : tables.initials) number(tables.initial_cells(locals));
    const std::size_t initial = numbers.size();
    for (const StepTaken& taken : steps) {
        const std::size_t from = number(taken.from), to = number(taken.to);
        const Column& column = *tables.columns[taken.column];
        const Step& step = (*column.cells[taken.from[taken.column]].steps.load())[taken.step];
        const int transition = step.kind == Kind::step ? static_cast<int>(step.transition) : -1;
        nb::list set;
        if (step.set != none)
            for (const Id message : column.sets[step.set]) set.append(message);
        edges.append(nb::make_tuple(from, taken.column, transition, set, to));
    }
    return nb::make_tuple(initial, states, edges);
}

std::size_t Engine::cell_count() const {
    std::size_t sum = 0;
    for (const auto& column : tables.columns) sum += column->cells.size();
    return sum;
}

nb::object Engine::reduced(const Columns& columns, const std::vector<std::uint64_t>& left) {
    const std::vector<Id> cells = cells_of(columns, left);
    return state(symmetry ? Canonical(*symmetry).of(cells) : cells);
}

nb::tuple Engine::peek(const nb::object& object, const Columns& state, const std::vector<std::uint64_t>& left,
                       bool por) {
    PythonOracle oracle(*this, object);
    const auto used = por ? partial_orders() : std::nullopt;
    const auto chooser = used ? used->chooser() : nullptr;
    const Peek seen = quorate::peek(tables, oracle, chooser.get(), cells_of(state, left));
    nb::list taken;
    for (const Peek::Taken& each : seen.taken)
        taken.append(nb::make_tuple(each.column, each.cells.empty() ? nb::none() : this->state(each.cells)));
    return nb::make_tuple(taken, seen.chosen);
}

std::vector<Id> Engine::cells_of(const Columns& columns, const std::vector<std::uint64_t>& left) {
    std::vector<Id> cells;
    for (Id i = 0; i < columns.size(); ++i)
        cells.push_back(tables.cell(*tables.columns[i], std::get<0>(columns[i]), std::get<1>(columns[i])));
    if (tables.has_budget()) cells.push_back(tables.budget(left));
    return cells;
}

nb::object Engine::state(const std::vector<Id>& cells) const {
    nb::list columns;
    for (Id i = 0; i < tables.columns.size(); ++i) {
        const Column& column = *tables.columns[i];
        const Cell& cell = column.cells[cells[i]];
        nb::list inbox;
        for (Id message : column.inboxes[cell.inbox]) inbox.append(message);
        columns.append(nb::make_tuple(cell.local, inbox));
    }
    nb::list left;
    for (Budget kind : {Budget::losses, Budget::duplicates, Budget::crashes})
        left.append(tables.has_budget() ? tables.left(cells.back(), kind) : 0);
    return nb::make_tuple(columns, left);
}

nb::dict Engine::describe(const Witness& witness) const {
    nb::dict result;
    result["finding"] = name(witness.finding);
    result["property"] = witness.property;
    result["length"] = witness.length;
    result["column"] = witness.column == none ? nb::object(nb::none()) : nb::object(nb::int_(witness.column));
    result["failure"] = witness.failure == none ? nb::object(nb::none()) : nb::object(nb::int_(witness.failure));
    nb::list path;
    for (const auto& cells : witness.path) path.append(state(cells));
    result["path"] = path;
    return result;
}

}  // namespace quorate
