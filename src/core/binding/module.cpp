// The names that Python sees.

#include <nanobind/stl/pair.h>

#include "base/thresholds.hpp"
#include "binding/checkpoint.hpp"
#include "binding/parent.hpp"
#include "binding/shard.hpp"
#include "binding/temporal.hpp"
#include "binding/types.hpp"

namespace nb = nanobind;
using namespace nb::literals;

NB_MODULE(_core, m) {
    using quorate::Engine;
    nb::exception<quorate::LimitError>(m, "LimitError");
    nb::exception<quorate::Interrupted>(m, "StoppedError", PyExc_RuntimeError);
    m.attr("NONE") = quorate::none;
    quorate::bind_inputs(m);
    quorate::bind_reports(m);
    quorate::bind_checkpoints(m);
    nb::class_<Engine>(m, "Engine")
        .def(nb::init<const quorate::Network&>(), "network"_a)
        .def("add_column", &Engine::add_column, "monitor"_a, "transitions"_a)
        .def("add_weight", &Engine::add_weight, "column"_a, "bytes"_a)
        .def("set_shared", &Engine::set_shared, "column"_a)
        .def("set_written", &Engine::set_written, "column"_a, "event"_a, "value"_a)
        .def("set_reads", &Engine::set_reads, "column"_a, "local"_a, "shared"_a)
        .def("add_view", &Engine::add_view, "column"_a, "local"_a, "value"_a)
        .def("set_input", &Engine::set_input, "column"_a, "clean"_a)
        .def("add_local", &Engine::add_local, "column"_a, "content"_a, "values"_a, "failure"_a.none(), "crashed"_a)
        .def("set_fields", &Engine::set_fields, "column"_a, "local"_a, "fields"_a)
        .def("learn", &Engine::learn, "column"_a, "local"_a, "record"_a)
        .def("set_crash", &Engine::set_crash, "column"_a, "local"_a, "crash"_a)
        .def("set_recovery", &Engine::set_recovery, "column"_a, "local"_a, "back"_a)
        .def("add_notice", &Engine::add_notice, "column"_a, "receiver"_a, "message"_a)
        .def("add_message", &Engine::add_message, "column"_a, "message"_a)
        .def("use_ranks", &Engine::use_ranks, "most"_a)
        .def("inexact_ranks", &Engine::inexact_ranks)
        .def("put_local_ranks", &Engine::put_local_ranks, "column"_a, "local"_a, "shape"_a, "ranks"_a)
        .def("put_message_ranks", &Engine::put_message_ranks, "column"_a, "message"_a, "shape"_a, "ranks"_a)
        .def("open_with", &Engine::open_with, "column"_a, "message"_a)
        .def("show_messages", &Engine::show_messages)
        .def("inbox", &Engine::inbox, "column"_a, "number"_a)
        .def("allow", &Engine::allow, "column"_a, "transition"_a, "type"_a)
        .def("put_request", &Engine::put_request, "column"_a, "transition"_a, "local"_a, "request"_a.none())
        .def("put_group", &Engine::put_group, "column"_a, "transition"_a, "local"_a, "message"_a, "group"_a.none())
        .def("put_behaviour", &Engine::put_behaviour, "column"_a, "transition"_a, "local"_a, "subject"_a, "outcomes"_a)
        .def("add_configurations", &Engine::add_configurations, "column"_a, "no"_a, "yes"_a)
        .def("add_object", &Engine::add_object, "column"_a, "content"_a)
        .def("set_operation", &Engine::set_operation, "column"_a, "event"_a, "begins"_a, "slot"_a, "subject"_a)
        .def("put_effect", &Engine::put_effect, "column"_a, "state"_a, "operation"_a, "effect"_a.none())
        .def("put_result", &Engine::put_result, "column"_a, "operation"_a, "value"_a)
        .def("mark_object", &Engine::mark_object, "column"_a, "object"_a, "images"_a, "base"_a, "marks"_a)
        .def("add_configuration_set", &Engine::add_configuration_set, "column"_a, "numbers"_a)
        .def("configuration_set", &Engine::configuration_set, "column"_a, "local"_a)
        .def("missing_effects", &Engine::missing_effects, "column"_a, "local"_a, "event"_a)
        .def("add_property", &Engine::add_property, "kind"_a)
        .def("start_over", [](Engine& engine) { engine.to_start_over = true; })
        .def("add_answer", &Engine::add_answer, "property"_a, "reads"_a, "verdict"_a)
        .def("clear_answers", &Engine::clear_answers)
        .def("set_symmetric", &Engine::set_symmetric, "symmetric"_a)
        .def(
            "set_initials",
            [](Engine& engine, std::vector<std::vector<quorate::Id>> initials,
               const std::vector<std::vector<std::tuple<quorate::Id, quorate::Id>>>& posted) {
                engine.tables.initials = std::move(initials);
                for (const auto& sends : posted) {
                    auto& list = engine.tables.posted.emplace_back();
                    for (const auto& [column, message] : sends) list.push_back({column, message});
                }
            },
            "initials"_a, "posted"_a)
        .def(
            "observe",
            [](Engine& engine, const std::vector<std::vector<bool>>& observed) { engine.tables.observe(observed); },
            "observed"_a)
        .def("close", &Engine::close, "oracle"_a, "most_behaviours"_a, "aside"_a = false)
        .def("random_runs", &Engine::random_runs, "oracle"_a, "options"_a)
        .def("simulate", &Engine::simulate, "oracle"_a, "walks"_a, "most_steps"_a)
        .def("extend_universe", &Engine::extend_universe)
        .def("evaluate_universe", &Engine::evaluate_universe, "oracle"_a, "most_behaviours"_a, "only_met"_a = false)
        .def("forget_universe", &Engine::forget_universe)
        .def("outgrow", &Engine::outgrow, "oracle"_a, "most_behaviours"_a)
        .def("reduce", &Engine::reduce, "quotient"_a, "dead_messages"_a)
        .def("search", &Engine::search, "oracle"_a, "options"_a, "sample"_a = nb::none(), "meanwhile"_a = nb::none(),
             "checkpoints"_a = nb::none(), nb::kw_only(), "outgrown"_a = nb::none())
        .def("count_cells", &Engine::count_cells, "column"_a)
        .def("cells", &Engine::cells, "column"_a, "begin"_a, "locals"_a, "messages"_a)
        .def("add_cells", &Engine::add_cells, "column"_a, "saved"_a, "locals"_a, "messages"_a)
        .def("set_of", &Engine::set_of, "column"_a, "messages"_a)
        .def("relate", &Engine::relate, "options"_a)
        .def("parts", &Engine::parts, "column"_a)
        .def("graph", &Engine::graph, "oracle"_a)
        .def("dpor_unsupported", [](const Engine& engine) { return quorate::Dependence::unsupported(engine.tables); })
        .def("relate_by_flows", &Engine::relate_by_flows, "visible"_a)
        .def("relate_local_steps", &Engine::relate_local_steps)
        .def("knows_all", &Engine::knows_all)
        .def("unrelate", &Engine::unrelate)
        .def_prop_ro("reduces_orders", [](Engine& engine) { return engine.partial_orders().has_value(); })
        .def("hide_sends", &Engine::hide_sends, "column"_a, "transition"_a)
        .def("seen", &Engine::seen)
        .def("verify", &Engine::verify, "oracle"_a, "depth"_a, "most"_a, "visible"_a)
        .def("cell_count", &Engine::cell_count)
        .def(
            "set_most_step_bytes", [](Engine& engine, std::size_t bytes) { engine.tables.most_step_bytes = bytes; },
            "bytes"_a)
        .def("preview", &Engine::preview, "oracle"_a, "state"_a, "por"_a)
        .def("behaviours", &Engine::behaviours, "column"_a)
        .def("sending", &Engine::sending, "column"_a)
        .def("dead", &Engine::dead, "column"_a)
        .def("find_breach", &Engine::find_breach, "renaming"_a, "failures"_a)
        .def("symmetrise", &Engine::symmetrise, "description"_a)
        .def("add_image", &Engine::add_image, "column"_a, "local"_a, "images"_a, "base"_a, "marks"_a)
        .def("break_family", &Engine::break_family, "family"_a)
        .def("growing", &Engine::growing)
        .def("unsymmetrise", &Engine::unsymmetrise)
        .def("open_orbits", &Engine::open_orbits, "oracle"_a)
        .def("orbit_breach", &Engine::orbit_breach)
        .def("add_message_image", &Engine::add_message_image, "column"_a, "message"_a, "images"_a, "base"_a, "marks"_a)
        .def_rw("failure_classes", &Engine::failure_classes)
        .def("broken_family", &Engine::broken_family)
        .def("reduced", &Engine::reduced, "state"_a)
        .def("representatives", &Engine::representatives, "column"_a);
    quorate::bind_temporal(m);
    quorate::bind_shard(m);
    m.def("resident_bytes", &quorate::resident_bytes);
    m.def("end_with", &quorate::end_with, "parent"_a);
    nb::class_<quorate::Thresholds>(m, "Thresholds")
        .def_rw("few_states", &quorate::Thresholds::few_states)
        .def_rw("portion", &quorate::Thresholds::portion)
        .def_rw("most_waiting", &quorate::Thresholds::most_waiting)
        .def_rw("few_smallest", &quorate::Thresholds::few_smallest)
        .def_rw("most_twins", &quorate::Thresholds::most_twins)
        .def_rw("narrow_index", &quorate::Thresholds::narrow_index)
        .def_rw("index_lines", &quorate::Thresholds::index_lines)
        .def_rw("index_segmented", &quorate::Thresholds::index_segmented)
        .def_rw("index_step", &quorate::Thresholds::index_step)
        .def_rw("index_segment_bits", &quorate::Thresholds::index_segment_bits)
        .def_rw("fingerprint_bits", &quorate::Thresholds::fingerprint_bits)
        .def_rw("most_levels", &quorate::Thresholds::most_levels)
        .def_rw("most_cells", &quorate::Thresholds::most_cells)
        .def_rw("hub_gain", &quorate::Thresholds::hub_gain)
        .def_rw("most_reactions", &quorate::Thresholds::most_reactions)
        .def_rw("heaviest_monitor", &quorate::Thresholds::heaviest_monitor)
        .def_rw("most_sequenced", &quorate::Thresholds::most_sequenced)
        .def_rw("most_judged", &quorate::Thresholds::most_judged);
    m.attr("thresholds") = nb::cast(&quorate::thresholds, nb::rv_policy::reference);
}
