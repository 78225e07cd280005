"""Rules of partial orders that concern two steps: which relations hold at all, and which steps commute."""

from __future__ import annotations

from .rule import Group, expression, statement

EVENTS = "core/reduce/por/events.cpp"
INDEPENDENCE = "core/reduce/por/independence.cpp"
INSTANCES = "core/reduce/por/instances.cpp"
CORE = "core/reduce/por/relations.cpp"

relations = Group("relations", "partial orders")
events = Group("events", "partial orders", "monitor")

relations.rule(
    "por-replace",
    "No relations on channels in which a message replaces another.",
    "rule 5",
    expression(CORE, "if («network.replaces_when_full()») return", "false"),
    focus=("bounded, replacing",),
)
relations.rule(
    "por-system-bound",
    "No relations where a bound of the whole system may cut one order of two steps and not the other.",
    "rule 34",
    expression(CORE, "if («tables.bound != nullptr») return", "false"),
    focus=("bound of the system",),
)
relations.rule(
    "por-most-down",
    "No relations where a recovery lets another process crash.",
    "rule 7",
    expression(CORE, "if («network.most_down != none») return", "false"),
    focus=("at most so many down",),
)
relations.rule(
    "por-redelivered",
    "No relations for messages that a crash leaves pending.",
    "rule 7",
    expression(CORE, "if («network.crashes_redeliver») return", "false"),
    focus=("delivered again",),
)
relations.rule(
    "por-bounded-duplicates",
    "No relations on a bounded network that repeats messages.",
    "rule 5",
    expression(CORE, "if («network.repeats()») return", "false"),
    focus=("bounded", "duplicates"),
)
relations.rule(
    "por-bounded-crashes",
    "No relations for crashes on bounded channels.",
    "rule 5",
    expression(CORE, "if («network.crashes()») return", "false"),
    focus=("bounded", "crashes"),
)
relations.rule(
    "por-delivery",
    "No relations with delivery events.",
    "relations.cpp, unsupported",
    expression(CORE, "if («column->input») return", "false"),
    focus=("network model grm or rm",),
)
relations.rule(
    "por-shared-channel",
    "No relations where two processes send into one channel whose order or room counts.",
    "relations.cpp, unsupported; rule 5",
    expression(CORE, "if («emitters.emplace(channel, column->index).first->second != column->index») return", "false"),
    focus=("fifo or bounded",),
)
relations.rule(
    "por-skip",
    "Steps of a process never commute where a FIFO head is skipped: what is passed over depends on both.",
    "rule 5",
    expression(INSTANCES, "options.commuting && «!tables.network.skips_refused()»;", "true"),
    focus=("fifo, head skipped",),
)
relations.rule(
    "por-maximal-commutes",
    "Steps of a process never commute where one of its transitions takes maximal sets.",
    "rule 16",
    expression(INSTANCES, "commuting &= «transition.mode != Mode::maximal»;", "true"),
    focus=("maximal sets",),
)
relations.rule(
    "por-visible-step",
    "A step that changes what a property reads is visible.",
    "rule 8; Valmari 1998, V",
    expression(
        INSTANCES,
        "if («column_.locals[end.to].observation != column_.locals[local].observation») instance.visible = true;",
        "false",
    ),
)
relations.rule(
    "por-visible-event",
    "A step that emits an event which changes what a property reads of a monitor is visible.",
    "rule 6",
    expression(
        INSTANCES,
        "if («tables_.columns[send.column]->monitor && all_.events.visible(send.column, send.message)») "
        "instance.visible = true;",
        "false",
    ),
    focus=("monitor",),
)
relations.rule(
    "por-fragile",
    "A step that may fail or be cut commutes with nothing of its process.",
    "rules 9 and 15",
    statement(INSTANCES, "«fragile |= outcome.effect != Effect::moves;»", when="outcome.effect != Effect::moves"),
)
relations.rule(
    "por-greedy",
    "A message may disable a maximal set by making it grow.",
    "rule 16; stubborn.hpp, 4",
    expression(INSTANCES, "instance.maximal = «transition.mode == Mode::maximal»;", "false"),
    focus=("maximal sets",),
)
relations.rule(
    "por-budget-losses",
    "A loss draws on the common budget.",
    "rule 7",
    statement(INSTANCES, "«list.back().budget = network_.loss();»"),
    focus=("losses",),
)
relations.rule(
    "por-budget-duplicates",
    "A duplicate draws on the common budget.",
    "rule 7",
    statement(INSTANCES, "«list.back().budget = Budget::duplicates;»"),
    focus=("duplicates",),
)
relations.rule(
    "por-budget-crashes",
    "A crash draws on the common budget.",
    "rule 7",
    statement(INSTANCES, "«instance.budget = Budget::crashes;»"),
    focus=("crashes",),
)
relations.rule(
    "por-crash-fragile",
    "A crash commutes with nothing of its process.",
    "relations.cpp, list_environment",
    statement(INSTANCES, "«instance.fragile = true;»"),
    focus=("crashes",),
)
relations.rule(
    "por-crash-notices",
    "A crash that cuts a step short sends the notices too.",
    "relations.cpp, list_environment",
    statement(INSTANCES, "«sends.insert(sends.end(), column_.notices.begin(), column_.notices.end());»"),
    focus=("crashes", "crash notifications"),
)
relations.rule(
    "por-crash-part",
    "A crash in the midst of a step may send all that the step sends.",
    "relations.cpp, list_environment; definition 3 of the thesis",
    expression(INSTANCES, "std::vector<Send> sends = «end.sends»;", "std::vector<Send>()"),
    focus=("crashes",),
)
relations.rule(
    "por-diamond-fragile",
    "Neither of two steps that commute may fail or be cut.",
    "rules 3 and 15",
    expression(INDEPENDENCE, "if («other.fragile || (step != nullptr && step->fragile)») return false;", "false"),
)
relations.rule(
    "por-diamond-overlap",
    "Two steps that consume the same message do not commute.",
    "rule 3",
    expression(
        INDEPENDENCE,
        "step != nullptr && !(step->stays && other.stays) && «overlap(column, column.sets[step->set], "
        "column.sets[other.set])»",
        "false",
    ),
)
relations.rule(
    "por-diamond-overlap-lasting",
    "A key that must last does not commute with what takes its message away.",
    "D2 of Valmari 1998",
    expression(INDEPENDENCE, "return «!lasting» && !step->stays && !other.stays &&", "true"),
)
relations.rule(
    "por-diamond-overlap-stays",
    "A step that only reads what another consumes does not commute with it.",
    "rule 3",
    expression(INDEPENDENCE, "return !lasting && «!step->stays && !other.stays» && network.single_copies();", "true"),
    focus=("keep=True",),
)
relations.rule(
    "por-diamond-overlap-set",
    "Only on a set is a message that was taken gone: elsewhere there may be another copy.",
    "rule 1",
    expression("core/model/network.hpp", "return «merges_equal()» && !repeats();", "true"),
    focus=("multiset or fifo",),
)
relations.rule(
    "por-diamond-overlap-duplicates",
    "Where messages are repeated, one that was taken may be there again.",
    "rule 1",
    expression("core/model/network.hpp", "return merges_equal() && «!repeats()»;", "true"),
    focus=("duplicates",),
)
relations.rule(
    "por-diamond-channel",
    "Two sends into one channel whose order or room counts do not commute.",
    "rule 5",
    expression(
        INDEPENDENCE,
        """: «network.sends_conflict() &&
        receiver.messages[one.message].sender == receiver.messages[another.message].sender») return true;""",
        "false",
    ),
    focus=("fifo or bounded",),
)
relations.rule(
    "por-diamond-events",
    "Two steps whose events do not commute do not commute.",
    "rule 6",
    expression(INDEPENDENCE, "? «!instances_.events.commute(one.column, one.message, another.message)» :", "false"),
    focus=("monitor",),
)
relations.rule(
    "por-diamond-self",
    "On a set, sending to oneself before or after the twin is consumed differs.",
    "rules 1 and 2",
    expression(
        INDEPENDENCE,
        """return «network.merges_equal() && !taker.stays &&
        std::any_of(sends.begin(), sends.end(), [&](const Send& send) {
            return send.column == column.index && std::find(set.begin(), set.end(), send.message) != set.end();
        })»;""",
        "false",
    ),
)
relations.rule(
    "por-diamond-lasting",
    "The key stays possible after the other step.",
    "D2 of Valmari 1998",
    expression(
        INDEPENDENCE,
        "(«then == nullptr && lasting»)) return false; if (then == nullptr) continue; if (then->fragile || "
        "step == nullptr",
        "false",
    ),
)
relations.rule(
    "por-diamond-then-fragile",
    "The step must not fail after the other one.",
    "rule 15",
    expression(
        INDEPENDENCE, "if («then->fragile» || step == nullptr || feeds(end.sends, *then)) return false;", "false"
    ),
)
relations.rule(
    "por-diamond-enables",
    "A step that the other one makes possible does not commute with it.",
    "D1 of Valmari 1998",
    expression(
        INDEPENDENCE, "if (then->fragile || «step == nullptr» || feeds(end.sends, *then)) return false;", "false"
    ),
)
relations.rule(
    "por-diamond-corners",
    "Both orders lead to the same local state and send the same.",
    "rule 3",
    expression(
        INDEPENDENCE,
        "options.keep <= Keep::safety ? «std::includes(before.begin(), before.end(), after.begin(), "
        "after.end())» : before == after",
        "true",
    ),
)

