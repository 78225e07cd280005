// What only tests ask for.

#include <map>

#include "binding/oracle.hpp"

namespace quorate {

GraphReport Engine::graph(const nb::object& object) {
    PythonOracle oracle(*this, object);
    std::vector<StepTaken> steps;
    SearchOptions options;
    options.partial_orders = partial_orders();
    options.record = &steps;
    std::vector<Property> nothing;
    depth_first(tables, nothing, oracle, options);
    GraphReport graph;
    std::map<std::vector<Id>, std::size_t> numbers;
    const auto number = [&](const std::vector<Id>& cells) {
        const auto [place, fresh] = numbers.emplace(cells, numbers.size());
        if (fresh) {
            graph.states.push_back({state(cells), {}});
            for (Id i = 0; i < tables.columns.size(); ++i)
                graph.states.back().observed.push_back(tables.columns[i]->cells[cells[i]].observation);
        }
        return place->second;
    };
    for (std::size_t i = 0; i < tables.initials.size(); ++i) number(tables.initial_cells(i));
    graph.initial = numbers.size();
    for (const StepTaken& taken : steps) {
        const std::size_t from = number(taken.from), to = number(taken.to);
        const Column& column = *tables.columns[taken.column];
        const Step& step = (*column.cells[taken.from[taken.column]].steps.load())[taken.step];
        const std::optional<Id> transition = step.kind == Kind::step ? if_any(step.transition) : std::nullopt;
        graph.edges.push_back({from, to, taken.column, transition, messages_of(taken.column, step.set)});
    }
    return graph;
}

void Engine::hide_sends(Id column, Id transition) {
    for (auto& list : closure->enabled[column])
        for (Closure::Enabled& one : list) {
            if (one.transition != transition) continue;
            auto distorted = std::make_unique<Behaviour>(*one.behaviour);
            for (Outcome& outcome : distorted->outcomes)
                std::erase_if(outcome.sends, [&](const Send& send) { return !tables.columns[send.column]->monitor; });
            one.behaviour = distorted.get();
            distorted_.push_back(std::move(distorted));
        }
}

std::vector<std::tuple<Id, std::vector<Id>, Id>> Engine::parts(Id column) const {
    return relations->instances.parts(column);
}

}  // namespace quorate
