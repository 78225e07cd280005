// The enumerations of the core by name, and the structs that Python makes with keywords.

#include "binding/types.hpp"

namespace quorate {

using namespace nb::literals;

namespace {

void bind_enums(nb::module_& module) {
    nb::enum_<Order>(module, "Order")
        .value("set", Order::set)
        .value("multiset", Order::multiset)
        .value("fifo", Order::fifo);
    nb::enum_<WhenFull>(module, "WhenFull").value("block", WhenFull::block).value("replace", WhenFull::replace);
    nb::enum_<Head>(module, "Head").value("block", Head::block).value("skip", Head::skip).value("drop", Head::drop);
    nb::enum_<Mode>(module, "Mode")
        .value("spontaneous", Mode::spontaneous)
        .value("single", Mode::single)
        .value("exact", Mode::exact)
        .value("each", Mode::each)
        .value("minimal", Mode::minimal)
        .value("maximal", Mode::maximal)
        .value("any", Mode::any);
    nb::enum_<Effect>(module, "Effect")
        .value("moves", Effect::moves)
        .value("cut", Effect::cut)
        .value("fails", Effect::fails);
    nb::enum_<Kind>(module, "StepKind")
        .value("step", Kind::step)
        .value("discard", Kind::discard)
        .value("lose", Kind::lose)
        .value("duplicate", Kind::duplicate)
        .value("crash", Kind::crash)
        .value("recover", Kind::recover);
    nb::enum_<PropertyKind>(module, "PropertyKind")
        .value("invariant", PropertyKind::invariant)
        .value("goal", PropertyKind::goal)
        .value("final", PropertyKind::final)
        .value("bound", PropertyKind::bound);
    nb::enum_<Verdict>(module, "Verdict")
        .value("unknown", Verdict::unknown)
        .value("no", Verdict::no)
        .value("yes", Verdict::yes)
        .value("raises", Verdict::raises);
    nb::enum_<Query::Kind>(module, "QueryKind")
        .value("request", Query::Kind::request)
        .value("accept", Query::Kind::accept)
        .value("fire", Query::Kind::fire)
        .value("observe", Query::Kind::observe)
        .value("bound", Query::Kind::bound)
        .value("read", Query::Kind::read);
    nb::enum_<Keep>(module, "Keep")
        .value("deadlocks", Keep::deadlocks)
        .value("safety", Keep::safety)
        .value("linear", Keep::linear)
        .value("branching", Keep::branching);
    nb::enum_<Traversal>(module, "Traversal")
        .value("breadth_first", Traversal::breadth_first)
        .value("depth_first", Traversal::depth_first)
        .value("dpor_classical", Traversal::dpor_classical)
        .value("dpor_optimal", Traversal::dpor_optimal);
    nb::enum_<Stop>(module, "Stop")
        .value("finished", Stop::finished)
        .value("violation", Stop::violation)
        .value("states", Stop::states)
        .value("memory", Stop::memory)
        .value("time", Stop::time)
        .value("interrupt", Stop::interrupt)
        .value("regrown", Stop::regrown)
        .value("outgrown", Stop::outgrown)
        .value("depth", Stop::depth)
        .value("cycle", Stop::cycle)
        .value("reached", Stop::reached)
        .value("overtaken", Stop::overtaken)
        .value("disk", Stop::disk);
    nb::enum_<Finding>(module, "Finding")
        .value("violated", Finding::violated)
        .value("reached", Finding::reached)
        .value("raises", Finding::raises)
        .value("deadlock", Finding::deadlock)
        .value("failure", Finding::failure);
    nb::enum_<Refutation::Kind>(module, "RefutationKind")
        .value("stuck", Refutation::Kind::stuck)
        .value("differs", Refutation::Kind::differs)
        .value("unseen", Refutation::Kind::unseen)
        .value("fails", Refutation::Kind::fails);
}

void bind_model(nb::module_& module) {
    nb::class_<Network>(module, "Network")
        .def(
            "__init__",
            [](Network* self, Order order, WhenFull when_full, Head head, std::optional<Id> capacity,
               bool losses_unlimited, bool duplicates_unlimited, bool crashes_unlimited, Id losses, Id duplicates,
               Id crashes, bool cut_short, bool redeliver, bool loses_heads, std::optional<Id> down) {
                new (self) Network{.order = order,
                                   .when_full = when_full,
                                   .head = head,
                                   .capacity = capacity.value_or(none),
                                   .losses_unlimited = losses_unlimited,
                                   .duplicates_unlimited = duplicates_unlimited,
                                   .crashes_unlimited = crashes_unlimited,
                                   .crashes_cut_short = cut_short,
                                   .crashes_redeliver = redeliver,
                                   .loses_heads = loses_heads,
                                   .most_down = down.value_or(none),
                                   .budget = {losses, duplicates, crashes}};
            },
            nb::kw_only(), "order"_a, "when_full"_a, "head"_a, "capacity"_a.none(), "losses_unlimited"_a,
            "duplicates_unlimited"_a, "crashes_unlimited"_a, "losses"_a, "duplicates"_a, "crashes"_a, "cut_short"_a,
            "redeliver"_a, "loses_heads"_a, "down"_a.none())
        .def_ro("order", &Network::order)
        .def_ro("when_full", &Network::when_full)
        .def_ro("head", &Network::head)
        .def_prop_ro("capacity", [](const Network& network) { return if_any(network.capacity); })
        .def_ro("losses_unlimited", &Network::losses_unlimited)
        .def_ro("duplicates_unlimited", &Network::duplicates_unlimited)
        .def_ro("crashes_unlimited", &Network::crashes_unlimited)
        .def_prop_ro("losses", [](const Network& network) { return network.budget[0]; })
        .def_prop_ro("duplicates", [](const Network& network) { return network.budget[1]; })
        .def_prop_ro("crashes", [](const Network& network) { return network.budget[2]; })
        .def_ro("cut_short", &Network::crashes_cut_short)
        .def_ro("redeliver", &Network::crashes_redeliver)
        .def_ro("loses_heads", &Network::loses_heads)
        .def_prop_ro("down", [](const Network& network) { return if_any(network.most_down); });
    nb::class_<Transition>(module, "Transition")
        .def(
            "__init__", [](Transition* self, Mode mode, bool keep) { new (self) Transition{mode, keep}; },
            nb::kw_only(), "mode"_a, "keep"_a)
        .def_ro("mode", &Transition::mode)
        .def_ro("keep", &Transition::keep);
    nb::class_<Message>(module, "Message")
        .def(
            "__init__",
            [](Message* self, Id sender, Id type, std::uint64_t content, bool stands, bool shown) {
                new (self) Message{sender, type, content, stands, shown};
            },
            nb::kw_only(), "sender"_a, "type"_a, "content"_a, "stands"_a, "shown"_a = false)
        .def_ro("sender", &Message::sender)
        .def_ro("type", &Message::type)
        .def_ro("content", &Message::content)
        .def_ro("stands", &Message::stands)
        .def_ro("shown", &Message::shown);
    nb::class_<Request>(module, "Request")
        .def(
            "__init__",
            [](Request* self, Mode mode, Id size, std::vector<Id> senders) {
                new (self) Request{true, mode, size, std::move(senders)};
            },
            nb::kw_only(), "mode"_a, "size"_a = 0, "senders"_a = std::vector<Id>());
    nb::class_<Record>(module, "Record")
        .def(
            "__init__",
            [](Record* self, Query::Kind kind, Id transition, Id subject, std::vector<Id> read,
               std::vector<Id> assigned) {
                new (self) Record{kind, transition, subject, std::move(read), std::move(assigned)};
            },
            nb::kw_only(), "kind"_a, "transition"_a, "subject"_a, "read"_a, "assigned"_a = std::vector<Id>());
    nb::class_<Outcome>(module, "Outcome")
        .def(
            "__init__",
            [](Outcome* self, Effect effect, std::optional<Id> local, std::optional<Id> failure, const Sent& sends) {
                new (self) Outcome{effect, local.value_or(none), failure.value_or(none)};
                for (const auto& [column, message] : sends) self->sends.push_back({column, message});
            },
            nb::kw_only(), "effect"_a, "local"_a = nb::none(), "failure"_a = nb::none(), "sends"_a = Sent())
        .def_ro("effect", &Outcome::effect)
        .def_prop_ro("local", [](const Outcome& outcome) { return if_any(outcome.local); })
        .def_prop_ro("failure", [](const Outcome& outcome) { return if_any(outcome.failure); })
        .def_prop_ro("sends", [](const Outcome& outcome) {
            Sent sends;
            for (const Send& send : outcome.sends) sends.emplace_back(send.column, send.message);
            return sends;
        });
}

void bind_symmetry(nb::module_& module) {
    using Lists = std::vector<std::vector<Id>>;
    nb::class_<Renaming>(module, "Renaming")
        .def(
            "__init__",
            [](Renaming* self, std::vector<Id> columns, Lists locals, Lists messages) {
                new (self) Renaming{std::move(columns), std::move(locals), std::move(messages)};
            },
            nb::kw_only(), "columns"_a, "locals"_a, "messages"_a);
    using Marked = std::vector<std::tuple<std::uint64_t, std::vector<std::tuple<Id, std::uint64_t>>>>;
    const auto marks = [](const std::vector<Marked>& from) {
        std::vector<std::vector<Marks>> to;
        for (const Marked& column : from) {
            to.emplace_back();
            for (const auto& [base, of] : column) to.back().push_back({base, of});
        }
        return to;
    };
    nb::class_<Symmetry::Description>(module, "Symmetry")
        .def(
            "__init__",
            [marks](Symmetry::Description* self, std::vector<Id> families, Lists owned,
                    std::vector<std::vector<Renaming>> exchanges, const std::vector<Marked>& locals,
                    const std::vector<Marked>& messages, bool open) {
                new (self) Symmetry::Description{std::move(families), std::move(owned), std::move(exchanges),
                                                 marks(locals),       marks(messages),  open};
            },
            nb::kw_only(), "families"_a, "owned"_a, "exchanges"_a, "locals"_a, "messages"_a, "open"_a = false);
}

void bind_options(nb::module_& module) {
    nb::class_<PorOptions>(module, "PorOptions")
        .def(
            "__init__",
            [](PorOptions* self, bool necessary, bool conditional, bool smallest, bool commuting, bool key, bool twins,
               bool split_quorums, bool split_replies, Keep keep) {
                new (self) PorOptions{necessary, conditional,   smallest,      commuting, key,
                                      twins,     split_quorums, split_replies, keep};
            },
            nb::kw_only(), "necessary"_a = true, "conditional"_a = true, "smallest"_a = true, "commuting"_a = true,
            "key"_a = true, "twins"_a = true, "split_quorums"_a = false, "split_replies"_a = false, "keep"_a);
    nb::enum_<Strategy>(module, "Strategy")
        .value("uniform", Strategy::uniform)
        .value("pct", Strategy::pct)
        .value("rare", Strategy::rare);
    nb::class_<RunOptions>(module, "RunOptions")
        .def(
            "__init__",
            [](RunOptions* self, Strategy strategy, std::uint64_t seed, std::optional<std::uint64_t> runs,
               std::uint64_t depth, unsigned changes, unsigned threads, bool deadlock, std::optional<double> seconds,
               std::optional<std::size_t> memory) {
                new (self) RunOptions();
                self->strategy = strategy;
                self->seed = seed;
                if (runs) self->runs = *runs;
                self->depth = depth;
                self->changes = changes;
                self->threads = threads;
                self->deadlock = deadlock;
                if (seconds) self->limits.seconds = *seconds;
                if (memory) self->limits.memory = *memory;
            },
            nb::kw_only(), "strategy"_a, "seed"_a, "runs"_a = nb::none(), "depth"_a, "changes"_a, "threads"_a,
            "deadlock"_a, "seconds"_a = nb::none(), "memory"_a = nb::none());
    nb::class_<SearchOptions>(module, "SearchOptions")
        .def(
            "__init__",
            [](SearchOptions* self, Traversal traversal, unsigned threads, bool deadlock, bool stateless,
               std::size_t bitstate, bool fingerprints, std::string spill, std::optional<std::uint64_t> states,
               std::optional<std::size_t> memory, std::optional<double> seconds, std::optional<std::uint64_t> depth,
               std::uint64_t void_states, bool visible, std::optional<std::uint64_t> goals_end_from, bool census,
               bool all) {
                new (self) SearchOptions();
                self->traversal = traversal;
                self->threads = threads;
                self->deadlock = deadlock;
                self->stateless = stateless;
                self->bitstate = bitstate;
                self->fingerprints = fingerprints;
                self->spill = std::move(spill);
                if (states) self->limits.states = *states;
                if (memory) self->limits.memory = *memory;
                if (seconds) self->limits.seconds = *seconds;
                if (depth) self->most_depth = *depth;
                self->void_states = void_states;
                self->visible = visible;
                if (goals_end_from) self->goals_end_from = *goals_end_from;
                self->census = census;
                self->all = all;
            },
            nb::kw_only(), "traversal"_a, "threads"_a = 1, "deadlock"_a, "stateless"_a = false, "bitstate"_a = 0,
            "fingerprints"_a = false, "spill"_a = "", "states"_a = nb::none(), "memory"_a = nb::none(),
            "seconds"_a = nb::none(), "depth"_a = nb::none(), "void_states"_a = 1000, "visible"_a = true,
            "goals_end_from"_a = nb::none(), "census"_a = false, "all"_a = false);
}

}  // namespace

void bind_inputs(nb::module_& module) {
    bind_enums(module);
    bind_model(module);
    bind_symmetry(module);
    bind_options(module);
}

}  // namespace quorate
