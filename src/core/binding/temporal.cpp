#include "binding/temporal.hpp"

#include "binding/oracle.hpp"
#include "binding/temporal_types.hpp"
#include "temporal/branching.hpp"

namespace quorate {

using namespace nb::literals;

namespace {

struct Limited {
    std::optional<std::size_t> memory;
    std::optional<double> seconds;

    Limits limits(std::optional<std::uint64_t> states = {}) const {
        Limits limits;
        if (states) limits.states = *states;
        if (memory) limits.memory = *memory;
        if (seconds) limits.seconds = *seconds;
        return limits;
    }
};

class Temporal {
public:
    Temporal(Engine& engine, const std::vector<std::size_t>& predicates, unsigned threads)
        : engine_(engine),
          before_(resident_bytes()),
          system_(engine.tables, engine.properties, known(engine, predicates), engine.partial_orders(),
                  engine.symmetry.get(), threads),
          predicates_(predicates.size()) {}

    ExplorationReport explore(const nb::object& object, std::optional<std::uint64_t> states,
                              std::optional<std::size_t> memory, std::optional<double> seconds,
                              std::optional<std::uint64_t> pause) {
        if (!paused_) throw std::logic_error("the graph has been explored");
        PythonOracle oracle(engine_, object);
        Exploration found;
        {
            nb::gil_scoped_release release;
            found = system_.explore(oracle, Limited{memory, seconds}.limits(states), pause.value_or(~std::uint64_t{0}));
            paused_ = found.paused;
            complete_ = found.stop == Stop::finished && !paused_;
            acyclic_ = is_acyclic(graph());
        }
        std::vector<Id> cut;
        for (Id i = 0; i < found.cut.size(); ++i)
            if (found.cut[i]) cut.push_back(i);
        const std::size_t now = resident_bytes();
        return {.stop = found.stop,
                .paused = paused_,
                .states = graph().states(),
                .expanded = graph().expanded(),
                .transitions = graph().edges() - found.left_out,
                .depth = found.depth,
                .deadlocks = found.deadlocks,
                .acyclic = acyclic_,
                .cut = std::move(cut),
                .blocked = found.blocked,
                // Consuming never removes there, so that who has got a message once gets it again as long as it takes
                // it.
                .redelivers = engine_.tables.network.duplicates_unlimited,
                .store_bytes = now > before_ ? now - before_ : 0,
                .graph_bytes = system_.bytes(),
                .por_given_up = found.given_up,
                .stands_for = found.stands_for,
                .violation = found.witness ? std::optional(engine_.describe(*found.witness)) : std::nullopt};
    }

    AnswerReport check(const nb::object& object, const Automaton& automaton, std::vector<StateSet> atoms,
                       const Assumption& assumption, const std::vector<Id>& crashable, std::size_t crashes,
                       std::optional<std::size_t> memory, std::optional<double> seconds, bool even_if_acyclic) {
        Question question{automaton, std::move(atoms), assumption};
        question.crashes = crashes;
        question.even_if_acyclic = even_if_acyclic;
        question.crashable = std::vector<bool>(engine_.tables.columns.size(), false);
        for (const Id column : crashable) question.crashable.at(column) = true;
        PythonOracle oracle(engine_, object);
        Answer answer;
        {
            nb::gil_scoped_release release;
            Watch watch(Limited{memory, seconds}.limits(), oracle);
            answer = quorate::check(graph(), question, acyclic_, watch);
        }
        return {.stop = answer.stop,
                .complete = complete_ && answer.stop == Stop::finished,
                .product_states = answer.nodes,
                .passes = answer.passes,
                .groups = answer.groups,
                .seconds = answer.seconds,
                .violation = describe(answer.lasso),
                .bounded = describe(answer.bounded)};
    }

    BeginningsReport exists(const nb::object& object, const Automaton& automaton, std::vector<StateSet> atoms,
                            const Assumption& assumption, std::optional<std::size_t> memory,
                            std::optional<double> seconds) {
        const Question question{automaton, std::move(atoms), assumption};
        return begin(object, Limited{memory, seconds},
                     [&](Watch& watch) { return beginnings(graph(), question, watch); });
    }
    BeginningsReport always(const nb::object& object, const StateSet& holds, const Assumption& assumption,
                            std::optional<std::size_t> memory, std::optional<double> seconds) {
        return begin(object, Limited{memory, seconds},
                     [&](Watch& watch) { return quorate::always(graph(), holds, assumption, watch); });
    }
    StateSet until(const StateSet& holds, const StateSet& goal) const { return quorate::until(graph(), holds, goal); }

