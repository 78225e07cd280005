// What Python holds: the tables of one model, with all that was found out about it. Numbers go across, never objects of
// the model; what is more than a few of them is a struct with names (types.cpp, reports.hpp). The members are defined
// by topic: facts.cpp, analysis.cpp, search.cpp, testing.cpp.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <functional>

#include "analysis/dead_messages.hpp"
#include "analysis/decisions.hpp"
#include "analysis/local_quotient.hpp"
#include "analysis/universe.hpp"
#include "binding/reports.hpp"
#include "reduce/por/local_steps.hpp"
#include "reduce/por/persistent.hpp"
#include "reduce/por/stubborn.hpp"
#include "reduce/symmetry/canonical.hpp"
#include "reduce/symmetry/orbits.hpp"
#include "search/dpor.hpp"

namespace quorate {

namespace nb = nanobind;

class Engine {
public:
    explicit Engine(const Network& network);

    Tables tables;
    std::vector<Property> properties{};
    std::unique_ptr<Closing> closing{};
    bool closed = false;               // the closure has ended, and the reductions argue about it
    std::optional<Closure> closure{};  // what the reductions argue about: the closure, or a universe in its place
    std::unique_ptr<Relations> relations{};
    std::unique_ptr<Flows> flows{};
    bool local_steps = false;            // steps that concern nobody else are taken first
    bool flows_visible = true;           // are there properties besides deadlock?
    std::optional<Evidence> evidence{};  // of the last search, if it was asked for
    std::unique_ptr<Symmetry> symmetry{};
    std::unique_ptr<Orbits> orbits{};   // where there is no closure to compare
    std::vector<Id> failure_classes{};  // failures that differ only in their text have the same

    // --- the model ---

    void add_column(bool monitor, std::vector<Transition> transitions);
    void set_input(Id column, bool clean);
    Id add_local(Id column, std::uint64_t content, std::vector<Id> values, std::optional<Id> failure, bool crashed);
    // The numbers of all fields of a local state, hidden ones too.
    void set_fields(Id column, Id local, const std::vector<Id>& fields);
    void set_crash(Id column, Id local, Id crash) { tables.columns[column]->locals[local].crash = crash; }
    void set_recovery(Id column, Id local, Id back) { tables.columns[column]->locals[local].recovery = back; }
    void add_notice(Id column, Id receiver, Id message);
    void add_weight(Id column, std::size_t bytes) { tables.columns[column]->weight += bytes; }
    // Shared cells: a column is one; what an event writes there; a local state whose steps depend on one, and what
    // becomes of it when a value was read.
    void set_shared(Id column);
    void set_written(Id column, Id event, Id value);
    void set_reads(Id column, Id local, Id shared);
    Id add_view(Id column, Id local, Id value);
    Id add_message(Id column, const Message& message) { return tables.columns[column]->add_message(message); }
    void use_ranks(Id most) { tables.most_ranks = most; }
    bool inexact_ranks() const { return tables.inexact_ranks; }
    void put_local_ranks(Id column, Id local, Id shape, std::uint64_t ranks) {
        tables.columns[column]->ranks.locals.put(local, shape, ranks);
    }
    void put_message_ranks(Id column, Id message, Id shape, std::uint64_t ranks) {
        tables.columns[column]->ranks.messages.put(message, shape, ranks);
    }
    // Properties may read messages that are pending; and the messages of an inbox that they may read.
    void show_messages() { tables.shows_messages = true; }
    std::vector<Id> inbox(Id column, Id number) const {
        const std::span<const Id> messages = tables.columns[column]->inboxes[number];
        return {messages.begin(), messages.end()};
    }
    // A message that is pending from the beginning.
    void open_with(Id column, Id message);
    bool to_start_over = false;  // a field was read that the reductions have not kept apart
    // Messages of this type are among those the transition consumes.
    void allow(Id column, Id transition, Id type) { tables.columns[column]->transitions[transition].allow(type); }
    // Nothing: the quorum transition asks for nothing in this local state.
    void put_request(Id column, Id transition, Id local, std::optional<Request> request);
    // Nothing: the transition's filter refuses the message.
    void put_group(Id column, Id transition, Id local, Id message, std::optional<Id> group);
    void put_behaviour(Id column, Id transition, Id local, Id subject, std::vector<Outcome> outcomes);
    // Takes the answer about this local state for the answer about all of which the same is read. False if there is
    // another one already.
    bool learn(Id column, Id local, const Record& record);
    // Answers a question from what was read and done in other local states, if that is known. `number` gives the number
    // of a new local state, which differs from that of the question in what was assigned: all its fields are `values`.
    using Assigned = std::vector<ByReads::Assignment>;
    using Number = std::function<Id(const Query& query, const Assigned& assigned, const std::vector<Id>& values)>;
    bool recall(const Query& query, const Number& number);
    // A monitor of configurations (model/configurations.hpp): its objects, and what Python knows of them.
    void add_configurations(Id column, Id no, Id yes);
    Id add_object(Id column, std::uint64_t content);
    void set_operation(Id column, Id event, bool begins, Id slot, Id subject);
    void put_effect(Id column, Id state, Id operation, std::optional<std::tuple<Id, Id>> effect);
    void put_result(Id column, Id operation, Id value);
    void mark_object(Id column, Id object, std::vector<Id> images, std::uint64_t base,
                     std::vector<std::tuple<Id, std::uint64_t>> marks);
    Id add_configuration_set(Id column, std::vector<Id> numbers);
    std::optional<std::vector<Id>> configuration_set(Id column, Id local) const;
    // What an operation does to which state of the object, if that is not known and needed for this reaction.
    std::vector<std::tuple<Id, Id>> missing_effects(Id column, Id local, Id event);
    void add_property(PropertyKind kind) {
        properties.push_back({kind});
        for (const Property& property : properties)
            if (property.kind == PropertyKind::bound) tables.bound = &property.trie;
    }
    // Reads are (column, field, value, fold, state), the last two `none` outside of folds.
    void add_answer(std::size_t property, const std::vector<std::tuple<Id, Id, Id, Id, Id>>& reads, Verdict verdict);
    void clear_answers();
    // Says of each property whether it is known to say the same of every renamed state.
    void set_symmetric(const std::vector<bool>& symmetric);

