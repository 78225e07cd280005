// What is found out before a search, and what Python may look up of it.

#include "binding/oracle.hpp"
#include "search/simulate.hpp"

namespace quorate {

UniverseReport Engine::close(const nb::object& object, std::size_t most_behaviours, bool aside) {
    if (closed) return describe(*closure);
    PythonOracle oracle(*this, object, false);
    if (!closing) closing = std::make_unique<Closing>(tables);
    {
        nb::gil_scoped_release release;
        try {
            closing->go_on(oracle, most_behaviours);
        } catch (const SymmetryBroken&) {  // by a monitor that grows: the search beside it is to be told
        }
    }
    if (!aside) {
        tables.optimistic = tables.quotient = tables.dead_messages = false;  // what was reduced by a universe
        for (const auto& column : tables.columns) column->as_is = false;
        closed = closing->closure().complete;
        if (closed) {
            closure = std::move(closing->closure());
            return describe(*closure);
        }
        closure.emplace();
    }
    return describe(closing->closure());
}

void Engine::simulate(const nb::object& object, std::size_t walks, std::size_t most_steps) {
    PythonOracle oracle(*this, object);
    nb::gil_scoped_release release;
    try {
        quorate::simulate(tables, oracle, walks, most_steps);
    } catch (const SymmetryBroken&) {  // which is told by `broken_family`, if it is not the seed of the next search
    }
}

UniverseReport Engine::evaluate_universe(const nb::object& object, std::size_t most_behaviours, bool only_met) {
    PythonOracle oracle(*this, object);
    try {
        nb::gil_scoped_release release;
        closure = quorate::evaluate_universe(tables, oracle, most_behaviours, only_met);
        if (orbits) {
            orbits->spread(*closure);
            oracle.fill(orbits->facts(*closure));
        }
    } catch (const SymmetryBroken&) {
        closure.emplace();
        closure->complete = false;
    }
    return describe(*closure);
}

void Engine::extend_universe() {
    quorate::extend_universe(tables);
    if (orbits) orbits->extend();
    if (!flows) flows = std::make_unique<Flows>(tables);
    flows->note_all();
}

void Engine::forget_universe() {
    tables.optimistic = false;
    closure.reset();
}

std::optional<std::pair<UniverseReport, ReductionReport>> Engine::outgrow(const nb::object& object,
                                                                          std::size_t most_behaviours) {
    const Decisions before(tables);
    for (bool* member : tables.outside) *member = true;
    const UniverseReport report = evaluate_universe(object, most_behaviours, false);
    const ReductionReport sizes = decide();
    if (!report.complete || !before.stand(tables)) return std::nullopt;
    return std::pair(report, sizes);
}

UniverseReport Engine::describe(const Closure& found) const {
    UniverseReport report{found.complete, found.why,        found.local_states,
                          found.messages, found.behaviours, found.rounds};
    for (const auto& locals : found.enabled)
        for (const auto& one : locals) report.enabled += one.size();
    for (const auto& column : tables.columns)
        if (column->as_is) report.as_is.push_back(column->index);
    return report;
}

ReductionReport Engine::reduce(bool quotient, bool dead_messages) {
    tables.quotient = quotient;
    tables.dead_messages = dead_messages;
    const ReductionReport report = decide();
    tables.forget_cells();
    unrelate();
    if (symmetry) symmetry->prepare();
    return report;
}

ReductionReport Engine::decide() {
    ReductionReport report;
    // A search may have met local states that lie outside of an optimistic universe.
    for (const auto& column : tables.columns)
        if (closure && closure->complete && !column->grows)
            closure->enabled[column->index].resize(column->locals.size());
    if (tables.quotient) report.local_states = merge_local_states(tables, *closure);
    if (tables.dead_messages) {
        const DeadMessages found = find_dead_messages(tables, *closure);
        report.dead = found.dead;
        report.pairs = found.pairs;
    }
    return report;
}

std::optional<Breach> Engine::find_breach(const Renaming& renaming, const std::vector<Id>& failures) {
    return quorate::find_breach(tables, *closure, renaming, failures);
}

void Engine::symmetrise(const Symmetry::Description& description) {
    unsymmetrise();
    for (const auto& column : tables.columns) column->grows |= column->configurations != nullptr;
    symmetry = std::make_unique<Symmetry>(tables, description);
    // What a search without symmetry has met was not compared under renamings: it is asked for again.
    for (auto& column : tables.columns)
        if (column->grows) column->behaviours.clear();
}

void Engine::add_image(Id column, Id local, std::vector<Id> images, std::uint64_t base,
                       std::vector<std::tuple<Id, std::uint64_t>> marks) {
    symmetry->add_local(column, local, std::move(images), {base, std::move(marks)});
}

void Engine::add_message_image(Id column, Id message, std::vector<Id> images, std::uint64_t base,
                               std::vector<std::tuple<Id, std::uint64_t>> marks) {
    symmetry->add_message(column, message, std::move(images), {base, std::move(marks)});
}

void Engine::unsymmetrise() {
    orbits.reset();
    symmetry.reset();
    for (auto& column : tables.columns) column->compares = false;
}

Engine::OrbitBreach Engine::open_orbits(const nb::object& object) {
    orbits = std::make_unique<Orbits>(tables, *symmetry);
    PythonOracle(*this, object).begin_orbits();
    return orbit_breach();
}

Engine::OrbitBreach Engine::orbit_breach() const {
    if (!orbits || !orbits->breach) return std::nullopt;
    return std::tuple{orbits->exchange, *orbits->breach};
}

void Engine::break_family(Id family) { symmetry->broken = Symmetry::Broken{family, none}; }

std::vector<Id> Engine::growing() const {
    std::vector<Id> result;
    for (const auto& column : tables.columns)
        if (column->grows) result.push_back(column->index);
    return result;
}

std::optional<BrokenFamily> Engine::broken_family() const {
    if (!symmetry || !symmetry->broken) return std::nullopt;
    BrokenFamily found{symmetry->broken->family, std::nullopt};
    if (symmetry->broken->property != none) found.property = symmetry->broken->property;
    return found;
}

std::string Engine::relate(const PorOptions& options) {
    std::string why = "the closure is not complete";
    if (closure && closure->complete) why = Relations::unsupported(tables, *closure, options.keep);
    unrelate();
    if (why.empty()) relations = std::make_unique<Relations>(tables, *closure, options);
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

std::string Engine::relate_local_steps() {
    const std::string why = LocalSteps::unsupported(tables);
    unrelate();
    local_steps = why.empty();
    return why;
}

bool Engine::knows_all() const {
    if (!closure || !closure->complete) return false;
    return std::none_of(tables.columns.begin(), tables.columns.end(), [](const auto& column) { return column->as_is; });
}

void Engine::unrelate() {
    relations.reset();
    tables.step_observer = nullptr;
    local_steps = false;
}

std::optional<PartialOrders> Engine::partial_orders() {
    if (relations)
        return PartialOrders{[this] { return std::make_unique<Stubborn>(tables, *relations); }, relations->proviso,
                             relations->options().keep > Keep::safety};
    if (tables.step_observer != nullptr)
        return PartialOrders{[this] { return std::make_unique<Persistent>(tables, *flows, flows_visible); }};
    if (local_steps) return PartialOrders{[this] { return std::make_unique<LocalSteps>(tables); }};
    return std::nullopt;
}

std::vector<Id> Engine::representatives(Id column) const {
    std::vector<Id> result;
    for (Id i = 0; i < tables.columns[column]->locals.size(); ++i)
        result.push_back(tables.columns[column]->locals[i].representative);
    return result;
}

std::vector<EnabledReport> Engine::behaviours(Id column) const {
    std::vector<EnabledReport> result;
    if (!closure || !closure->complete || tables.columns[column]->monitor) return result;
    const auto& enabled = closure->enabled[column];
    for (Id local = 0; local < enabled.size(); ++local)
        for (const Closure::Enabled& one : enabled[local])
            result.push_back({local, one.transition, messages_of(column, one.set), one.behaviour->outcomes});
    return result;
}

std::vector<SendingReport> Engine::sending(Id column) const {
    const Column& owner = *tables.columns[column];
    std::vector<SendingReport> found(owner.transitions.size());
    for (Id transition = 0; transition < found.size(); ++transition) found[transition].transition = transition;
    owner.behaviours.each([&](std::uint64_t key, const std::unique_ptr<Behaviour>& behaviour) {
        const Id local = static_cast<Id>((key >> 32) / found.size());
        SendingReport& one = found[(key >> 32) % found.size()];
        for (const Outcome& outcome : behaviour->outcomes) {
            const auto tells = [&](const Send& send) { return tables.columns[send.column]->monitor; };
            const auto told =
                static_cast<std::size_t>(std::count_if(outcome.sends.begin(), outcome.sends.end(), tells));
            if (outcome.effect != Effect::moves || told == outcome.sends.size()) continue;
            one.messages = std::max(one.messages, outcome.sends.size() - told);
            one.shows |= owner.locals[local].observation != owner.locals[outcome.local].observation;
            for (const Send& send : outcome.sends)
                if (tells(send) && std::find(one.told.begin(), one.told.end(), send.column) == one.told.end())
                    one.told.push_back(send.column);
        }
    });
    std::erase_if(found, [](const SendingReport& one) { return one.messages == 0; });
    for (SendingReport& one : found) std::sort(one.told.begin(), one.told.end());
    return found;
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
