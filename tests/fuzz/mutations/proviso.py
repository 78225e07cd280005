"""Rules of the ignoring proviso, and of what is kept of whole runs."""

from __future__ import annotations

from .rule import Group, expression, value

PROVISO = "core/reduce/por/proviso.cpp"
STUBBORN = "core/reduce/por/stubborn.cpp"
RELATIONS = "core/reduce/por/relations.cpp"
EXPANSION = "core/temporal/expansion.cpp"

proviso = Group("ignoring proviso", "partial orders")
whole_runs = Group("whole runs", "partial orders")

proviso.rule(
    "proviso-needed",
    "Where a run may come back to a state, steps must not be put off for ever.",
    "Valmari 1998, ignoring; rule 14",
    expression(PROVISO, "return «may_cycle(tables, closure)»;", "may_cycle(tables, closure) && false"),
)
proviso.rule(
    "proviso-failures",
    "Failures and cuts are looked for in every mode, so that the proviso holds for deadlocks alone too.",
    "rule 9",
    expression(PROVISO, "&& !closure.optimistic && «!may_fail(tables, closure)») return false;", "true"),
    focus=("deadlock alone",),
)
proviso.rule(
    "proviso-monitor-failures",
    "A monitor may fail, too.",
    "rules 6 and 9",
    expression(PROVISO, "if («column->locals[local].failure != none») return true;", "false"),
    focus=("deadlock alone", "monitor"),
)
proviso.rule(
    "proviso-cuts",
    "What a bound cuts is reported, so that it must not be put off for ever.",
    "proviso.cpp, needs_proviso",
    expression(PROVISO, "if («outcome.effect != Effect::moves») return true;", "false"),
    focus=("deadlock alone",),
)
proviso.rule(
    "proviso-recovery",
    "A recovery brings back a local state, so that any run may be a cycle.",
    "proviso.cpp, needs_proviso",
    expression(PROVISO, "if («column->locals[local].recovery != none») return true;", "false"),
    focus=("recovery",),
)
proviso.rule(
    "proviso-kept",
    "What is read and kept need not be sent again for a run to come back.",
    "proviso.cpp, may_cycle",
    expression(
        PROVISO,
        "if («column.transitions[move.transition].keep || network.duplicates_unlimited») return false;",
        "false",
    ),
    focus=("keep=True, or unlimited duplicates",),
)
proviso.rule(
    "proviso-stands",
    "What an attacker says stands, and need not be sent again for a run to come back.",
    "proviso.cpp, may_cycle",
    expression(PROVISO, "return «!column.messages[message].stands» && !sent.contains", "true"),
    focus=("attackers",),
)
proviso.rule(
    "proviso-breadth-first",
    "Level by level: a state of which no counting successor lies in the next level is expanded in full.",
    "Valmari 1998, ignoring; rounds.cpp",
    expression("core/search/successors.hpp", "if («partly.progressed») continue;", "true"),
)
proviso.rule(
    "proviso-known",
    "A successor that is known from this level or before is no progress.",
    "rounds.cpp",
    expression("core/search/rounds.cpp", "further &= «in_next_level(known)»;", "true"),
)
proviso.rule(
    "proviso-key",
    "Only a step that keeps possible what was left out is progress: the key, with weak sets.",
    "rule 14; stubborn.hpp, theorem",
    expression(
        "core/reduce/por/stubborn.hpp",
        "if («relations_.options().weak() && column != key_column_») return none;",
        "false",
    ),
    expression(
        "core/reduce/por/stubborn.hpp", "return «relations_.options().weak() && tag != key_» ? none : tag;", "false"
    ),
)
proviso.rule(
    "proviso-key-tag",
    "Of the process of the key, other steps are no progress.",
    "rule 14; stubborn.hpp, theorem",
    expression(
        "core/reduce/por/stubborn.hpp", "return «relations_.options().weak() && tag != key_» ? none : tag;", "false"
    ),
)
proviso.rule(
    "proviso-outcomes",
    "All outcomes of the key must be progress: which of them keeps what was left out is not known.",
    "stubborn.hpp, theorem; chooser.hpp",
    expression(
        "core/search/successors.hpp",
        "if («last != std::make_pair(process, keeps)») worker.keeping.push_back(",
        "true",
    ),
)
proviso.rule(
    "proviso-outcomes-depth-first",
    "The same depth first.",
    "stubborn.hpp, theorem; chooser.hpp",
    value(
        "core/search/depth_first.cpp",
        "return «successors_[i].column == successors_[j].column && successors_[i].keeping == successors_[j].keeping»;",
        "i == j",
    ),
    focus=("depth first",),
)
proviso.rule(
    "proviso-key-depth-first",
    "Depth first, too, only a step that keeps possible what was left out is progress.",
    "rule 14; stubborn.hpp, theorem",
    expression("core/search/depth_first.cpp", "bool further = «successors_[i].keeping != none»;", "true"),
    focus=("depth first",),
)
proviso.rule(
    "proviso-depth-first",
    "Depth first: a state whose successors all close a cycle is expanded in full.",
    "Valmari 1998, ignoring; depth_first.cpp",
    expression("core/search/depth_first.cpp", "if (watched && failures.empty() && «closes_cycle(begin)») {", "false"),
    focus=("depth first",),
)

whole_runs.rule(
    "runs-visible",
    "For linear time no step of the set is visible unless all steps are taken.",
    "theorem 10 of the thesis",
    expression(STUBBORN, "if («visible_ && keep > Keep::safety») return false;", "false"),
)
whole_runs.rule(
    "runs-single",
    "For branching time the set is one step, which is deterministic.",
    "theorem 10 of the thesis",
    expression(STUBBORN, "if («keep == Keep::branching») { // NB", "false"),
)
whole_runs.rule(
    "runs-cycle",
    "For whole runs a state one of whose successors closes a cycle is expanded in full.",
    "depth_first.cpp, closes_cycle",
    expression("core/search/depth_first.cpp", "if («options_.partial_orders->whole_runs») { for", "false"),
)
whole_runs.rule(
    "runs-cycle-stored",
    "In a stored graph a state with a chosen step to a state of no higher number is expanded in full.",
    "system_graph.hpp, theorem; rule 30",
    expression(EXPANSION, "if («target != none && target <= state») return true;", "false"),
)
whole_runs.rule(
    "runs-budget",
    "No relations for whole runs where messages are lost or processes crash.",
    "relations.cpp, unsupported",
    expression(RELATIONS, "if («keep > Keep::safety && (tables.has_budget() || network.losses_unlimited)»)", "false"),
)

RULES = [*proviso.rules, *whole_runs.rules]
