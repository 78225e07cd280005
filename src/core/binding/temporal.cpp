#include "binding/temporal.hpp"

#include "binding/oracle.hpp"
#include "binding/types.hpp"
#include "temporal/branching.hpp"
#include "temporal/system_graph.hpp"

namespace quorate {

using namespace nb::literals;

namespace {

constexpr const char* stops[] = {"finished", "violation", "states", "memory", "time",   "interrupt",
                                 "regrown",  "outgrown",  "depth",  "cycle",  "reached"};
constexpr const char* kinds[] = {"step", "discard", "lose", "duplicate", "crash", "recover"};
constexpr const char* levels[] = {"none", "progress", "process", "transition", "message"};

using Report = nb::typed<nb::dict, nb::str, nb::any>;

const char* name(Stop stop) { return stops[static_cast<std::size_t>(stop)]; }

// (states, initial state, number of acceptance sets, edges: (source, must hold, must not hold, target, acceptance))
using Edges = std::vector<std::tuple<Id, std::uint64_t, std::uint64_t, Id, std::uint64_t>>;
using Described = std::tuple<Id, Id, unsigned, Edges>;

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
    explicit Temporal(Engine& engine) : engine_(engine), system_(engine.tables) {}

    Report explore(const nb::object& object, const std::vector<std::size_t>& predicates,
                   std::optional<std::uint64_t> states, std::optional<std::size_t> memory,
                   std::optional<double> seconds) {
        if (graph().states() > 0) throw std::logic_error("the graph has been explored");
        for (const std::size_t property : predicates)
            if (property >= engine_.properties.size()) throw std::out_of_range("there is no such property");
        PythonOracle oracle(engine_, object);
        const std::size_t before = resident_bytes();
        predicates_ = predicates.size();
        Exploration found;
        {
            nb::gil_scoped_release release;
            found = system_.explore(engine_.properties, oracle, predicates, Limited{memory, seconds}.limits(states));
            complete_ = found.stop == Stop::finished;
            acyclic_ = is_acyclic(graph());
        }
        Report result;
        result["stop"] = name(found.stop);
        result["states"] = graph().states();
        result["expanded"] = graph().expanded();
        result["transitions"] = graph().edges();
        result["depth"] = found.depth;
        result["deadlocks"] = found.deadlocks;
        result["acyclic"] = acyclic_;
        nb::list cut;
        for (Id i = 0; i < found.cut.size(); ++i)
            if (found.cut[i]) cut.append(i);
        result["cut"] = cut;
        result["blocked"] = found.blocked;
        const std::size_t now = resident_bytes();
        result["store_bytes"] = now > before ? now - before : 0;
        result["graph_bytes"] = graph().bytes() + system_.store.bytes();
        nb::dict left_out;
        left_out["symmetry"] = "fairness of single processes needs to tell them apart on a loop";
        left_out["por"] = "what is left out in a state still counts as enabled, which reduced graphs do not show";
        result["left_out"] = left_out;
        // Consuming never removes there, so that who has got a message once gets it again as long as it takes it.
        result["redelivers"] = engine_.tables.network.duplicates_unlimited;
        result["violation"] = found.witness ? nb::cast(engine_.describe(*found.witness)) : nb::none();
        return result;
    }

    Report check(const nb::object& object, const Described& automaton, std::vector<StateSet> atoms,
                 const std::string& level, const std::vector<std::vector<int>>& fair, int discards, int recoveries,
                 const std::vector<Id>& crashable, std::size_t crashes, std::optional<std::size_t> memory,
                 std::optional<double> seconds, bool even_if_acyclic) {
        Question question;
        question.automaton = read(automaton);
        question.atoms = std::move(atoms);
        question.assumption = assume(level, fair, discards, recoveries);
        question.crashes = crashes;
        question.even_if_acyclic = even_if_acyclic;
        question.crashable.assign(engine_.tables.columns.size(), false);
        for (const Id column : crashable) question.crashable.at(column) = true;
        PythonOracle oracle(engine_, object);
        Answer answer;
        {
            nb::gil_scoped_release release;
            Watch watch(Limited{memory, seconds}.limits(), oracle);
            answer = quorate::check(graph(), question, acyclic_, watch);
        }
        Report result;
        result["stop"] = name(answer.stop);
        result["complete"] = complete_ && answer.stop == Stop::finished;
        result["product_states"] = answer.nodes;
        result["passes"] = answer.passes;
        result["groups"] = answer.groups;
        result["seconds"] = answer.seconds;
        result["violation"] = answer.lasso ? nb::object(describe(*answer.lasso)) : nb::none();
        result["bounded"] = answer.bounded ? nb::object(describe(*answer.bounded)) : nb::none();
        return result;
    }