    StateSet predicate(unsigned index) const {
        if (index >= predicates_) throw std::out_of_range("there is no such predicate");
        return graph().predicate(index);
    }
    StateSet everything() const { return StateSet(graph().states(), true); }
    StateSet initial() const {
        StateSet result(graph().states());
        for (const Id state : graph().initials) result.add(state);
        return result;
    }
    State state(Id number) const {
        if (number >= graph().states()) throw std::out_of_range("there is no such state");
        return engine_.state(system_.cells(number));
    }
    std::vector<EdgeReport> steps(Id number) const {
        if (number >= graph().states()) throw std::out_of_range("there is no such state");
        std::vector<EdgeReport> result;
        for (std::uint64_t edge = graph().begin(number); edge < graph().end(number); ++edge) {
            const Id target = graph().target(edge);
            EdgeReport report{act(graph().act(edge)), Leads::state, target};
            if (!Graph::moves(target)) {
                report.leads = target == Graph::cut       ? Leads::cut
                               : target == Graph::blocked ? Leads::blocked
                               : target == Graph::fails   ? Leads::fails
                                                          : Leads::left_out;
                report.target.reset();
            }
            result.push_back(std::move(report));
        }
        return result;
    }
    std::vector<GroupReport> groups(const Assumption& assumption) const {
        std::vector<GroupReport> result;
        for (const auto& group : Groups(graph(), assumption).all) result.push_back({act(group.act), group.strength});
        return result;
    }

private:
    static const std::vector<std::size_t>& known(const Engine& engine, const std::vector<std::size_t>& predicates) {
        for (const std::size_t property : predicates)
            if (property >= engine.properties.size()) throw std::out_of_range("there is no such property");
        return predicates;
    }
    const Graph& graph() const { return system_.graph; }

    template <typename Find>
    BeginningsReport begin(const nb::object& object, const Limited& limited, Find find) {
        PythonOracle oracle(engine_, object);
        std::optional<Beginnings> found;
        {
            nb::gil_scoped_release release;
            Watch watch(limited.limits(), oracle);
            found = find(watch);
        }
        return {found->stop, std::move(found->states), found->bounded || !complete_};
    }
    ActReport act(Id number) const {
        const Act& act = graph().acts[number];
        return {act.column, act.kind, if_any(act.transition),
                act.set == none ? std::vector<Id>() : engine_.messages_of(act.column, act.set)};
    }
    std::optional<LassoReport> describe(const std::optional<Lasso>& lasso) const {
        if (!lasso) return std::nullopt;
        LassoReport report{.loop_from = lasso->loop_from, .stopped = lasso->stopped};
        for (const auto& taken : lasso->way.steps) {
            report.path.push_back(state(taken.from.state));
            report.places.push_back(taken.from.place);
            report.steps.push_back(act(graph().act(taken.edge)));
        }
        report.path.push_back(state(lasso->way.last.state));
        report.places.push_back(lasso->way.last.place);
        for (const auto& one : lasso->starved) report.starved.push_back({act(one.act), one.always});
        return report;
    }

    Engine& engine_;
    const std::size_t before_;
    SystemGraph system_;
    const std::size_t predicates_;
    bool acyclic_ = false, complete_ = false, paused_ = true;
};

}  // namespace

void bind_temporal(nb::module_& module) {
    bind_temporal_types(module);
    nb::class_<Temporal>(module, "Temporal")
        .def(nb::init<Engine&, const std::vector<std::size_t>&, unsigned>(), "engine"_a, "predicates"_a,
             "threads"_a = 1, nb::keep_alive<1, 2>())
        .def("explore", &Temporal::explore, "oracle"_a, nb::kw_only(), "states"_a = nb::none(), "memory"_a = nb::none(),
             "seconds"_a = nb::none(), "pause"_a = nb::none())
        .def("check", &Temporal::check, "oracle"_a, "automaton"_a, "atoms"_a, "assumption"_a, nb::kw_only(),
             "crashable"_a = std::vector<Id>{}, "crashes"_a = 0, "memory"_a = nb::none(), "seconds"_a = nb::none(),
             "even_if_acyclic"_a = false)
        .def("exists", &Temporal::exists, "oracle"_a, "automaton"_a, "atoms"_a, "assumption"_a, nb::kw_only(),
             "memory"_a = nb::none(), "seconds"_a = nb::none())
        .def("always", &Temporal::always, "oracle"_a, "holds"_a, "assumption"_a, nb::kw_only(), "memory"_a = nb::none(),
             "seconds"_a = nb::none())
        .def("until", &Temporal::until, "holds"_a, "goal"_a)
        .def("predicate", &Temporal::predicate, "index"_a)
        .def("everything", &Temporal::everything)
        .def("initial", &Temporal::initial)
        .def("state", &Temporal::state, "number"_a)
        .def("steps", &Temporal::steps, "number"_a)
        .def("groups", &Temporal::groups, "assumption"_a);
}

}  // namespace quorate
