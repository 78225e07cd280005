// What is found out before a search, and what Python may look up of it.

#include "binding/oracle.hpp"
#include "search/simulate.hpp"

namespace quorate {

nb::dict Engine::close(const nb::object& object, std::size_t most_behaviours) {
    PythonOracle oracle(*this, object);
    tables.optimistic = false;
    {
        nb::gil_scoped_release release;
        closure = quorate::close(tables, oracle, most_behaviours);
    }
    return describe_closure();
}

void Engine::simulate(const nb::object& object, std::size_t walks, std::size_t most_steps) {
    PythonOracle oracle(*this, object);
    nb::gil_scoped_release release;
    quorate::simulate(tables, oracle, walks, most_steps);
}

nb::dict Engine::evaluate_universe(const nb::object& object, std::size_t most_behaviours, bool only_met) {
    PythonOracle oracle(*this, object);
    {
        nb::gil_scoped_release release;
        closure = quorate::evaluate_universe(tables, oracle, most_behaviours, only_met);
    }
    nb::dict result = describe_closure();
    nb::list as_is;
    for (const auto& column : tables.columns)
        if (column->as_is) as_is.append(column->index);
    result["as_is"] = as_is;
    std::size_t enabled = 0;
    for (const auto& locals : closure->enabled)
        for (const auto& one : locals) enabled += one.size();
    result["enabled"] = enabled;
    return result;
}

void Engine::extend_universe() {
    quorate::extend_universe(tables);
    if (!flows) flows = std::make_unique<Flows>(tables);
    flows->note_all();
}

void Engine::forget_universe() {
    tables.optimistic = false;
    closure.reset();
}

nb::dict Engine::describe_closure() const {
    nb::dict result;
    result["complete"] = closure->complete;
    result["why"] = closure->why;
    result["local_states"] = closure->local_states;
    result["messages"] = closure->messages;
    result["behaviours"] = closure->behaviours;
    return result;
}

nb::dict Engine::reduce(bool quotient, bool dead_messages) {
    nb::dict result;
    tables.quotient = quotient;
    tables.dead_messages = dead_messages;
    // A search may have met local states that lie outside of an optimistic universe.
    for (const auto& column : tables.columns)
        if (closure && closure->complete) closure->enabled[column->index].resize(column->locals.size());
    if (quotient) result["local_states"] = merge_local_states(tables, *closure);
    if (dead_messages) {
        const DeadMessages found = find_dead_messages(tables, *closure);
        result["dead"] = found.dead;
        result["pairs"] = found.pairs;
    }
    tables.forget_cells();
    unrelate();
    if (symmetry) symmetry->prepare();
    return result;
}

std::optional<std::tuple<std::string, Id, Id, Id>> Engine::find_breach(std::vector<Id> columns, Lists locals,
                                                                       Lists messages,
                                                                       const std::vector<Id>& failures) {
    const Renaming renaming{std::move(columns), std::move(locals), std::move(messages)};
    const auto found = quorate::find_breach(tables, *closure, renaming, failures);
    if (!found) return std::nullopt;
    return std::make_tuple(found->what, found->column, found->local, found->transition);
}

void Engine::symmetrise(std::vector<Id> families, Lists owned,
                        std::vector<std::vector<std::tuple<std::vector<Id>, Lists, Lists>>> exchanges,
                        const std::vector<Marked>& locals, const std::vector<Marked>& messages) {
    Symmetry::Description description;
    description.families = std::move(families);
    description.owned = std::move(owned);
    for (auto& family : exchanges) {
        description.exchanges.emplace_back();
        for (auto& [columns, local, message] : family)
            description.exchanges.back().push_back({std::move(columns), std::move(local), std::move(message)});
    }
    const auto copy = [](const std::vector<Marked>& from, std::vector<std::vector<Marks>>& to) {
        for (const Marked& column : from) {
            to.emplace_back();
            for (const auto& [base, of] : column) to.back().push_back({base, of});
        }
    };
    copy(locals, description.locals);
    copy(messages, description.messages);
    symmetry = std::make_unique<Symmetry>(tables, std::move(description));
}

std::optional<std::tuple<Id, std::optional<std::size_t>>> Engine::broken_family() const {
    if (!symmetry || !symmetry->broken) return std::nullopt;
    std::optional<std::size_t> property;
    if (symmetry->broken->property != none) property = symmetry->broken->property;
    return std::make_tuple(symmetry->broken->family, property);
}

std::string Engine::relate(bool necessary, bool conditional, bool smallest, bool commuting, bool key, bool twins,
                           bool split_quorums, bool split_replies, int keep) {
    std::string why = "the closure is not complete";
    if (closure && closure->complete) why = Relations::unsupported(tables, *closure, static_cast<Keep>(keep));
    unrelate();
    if (why.empty())
        relations = std::make_unique<Relations>(tables, *closure,
                                                PorOptions{necessary, conditional, smallest, commuting, key, twins,
                                                           split_quorums, split_replies, static_cast<Keep>(keep)});
    return why;
}

std::string Engine::relate_by_flows(bool visible) {
    std::string why = Flows::unsupported(tables);
    if (symmetry) why = "nothing is proven for symmetry then";
    unrelate();
    if (!why.empty()) return why;
    if (!flows) flows = std::make_unique<Flows>(tables);
    flows->assume();
    if (flows->hopeless())
        return "every one of them may have to wait for every other, by way of others if not directly";
    tables.step_observer = flows.get();
    flows_visible = visible;
    return why;
}

bool Engine::knows_all() const {
    if (!closure || !closure->complete) return false;
    return std::none_of(tables.columns.begin(), tables.columns.end(), [](const auto& column) { return column->as_is; });
}

void Engine::unrelate() {
    relations.reset();
    tables.step_observer = nullptr;
}

std::optional<PartialOrders> Engine::partial_orders() {
    if (relations)
        return PartialOrders{[this] { return std::make_unique<Stubborn>(tables, *relations); }, relations->proviso,
                             relations->options.keep > Keep::safety};
    if (tables.step_observer != nullptr)
        return PartialOrders{[this] { return std::make_unique<Persistent>(tables, *flows, flows_visible); }};
    return std::nullopt;
}

std::vector<Id> Engine::representatives(Id column) const {
    std::vector<Id> result;
    for (Id i = 0; i < tables.columns[column]->locals.size(); ++i)
        result.push_back(tables.columns[column]->locals[i].representative);
    return result;
}

std::vector<Engine::Enabled> Engine::behaviours(Id column) const {
    std::vector<Enabled> result;
    if (!closure || !closure->complete || tables.columns[column]->monitor) return result;
    const auto& enabled = closure->enabled[column];
    for (Id local = 0; local < enabled.size(); ++local)
        for (const Closure::Enabled& one : enabled[local]) {
            const auto set = tables.columns[column]->sets[one.set];
            result.emplace_back(local, one.transition, std::vector<Id>(set.begin(), set.end()),
                                std::vector<std::tuple<int, Id, Sent>>());
            for (const Outcome& outcome : one.behaviour->outcomes) {
                Sent sent;
                for (const Send& send : outcome.sends) sent.emplace_back(send.column, send.message);
                std::get<3>(result.back())
                    .emplace_back(static_cast<int>(outcome.effect), outcome.local, std::move(sent));
            }
        }
    return result;
}

std::vector<std::size_t> Engine::dead(Id column) const {
    const Column& owner = *tables.columns[column];
    std::vector<std::size_t> result(owner.messages.size(), 0);
    if (owner.monitor || !tables.dead_messages) return result;
    for (Id local = 0; local < owner.locals.size(); ++local)
        for (Id message = 0; message < owner.locals[local].live.size(); ++message)
            result[message] += !owner.locals[local].live[message];
    return result;
}

}  // namespace quorate
