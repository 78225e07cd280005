// The one file that knows of Python. It hands numbers across and turns the oracle's call-backs into calls of a Python
// object; the search runs without the interpreter's lock.

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <map>

#include "canonical.hpp"
#include "dpor.hpp"
#include "peek.hpp"
#include "universe.hpp"
#include "verify.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace quorate {

namespace {

const char* name(Stop stop) {
    switch (stop) {
        case Stop::finished:
            return "finished";
        case Stop::violation:
            return "violation";
        case Stop::states:
            return "states";
        case Stop::memory:
            return "memory";
        case Stop::time:
            return "time";
        case Stop::interrupt:
            return "interrupt";
        case Stop::regrown:
            return "regrown";
        case Stop::outgrown:
            return "outgrown";
        case Stop::depth:
            return "depth";
        case Stop::cycle:
            return "cycle";
    }
    return "";
}

const char* name(Finding finding) {
    switch (finding) {
        case Finding::violated:
            return "violated";
        case Finding::reached:
            return "reached";
        case Finding::raises:
            return "raises";
        case Finding::deadlock:
            return "deadlock";
        case Finding::failure:
            return "failure";
    }
    return "";
}

class Engine;

// Calls fill(queries), judge(property, locals) and poll(...) of a Python object.
class PythonOracle : public Oracle {
public:
    PythonOracle(Engine& engine, nb::object object) : engine_(engine), object_(std::move(object)) {}

    void fill(const std::vector<Query>& queries) override;
    bool judge(std::size_t property, std::span<const Id> locals) override;
    bool poll(const Progress& progress) override;

private:
    Engine& engine_;
    nb::object object_;
};

class Engine {
public:
    Engine(int order, int when_full, int head, Id capacity, bool losses_unlimited, bool duplicates_unlimited, Id losses,
           Id duplicates, Id crashes, bool cut_short)
        : tables(network(order, when_full, head, capacity, losses_unlimited, duplicates_unlimited, losses, duplicates,
                         crashes, cut_short)) {}

    Tables tables;
    std::vector<Property> properties{};
    std::optional<Closure> closure{};
    std::unique_ptr<Relations> relations{};
    std::optional<Survey> survey{};  // of the last search, if it was asked for
    std::unique_ptr<Symmetry> symmetry{};

    void add_column(bool monitor, const std::vector<std::tuple<int, bool>>& transitions) {
        Column& column = tables.add_column(monitor);
        for (const auto& [mode, keep] : transitions) column.transitions.push_back({static_cast<Mode>(mode), keep});
        if (monitor) column.transitions.emplace_back();  // so that keys of observations have a transition to name
    }
    void set_input(Id column, bool clean) {
        tables.columns[column]->input = true;
        tables.columns[column]->clean = clean;
    }
    Id add_local(Id column, std::uint64_t content, std::vector<Id> values, Id failure, bool crashed) {
        Column& owner = *tables.columns[column];
        const Id id = owner.add_local(content, std::move(values), failure);
        owner.locals[id].crashed = crashed;
        return id;
    }
    void set_crash(Id column, Id local, Id crash) { tables.columns[column]->locals[local].crash = crash; }
    void set_recovery(Id column, Id local, Id back) { tables.columns[column]->locals[local].recovery = back; }
    void add_notice(Id column, Id receiver, Id message) {
        tables.columns[column]->notices.push_back({receiver, message});
    }
    Id add_message(Id column, Id sender, Id type, std::uint64_t content, bool stands) {
        return tables.columns[column]->add_message({sender, type, content, stands});
    }
    // A message that is pending from the beginning.
    void open_with(Id column, Id message) {
        Column& owner = *tables.columns[column];
        deliver_standing(tables.network, owner.opening, message, owner.sender());
    }
    // Messages of this type are among those the transition consumes.
    void allow(Id column, Id transition, Id type) { tables.columns[column]->transitions[transition].allow(type); }
    void put_request(Id column, Id transition, Id local, bool enabled, int mode, Id size, std::vector<Id> senders) {
        Column& owner = *tables.columns[column];
        owner.requests.insert(owner.key(transition, local, 0),
                              {enabled, static_cast<Mode>(mode), size, std::move(senders)});
    }
    void put_group(Id column, Id transition, Id local, Id message, Id group) {
        Column& owner = *tables.columns[column];
        owner.groups.insert(owner.key(transition, local, message), group);
    }
    using Sent = std::vector<std::tuple<Id, Id>>;
    void put_behaviour(Id column, Id transition, Id local, Id subject,
                       const std::vector<std::tuple<int, Id, Id, Sent>>& outcomes) {
        Column& owner = *tables.columns[column];
        auto behaviour = std::make_unique<Behaviour>();
        for (const auto& [effect, next, failure, sends] : outcomes) {
            Outcome outcome;
            outcome.effect = static_cast<Effect>(effect);
            outcome.local = next;
            outcome.failure = failure;
            for (const auto& [receiver, message] : sends) outcome.sends.push_back({receiver, message});
            bundle(outcome);
            behaviour->outcomes.push_back(std::move(outcome));
        }
        owner.behaviours.insert(owner.key(transition, local, subject), std::move(behaviour));
    }
    void add_property(int kind) { properties.push_back({static_cast<PropertyKind>(kind)}); }
    void add_answer(std::size_t property, const std::vector<std::tuple<Id, Id, Id>>& reads, int verdict) {
        std::vector<Read> path;
        for (const auto& [column, field, value] : reads) path.push_back({column, field, value});
        properties[property].trie.add(path, static_cast<Verdict>(verdict));
    }
    void clear_answers() {
        for (Property& property : properties) property.trie.clear();
    }

