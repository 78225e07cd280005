"""Rules of the closure, the local quotient and dead messages."""

from __future__ import annotations

from .rule import Group, expression, statement, value

CLOSURE = "core/analysis/closure.cpp"
QUOTIENT = "core/analysis/local_quotient.cpp"
DEAD = "core/analysis/dead_messages.cpp"
HUBS = "core/model/hubs.cpp"

closure = Group("closure")
quotient = Group("quotient")
dead = Group("dead messages")
hubs = Group("processes taken apart")

closure.rule(
    "closure-again",
    "A local state is tried again when there are more messages than when it was tried last.",
    "rule 23",
    expression(
        CLOSURE,
        "if («done[local] == messages.size()» && column->locals[local].reads == none) {",
        "done[local] != none",
    ),
)
closure.rule(
    "closure-satisfying",
    "The closure lists every satisfying set of a maximal quorum: any of them is maximal in some inbox.",
    "consume.cpp, maximal",
    expression("core/model/consume.cpp", "enumeration.maximal(candidates, «scope == Scope::closure»)", "false"),
    focus=("maximal sets",),
)
closure.rule(
    "closure-order",
    "In the closure no message stands before another: any of them may be a head.",
    "consume.cpp, visible",
    expression("core/model/consume.cpp", "network.ordered() && «scope == Scope::cell»;", "true"),
    focus=("fifo",),
)
closure.rule(
    "closure-filters",
    "What a quorum's filter lets pass is known for every message, since such a head is not dropped.",
    "rule 5",
    expression(
        CLOSURE,
        "«tables.network.drops_refused()») for (Id message : messages)",
        "false",
    ),
    focus=("fifo, head dropped",),
)

quotient.rule(
    "quotient-observed",
    "Local states that a property tells apart are not merged.",
    "rules 8 and 25",
    value(QUOTIENT, "std::make_tuple(«state.observation», state.crashed, state.failure)", "Id{0}"),
)
quotient.rule(
    "quotient-crashed",
    "A crashed process is not merged with one that is alive.",
    "rule 25",
    expression(QUOTIENT, "std::make_tuple(state.observation, «state.crashed», state.failure)", "false"),
    focus=("crashes",),
)
quotient.rule(
    "quotient-failed-monitor",
    "A monitor that failed is not merged with one that did not.",
    "rules 6 and 9",
    value(QUOTIENT, "std::make_tuple(state.observation, state.crashed, «state.failure»)", "none"),
    focus=("monitor",),
)
quotient.rule(
    "quotient-crash",
    "A crash is a step too: where it leads is part of the signature.",
    "rule 25",
    value(QUOTIENT, "«state.crash == none ? none : block[state.crash]»", "none"),
    focus=("recovery",),
)
quotient.rule(
    "quotient-recovery",
    "A recovery is a step too: where it leads is part of the signature.",
    "rule 25",
    value(QUOTIENT, "«state.recovery == none ? none : block[state.recovery]»", "none"),
    focus=("recovery",),
)
quotient.rule(
    "quotient-effect",
    "Whether an outcome moves, is cut or fails is part of the signature.",
    "rule 9",
    value(QUOTIENT, "std::vector<Id> entry{«static_cast<Id>(outcome.effect)», outcome.failure,", "Id{0}"),
)
quotient.rule(
    "quotient-failure",
    "How an outcome fails is part of the signature.",
    "rule 9",
    value(QUOTIENT, "std::vector<Id> entry{static_cast<Id>(outcome.effect), «outcome.failure»,", "none"),
)
quotient.rule(
    "quotient-next",
    "Where an outcome leads, up to merging, is part of the signature.",
    "rule 25",
    value(QUOTIENT, "«outcome.local == none ? none : block[outcome.local]»", "outcome.local == none ? none : Id{0}"),
)
quotient.rule(
    "quotient-sends",
    "What an outcome sends to processes is part of the signature.",
    "rule 25",
    statement(
        QUOTIENT,
        "for (const Send& send : outcome.sends) { «entry.push_back(send.column); entry.push_back(send.message);» }",
        when="!tables.columns[send.column]->monitor",
    ),
)
quotient.rule(
    "quotient-events",
    "What an outcome emits is part of the signature.",
    "rule 6",
    statement(
        QUOTIENT,
        "for (const Send& send : outcome.sends) { «entry.push_back(send.column); entry.push_back(send.message);» }",
        when="tables.columns[send.column]->monitor",
    ),
    focus=("monitor",),
)
quotient.rule(
    "quotient-consumed",
    "What is consumed is part of the signature.",
    "rule 25",
    value(QUOTIENT, "{one.transition, «one.set», static_cast<Id>(outcomes.size())}", "Id{0}"),
)
quotient.rule(
    "quotient-transition",
    "Which transition does it is part of the signature: one may keep what it reads, or take maximal sets.",
    "rule 25",
    value(QUOTIENT, "{«one.transition», one.set, static_cast<Id>(outcomes.size())}", "Id{0}"),
)
quotient.rule(
    "quotient-filters",
    "Which messages a transition passes over or drops is behaviour: part of the signature.",
    "rule 5",
    expression(QUOTIENT, "if («filters_matter») {", "false"),
    focus=("fifo, head skipped or dropped",),
)
quotient.rule(
    "quotient-fixpoint",
    "Classes are refined until nothing changes.",
    "rule 25",
    statement(
        QUOTIENT,
        "«if (classes.size() == blocks) break; blocks = classes.size();»",
        "blocks = classes.size(); break;",
        when="classes.size() != blocks",
    ),
)
quotient.rule(
    "quotient-order",
    "The order of events that one step emits counts, so sends are compared as lists.",
    "rule 6",
    statement(
        QUOTIENT,
        "«outcomes.push_back(std::move(entry));»",
        """std::vector<std::pair<Id, Id>> pairs;
        for (std::size_t k = 3; k + 1 < entry.size(); k += 2) pairs.emplace_back(entry[k], entry[k + 1]);
        std::sort(pairs.begin(), pairs.end());
        entry.resize(3);
        for (const auto& [a, b] : pairs) { entry.push_back(a); entry.push_back(b); }
        outcomes.push_back(std::move(entry));""",
        when="outcome.sends.size() > 1",
    ),
    focus=("monitor, or fifo",),
)