absorbing = Group("making up for a step", "partial orders", "dead messages")
absorbing.rule(
    "absorb-dead-messages",
    "What the absorbed step would have consumed is gone only where dead messages are dropped.",
    "independence.cpp, absorbs",
    expression(INDEPENDENCE, "if (!options.twins || «!tables.dead_messages» || options.keep > Keep::safety", "false"),
    # What is dead is then known, but nothing is dropped.
    expression(
        "core/binding/analysis.cpp", "if («tables.dead_messages») { const DeadMessages", "closure && closure->complete"
    ),
)
absorbing.rule(
    "absorb-other-fragile",
    "A step that may fail or be cut is not made up for.",
    "rule 15",
    expression(INDEPENDENCE, "options.keep > Keep::safety || «other.fragile» || other.visible ||", "false"),
)
absorbing.rule(
    "absorb-visible",
    "A step that a property sees is not made up for.",
    "rule 8",
    expression(INDEPENDENCE, "options.keep > Keep::safety || other.fragile || «other.visible» ||", "false"),
)
absorbing.rule(
    "absorb-stays",
    "A step that only reads leaves its messages, which may be asked for.",
    "independence.cpp, absorbs",
    expression(
        INDEPENDENCE, "«other.stays» || other.budget != Budget::free || step == nullptr || step->fragile", "false"
    ),
    focus=("keep=True",),
)
absorbing.rule(
    "absorb-budget",
    "A step that draws on a budget is not made up for.",
    "rule 7",
    expression(
        INDEPENDENCE, "other.stays || «other.budget != Budget::free» || step == nullptr || step->fragile", "false"
    ),
    focus=("losses, duplicates or crashes",),
)
absorbing.rule(
    "absorb-step-fragile",
    "A step that may fail or be cut makes up for nothing.",
    "rule 15",
    expression(INDEPENDENCE, "other.budget != Budget::free || step == nullptr || «step->fragile»", "false"),
)
absorbing.rule(
    "absorb-overlap",
    "A step makes up for none that consumes the same message.",
    "independence.cpp, absorbs",
    expression(INDEPENDENCE, "if («overlap(column, column.sets[step->set], set)») return false;", "false"),
)
absorbing.rule(
    "absorb-told",
    "A step that sends to itself or emits is not made up for.",
    "rules 2 and 6",
    expression(INDEPENDENCE, "if («std::any_of(end.sends.begin(), end.sends.end(), told)») return false;", "false"),
)
absorbing.rule(
    "absorb-universe",
    "A step that leads out of the universe is not made up for.",
    "rule 3",
    expression(
        INDEPENDENCE,
        "if («!instances_.inside(column, end.to)» || (then == nullptr && lasting)) return false; if (then == nullptr) "
        "continue; // A step that only",
        "false",
    ),
    focus=("closure does not end",),
)
absorbing.rule(
    "absorb-lasting",
    "The key stays possible after the absorbed step.",
    "D2 of Valmari 1998",
    expression(
        INDEPENDENCE,
        "|| («then == nullptr && lasting»)) return false; if (then == nullptr) continue; // A step that only fails",
        "false",
    ),
)
absorbing.rule(
    "absorb-then-fragile",
    "The step that stands in must not fail after the other one.",
    "rule 15",
    expression(
        INDEPENDENCE,
        "that is not harmless (docs/soundness.md, rule 15). if («then->fragile») return",
        "false",
    ),
)
absorbing.rule(
    "absorb-same",
    "The step leads to the same, and sends the same, with the other before it and without.",
    "independence.cpp, absorbs",
    expression(INDEPENDENCE, "if («std::none_of(step->ends.begin(), step->ends.end(), same)») return false;", "false"),
)
absorbing.rule(
    "absorb-dead",
    "What the absorbed step would have consumed is dead afterwards.",
    "independence.cpp, absorbs",
    expression(INDEPENDENCE, "if («!std::all_of(set.begin(), set.end(), dead)») return false;", "false"),
)

events.rule(
    "events-order",
    "Events commute only if the monitor ends in the same local state either way.",
    "rule 6",
    expression(EVENTS, "ab != none && «tables.merged(column, ab) == tables.merged(column, ba)») continue;", "true"),
)
events.rule(
    "events-failing",
    "Events of which one order fails do not commute.",
    "rules 6 and 9",
    expression(EVENTS, "return next == none || «column.locals[next].failure != none» ? none : next;", "false"),
)
events.rule(
    "events-seen",
    "An event that changes what a property reads of the monitor is visible.",
    "rules 6 and 8",
    expression(
        EVENTS,
        "next[event] == none || «column.locals[next[event]].observation != column.locals[local].observation»;",
        "false",
    ),
)
events.rule(
    "events-failure-seen",
    "An event that makes the monitor fail is visible.",
    "rules 6 and 9",
    statement(
        EVENTS,
        """«visible[event] |= next[event] == none ||
        column.locals[next[event]].observation != column.locals[local].observation;»""",
        """if (next[event] != none)
            visible[event] |= column.locals[next[event]].observation != column.locals[local].observation;""",
    ),
)

RULES = [*relations.rules, *absorbing.rules, *events.rules]
