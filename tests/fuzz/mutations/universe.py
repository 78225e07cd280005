"""Rules of the optimistic universe, and of flows, which take its place where it would take too long."""

from __future__ import annotations

from .rule import Group, expression, statement, value

INDEPENDENCE = "core/reduce/por/independence.cpp"
INSTANCES = "core/reduce/por/instances.cpp"
PROVISO = "core/reduce/por/proviso.cpp"
TABLES = "core/model/tables.cpp"
QUOTIENT = "core/analysis/local_quotient.cpp"
DEAD = "core/analysis/dead_messages.cpp"
FLOWS = "core/reduce/por/flows.cpp"
PERSISTENT = "core/reduce/por/persistent.cpp"

universe = Group("universe", "closure does not end")
flows = Group("flows", "partial orders, neither closure nor universe")

universe.rule(
    "universe-all-combinations",
    "Every local state of the universe is evaluated on every set of its messages, met together or not.",
    "rule 24; decision 6",
    expression("core/analysis/universe.cpp", "if («only_met») queries.resize(known);", "true"),
)
universe.rule(
    "universe-cell",
    "A search that makes a cell of a local state outside of the universe is void.",
    "rule 24",
    expression(
        TABLES,
        "if («optimistic && !column.as_is && !column.grows && !column.locals[local].member») outgrown = true;",
        "false",
    ),
)
universe.rule(
    "universe-step",
    "A search that meets a cell with a step out of the universe is void.",
    "rule 24",
    expression(TABLES, "column.cells[cell].leaves = !found.empty(); if («found.empty()») return false;", "true"),
)
universe.rule(
    "universe-void",
    "What a breadth-first search has found does not count once it has left the universe.",
    "rule 24",
    expression(
        "core/search/verdicts.cpp",
        "if («tables_.outgrown && stop_ != Stop::regrown») { violation_.reset();",
        "false",
    ),
)
universe.rule(
    "universe-void-depth-first",
    "What a depth-first search has found does not count once it has left the universe.",
    "rule 24",
    expression(
        "core/search/run_search.hpp",
        "if («tables_.outgrown && stop_ != Stop::regrown») { // Outside of the universe nothing that was found counts.",
        "false",
    ),
    focus=("depth first",),
)
universe.rule(
    "universe-inbox",
    "A cell with a message from outside of the universe lies outside.",
    "rule 24",
    statement(
        TABLES,
        "«for (Id message : column.inboxes[column.cells[cell].inbox]) note(column, column.messages[message].member);»",
    ),
)
universe.rule(
    "universe-next",
    "A step to a local state outside of the universe leaves it.",
    "rule 24",
    statement(
        TABLES,
        "«if (step.next != none) note(column, column.locals[column.cells[step.next].local].member);»",
    ),
)
universe.rule(
    "universe-sent",
    "A step that sends a message from outside of the universe leaves it.",
    "rule 24",
    statement(TABLES, "if (message < bundle_bit) «note(receiver, receiver.messages[message].member);» else"),
)
universe.rule(
    "universe-merged",
    "A search goes on in a larger universe only if what was merged in the smaller one is, and nothing else of it.",
    "rule 24",
    expression(
        "core/analysis/decisions.cpp",
        "if («!agrees(kept[index], merged, decided.representative)»)",
        "!agrees(kept[index], merged, decided.representative) && false",
    ),
    expression(
        "core/analysis/decisions.cpp",
        "if («!agrees(now, decided.representative, merged)»)",
        "!agrees(now, decided.representative, merged) && false",
    ),
)
universe.rule(
    "universe-dropped",
    "A search goes on in a larger universe only if the same messages of the smaller one are dropped.",
    "rule 24",
    expression(
        "core/analysis/decisions.cpp",
        "if («is_live(state, process.messages[i]) != decided.live[i]») return false;",
        "false",
    ),
)
universe.rule(
    "universe-waits",
    "A step out of a universe that may be extended is not taken before it was.",
    "rule 24",
    expression(
        TABLES,
        "if («optimistic && note_leaving(column, cell, *list)») {",
        "optimistic && note_leaving(column, cell, *list) && false",
    ),
)
universe.rule(
    "universe-leaves-in-full",
    "In a state with a step out of the universe all steps are taken: no relation holds for it.",
    "rule 24",
    expression(
        "core/model/expander.hpp", "if («tables.columns[column]->cells[cells[column]].leaves») return true;", "false"
    ),
    focus=("partial orders",),
)
universe.rule(
    "universe-quotient-outside",
    "A local state outside of the universe is merged with no other.",
    "local_quotient.hpp",
    expression(QUOTIENT, "if («!closure.holds(column, state)») { block[local]", "false"),
)
universe.rule(
    "universe-live-outside",
    "In a local state outside of the universe every message is alive.",
    "dead_messages.hpp",
    expression(DEAD, "if («!closure.holds(column, column.locals[local])») continue;", "false"),
)
universe.rule(
    "universe-live-message",
    "A message from outside of the universe is alive everywhere.",
    "dead_messages.hpp",
    expression(
        DEAD,
        "if («!closure.holds(column, column.messages[message])») continue; bits[message]",
        "false",
    ),
)
universe.rule(
    "universe-live-unknown",
    "A message that the analysis has never seen is alive.",
    "rule 24",
    value(
        TABLES,
        "if («message >= live.size() || live[message]») alive.push_back(message);",
        "message < live.size() && live[message]",
    ),
)
universe.rule(
    "universe-proviso",
    "With an optimistic universe the ignoring proviso is on, for deadlocks alone too.",
    "rule 4",
    expression(PROVISO, "options.keep == Keep::deadlocks && «!closure.optimistic» && ", "true"),
    focus=("partial orders", "deadlock alone"),
)
universe.rule(
    "universe-environment",
    "No relations where the universe does not list what the network may do to messages.",
    "relations.cpp, unsupported",
    expression(
        "core/reduce/por/relations.cpp",
        """«closure.optimistic && (network.bounded() || tables.has_budget() || network.losses_unlimited ||
        network.drops_refused())»""",
        "false",
    ),
    focus=("partial orders", "losses, crashes, bounded or dropping"),
)
universe.rule(
    "universe-as-is",
    "No relations where a process is taken as it is: what it may do is not known.",
    "rule 24",
    expression(
        "core/binding/analysis.cpp",
        "«std::none_of(tables.columns.begin(), tables.columns.end(), [](const auto& column) { return "
        "column->as_is; })»",
        "true",
    ),
    expression("core/reduce/por/relations.cpp", 'if («column->as_is») return "nothing is known', "false"),
    focus=("partial orders", "a process too large for the universe"),
)
universe.rule(
    "universe-diamond",
    "A step that leads out of the universe commutes with nothing of its process.",
    "rule 3",
    expression(
        INDEPENDENCE,
        "if («!instances_.inside(column, end.to)» || (then == nullptr && lasting)) return false; if (then == nullptr) "
        "continue; if (then->fragile || step == nullptr",
        "false",
    ),
    expression(INDEPENDENCE, "if («!instances_.inside(column, end.to)») return false;", "false"),
    focus=("partial orders",),
)
universe.rule(
    "universe-deed",
    "A step that leads out of the universe is nobody's twin.",
    "rule 3",
    statement(INSTANCES, "«reliable &= all_.inside(column_, end.to);»", when="!all_.inside(column_, end.to)"),
    focus=("partial orders",),
)