    nb::dict close(const nb::object& object, std::size_t most_behaviours) {
        PythonOracle oracle(*this, object);
        tables.optimistic = false;
        {
            nb::gil_scoped_release release;
            closure = quorate::close(tables, oracle, most_behaviours);
        }
        return describe_closure();
    }
    void simulate(const nb::object& object, std::size_t walks, std::size_t most_steps) {
        PythonOracle oracle(*this, object);
        nb::gil_scoped_release release;
        quorate::simulate(tables, oracle, walks, most_steps);
    }
    // Takes what the last search met as the universe, or adds it.
    void extend_universe() { quorate::extend_universe(tables); }
    // The same as `close`, for the universe; and which processes are taken as they are.
    nb::dict evaluate_universe(const nb::object& object, std::size_t most_behaviours, bool only_met) {
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
    void forget_universe() {
        tables.optimistic = false;
        closure.reset();
    }
    nb::dict describe_closure() const {
        nb::dict result;
        result["complete"] = closure->complete;
        result["why"] = closure->why;
        result["local_states"] = closure->local_states;
        result["messages"] = closure->messages;
        result["behaviours"] = closure->behaviours;
        return result;
    }
    // Applies the exact reductions; both need a complete closure.
    nb::dict reduce(bool quotient, bool dead_messages) {
        nb::dict result;
        tables.quotient = quotient;
        tables.dead_messages = dead_messages;
        // A search may have met local states that lie outside of an optimistic universe.
        for (const auto& column : tables.columns)
            if (closure && closure->complete) closure->enabled[column->index].resize(column->locals.size());
        if (quotient) result["local_states"] = merge_local_states(tables, *closure);
        if (dead_messages) {
            const Reduced reduced = find_dead_messages(tables, *closure);
            result["dead"] = reduced.dead;
            result["pairs"] = reduced.pairs;
        }
        tables.forget_cells();
        relations.reset();
        if (symmetry) symmetry->prepare();
        return result;
    }
    using Lists = std::vector<std::vector<Id>>;
    // Where the exchange of two names is no symmetry: what differs, column, local state, transition.
    std::optional<std::tuple<std::string, Id, Id, Id>> find_breach(std::vector<Id> columns, Lists locals,
                                                                   Lists messages, const std::vector<Id>& failures) {
        const Renaming renaming{std::move(columns), std::move(locals), std::move(messages)};
        const auto found = quorate::find_breach(tables, *closure, renaming, failures);
        if (!found) return std::nullopt;
        return std::make_tuple(found->what, found->column, found->local, found->transition);
    }
    using Marked = std::vector<std::tuple<std::uint64_t, std::vector<std::tuple<Id, std::uint64_t>>>>;
    // Before `reduce`. Per family the exchanges of neighbours; per column how names occur in local states, messages.
    void symmetrise(std::vector<Id> families, Lists owned,
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
    // The family of names that a property tells apart, and the property (or nothing).
    std::optional<std::tuple<Id, std::optional<std::size_t>>> broken_family() const {
        if (!symmetry || !symmetry->broken) return std::nullopt;
        std::optional<std::size_t> property;
        if (symmetry->broken->property != none) property = symmetry->broken->property;
        return std::make_tuple(symmetry->broken->family, property);
    }
    // Prepares partial-order reduction; says why it cannot be had, or nothing. Needs a complete closure, after
    // `reduce`.
    std::string relate(bool necessary, bool conditional, bool smallest, bool commuting, bool key, bool twins,
                       bool split_quorums, bool split_replies, int keep) {
        std::string why = "the closure is not complete";
        if (closure && closure->complete) why = Relations::unsupported(tables, *closure, static_cast<Keep>(keep));
        relations.reset();
        if (why.empty())
            relations = std::make_unique<Relations>(tables, *closure,
                                                    PorOptions{necessary, conditional, smallest, commuting, key, twins,
                                                               split_quorums, split_replies, static_cast<Keep>(keep)});
        return why;
    }

    nb::dict search(const nb::object& object, bool depth_first_search, unsigned threads, bool deadlock, bool stateless,
                    std::size_t bitstate, std::optional<std::uint64_t> states, std::optional<std::size_t> memory,
                    std::optional<double> seconds, std::optional<std::uint64_t> depth, std::uint64_t void_states,
                    int dpor_variant, bool visible, std::optional<std::size_t> sample) {
        PythonOracle oracle(*this, object);
        SearchOptions options;
        options.threads = threads;
        options.deadlock = deadlock;
        options.stateless = stateless;
        options.bitstate = bitstate;
        options.relations = relations.get();
        options.symmetry = symmetry.get();
        options.dpor = static_cast<DporVariant>(dpor_variant);
        options.visible = visible;
        if (depth) options.most_depth = *depth;
        options.void_states = void_states;
        survey.reset();
        if (sample) survey.emplace(tables, *sample);
        options.survey = survey ? &*survey : nullptr;
        if (states) options.limits.states = *states;
        if (memory) options.limits.memory = *memory;
        if (seconds) options.limits.seconds = *seconds;
        SearchResult found;
        {
            nb::gil_scoped_release release;
            found = options.dpor != DporVariant::none ? dpor(tables, properties, oracle, options)
                    : depth_first_search              ? depth_first(tables, properties, oracle, options)
                                                      : breadth_first(tables, properties, oracle, options);
        }
        nb::dict result;
        result["stop"] = name(found.stop);
        result["states"] = found.states;
        result["transitions"] = found.transitions;
        result["depth"] = found.depth;
        result["deadlocks"] = found.deadlocks;
        result["stands_for"] = found.stands_for;
        result["frontier"] = found.frontier;
        result["coverage"] = found.coverage;
        result["store_bytes"] = found.store_bytes;
        result["executions"] = found.executions;
        result["blocked"] = found.blocked;
        nb::list cut;
        for (Id i = 0; i < found.cut.size(); ++i)
            if (found.cut[i]) cut.append(i);
        result["cut"] = cut;
        result["violation"] = found.violation ? nb::object(describe(*found.violation)) : nb::none();
        nb::list goals;
        for (const Witness& goal : found.goals) goals.append(describe(goal));
        result["goals"] = goals;
        return result;
    }
    // The fields that properties read, and what the last search has seen of them: hashes, and those of deadlocks.
    nb::tuple seen() const {
        return nb::make_tuple(survey->fields, std::vector<std::uint64_t>(survey->seen.begin(), survey->seen.end()),
                              std::vector<std::uint64_t>(survey->stuck.begin(), survey->stuck.end()));
    }
    // Checks what partial-order reduction chose in the states that the last search sampled.
    nb::dict verify(const nb::object& object, std::size_t depth, std::size_t most, bool visible) {
        Verification found;
        if (relations && survey) {
            PythonOracle oracle(*this, object);
            std::vector<std::vector<Id>> states;
            for (const auto& [content, cells] : survey->sample) states.push_back(cells);
            nb::gil_scoped_release release;
            found = quorate::verify(tables, oracle, *relations, states, depth, most, visible);
        }
        const auto steps = [](const std::vector<Refutation::Named>& list) {
            nb::list result;
            for (const auto& one : list)
                result.append(nb::make_tuple(
                    one.column, one.transition == none ? nb::object(nb::none()) : nb::object(nb::int_(one.transition)),
                    one.messages));
            return result;
        };
        nb::dict result;
        result["sets"] = found.sets;
        result["paths"] = found.paths;
        result["pairs"] = found.pairs;
        result["depth"] = found.depth;
        nb::list wrong;
        for (const Refutation& one : found.wrong)
            wrong.append(
                nb::make_tuple(static_cast<int>(one.kind), state(one.cells), steps(one.chosen), steps(one.path)));
        result["wrong"] = wrong;
        return result;
    }
    // What a process's transitions are split into: (transition, set of messages, part).
    std::vector<std::tuple<Id, std::vector<Id>, Id>> parts(Id column) const { return relations->parts(column); }
    // The graph of states that a depth-first search runs through, for small systems: the steps (state, process,
    // transition, set, state), with -1 for the transition of a step of the environment, and what is observed in each
    // state. The initial states come first.
    nb::tuple graph(const nb::object& object) {
        PythonOracle oracle(*this, object);
        std::vector<StepTaken> steps;
        SearchOptions options;
        options.relations = relations.get();
        options.record = &steps;
        std::vector<Property> nothing;
        depth_first(tables, nothing, oracle, options);
        std::map<std::vector<Id>, std::size_t> numbers;
        nb::list states, edges;
        const auto number = [&](const std::vector<Id>& cells) {
            const auto [place, fresh] = numbers.emplace(cells, numbers.size());
            if (fresh) {
                nb::list seen;
                for (Id i = 0; i < tables.columns.size(); ++i)
                    seen.append(tables.columns[i]->cells[cells[i]].observation);
                states.append(nb::make_tuple(state(cells), seen));
            }
            return place->second;
        };
        for (const auto& locals : tables.initials) number(tables.initial_cells(locals));
        const std::size_t initial = numbers.size();
        for (const StepTaken& taken : steps) {
            const std::size_t from = number(taken.from), to = number(taken.to);
            const Column& column = *tables.columns[taken.column];
            const Step& step = (*column.cells[taken.from[taken.column]].steps.load())[taken.step];
            const int transition = step.kind == Kind::step ? static_cast<int>(step.transition) : -1;
            nb::list set;
            if (step.set != none)
                for (const Id message : column.sets[step.set]) set.append(message);
            edges.append(nb::make_tuple(from, taken.column, transition, set, to));
        }
        return nb::make_tuple(initial, states, edges);
    }
    std::size_t cell_count() const {
        std::size_t sum = 0;
        for (const auto& column : tables.columns) sum += column->cells.size();
        return sum;
    }
    // A state, given by its local states and pending messages, as the reductions leave it.
    nb::object reduced(const std::vector<std::tuple<Id, std::vector<Id>>>& columns,
                       const std::vector<std::uint64_t>& left) {
        std::vector<Id> cells;
        for (Id i = 0; i < columns.size(); ++i)
            cells.push_back(tables.cell(*tables.columns[i], std::get<0>(columns[i]), std::get<1>(columns[i])));
        if (tables.has_budget()) cells.push_back(tables.budget(left));
        return state(symmetry ? Canonical(*symmetry).of(cells) : cells);
    }
    // What a search would take in a state given as `search` reports states: per step its column, and the state it leads
    // to unless it fails. And whether partial-order reduction, if it is to be used, leaves something out.
    nb::tuple peek(const nb::object& object, const std::vector<std::tuple<Id, std::vector<Id>>>& state,
                   const std::vector<std::uint64_t>& left, bool por) {
        std::vector<Id> cells;
        for (Id i = 0; i < state.size(); ++i)
            cells.push_back(tables.cell(*tables.columns[i], std::get<0>(state[i]), std::get<1>(state[i])));
        if (tables.has_budget()) cells.push_back(tables.budget(left));
        PythonOracle oracle(*this, object);
        const Peek seen = quorate::peek(tables, oracle, por ? relations.get() : nullptr, cells);
        nb::list taken;
        for (const Peek::Taken& each : seen.taken)
            taken.append(nb::make_tuple(each.column, each.cells.empty() ? nb::none() : this->state(each.cells)));
        return nb::make_tuple(taken, seen.chosen);
    }
    // The representative each local state of a column was merged into, after `reduce`.
    std::vector<Id> representatives(Id column) const {
        std::vector<Id> result;
        for (Id i = 0; i < tables.columns[column]->locals.size(); ++i)
            result.push_back(tables.columns[column]->locals[i].representative);
        return result;
    }
    void hide_sends(Id column, Id transition) { closure->hide_sends(tables, column, transition); }
    // What the closure holds of a process: (local state, transition, consumed, outcomes) of all that is enabled.
    using Enabled = std::tuple<Id, Id, std::vector<Id>, std::vector<std::tuple<int, Id, Sent>>>;
    std::vector<Enabled> behaviours(Id column) const {
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
    // Per message of a process: in how many of its local states it is dead, after `reduce`.
    std::vector<std::size_t> dead(Id column) const {
        const Column& owner = *tables.columns[column];
        std::vector<std::size_t> result(owner.messages.size(), 0);
        if (owner.monitor || !tables.dead_messages) return result;
        for (Id local = 0; local < owner.locals.size(); ++local)
            for (Id message = 0; message < owner.locals[local].live.size(); ++message)
                result[message] += !owner.locals[local].live[message];
        return result;
    }

private:
    // An attacker that learns something can send hundreds of messages at once. Delivered one by one, each would make a
    // cell that no state has.
    void bundle(Outcome& outcome) {
        std::map<Id, std::vector<Id>> standing;
        std::vector<Send> rest;
        for (const Send& send : outcome.sends) {
            const Column& receiver = *tables.columns[send.column];
            if (!receiver.monitor && receiver.messages[send.message].stands)
                standing[send.column].push_back(send.message);
            else
                rest.push_back(send);
        }
        if (standing.empty()) return;
        for (auto& [column, messages] : standing) {
            auto& bundles = tables.columns[column]->bundles;
            rest.push_back({column, bundle_bit + static_cast<Id>(bundles.size())});
            bundles.push_back(std::move(messages));
        }
        outcome.bundled = std::move(rest);
    }
    static Network network(int order, int when_full, int head, Id capacity, bool losses_unlimited,
                           bool duplicates_unlimited, Id losses, Id duplicates, Id crashes, bool cut_short) {
        Network result;
        result.crashes_cut_short = cut_short;
        result.order = static_cast<Order>(order);
        result.when_full = static_cast<WhenFull>(when_full);
        result.head = static_cast<Head>(head);
        result.capacity = capacity;
        result.losses_unlimited = losses_unlimited;
        result.duplicates_unlimited = duplicates_unlimited;
        result.budget[0] = losses;
        result.budget[1] = duplicates;
        result.budget[2] = crashes;
        if ((losses + 1.0) * (duplicates + 1.0) * (crashes + 1.0) > 4e9)
            throw LimitError(
                "the budgets for losses, duplicates and crashes have more than 4,000,000,000 combinations");
        return result;
    }
    // A state for Python: per column (local state, pending messages), then the budgets left.
    nb::object state(const std::vector<Id>& cells) const {
        nb::list columns;
        for (Id i = 0; i < tables.columns.size(); ++i) {
            const Column& column = *tables.columns[i];
            const Cell& cell = column.cells[cells[i]];
            nb::list inbox;
            for (Id message : column.inboxes[cell.inbox]) inbox.append(message);
            columns.append(nb::make_tuple(cell.local, inbox));
        }
        nb::list left;
        for (Budget kind : {Budget::losses, Budget::duplicates, Budget::crashes})
            left.append(tables.has_budget() ? tables.left(cells.back(), kind) : 0);
        return nb::make_tuple(columns, left);
    }
    nb::dict describe(const Witness& witness) const {
        nb::dict result;
        result["finding"] = name(witness.finding);
        result["property"] = witness.property;
        result["length"] = witness.length;
        result["column"] = witness.column == none ? nb::object(nb::none()) : nb::object(nb::int_(witness.column));
        result["failure"] = witness.failure == none ? nb::object(nb::none()) : nb::object(nb::int_(witness.failure));
        nb::list path;
        for (const auto& cells : witness.path) path.append(state(cells));
        result["path"] = path;
        return result;
    }
};

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
    return nb::cast<bool>(object_.attr("judge")(property, list));
}

bool PythonOracle::poll(const Progress& progress) {
    nb::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    return nb::cast<bool>(object_.attr("poll")(progress.states, progress.transitions, progress.frontier, progress.depth,
                                               progress.memory));
}

}  // namespace

}  // namespace quorate

NB_MODULE(_core, m) {
    using quorate::Engine;
    nb::exception<quorate::LimitError>(m, "LimitError");
    nb::exception<quorate::Interrupted>(m, "StoppedError", PyExc_RuntimeError);
    m.attr("NONE") = quorate::none;
    nb::class_<Engine>(m, "Engine")
        .def(nb::init<int, int, int, quorate::Id, bool, bool, quorate::Id, quorate::Id, quorate::Id, bool>(), "order"_a,
             "when_full"_a, "head"_a, "capacity"_a, "losses_unlimited"_a, "duplicates_unlimited"_a, "losses"_a,
             "duplicates"_a, "crashes"_a, "cut_short"_a)
        .def("add_column", &Engine::add_column, "monitor"_a, "transitions"_a)
        .def("set_input", &Engine::set_input, "column"_a, "clean"_a)
        .def("add_local", &Engine::add_local, "column"_a, "content"_a, "values"_a, "failure"_a, "crashed"_a)
        .def("set_crash", &Engine::set_crash, "column"_a, "local"_a, "crash"_a)
        .def("set_recovery", &Engine::set_recovery, "column"_a, "local"_a, "back"_a)
        .def("add_notice", &Engine::add_notice, "column"_a, "receiver"_a, "message"_a)
        .def("add_message", &Engine::add_message, "column"_a, "sender"_a, "type"_a, "content"_a, "stands"_a)
        .def("open_with", &Engine::open_with, "column"_a, "message"_a)
        .def("allow", &Engine::allow, "column"_a, "transition"_a, "type"_a)
        .def("put_request", &Engine::put_request, "column"_a, "transition"_a, "local"_a, "enabled"_a, "mode"_a,
             "size"_a, "senders"_a)
        .def("put_group", &Engine::put_group, "column"_a, "transition"_a, "local"_a, "message"_a, "group"_a)
        .def("put_behaviour", &Engine::put_behaviour, "column"_a, "transition"_a, "local"_a, "subject"_a, "outcomes"_a)
        .def("add_property", &Engine::add_property, "kind"_a)
        .def("add_answer", &Engine::add_answer, "property"_a, "reads"_a, "verdict"_a)
        .def("clear_answers", &Engine::clear_answers)
        .def(
            "set_initials",
            [](Engine& engine, std::vector<std::vector<quorate::Id>> initials) {
                engine.tables.initials = std::move(initials);
            },
            "initials"_a)
        .def(
            "observe",
            [](Engine& engine, const std::vector<std::vector<bool>>& observed) { engine.tables.observe(observed); },
            "observed"_a)
        .def("close", &Engine::close, "oracle"_a, "most_behaviours"_a)
        .def("simulate", &Engine::simulate, "oracle"_a, "walks"_a, "most_steps"_a)
        .def("extend_universe", &Engine::extend_universe)
        .def("evaluate_universe", &Engine::evaluate_universe, "oracle"_a, "most_behaviours"_a, "only_met"_a = false)
        .def("forget_universe", &Engine::forget_universe)
        .def("reduce", &Engine::reduce, "quotient"_a, "dead_messages"_a)
        .def("search", &Engine::search, "oracle"_a, "depth_first"_a, "threads"_a, "deadlock"_a, "stateless"_a,
             "bitstate"_a, "states"_a = nb::none(), "memory"_a = nb::none(), "seconds"_a = nb::none(),
             "depth"_a = nb::none(), "void_states"_a = 1000, "dpor"_a = 0, "visible"_a = true, "sample"_a = nb::none())
        .def("relate", &Engine::relate, "necessary"_a, "conditional"_a, "smallest"_a, "commuting"_a, "key"_a, "twins"_a,
             "split_quorums"_a, "split_replies"_a, "keep"_a)
        .def("parts", &Engine::parts, "column"_a)
        .def("graph", &Engine::graph, "oracle"_a)
        .def("dpor_unsupported", [](const Engine& engine) { return quorate::Dependence::unsupported(engine.tables); })
        .def("unrelate", [](Engine& engine) { engine.relations.reset(); })
        .def("hide_sends", &Engine::hide_sends, "column"_a, "transition"_a)
        .def("seen", &Engine::seen)
        .def("verify", &Engine::verify, "oracle"_a, "depth"_a, "most"_a, "visible"_a)
        .def("cell_count", &Engine::cell_count)
        .def(
            "set_most_step_bytes", [](Engine& engine, std::size_t bytes) { engine.tables.most_step_bytes = bytes; },
            "bytes"_a)
        .def("peek", &Engine::peek, "oracle"_a, "state"_a, "left"_a, "por"_a)
        .def("behaviours", &Engine::behaviours, "column"_a)
        .def("dead", &Engine::dead, "column"_a)
        .def("find_breach", &Engine::find_breach, "columns"_a, "locals"_a, "messages"_a, "failures"_a)
        .def("symmetrise", &Engine::symmetrise, "families"_a, "owned"_a, "exchanges"_a, "locals"_a, "messages"_a)
        .def("unsymmetrise", [](Engine& engine) { engine.symmetry.reset(); })
        .def("broken_family", &Engine::broken_family)
        .def("reduced", &Engine::reduced, "columns"_a, "left"_a)
        .def("representatives", &Engine::representatives, "column"_a);
    m.def("resident_bytes", &quorate::resident_bytes);
}
