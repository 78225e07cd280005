// The structs that Python gets and can only read.

#include "binding/types.hpp"

namespace quorate {

namespace {

void bind_questions(nb::module_& module) {
    nb::class_<Progress>(module, "Progress")
        .def_ro("states", &Progress::states)
        .def_ro("transitions", &Progress::transitions)
        .def_ro("frontier", &Progress::frontier)
        .def_ro("depth", &Progress::depth)
        .def_ro("memory", &Progress::memory)
        .def_ro("levels", &Progress::levels)
        .def_ro("violated", &Progress::violated)
        .def_ro("deadlock", &Progress::deadlock)
        .def_prop_ro("failure", [](const Progress& progress) { return if_any(progress.failure); });
}

void bind_analysis(nb::module_& module) {
    nb::class_<UniverseReport>(module, "UniverseReport")
        .def_ro("complete", &UniverseReport::complete)
        .def_ro("why", &UniverseReport::why)
        .def_ro("local_states", &UniverseReport::local_states)
        .def_ro("messages", &UniverseReport::messages)
        .def_ro("behaviours", &UniverseReport::behaviours)
        .def_ro("rounds", &UniverseReport::rounds)
        .def_ro("enabled", &UniverseReport::enabled)
        .def_ro("as_is", &UniverseReport::as_is);
    nb::class_<ReductionReport>(module, "ReductionReport")
        .def_ro("local_states", &ReductionReport::local_states)
        .def_ro("dead", &ReductionReport::dead)
        .def_ro("pairs", &ReductionReport::pairs);
    nb::class_<EnabledReport>(module, "EnabledReport")
        .def_ro("local", &EnabledReport::local)
        .def_ro("transition", &EnabledReport::transition)
        .def_ro("consumed", &EnabledReport::consumed)
        .def_ro("outcomes", &EnabledReport::outcomes);
    nb::class_<SendingReport>(module, "SendingReport")
        .def_ro("transition", &SendingReport::transition)
        .def_ro("messages", &SendingReport::messages)
        .def_ro("told", &SendingReport::told)
        .def_ro("shows", &SendingReport::shows);
    nb::class_<Breach>(module, "Breach")
        .def_ro("what", &Breach::what)
        .def_prop_ro("column", [](const Breach& breach) { return if_any(breach.column); })
        .def_prop_ro("local", [](const Breach& breach) { return if_any(breach.local); })
        .def_prop_ro("transition", [](const Breach& breach) { return if_any(breach.transition); });
    nb::class_<BrokenFamily>(module, "BrokenFamily")
        .def_ro("family", &BrokenFamily::family)
        .def_ro("property", &BrokenFamily::property);
}

void bind_search(nb::module_& module) {
    nb::class_<WitnessReport>(module, "Witness")
        .def_ro("finding", &WitnessReport::finding)
        .def_ro("length", &WitnessReport::length)
        .def_ro("column", &WitnessReport::column)
        .def_ro("failure", &WitnessReport::failure)
        .def_ro("path", &WitnessReport::path)
        .def_ro("property", &WitnessReport::property);  // last: in the stub it hides the decorator of that name
    const auto of = [](auto member) { return [member](const SearchReport& report) { return report.figures.*member; }; };
    nb::class_<SearchReport>(module, "SearchReport")
        .def_prop_ro("stop", of(&SearchResult::stop))
        .def_prop_ro("states", of(&SearchResult::states))
        .def_prop_ro("transitions", of(&SearchResult::transitions))
        .def_prop_ro("depth", of(&SearchResult::depth))
        .def_prop_ro("deadlocks", of(&SearchResult::deadlocks))
        .def_prop_ro("stands_for", of(&SearchResult::stands_for))
        .def_prop_ro("frontier", of(&SearchResult::frontier))
        .def_prop_ro("coverage", of(&SearchResult::coverage))
        .def_prop_ro("miss", of(&SearchResult::miss))
        .def_prop_ro("store_bytes", of(&SearchResult::store_bytes))
        .def_prop_ro("por_given_up", of(&SearchResult::given_up))
        .def_prop_ro("executions", of(&SearchResult::executions))
        .def_prop_ro("levels", of(&SearchResult::levels))
        .def_prop_ro("blocked", of(&SearchResult::blocked))
        .def_prop_ro("cut",
                     [](const SearchReport& report) {
                         std::vector<Id> columns;
                         for (Id i = 0; i < report.figures.cut.size(); ++i)
                             if (report.figures.cut[i]) columns.push_back(i);
                         return columns;
                     })
        .def_prop_ro("census", of(&SearchResult::census))
        .def_ro("violation", &SearchReport::violation)
        .def_ro("goals", &SearchReport::goals)
        .def_ro("violations", &SearchReport::violations);
    nb::class_<Census::Visited>(module, "VisitedLocal")
        .def_ro("column", &Census::Visited::column)
        .def_ro("local", &Census::Visited::local)
        .def_ro("states", &Census::Visited::states)
        .def_ro("pending", &Census::Visited::pending);
    nb::class_<Census::Fired>(module, "Fired")
        .def_ro("column", &Census::Fired::column)
        .def_ro("kind", &Census::Fired::kind)
        .def_prop_ro("transition", [](const Census::Fired& fired) { return if_any(fired.transition); })
        .def_ro("states", &Census::Fired::states)
        .def_ro("steps", &Census::Fired::steps)
        .def_ro("depth", &Census::Fired::depth)
        .def_ro("blocked", &Census::Fired::blocked)
        .def_ro("cut", &Census::Fired::cut);
    nb::class_<Census::Reached>(module, "ReachedBehaviour")
        .def_ro("column", &Census::Reached::column)
        .def_ro("transition", &Census::Reached::transition)
        .def_ro("local", &Census::Reached::local)
        .def_ro("consumed", &Census::Reached::consumed)
        .def_ro("outcomes", &Census::Reached::outcomes);
    nb::class_<Census>(module, "Census")
        .def_ro("visited", &Census::visited)
        .def_ro("fired", &Census::fired)
        .def_ro("behaviours", &Census::behaviours)
        .def_ro("complete", &Census::complete);
    const auto in = [](auto member) { return [member](const RunReport& report) { return report.figures.*member; }; };
    nb::class_<RunReport>(module, "RunReport")
        .def_prop_ro("stop", in(&RunResult::stop))
        .def_prop_ro("runs", in(&RunResult::runs))
        .def_prop_ro("exact", in(&RunResult::exact))
        .def_prop_ro("span", in(&RunResult::span))
        .def_prop_ro("steps", in(&RunResult::steps))
        .def_prop_ro("ended", in(&RunResult::ended))
        .def_prop_ro("cut", in(&RunResult::cut))
        .def_prop_ro("full", in(&RunResult::full))
        .def_prop_ro("unfinished", in(&RunResult::unfinished))
        .def_prop_ro("run", in(&RunResult::run))
        .def_prop_ro("distinct", in(&RunResult::distinct))
        .def_prop_ro("sampled_visits", in(&RunResult::sampled_visits))
        .def_prop_ro("sampled_states", in(&RunResult::sampled_states))
        .def_prop_ro("met_once", in(&RunResult::met_once))
        .def_prop_ro("census", in(&RunResult::census))
        .def_ro("violation", &RunReport::violation)
        .def_ro("goals", &RunReport::goals);
    nb::class_<GraphReport::Node>(module, "GraphNode")
        .def_ro("state", &GraphReport::Node::state)
        .def_ro("observed", &GraphReport::Node::observed);
    nb::class_<GraphReport::Edge>(module, "GraphEdge")
        .def_ro("source", &GraphReport::Edge::source)
        .def_ro("target", &GraphReport::Edge::target)
        .def_ro("column", &GraphReport::Edge::column)
        .def_ro("transition", &GraphReport::Edge::transition)
        .def_ro("messages", &GraphReport::Edge::messages);
    nb::class_<GraphReport>(module, "Graph")
        .def_ro("initial", &GraphReport::initial)
        .def_ro("states", &GraphReport::states)
        .def_ro("edges", &GraphReport::edges);
    nb::class_<PreviewReport>(module, "Preview")
        .def_ro("taken", &PreviewReport::taken)
        .def_ro("reduced", &PreviewReport::reduced);
}

void bind_checks(nb::module_& module) {
    nb::class_<SeenReport>(module, "SeenReport")
        .def_ro("fields", &SeenReport::fields)
        .def_ro("seen", &SeenReport::seen)
        .def_ro("stuck", &SeenReport::stuck);
    nb::class_<NamedStep>(module, "NamedStep")
        .def_ro("column", &NamedStep::column)
        .def_ro("transition", &NamedStep::transition)
        .def_ro("messages", &NamedStep::messages);
    nb::class_<RefutationReport>(module, "Refutation")
        .def_ro("kind", &RefutationReport::kind)
        .def_ro("state", &RefutationReport::state)
        .def_ro("chosen", &RefutationReport::chosen)
        .def_ro("path", &RefutationReport::path);
    const auto of = [](auto member) {
        return [member](const VerificationReport& report) { return report.figures.*member; };
    };
    nb::class_<VerificationReport>(module, "Verification")
        .def_prop_ro("sets", of(&Verification::sets))
        .def_prop_ro("paths", of(&Verification::paths))
        .def_prop_ro("pairs", of(&Verification::pairs))
        .def_prop_ro("depth", of(&Verification::depth))
        .def_ro("wrong", &VerificationReport::wrong);
}

}  // namespace

void bind_reports(nb::module_& module) {
    bind_questions(module);
    bind_analysis(module);
    bind_search(module);
    bind_checks(module);
}

}  // namespace quorate