    nb::typed<nb::tuple, StateSet, nb::str, bool> exists(const nb::object& object, const Described& automaton,
                                                         std::vector<StateSet> atoms, const std::string& level,
                                                         const std::vector<std::vector<int>>& fair, int discards,
                                                         int recoveries, std::optional<std::size_t> memory,
                                                         std::optional<double> seconds) {
        Question question;
        question.automaton = read(automaton);
        question.atoms = std::move(atoms);
        question.assumption = assume(level, fair, discards, recoveries);
        PythonOracle oracle(engine_, object);
        std::optional<Beginnings> found;
        {
            nb::gil_scoped_release release;
            Watch watch(Limited{memory, seconds}.limits(), oracle);
            found = beginnings(graph(), question, watch);
        }
        return nb::make_tuple(std::move(found->states), name(found->stop), found->bounded || !complete_);
    }

    nb::typed<nb::tuple, StateSet, nb::str, bool> always(const nb::object& object, const StateSet& holds,
                                                         const std::string& level,
                                                         const std::vector<std::vector<int>>& fair, int discards,
                                                         int recoveries, std::optional<std::size_t> memory,
                                                         std::optional<double> seconds) {
        const Assumption assumption = assume(level, fair, discards, recoveries);
        PythonOracle oracle(engine_, object);
        std::optional<Beginnings> found;
        {
            nb::gil_scoped_release release;
            Watch watch(Limited{memory, seconds}.limits(), oracle);
            found = quorate::always(graph(), holds, assumption, watch);
        }
        return nb::make_tuple(std::move(found->states), name(found->stop), found->bounded || !complete_);
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
    // The steps of a state: (act, target), with the words "cut", "blocked" or "fails" in place of a target.
    nb::typed<nb::list, nb::any> steps(Id number) const {
        if (number >= graph().states()) throw std::out_of_range("there is no such state");
        nb::list result;
        for (std::uint64_t edge = graph().begin(number); edge < graph().end(number); ++edge) {
            const Id target = graph().target(edge);
            nb::object to = nb::int_(target);
            if (!Graph::moves(target))
                to = nb::str(target == Graph::cut ? "cut" : target == Graph::blocked ? "blocked" : "fails");
            result.append(nb::make_tuple(act(graph().act(edge)), to));
        }
        return result;
    }
    // The fair groups: (one of its acts, "weak" or "strong").
    nb::typed<nb::list, nb::any> groups(const std::string& level, const std::vector<std::vector<int>>& fair,
                                        int discards, int recoveries) const {
        nb::list result;
        for (const auto& group : Groups(graph(), assume(level, fair, discards, recoveries)).all)
            result.append(nb::make_tuple(act(group.act), group.strength == Strength::weak ? "weak" : "strong"));
        return result;
    }

private:
    const Graph& graph() const { return system_.graph; }

    static Automaton read(const Described& described) {
        const auto& [states, initial, sets, edges] = described;
        Automaton automaton{states, initial, sets};
        for (const auto& [source, must, must_not, target, acceptance] : edges)
            automaton.edges.push_back({source, must, must_not, target, acceptance});
        automaton.validate();
        return automaton;
    }
    static Strength strength(int number) {
        if (number < 0 || number > 2) throw std::invalid_argument("fairness is 0 (none), 1 (weak) or 2 (strong)");
        return static_cast<Strength>(number);
    }
    static Assumption assume(const std::string& level, const std::vector<std::vector<int>>& fair, int discards,
                             int recoveries) {
        Assumption assumption;
        assumption.strong = level == "strong";
        const auto found = std::find(std::begin(levels), std::end(levels), assumption.strong ? "message" : level);
        if (found == std::end(levels)) throw std::invalid_argument("unknown level of fairness: " + level);
        assumption.level = static_cast<Level>(found - std::begin(levels));
        assumption.discards = strength(discards);
        assumption.recoveries = strength(recoveries);
        for (const auto& column : fair) {
            assumption.steps.emplace_back();
            for (const int number : column) assumption.steps.back().push_back(strength(number));
        }
        return assumption;
    }

    // (column, kind, transition or None, consumed messages)
    nb::tuple act(Id number) const {
        const Act& act = graph().acts[number];
        nb::list messages;
        if (act.set != none)
            for (const Id message : engine_.tables.columns[act.column]->sets[act.set]) messages.append(message);
        return nb::make_tuple(act.column, kinds[static_cast<std::size_t>(act.kind)],
                              act.transition == none ? nb::object(nb::none()) : nb::object(nb::int_(act.transition)),
                              messages);
    }
    Report describe(const Lasso& lasso) const {
        Report result;
        nb::list path, steps, places, starved;
        for (const auto& taken : lasso.way.steps) {
            path.append(state(taken.from.state));
            places.append(taken.from.place);
            steps.append(act(graph().act(taken.edge)));
        }
        path.append(state(lasso.way.last.state));
        places.append(lasso.way.last.place);
        for (const auto& one : lasso.starved) starved.append(nb::make_tuple(act(one.act), one.always));
        result["finding"] = "lasso";
        result["length"] = lasso.way.steps.size();
        result["path"] = path;
        result["loop_from"] = lasso.loop_from;
        result["steps"] = steps;
        result["automaton"] = places;
        result["stopped"] = lasso.stopped;
        result["starved"] = starved;
        return result;
    }

    Engine& engine_;
    SystemGraph system_;
    std::size_t predicates_ = 0;
    bool acyclic_ = false, complete_ = false;
};

}  // namespace

void bind_temporal(nb::module_& module) {
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
    nb::class_<Temporal>(module, "Temporal")
        .def(nb::init<Engine&>(), "engine"_a, nb::keep_alive<1, 2>())
        .def("explore", &Temporal::explore, "oracle"_a, "predicates"_a, nb::kw_only(), "states"_a = nb::none(),
             "memory"_a = nb::none(), "seconds"_a = nb::none())
        .def("check", &Temporal::check, "oracle"_a, "automaton"_a, "atoms"_a, nb::kw_only(), "level"_a = "message",
             "fair"_a = std::vector<std::vector<int>>{}, "discards"_a = 1, "recoveries"_a = 0,
             "crashable"_a = std::vector<Id>{}, "crashes"_a = 0, "memory"_a = nb::none(), "seconds"_a = nb::none(),
             "even_if_acyclic"_a = false)
        .def("exists", &Temporal::exists, "oracle"_a, "automaton"_a, "atoms"_a, nb::kw_only(), "level"_a = "message",
             "fair"_a = std::vector<std::vector<int>>{}, "discards"_a = 1, "recoveries"_a = 0, "memory"_a = nb::none(),
             "seconds"_a = nb::none())
        .def("always", &Temporal::always, "oracle"_a, "holds"_a, nb::kw_only(), "level"_a = "message",
             "fair"_a = std::vector<std::vector<int>>{}, "discards"_a = 1, "recoveries"_a = 0, "memory"_a = nb::none(),
             "seconds"_a = nb::none())
        .def("until", &Temporal::until, "holds"_a, "goal"_a)
        .def("predicate", &Temporal::predicate, "index"_a)
        .def("everything", &Temporal::everything)
        .def("initial", &Temporal::initial)
        .def("state", &Temporal::state, "number"_a)
        .def("steps", &Temporal::steps, "number"_a)
        .def("groups", &Temporal::groups, nb::kw_only(), "level"_a = "message",
             "fair"_a = std::vector<std::vector<int>>{}, "discards"_a = 1, "recoveries"_a = 0);
}

}  // namespace quorate
