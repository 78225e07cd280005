// Searches, and states as Python gets to see them.

#include "binding/checkpoint.hpp"
#include "binding/oracle.hpp"
#include "search/preview.hpp"

namespace quorate {

SearchReport Engine::search(const nb::object& object, SearchOptions options, std::optional<std::size_t> sample,
                            const nb::object& meanwhile, const nb::object& checkpoints, const nb::object& outgrown) {
    PythonOracle oracle(*this, object);
    std::optional<Checkpoints> saving;
    if (!checkpoints.is_none()) saving = checkpoints_of(checkpoints);
    options.checkpoints = saving ? &*saving : nullptr;
    if (!meanwhile.is_none())
        options.meanwhile = [&](std::uint64_t states, std::uint64_t transitions) {
            nb::gil_scoped_acquire acquire;
            return nb::cast<bool>(meanwhile(states, transitions));
        };
    if (!outgrown.is_none())
        options.outgrown = [&] {
            nb::gil_scoped_acquire acquire;
            return nb::cast<std::optional<bool>>(outgrown());
        };
    options.partial_orders = partial_orders();
    options.symmetry = symmetry.get();
    evidence.reset();
    if (sample) evidence.emplace(tables, *sample);
    options.evidence = evidence ? &*evidence : nullptr;
    SearchReport report;
    {
        nb::gil_scoped_release release;
        report.figures = quorate::search(tables, properties, oracle, options);
    }
    if (report.figures.violation) report.violation = describe(*report.figures.violation);
    for (const Witness& goal : report.figures.goals) report.goals.push_back(describe(goal));
    for (const Violations& each : report.figures.violations)
        report.violations.emplace_back(describe(each.first), each.count);
    return report;
}

RunReport Engine::random_runs(const nb::object& object, const RunOptions& options) {
    PythonOracle oracle(*this, object);
    RunReport report;
    {
        nb::gil_scoped_release release;
        report.figures = quorate::random_runs(tables, properties, oracle, options);
    }
    if (report.figures.violation) report.violation = describe(*report.figures.violation);
    for (const Witness& goal : report.figures.goals) report.goals.push_back(describe(goal));
    return report;
}

SeenReport Engine::seen() const {
    return {evidence->fields,
            {evidence->seen.begin(), evidence->seen.end()},
            {evidence->stuck.begin(), evidence->stuck.end()}};
}

VerificationReport Engine::verify(const nb::object& object, std::size_t depth, std::size_t most, bool visible) {
    VerificationReport report;
    const auto por = partial_orders();
    if (!por || !evidence) return report;
    PythonOracle oracle(*this, object);
    std::vector<std::vector<Id>> states;
    for (const auto& [content, cells] : evidence->sample) states.push_back(cells);
    const auto chooser = por->chooser();
    {
        nb::gil_scoped_release release;
        report.figures = quorate::verify(tables, oracle, *chooser, states, depth, most, visible);
    }
    const auto named = [](const std::vector<Refutation::Named>& steps) {
        std::vector<NamedStep> result;
        for (const auto& step : steps) result.push_back({step.column, if_any(step.transition), step.messages});
        return result;
    };
    for (const Refutation& one : report.figures.wrong)
        report.wrong.push_back({one.kind, state(one.cells), named(one.chosen), named(one.path)});
    return report;
}

std::size_t Engine::cell_count() const {
    std::size_t sum = tables.part_values;
    for (const auto& column : tables.columns) sum += column->cells.size();
    return sum;
}

State Engine::reduced(const State& given) {
    const std::vector<Id> cells = cells_of(given);
    return state(symmetry ? Canonical(*symmetry).of(cells) : cells);
}

PreviewReport Engine::preview(const nb::object& object, const State& given, bool por) {
    PythonOracle oracle(*this, object);
    const auto used = por ? partial_orders() : std::nullopt;
    const auto chooser = used ? used->chooser() : nullptr;
    const Preview seen = quorate::preview(tables, oracle, chooser.get(), cells_of(given));
    PreviewReport report;
    report.reduced = seen.reduced;
    for (const Preview::Taken& each : seen.taken)
        report.taken.emplace_back(each.column, each.cells.empty() ? std::nullopt : std::optional(state(each.cells)));
    return report;
}

std::vector<Id> Engine::cells_of(const State& state) {
    const auto& [columns, left] = state;
    std::vector<Id> cells;
    for (Id i = 0; i < columns.size(); ++i)
        cells.push_back(tables.cell(*tables.columns[i], std::get<0>(columns[i]), std::get<1>(columns[i])));
    if (tables.has_budget()) cells.push_back(tables.budget(left));
    return cells;
}

State Engine::state(const std::vector<Id>& cells) const {
    State result;
    auto& [columns, left] = result;
    for (Id i = 0; i < tables.columns.size(); ++i) {
        const Column& column = *tables.columns[i];
        const Cell& cell = column.cells[cells[i]];
        const std::span<const Id> inbox = column.inboxes[cell.inbox];
        columns.emplace_back(cell.local, std::vector<Id>(inbox.begin(), inbox.end()));
    }
    for (Budget kind : {Budget::losses, Budget::duplicates, Budget::crashes})
        left.push_back(tables.has_budget() ? tables.left(cells.back(), kind) : 0);
    return result;
}

std::vector<Id> Engine::messages_of(Id column, Id set) const {
    if (set == none) return {};
    const std::span<const Id> messages = tables.columns[column]->sets[set];
    return {messages.begin(), messages.end()};
}

WitnessReport Engine::describe(const Witness& witness) const {
    WitnessReport report{witness.finding,        witness.property,        witness.length,
                         if_any(witness.column), if_any(witness.failure), {}};
    for (const auto& cells : witness.path) report.path.push_back(state(cells));
    return report;
}

}  // namespace quorate
