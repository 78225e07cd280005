// One worker's share of a distributed search, as Python drives it.

#include "binding/shard.hpp"

#include <nanobind/stl/pair.h>

#include "binding/oracle.hpp"
#include "search/shard.hpp"

namespace quorate {

using namespace nb::literals;

namespace {

// What was found, with what it is compared by, and the state that shows it.
struct Claim {
    WitnessReport witness;
    std::uint64_t faults, content;
};

struct SentBatch {
    Batch batch;
};

class ShardHandle {
public:
    ShardHandle(Engine& engine, const nb::object& model, const std::vector<std::tuple<Id, Id>>& shared,
                ShardOptions options)
        : engine_(engine), oracle_(engine, model) {
        std::vector<Shared> numbers;
        for (const auto& [locals, messages] : shared) numbers.push_back({locals, messages});
        shard.emplace(engine.tables, engine.properties, oracle_, engine.symmetry.get(), engine.partial_orders(),
                      std::move(numbers), options);
    }

    template <typename Work>
    auto released(Work work) {
        nb::gil_scoped_release release;
        return work(*shard);
    }
    Claim claim(const Witness& witness) const {
        Witness shown = witness;
        shown.path.assign(1, witness.cells);
        return {engine_.describe(shown), witness.faults, witness.content};
    }
    std::vector<bool> absorb(unsigned from, const nb::bytes& bytes) {
        const std::span<const char> span(static_cast<const char*>(bytes.data()), bytes.size());
        return released([&](Shard& shard) { return shard.absorb(from, span); });
    }
    void restore(const nb::bytes& bytes) {
        const std::span<const char> span(static_cast<const char*>(bytes.data()), bytes.size());
        released([&](Shard& shard) { shard.restore(span); });
    }
    std::optional<std::pair<std::uint64_t, State>> step_back(std::uint64_t level, const State& target) {
        const std::vector<Id> cells = engine_.cells_of(target);
        const auto found = released([&](Shard& shard) { return shard.step_back(level, cells); });
        if (!found) return std::nullopt;
        return std::make_pair(found->first, engine_.state(found->second));
    }

