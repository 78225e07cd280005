"""Rules of dynamic partial-order reduction."""

from __future__ import annotations

from .rule import Group, expression, statement

DEPENDENCE = "core/search/dependence.cpp"
DPOR = "core/search/dpor.cpp"

dynamic = Group("dynamic partial orders", "dpor")

dynamic.rule(
    "dpor-system-bound",
    "Not where a bound of the whole system may cut one order of two steps and not the other.",
    "rule 34",
    expression(DEPENDENCE, "if («tables.bound != nullptr») return", "false"),
    focus=("bound of the system",),
)
dynamic.rule(
    "dpor-bounded",
    "Not on bounded channels: a full one disables steps of other processes.",
    "rule 5",
    expression(DEPENDENCE, "if («tables.network.bounded()») return", "false"),
    focus=("bounded",),
)
dynamic.rule(
    "dpor-budget",
    "Not where steps draw on a common budget.",
    "rule 7",
    expression(DEPENDENCE, "if («tables.has_budget() || tables.network.crashes()») return", "false"),
    focus=("losses, duplicates or crashes",),
)
dynamic.rule(
    "dpor-losses",
    "Not with unlimited losses: where the protocol is stuck, messages can still be lost.",
    "rule 7",
    expression(DEPENDENCE, "if («tables.network.losses_unlimited») return", "false"),
    focus=("unlimited losses",),
)
dynamic.rule(
    "dpor-clean",
    "Not with clean channels: what is delivered disables steps.",
    "section 3.1 of the thesis",
    expression(DEPENDENCE, "if («column->clean») return", "false"),
    focus=("network model rm",),
)
dynamic.rule(
    "dpor-maximal",
    "Not with maximal sets: what arrives may disable them.",
    "rule 16",
    expression(DEPENDENCE, "if («transition.mode == Mode::maximal») return", "false"),
    focus=("maximal sets",),
)
dynamic.rule(
    "dpor-process",
    "Steps of one process are dependent.",
    "dpor.hpp, 1",
    expression(DEPENDENCE, "return «a.column == b.column» || (a.emits && b.emits)", "false"),
)
dynamic.rule(
    "dpor-emits",
    "Steps that emit events are dependent.",
    "dpor.hpp, 3; rule 6",
    expression(DEPENDENCE, "|| («a.emits && b.emits») ||", "false"),
    focus=("monitor",),
)
dynamic.rule(
    "dpor-visible",
    "Steps that a property may see are dependent.",
    "dpor.hpp, 4",
    expression(DEPENDENCE, "|| («a.visible && b.visible») ||", "false"),
)
dynamic.rule(
    "dpor-visible-emits",
    "A step that emits is one that a property may see, if it reads monitors.",
    "dpor.hpp, 3 and 4",
    expression(DEPENDENCE, "(step.observed || («event.emits && monitors_seen_»))", "false"),
    focus=("monitor",),
)
dynamic.rule(
    "dpor-feeds",
    "A step that sends what another consumes is dependent on it.",
    "dpor.hpp, 2; rule 1",
    expression(DEPENDENCE, "«feeds(a, b) || feeds(b, a)»", "false"),
)
dynamic.rule(
    "dpor-feeds-back",
    "Also if the one that consumes came first: on a set its twin may have been pending.",
    "dpor.hpp, 2; rule 1",
    expression(DEPENDENCE, "feeds(a, b) || «feeds(b, a)»", "false"),
)
dynamic.rule(
    "dpor-bundles",
    "What an attacker learns to say together is sent message by message.",
    "dependence.cpp, feeds",
    expression(DEPENDENCE, "if («std::any_of(bundle.begin(), bundle.end(), consumed)») return true;", "false"),
    focus=("attackers that learn",),
)
dynamic.rule(
    "dpor-alternatives",
    "What the process itself could have done had it waited is tried.",
    "dpor.cpp, head of the file",
    expression(DPOR, "if («step.effect == Effect::cut || other == event») continue;", "true"),
)
dynamic.rule(
    "dpor-races",
    "The other order of two steps that race is tried.",
    "Flanagan and Godefroid 2005; Abdulla and others 2014",
    expression(DPOR, "if («std::find(races.begin(), races.end(), i) == races.end()») continue;", "true"),
)
dynamic.rule(
    "dpor-sleep",
    "What is asleep wakes up when a step is taken that depends on it.",
    "Abdulla and others 2014; Godefroid 1996",
    expression(DPOR, "if («!dependence_.dependent(asleep, event)») frame.sleep.push_back(asleep);", "true"),
)
dynamic.rule(
    "dpor-initial",
    "A step can be moved to the front of a sequence only past what does not depend on it.",
    "Abdulla and others 2014, weak initials",
    expression(DEPENDENCE, "if («dependent(event, sequence[i])») return std::nullopt;", "false"),
)
dynamic.rule(
    "dpor-rest",
    "What follows a step without happening after it goes along when its race is reversed.",
    "Abdulla and others 2014",
    expression(DPOR, "for (std::size_t k : rest) «sequence.push_back(run_[k])»;", "void()"),
    focus=("optimal",),
)
dynamic.rule(
    "dpor-useful",
    "A process that happens before the racing step may have to be tried in its place.",
    "Flanagan and Godefroid 2005",
    expression(DPOR, "if («run_.before(k, j)») useful[run_[k].column] = true;", "false"),
    focus=("classical",),
)
dynamic.rule(
    "dpor-all-enabled",
    "If none of the useful processes is enabled, all that are enabled are tried.",
    "Flanagan and Godefroid 2005",
    expression(
        DPOR, "if («best == none ? enabled(column) : column == best») frame.chosen[column] = true;", "column == best"
    ),
    focus=("classical",),
)
dynamic.rule(
    "dpor-senders",
    "An alternative that lacks messages is reached by way of those who send them.",
    "dpor.cpp, try_senders",
    statement(DPOR, "useful[run_[k].column] = true; } «choose(i, useful);» } void choose"),
    focus=("classical",),
)
dynamic.rule(
    "dpor-depth",
    "A search that has cut runs at a depth says so, and proves nothing.",
    "docs/dpor.md",
    expression(DPOR, "if («found.stop == Stop::finished && too_deep_») found.stop = Stop::depth;", "false"),
    focus=("max_depth",),
)
dynamic.rule(
    "dpor-cycle",
    "A search that meets a run without an end says so, and proves nothing.",
    "docs/dpor.md",
    statement(
        DPOR,
        "«if (!bounded_ && on_path(cells.data(), frame.hash)) stop_ = Stop::cycle;»",
        "if (!bounded_ && on_path(cells.data(), frame.hash)) { path_.insert(path_.end(), cells.begin(), cells.end());"
        " remember_top(frame.hash); frame.ended = true; frames_.push_back(std::move(frame)); return; }",
    ),
)

RULES = dynamic.rules
