#include "binding/oracle.hpp"

namespace quorate {

std::size_t PythonOracle::fill(const std::vector<Query>& queries) {
    nb::gil_scoped_acquire acquire;
    cost_ = 0;
    if (engine_.orbits && compares_)
        engine_.orbits->ask(queries, *this);
    else
        answer(queries);
    if ((engine_.symmetry && engine_.symmetry->broken) || std::exchange(engine_.to_start_over, false))
        throw SymmetryBroken();
    return cost_;
}

void PythonOracle::answer(const std::vector<Query>& queries) {
    std::vector<AskedQuery> asked;
    const auto number = [&](const Query& query, const Engine::Assigned& assigned, const std::vector<Id>& values) {
        std::vector<Id> fields;
        for (const auto& each : assigned) fields.push_back(each.field);
        cost_ += Cost::numbered;
        const nb::object answer =
            object_.attr("number_changed")(query.column, query.local, query.transition, fields, values);
        if (answer.is_none()) throw Interrupted();
        return nb::cast<Id>(answer);
    };
    for (const Query& query : queries) {
        if (engine_.recall(query, number)) {
            cost_ += Cost::recalled;
            continue;
        }
        std::vector<Id> messages;
        if (query.kind == Query::Kind::fire) {
            const std::span<const Id> set = engine_.tables.columns[query.column]->sets[query.subject];
            messages.assign(set.begin(), set.end());
        } else if (query.kind == Query::Kind::bound) {
            messages = engine_.tables.open[query.subject];
        } else if (query.kind != Query::Kind::request) {
            messages.push_back(query.subject);
        }
        asked.emplace_back(query.kind, query.column, query.transition, query.local, query.subject, std::move(messages));
    }
    cost_ += asked.size() * Cost::evaluated;
    if (!asked.empty() && !nb::cast<bool>(object_.attr("fill")(std::move(asked)))) throw Interrupted();
}

void PythonOracle::admit(const std::vector<Orbits::Thing>& locals, const std::vector<Orbits::Thing>& messages) {
    const auto pairs = [](const std::vector<Orbits::Thing>& things) {
        std::vector<std::tuple<Id, Id>> found;
        for (const auto& [column, number] : things) found.emplace_back(column, number);
        return found;
    };
    if (!nb::cast<bool>(object_.attr("admit")(pairs(locals), pairs(messages)))) throw Interrupted();
}

std::optional<Breach> PythonOracle::begin_orbits() { return engine_.orbits->begin(*this); }

bool PythonOracle::judge(std::size_t property, std::span<const Id> locals) {
    nb::gil_scoped_acquire acquire;
    const nb::object answer = object_.attr("judge")(property, std::vector<Id>(locals.begin(), locals.end()));
    if (answer.is_none()) throw Interrupted();
    return nb::cast<bool>(answer);
}

bool PythonOracle::poll(const Progress& progress) {
    nb::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    return nb::cast<bool>(object_.attr("poll")(progress));
}

}  // namespace quorate