    std::optional<Shard> shard{};

private:
    Engine& engine_;
    PythonOracle oracle_;
};

}  // namespace

void bind_shard(nb::module_& module) {
    nb::class_<Claim>(module, "Claim")
        .def_ro("witness", &Claim::witness)
        .def_ro("faults", &Claim::faults)
        .def_ro("content", &Claim::content);
    nb::class_<SentBatch>(module, "Batch")
        .def_prop_ro("bytes",
                     [](const SentBatch& sent) { return nb::bytes(sent.batch.bytes.data(), sent.batch.bytes.size()); })
        .def_prop_ro("states", [](const SentBatch& sent) { return sent.batch.states; })
        .def_prop_ro("depth", [](const SentBatch& sent) { return sent.batch.depth; })
        .def_prop_ro("locals", [](const SentBatch& sent) { return sent.batch.untold.locals; })
        .def_prop_ro("messages", [](const SentBatch& sent) { return sent.batch.untold.messages; })
        .def_prop_ro("watched", [](const SentBatch& sent) { return sent.batch.watched; });
    const auto inlet = [](ShardHandle& handle, std::optional<unsigned> from) -> Inlet& {
        return from ? handle.shard->inlet(*from) : handle.shard->saved_inlet();
    };
    const auto figure = [](auto member) {
        return [member](const ShardHandle& handle) { return handle.shard->figures().*member; };
    };
    nb::class_<ShardHandle>(module, "Shard")
        .def(
            "__init__",
            [](ShardHandle* self, Engine& engine, const nb::object& model,
               const std::vector<std::tuple<Id, Id>>& shared, unsigned number, unsigned workers, bool deadlock,
               bool all, std::size_t batch_bytes, std::size_t sent_states, std::optional<std::uint64_t> states,
               std::optional<std::size_t> memory) {
                ShardOptions options{number, workers, deadlock, all, batch_bytes, sent_states};
                if (states) options.limits.states = *states;
                if (memory) options.limits.memory = *memory;
                new (self) ShardHandle(engine, model, shared, options);
            },
            nb::keep_alive<1, 2>(), nb::kw_only(), "engine"_a, "model"_a, "shared"_a, "number"_a, "workers"_a,
            "deadlock"_a, "all"_a, "batch_bytes"_a = std::size_t{1} << 18, "sent_states"_a = std::size_t{1} << 15,
            "states"_a = nb::none(), "memory"_a = nb::none())
        .def("begin", [](ShardHandle& handle) { handle.released([](Shard& shard) { shard.begin(); }); })
        .def(
            "start_level",
            [](ShardHandle& handle, const std::vector<std::size_t>& reached) { handle.shard->start_level(reached); },
            "reached"_a)
        .def(
            "expand",
            [](ShardHandle& handle, std::uint64_t most) {
                return handle.released([&](Shard& shard) { return shard.expand(most); });
            },
            "most"_a)
        .def(
            "batch",
            [](ShardHandle& handle, unsigned to, bool rest) -> std::optional<SentBatch> {
                auto batch = handle.shard->batch(to, rest);
                if (!batch) return std::nullopt;
                return SentBatch{std::move(*batch)};
            },
            "to"_a, "rest"_a)
        // Without a sender: of what was saved.
        .def(
            "tell_local",
            [inlet](ShardHandle& handle, std::optional<unsigned> from, Id column, Id number, Id mine) {
                inlet(handle, from).tell_local(column, number, mine);
            },
            "sender"_a.none(), "column"_a, "number"_a, "mine"_a)
        .def(
            "tell_message",
            [inlet](ShardHandle& handle, std::optional<unsigned> from, Id column, Id number, Id mine) {
                inlet(handle, from).tell_message(column, number, mine);
            },
            "sender"_a.none(), "column"_a, "number"_a, "mine"_a)
        .def("absorb", &ShardHandle::absorb, "sender"_a, "bytes"_a)
        .def(
            "answered",
            [](ShardHandle& handle, const std::vector<Id>& watched, const std::vector<bool>& further) {
                handle.shard->answered(watched, further);
            },
            "watched"_a, "further"_a)
        .def("expand_in_full", [](ShardHandle& handle) { return handle.shard->expand_in_full(); })
        .def("finish_level", [](ShardHandle& handle) { handle.released([](Shard& shard) { shard.finish_level(); }); })
        .def(
            "saved",
            [](ShardHandle& handle, std::uint64_t level) {
                std::vector<SentBatch> result;
                for (Batch& batch : handle.released([&](Shard& shard) { return shard.saved(level); }))
                    result.push_back({std::move(batch)});
                return result;
            },
            "level"_a)
        .def("restore", &ShardHandle::restore, "bytes"_a)
        .def("restored_level", [](ShardHandle& handle) { handle.shard->restored_level(); })
        .def(
            "restored",
            [](ShardHandle& handle, std::uint64_t transitions, std::uint64_t deadlocks, double stands_for,
               std::uint64_t offered, std::uint64_t left_out) {
                handle.shard->restored(transitions, deadlocks, stands_for, offered, left_out);
            },
            "transitions"_a, "deadlocks"_a, "stands_for"_a, "offered"_a, "left_out"_a)
        .def("step_back", &ShardHandle::step_back, "level"_a, "target"_a)
        .def("count_violated",
             [](ShardHandle& handle) { return handle.released([](Shard& shard) { return shard.count_violated(); }); })
        .def("give_up_partial_orders", [](ShardHandle& handle) { handle.shard->give_up_partial_orders(); })
        .def("forget_steps", [](ShardHandle& handle) { handle.shard->forget_steps(); })
        .def(
            "halt", [](ShardHandle& handle, Stop why) { handle.shard->halt(why); }, "why"_a)
        .def_prop_ro("stop", [](const ShardHandle& handle) { return handle.shard->stop(); })
        .def_prop_ro("states", [](const ShardHandle& handle) { return handle.shard->states(); })
        .def_prop_ro("next_level", [](const ShardHandle& handle) { return handle.shard->next_level(); })
        .def_prop_ro("remaining", [](const ShardHandle& handle) { return handle.shard->remaining(); })
        .def_prop_ro("store_bytes", [](const ShardHandle& handle) { return handle.shard->bytes(); })
        .def_prop_ro("sent", [](const ShardHandle& handle) { return handle.shard->sent; })
        .def_prop_ro("sent_bytes", [](const ShardHandle& handle) { return handle.shard->sent_bytes; })
        .def_prop_ro("repeated", [](const ShardHandle& handle) { return handle.shard->repeated; })
        .def_prop_ro("transitions", figure(&Worker::transitions))
        .def_prop_ro("deadlocks", figure(&Worker::deadlocks))
        .def_prop_ro("stands_for", figure(&Worker::stands_for))
        .def_prop_ro("offered", figure(&Worker::offered))
        .def_prop_ro("left_out", figure(&Worker::left_out))
        .def_prop_ro("cut",
                     [](const ShardHandle& handle) {
                         std::vector<Id> columns;
                         const std::vector<bool>& cut = handle.shard->figures().expander.cut;
                         for (Id i = 0; i < cut.size(); ++i)
                             if (cut[i]) columns.push_back(i);
                         return columns;
                     })
        .def_prop_ro("violation",
                     [](const ShardHandle& handle) -> std::optional<Claim> {
                         const auto& found = handle.shard->violation();
                         return found ? std::optional(handle.claim(*found)) : std::nullopt;
                     })
        .def_prop_ro("goals",
                     [](const ShardHandle& handle) {
                         std::vector<Claim> goals;
                         for (const auto& goal : handle.shard->goals())
                             if (goal) goals.push_back(handle.claim(*goal));
                         return goals;
                     })
        .def_prop_ro("violations", [](const ShardHandle& handle) {
            std::vector<std::tuple<Claim, std::uint64_t>> all;
            for (const Violations& each : handle.shard->violations())
                all.emplace_back(handle.claim(each.first), each.count);
            return all;
        });
}

}  // namespace quorate