    // --- what is found out before a search ---

    // Goes on with the closure, and has the reductions argue about it; not so if it is made aside, while a search
    // rests.
    UniverseReport close(const nb::object& object, std::size_t most_behaviours, bool aside);
    void simulate(const nb::object& object, std::size_t walks, std::size_t most_steps);
    // Takes what the last search met as the universe, or adds it.
    void extend_universe();
    // The same as `close`, for the universe; and which processes are taken as they are.
    UniverseReport evaluate_universe(const nb::object& object, std::size_t most_behaviours, bool only_met);
    void forget_universe();
    // Extends the universe by what a search waits for, while that rests. If all that was decided by it stands, the rest
    // is decided, and what `evaluate_universe` and `reduce` would say is told.
    std::optional<std::pair<UniverseReport, ReductionReport>> outgrow(const nb::object& object,
                                                                      std::size_t most_behaviours);
    // Applies the exact reductions; both need a complete closure.
    ReductionReport reduce(bool quotient, bool dead_messages);
    // Where the exchange of two names is no symmetry.
    std::optional<Breach> find_breach(const Renaming& renaming, const std::vector<Id>& failures);
    // Before `reduce`.
    void symmetrise(const Symmetry::Description& description);
    void unsymmetrise();
    // Symmetry without a closure: compares the beginning, and has searches compare what they ask for. The exchange
    // where it found a breach, and the breach.
    using OrbitBreach = std::optional<std::tuple<Id, Breach>>;
    OrbitBreach open_orbits(const nb::object& object);
    OrbitBreach orbit_breach() const;
    // Of a message, where there is no closure: as `add_image`.
    void add_message_image(Id column, Id message, std::vector<Id> images, std::uint64_t base,
                           std::vector<std::tuple<Id, std::uint64_t>> marks);
    // Of a monitor that grows, or of anybody if there is no closure: a local state under the exchanges of neighbouring
    // names, and its marks.
    void add_image(Id column, Id local, std::vector<Id> images, std::uint64_t base,
                   std::vector<std::tuple<Id, std::uint64_t>> marks);
    // A monitor that grows tells the names of a family apart. The search starts over once the oracle has answered.
    void break_family(Id family);
    // The monitors whose tables are filled by the search.
    std::vector<Id> growing() const;
    std::optional<BrokenFamily> broken_family() const;
    // Prepares partial-order reduction; says why it cannot be had, or nothing. Needs a complete closure, after
    // `reduce`.
    std::string relate(const PorOptions& options);
    // The same by flows, for which nothing has to be known: those that were met so far.
    std::string relate_by_flows(bool visible);
    // The same by steps that concern nobody else, where processes share cells.
    std::string relate_local_steps();
    // Whether the closure, or the universe, says of every process what it may do.
    bool knows_all() const;
    void unrelate();
    // What a search is to use, if anything.
    std::optional<PartialOrders> partial_orders();
    // The representative each local state of a column was merged into, after `reduce`.
    std::vector<Id> representatives(Id column) const;
    std::vector<EnabledReport> behaviours(Id column) const;
    // The transitions of a process that send messages to processes, by all that was ever evaluated: with or without
    // the closure, no step of a search is missing.
    std::vector<SendingReport> sending(Id column) const;
    // Per message of a process: in how many of its local states it is dead, after `reduce`.
    std::vector<std::size_t> dead(Id column) const;

