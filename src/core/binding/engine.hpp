// What Python holds: the tables of one model, with all that was found out about it. Numbers go across, never objects of
// the model. The members are defined by topic: facts.cpp, analysis.cpp, search.cpp.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "analysis/dead_messages.hpp"
#include "analysis/local_quotient.hpp"
#include "analysis/universe.hpp"
#include "reduce/por/persistent.hpp"
#include "reduce/por/stubborn.hpp"
#include "reduce/symmetry/canonical.hpp"
#include "search/dpor.hpp"
#include "search/verify.hpp"

namespace quorate {

namespace nb = nanobind;

class Engine {
public:
    Engine(int order, int when_full, int head, Id capacity, bool losses_unlimited, bool duplicates_unlimited, Id losses,
           Id duplicates, Id crashes, bool cut_short);

    Tables tables;
    std::vector<Property> properties{};
    std::optional<Closure> closure{};
    std::unique_ptr<Relations> relations{};
    std::unique_ptr<Flows> flows{};
    bool flows_visible = true;       // are there properties besides deadlock?
    std::optional<Survey> survey{};  // of the last search, if it was asked for
    std::unique_ptr<Symmetry> symmetry{};

    // --- the model ---

    void add_column(bool monitor, const std::vector<std::tuple<int, bool>>& transitions);
    void set_input(Id column, bool clean);
    Id add_local(Id column, std::uint64_t content, std::vector<Id> values, Id failure, bool crashed);
    void set_crash(Id column, Id local, Id crash) { tables.columns[column]->locals[local].crash = crash; }
    void set_recovery(Id column, Id local, Id back) { tables.columns[column]->locals[local].recovery = back; }
    void add_notice(Id column, Id receiver, Id message);
    Id add_message(Id column, Id sender, Id type, std::uint64_t content, bool stands);
    // A message that is pending from the beginning.
    void open_with(Id column, Id message);
    // Messages of this type are among those the transition consumes.
    void allow(Id column, Id transition, Id type) { tables.columns[column]->transitions[transition].allow(type); }
    void put_request(Id column, Id transition, Id local, bool enabled, int mode, Id size, std::vector<Id> senders);
    void put_group(Id column, Id transition, Id local, Id message, Id group);
    using Sent = std::vector<std::tuple<Id, Id>>;
    void put_behaviour(Id column, Id transition, Id local, Id subject,
                       const std::vector<std::tuple<int, Id, Id, Sent>>& outcomes);
    void add_property(int kind) { properties.push_back({static_cast<PropertyKind>(kind)}); }
    void add_answer(std::size_t property, const std::vector<std::tuple<Id, Id, Id>>& reads, int verdict);
    void clear_answers();

    // --- what is found out before a search ---

