#include "binding/oracle.hpp"

namespace quorate {

void PythonOracle::fill(const std::vector<Query>& queries) {
    nb::gil_scoped_acquire acquire;
    nb::list list;
    for (const Query& query : queries) {
        const Column& column = *engine_.tables.columns[query.column];
        nb::list messages;
        if (query.kind == Query::Kind::fire) {
            for (Id message : column.sets[query.subject]) messages.append(message);
        } else if (query.kind != Query::Kind::request) {
            messages.append(query.subject);
        }
        list.append(nb::make_tuple(static_cast<int>(query.kind), query.column, query.transition, query.local,
                                   query.subject, messages));
    }
    if (!nb::cast<bool>(object_.attr("fill")(list))) throw Interrupted();
}

bool PythonOracle::judge(std::size_t property, std::span<const Id> locals) {
    nb::gil_scoped_acquire acquire;
    nb::list list;
    for (Id local : locals) list.append(local);
    const nb::object answer = object_.attr("judge")(property, list);
    if (answer.is_none()) throw Interrupted();
    return nb::cast<bool>(answer);
}

bool PythonOracle::poll(const Progress& progress) {
    nb::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    return nb::cast<bool>(object_.attr("poll")(progress.states, progress.transitions, progress.frontier, progress.depth,
                                               progress.memory));
}

}  // namespace quorate