    // --- searches, and states as Python sees them ---

    // `meanwhile`, if it is not None, is called with numbers of states and transitions (search.hpp).
    // `checkpoints`, if it is not None, says how the search is saved and where it goes on (checkpoint.cpp).
    // `outgrown`, if it is not None, is called without arguments, and may extend the universe (search.hpp).
    SearchReport search(const nb::object& object, SearchOptions options, std::optional<std::size_t> sample,
                        const nb::object& meanwhile, const nb::object& checkpoints, const nb::object& outgrown);
    std::size_t count_cells(Id column) const;
    // The cells of a process from this number on, as numbers of 32 bits: local state, how many messages, the messages;
    // each by the number that it is saved under.
    nb::bytes cells(Id column, std::size_t begin, const std::vector<Id>& locals, const std::vector<Id>& messages) const;
    // Makes cells again in the order in which they were saved, given the numbers that local states and messages have
    // now. False if they are not the same cells any more.
    bool add_cells(Id column, const nb::bytes& saved, const std::vector<Id>& locals, const std::vector<Id>& messages);
    // The number of a set of messages of a process, in their canonical order.
    Id set_of(Id column, std::vector<Id> messages);
    // Random runs over the plain tables.
    RunReport random_runs(const nb::object& object, const RunOptions& options);
    SeenReport seen() const;
    // Checks what partial-order reduction chose in the states that the last search sampled.
    VerificationReport verify(const nb::object& object, std::size_t depth, std::size_t most, bool visible);
    std::size_t cell_count() const;
    // A state as the reductions leave it.
    State reduced(const State& state);
    // What a search would take in a state, with partial-order reduction or without.
    PreviewReport preview(const nb::object& object, const State& state, bool por);
    // A state, and a run, as Python sees them.
    State state(const std::vector<Id>& cells) const;
    std::vector<Id> cells_of(const State& state);
    WitnessReport describe(const Witness& witness) const;
    std::vector<Id> messages_of(Id column, Id set) const;

    // --- what only tests ask for: testing.cpp ---

    // The graph of states that a depth-first search runs through, for small systems.
    GraphReport graph(const nb::object& object);
    // What a process's transitions are split into: (transition, set of messages, part).
    std::vector<std::tuple<Id, std::vector<Id>, Id>> parts(Id column) const;
    // Makes the analysis believe that a transition sends nothing to other processes: a seeded mistake, for tests that
    // want to see it found.
    void hide_sends(Id column, Id transition);

private:
    // An attacker that learns something can send hundreds of messages at once. Delivered one by one, each would make a
    // cell that no state has.
    void bundle(Outcome& outcome);
    UniverseReport describe(const Closure& found) const;
    // What the exact reductions that are on merge and drop.
    ReductionReport decide();

    std::vector<std::unique_ptr<Behaviour>> distorted_{};  // see `hide_sends`
};

}  // namespace quorate