dead.rule(
    "dead-recovery",
    "What is asked for after a recovery is alive.",
    "rule 26",
    expression(DEAD, "«after != none») successors[local].push_back(after);", "false"),
    focus=("recovery",),
)
dead.rule(
    "dead-later",
    "What a later local state consumes is alive.",
    "rule 26",
    expression(DEAD, "if («outcome.effect == Effect::moves») successors[local].push_back(outcome.local);", "false"),
)
dead.rule(
    "dead-fixpoint",
    "Later means any number of steps later.",
    "rule 26",
    statement(DEAD, "live[local * words + word] |= more; «changed |= more != 0;»", when="more != 0"),
)
dead.rule(
    "dead-quorum",
    "Every message of a set that is consumed is alive, not only one taken alone.",
    "rule 26",
    statement(
        DEAD,
        "for (Id message : column.sets[one.set]) «live[local * words + message / 64] |= 1ull << (message % 64);»",
        when="column.sets[one.set].size() > 1",
    ),
    focus=("quorums",),
)
dead.rule(
    "dead-kept",
    "A message that is read and kept is alive.",
    "rule 26",
    statement(
        DEAD,
        "for (Id message : column.sets[one.set]) «live[local * words + message / 64] |= 1ull << (message % 64);»",
        when="column.transitions[one.transition].keep",
    ),
    focus=("keep=True",),
)
REDUCTIONS = "quorate/reduce/dead_messages.py"
dead.rule(
    "dead-fifo",
    "In a FIFO channel a dead message still stands before others.",
    "rule 5",
    expression(REDUCTIONS, "if «network.ordered»:", "False"),
    focus=("fifo",),
)
dead.rule(
    "dead-clean",
    "With clean channels a dead message in an input buffer blocks its process.",
    "rule 5, section 3.1 of the thesis",
    expression(REDUCTIONS, 'if «self.model.definition.environment.network_model == "rm"»:', "False"),
    focus=("network model rm",),
)
dead.rule(
    "dead-bounded",
    "In a bounded channel a dead message still takes up room.",
    "rule 5",
    expression(REDUCTIONS, "if «network.bounded»:", "False"),
    focus=("bounded",),
)

hubs.rule(
    "hubs-quorum",
    "Messages that one quorum may take together are in one part.",
    "rule 33",
    expression(HUBS, "if («transition.mode == Mode::single») continue;", "true"),
    focus=("quorums over several types",),
)
hubs.rule(
    "hubs-order",
    "Where messages are received in order, a process stays whole.",
    "rule 33",
    expression(HUBS, "return «!network.ordered()» && !network.loses_heads", "true"),
    focus=("fifo",),
)
hubs.rule(
    "hubs-bounds",
    "Where messages of all types share the room of a channel, a process stays whole.",
    "rule 33",
    expression(HUBS, "«!network.bounded()» && !network.repeats()", "true"),
    focus=("bounded channels",),
)
hubs.rule(
    "hubs-copies",
    "Where the network makes copies, a process stays whole.",
    "rule 33",
    expression(HUBS, "«!network.repeats()» && !in_the_midst", "true"),
    focus=("duplicates",),
)
hubs.rule(
    "hubs-cut-short",
    "Where a crash may cut a step short, a process stays whole.",
    "rule 33",
    expression(HUBS, "!network.repeats() && «!in_the_midst»", "true"),
    focus=("crashes",),
)
hubs.rule(
    "hubs-clean",
    "Where a step takes all that is pending or nothing, a process stays whole.",
    "rule 33",
    expression(HUBS, "column.monitor || «column.clean» ||", "false"),
    focus=("clean channels",),
)

RULES = [*closure.rules, *quotient.rules, *dead.rules, *hubs.rules]
