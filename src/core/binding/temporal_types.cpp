#include "binding/temporal_types.hpp"

namespace quorate {

using namespace nb::literals;

namespace {

void bind_given(nb::module_& module) {
    nb::enum_<Level>(module, "Level")
        .value("none", Level::none)
        .value("progress", Level::progress)
        .value("process", Level::process)
        .value("transition", Level::transition)
        .value("message", Level::message);
    nb::enum_<Strength>(module, "Strength")
        .value("unfair", Strength::unfair)
        .value("weak", Strength::weak)
        .value("strong", Strength::strong);
    nb::class_<Assumption>(module, "Assumption")
        .def(
            "__init__",
            [](Assumption* self, Level level, bool strong, std::vector<std::vector<Strength>> steps, Strength discards,
               Strength recoveries) { new (self) Assumption{level, strong, std::move(steps), discards, recoveries}; },
            nb::kw_only(), "level"_a, "strong"_a = false, "steps"_a = std::vector<std::vector<Strength>>{},
            "discards"_a = Strength::weak, "recoveries"_a = Strength::unfair);
    nb::class_<Automaton::Edge>(module, "AutomatonEdge")
        .def(
            "__init__",
            [](Automaton::Edge* self, Id source, std::uint64_t must, std::uint64_t must_not, Id target,
               std::uint64_t acceptance) { new (self) Automaton::Edge{source, must, must_not, target, acceptance}; },
            nb::kw_only(), "source"_a, "must"_a, "must_not"_a, "target"_a, "acceptance"_a);
    nb::class_<Automaton>(module, "Automaton")
        .def(
            "__init__",
            [](Automaton* self, Id states, Id initial, unsigned sets, std::vector<Automaton::Edge> edges) {
                new (self) Automaton{states, initial, sets, std::move(edges)};
            },
            nb::kw_only(), "states"_a, "initial"_a, "sets"_a, "edges"_a);
}

void bind_steps(nb::module_& module) {
    nb::enum_<Leads>(module, "Leads")
        .value("state", Leads::state)
        .value("cut", Leads::cut)
        .value("blocked", Leads::blocked)
        .value("fails", Leads::fails)
        .value("left_out", Leads::left_out);
    nb::class_<ActReport>(module, "Act")
        .def_ro("column", &ActReport::column)
        .def_ro("kind", &ActReport::kind)
        .def_ro("transition", &ActReport::transition)
        .def_ro("messages", &ActReport::messages);
    nb::class_<EdgeReport>(module, "TemporalEdge")
        .def_ro("act", &EdgeReport::act)
        .def_ro("leads", &EdgeReport::leads)
        .def_ro("target", &EdgeReport::target);
    nb::class_<GroupReport>(module, "FairGroup")
        .def_ro("act", &GroupReport::act)
        .def_ro("strength", &GroupReport::strength);
}

void bind_found(nb::module_& module) {
    nb::class_<ExplorationReport>(module, "Exploration")
        .def_ro("stop", &ExplorationReport::stop)
        .def_ro("paused", &ExplorationReport::paused)
        .def_ro("states", &ExplorationReport::states)
        .def_ro("expanded", &ExplorationReport::expanded)
        .def_ro("transitions", &ExplorationReport::transitions)
        .def_ro("depth", &ExplorationReport::depth)
        .def_ro("deadlocks", &ExplorationReport::deadlocks)
        .def_ro("acyclic", &ExplorationReport::acyclic)
        .def_ro("cut", &ExplorationReport::cut)
        .def_ro("blocked", &ExplorationReport::blocked)
        .def_ro("redelivers", &ExplorationReport::redelivers)
        .def_ro("store_bytes", &ExplorationReport::store_bytes)
        .def_ro("graph_bytes", &ExplorationReport::graph_bytes)
        .def_ro("por_given_up", &ExplorationReport::por_given_up)
        .def_ro("stands_for", &ExplorationReport::stands_for)
        .def_ro("violation", &ExplorationReport::violation);
    nb::class_<LassoReport::Starved>(module, "Starved")
        .def_ro("act", &LassoReport::Starved::act)
        .def_ro("always", &LassoReport::Starved::always);
    nb::class_<LassoReport>(module, "Lasso")
        .def_ro("path", &LassoReport::path)
        .def_ro("loop_from", &LassoReport::loop_from)
        .def_ro("steps", &LassoReport::steps)
        .def_ro("places", &LassoReport::places)
        .def_ro("stopped", &LassoReport::stopped)
        .def_ro("starved", &LassoReport::starved);
    nb::class_<AnswerReport>(module, "TemporalAnswer")
        .def_ro("stop", &AnswerReport::stop)
        .def_ro("complete", &AnswerReport::complete)
        .def_ro("product_states", &AnswerReport::product_states)
        .def_ro("passes", &AnswerReport::passes)
        .def_ro("groups", &AnswerReport::groups)
        .def_ro("seconds", &AnswerReport::seconds)
        .def_ro("violation", &AnswerReport::violation)
        .def_ro("bounded", &AnswerReport::bounded);
    nb::class_<BeginningsReport>(module, "Beginnings")
        .def_ro("stop", &BeginningsReport::stop)
        .def_ro("states", &BeginningsReport::states)
        .def_ro("open", &BeginningsReport::open);
}

}  // namespace

void bind_temporal_types(nb::module_& module) {
    nb::class_<StateSet>(module, "StateSet")
        .def("__and__", &StateSet::operator&, "other"_a)
        .def("__or__", &StateSet::operator|, "other"_a)
        .def("__invert__", &StateSet::operator~)
        .def("__len__", &StateSet::count)
        .def("__contains__",
             [](const StateSet& set, std::size_t state) { return state < set.size() && set.has(state); })
        .def(
            "__eq__", [](const StateSet& one, const StateSet& other) { return one == other; }, nb::is_operator(),
            nb::sig("def __eq__(self, other: object, /) -> bool"))
        .def_prop_ro("size", &StateSet::size)
        .def("states", [](const StateSet& set) {
            std::vector<std::size_t> states;
            for (std::size_t i = 0; i < set.size(); ++i)
                if (set.has(i)) states.push_back(i);
            return states;
        });
    bind_given(module);
    bind_steps(module);
    bind_found(module);
}

}  // namespace quorate
