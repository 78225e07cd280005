#include "binding/oracle.hpp"

namespace quorate {

void PythonOracle::fill(const std::vector<Query>& queries) {
    nb::gil_scoped_acquire acquire;
    std::vector<AskedQuery> asked;
    for (const Query& query : queries) {
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
    if (!nb::cast<bool>(object_.attr("fill")(std::move(asked)))) throw Interrupted();
    if ((engine_.symmetry && engine_.symmetry->broken) || std::exchange(engine_.to_start_over, false))
        throw SymmetryBroken();
}

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