flows.rule(
    "flows-bounded",
    "No flows on bounded channels: a full one disables the steps of others.",
    "flows.hpp",
    expression(FLOWS, "if («network.bounded()») return", "false"),
    focus=("bounded",),
)
flows.rule(
    "flows-budget",
    "No flows where steps draw on a common budget, or messages are lost or dropped.",
    "flows.hpp; rule 7",
    expression(
        FLOWS,
        "«tables.has_budget() || network.losses_unlimited || network.drops_refused()»",
        "false",
    ),
    focus=("losses, crashes, duplicates or dropping",),
)
flows.rule(
    "flows-delivery",
    "No flows with delivery events.",
    "flows.hpp",
    expression(FLOWS, "if («column->input») return", "false"),
    focus=("network model grm or rm",),
)
flows.rule(
    "flows-sender",
    "A process needs everyone who sends it what one of its transitions takes.",
    "flows.hpp, 1",
    expression(FLOWS, "if («takes(receiver, message.type)») fresh |= note(receiver.index, column.index);", "false"),
)
flows.rule(
    "flows-maximal",
    "Who sends to a maximal quorum needs its process: one more message may disable it.",
    "flows.hpp, 2; rule 16",
    expression(
        FLOWS,
        "if («transition.mode == Mode::maximal && transition.takes(message.type)») fresh |= "
        "note(column.index, receiver.index);",
        "false",
    ),
    focus=("maximal sets",),
)
flows.rule(
    "flows-emitters",
    "Who emits to a monitor needs all others who emit to it.",
    "flows.hpp, 3; rule 6",
    statement(FLOWS, "«fresh |= note(column.index, to);» fresh |= note(to, column.index);"),
    focus=("monitor",),
)
flows.rule(
    "flows-monitor",
    "A monitor needs everyone who emits to it.",
    "flows.hpp, 3; rule 6",
    statement(FLOWS, "«fresh |= note(to, column.index);»"),
    focus=("monitor",),
)
flows.rule(
    "flows-name",
    "Who sends under another's name needs that one: they fill one channel.",
    "flows.hpp, 4",
    statement(FLOWS, "«fresh |= note(message.sender, column.index); fresh |= note(column.index, message.sender);»"),
)
flows.rule(
    "flows-transitive",
    "What is needed by what is needed is needed.",
    "flows.hpp",
    expression(
        FLOWS, "if («assumed(dependent, by) && assumed(by, needed)») assumed(dependent, needed) = true;", "false"
    ),
)
flows.rule(
    "flows-void",
    "A search that meets a need which does not follow from those assumed is void.",
    "flows.hpp",
    expression(
        TABLES,
        "if (step_observer != nullptr && «step_observer->note(column, *list)») outgrown = true;",
        "step_observer->note(column, *list) && false",
    ),
)
flows.rule(
    "flows-twin",
    "On a set channel the receiver of a message whose twin is pending comes along.",
    "persistent.hpp, 1; rule 1",
    expression(PERSISTENT, "if («twin_of(step.sends[k])») add(step.sends[k].column);", "false"),
)
flows.rule(
    "flows-shows",
    "If a step of the set shows something to a property, all that properties see comes along.",
    "persistent.hpp, 2; rule 8",
    expression(PERSISTENT, "if («!shown && shows(step)») {", "false"),
)
flows.rule(
    "flows-shows-event",
    "A step that emits to a monitor which a property reads shows something.",
    "persistent.hpp, 2; rule 6",
    expression(
        PERSISTENT,
        "if («step.sends[i].column >= processes_ && is_observed_[step.sends[i].column]») return true;",
        "false",
    ),
    focus=("monitor",),
)
flows.rule(
    "flows-moves",
    "The set has a step that moves: one that fails or is cut leads nowhere.",
    "persistent.hpp, 3",
    expression(
        PERSISTENT,
        "tried_[leaders_[seed]] || «std::none_of(steps_[seed]->begin(), steps_[seed]->end(), moves)»",
        "steps_[seed]->empty()",
    ),
)
flows.rule(
    "flows-proviso",
    "With flows the ignoring proviso is always on.",
    "flows.hpp, second case",
    expression(
        "core/binding/analysis.cpp",
        "return «PartialOrders{[this] { return std::make_unique<Persistent>(tables, *flows, flows_visible); }}»;",
        "PartialOrders{[this] { return std::make_unique<Persistent>(tables, *flows, flows_visible); }, false}",
    ),
)
flows.rule(
    "flows-visible",
    "Flows mind what properties see unless deadlocks alone are asked for.",
    "persistent.hpp, 2",
    expression("quorate/reduce/partial_orders.py", "self.model.engine.relate_by_flows(«visible(self.model)»)", "False"),
)

RULES = [*universe.rules, *flows.rules]