    nb::dict close(const nb::object& object, std::size_t most_behaviours);
    void simulate(const nb::object& object, std::size_t walks, std::size_t most_steps);
    // Takes what the last search met as the universe, or adds it.
    void extend_universe();
    // The same as `close`, for the universe; and which processes are taken as they are.
    nb::dict evaluate_universe(const nb::object& object, std::size_t most_behaviours, bool only_met);
    void forget_universe();
    nb::dict describe_closure() const;
    // Applies the exact reductions; both need a complete closure.
    nb::dict reduce(bool quotient, bool dead_messages);
    using Lists = std::vector<std::vector<Id>>;
    // Where the exchange of two names is no symmetry: what differs, column, local state, transition.
    std::optional<std::tuple<std::string, Id, Id, Id>> find_breach(std::vector<Id> columns, Lists locals,
                                                                   Lists messages, const std::vector<Id>& failures);
    using Marked = std::vector<std::tuple<std::uint64_t, std::vector<std::tuple<Id, std::uint64_t>>>>;
    // Before `reduce`. Per family the exchanges of neighbours; per column how names occur in local states, messages.
    void symmetrise(std::vector<Id> families, Lists owned,
                    std::vector<std::vector<std::tuple<std::vector<Id>, Lists, Lists>>> exchanges,
                    const std::vector<Marked>& locals, const std::vector<Marked>& messages);
    // The family of names that a property tells apart, and the property (or nothing).
    std::optional<std::tuple<Id, std::optional<std::size_t>>> broken_family() const;
    // Prepares partial-order reduction; says why it cannot be had, or nothing. Needs a complete closure, after
    // `reduce`.
    std::string relate(bool necessary, bool conditional, bool smallest, bool commuting, bool key, bool twins,
                       bool split_quorums, bool split_replies, int keep);
    // The same by flows, for which nothing has to be known: those that were met so far.
    std::string relate_by_flows(bool visible);
    // Whether the closure, or the universe, says of every process what it may do.
    bool knows_all() const;
    void unrelate();
    // What a search is to use, if anything.
    std::optional<PartialOrders> partial_orders();
    // What a process's transitions are split into: (transition, set of messages, part).
    std::vector<std::tuple<Id, std::vector<Id>, Id>> parts(Id column) const { return relations->parts(column); }
    // The representative each local state of a column was merged into, after `reduce`.
    std::vector<Id> representatives(Id column) const;
    void hide_sends(Id column, Id transition) { closure->hide_sends(tables, column, transition); }
    // What the closure holds of a process: (local state, transition, consumed, outcomes) of all that is enabled.
    using Enabled = std::tuple<Id, Id, std::vector<Id>, std::vector<std::tuple<int, Id, Sent>>>;
    std::vector<Enabled> behaviours(Id column) const;
    // Per message of a process: in how many of its local states it is dead, after `reduce`.
    std::vector<std::size_t> dead(Id column) const;

    // --- searches, and states as Python sees them ---

    nb::dict search(const nb::object& object, bool depth_first_search, unsigned threads, bool deadlock, bool stateless,
                    std::size_t bitstate, std::optional<std::uint64_t> states, std::optional<std::size_t> memory,
                    std::optional<double> seconds, std::optional<std::uint64_t> depth, std::uint64_t void_states,
                    int dpor_variant, bool visible, std::optional<std::size_t> sample,
                    std::optional<std::uint64_t> goals_end_from);
    // The fields that properties read, and what the last search has seen of them: hashes, and those of deadlocks.
    nb::tuple seen() const;
    // Checks what partial-order reduction chose in the states that the last search sampled.
    nb::dict verify(const nb::object& object, std::size_t depth, std::size_t most, bool visible);
    // The graph of states that a depth-first search runs through, for small systems: the steps (state, process,
    // transition, set, state), with -1 for the transition of a step of the environment, and what is observed in each
    // state. The initial states come first.
    nb::tuple graph(const nb::object& object);
    std::size_t cell_count() const;
    using Columns = std::vector<std::tuple<Id, std::vector<Id>>>;
    // A state, given by its local states and pending messages, as the reductions leave it.
    nb::object reduced(const Columns& columns, const std::vector<std::uint64_t>& left);
    // What a search would take in a state given as `search` reports states: per step its column, and the state it leads
    // to unless it fails. And whether partial-order reduction, if it is to be used, leaves something out.
    nb::tuple peek(const nb::object& object, const Columns& state, const std::vector<std::uint64_t>& left, bool por);
    // A state for Python: per column (local state, pending messages), then the budgets left.
    nb::object state(const std::vector<Id>& cells) const;
    nb::dict describe(const Witness& witness) const;

private:
    // An attacker that learns something can send hundreds of messages at once. Delivered one by one, each would make a
    // cell that no state has.
    void bundle(Outcome& outcome);
    static Network network(int order, int when_full, int head, Id capacity, bool losses_unlimited,
                           bool duplicates_unlimited, Id losses, Id duplicates, Id crashes, bool cut_short);
    std::vector<Id> cells_of(const Columns& columns, const std::vector<std::uint64_t>& left);
};

}  // namespace quorate
