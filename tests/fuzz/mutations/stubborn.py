"""Rules of stubborn sets: what must come along, visibility, twins."""

from __future__ import annotations

from .rule import Group, expression, statement, value

ENABLING = "core/reduce/por/necessary_enabling.cpp"
FUTURE = "core/reduce/por/future.cpp"
INSTANCES = "core/reduce/por/instances.cpp"
STUBBORN = "core/reduce/por/stubborn.cpp"
FOOTPRINT = "core/reduce/por/footprint.cpp"
TWINS = "core/reduce/por/twins.cpp"
RELATIONS = "core/reduce/por/relations.cpp"

stubborn = Group("stubborn sets", "partial orders")
twins = Group("twins", "partial orders")

stubborn.rule(
    "por-dependent",
    "A step of the process that does not commute with a possible step of the set comes along.",
    "stubborn.hpp, 1; D1 of Valmari 1998",
    expression(FOOTPRINT, "if («pair.conflicts») more.add(label);", "false"),
)
stubborn.rule(
    "por-key-lasts",
    "The key stays possible as long as only others move; without `key`, every step of the set does.",
    "D2 of Valmari 1998",
    expression(FOOTPRINT, "const bool lasting = «tag == footprint.key || !instances_.options.weak()»;", "false"),
)
stubborn.rule(
    "por-strong-lasts",
    "Without `key`, every possible step of the set stays possible.",
    "D1 and D2 of Valmari 1998",
    expression(FOOTPRINT, "const bool lasting = tag == footprint.key || «!instances_.options.weak()»;", "false"),
    focus=("without key",),
)
stubborn.rule(
    "por-held-up",
    "Where something stands before the messages of a step of the set and may be removed, all steps stay together.",
    "footprint.cpp, complete",
    expression(FOOTPRINT, "if («removes && any_held_up(local)»)", "false"),
    focus=("fifo, bounded or maximal sets",),
)
stubborn.rule(
    "por-held-up-ways",
    "The local state in which a held-up step of the set would be possible is not reached without the set.",
    "footprint.cpp, complete",
    expression(FOOTPRINT, "if («any_held_up(found.locals[i])») more.add(found.ways[i]);", "false"),
)
stubborn.rule(
    "por-seed-protocol",
    "The set holds a step of the protocol, if there is one: a deadlock has none.",
    "rule 7",
    expression(FOOTPRINT, "if («step.protocol» && step.effect == Effect::moves && !root.ready.has(tag)) {", "true"),
    focus=("losses, duplicates or crashes",),
)
stubborn.rule(
    "por-seed-moves",
    "The key is a step that moves: one that fails or is cut leads nowhere.",
    "rule 15",
    expression(FOOTPRINT, "if (step.protocol && «step.effect == Effect::moves» && !root.ready.has(tag)) {", "true"),
)
stubborn.rule(
    "por-consumed-again",
    "On a set channel what the set consumes is not sent again without the set.",
    "rule 1; stubborn.hpp, 3",
    expression(STUBBORN, "if («sendable(column, message)») keep_from(column, message);", "false"),
)
stubborn.rule(
    "por-copies-have-places",
    "In a FIFO channel a message that the set may lose or repeat is not sent again without the set.",
    "stubborn.hpp, 3; docs/soundness.md, 21",
    expression("core/model/network.hpp", "ordered() && «at_any_place»;", "false"),
)
stubborn.rule(
    "por-twin-pending",
    "On a set channel, if the set sends m and m is pending, nobody takes m without the set.",
    "rule 1; stubborn.hpp, 3",
    expression(STUBBORN, "(«pending(send.column, send.message)» || sendable(send.column, send.message)))", "false"),
)
stubborn.rule(
    "por-twin-sendable",
    "On a set channel, if the set sends m and m may be sent, nobody takes m without the set.",
    "rule 1; stubborn.hpp, 3",
    expression(STUBBORN, "(pending(send.column, send.message) || «sendable(send.column, send.message)»))", "false"),
)
stubborn.rule(
    "por-greedy-transition",
    "A message may disable any set of a maximal transition, not only those that hold it.",
    "rule 16",
    expression(
        INSTANCES,
        "disabled[message].add(«maximal[steps_.tags[instance.tag].transition]»);",
        "[&] { Labels own; own.add(instance.label); return own; }()",
    ),
    focus=("maximal sets", "split"),
)
stubborn.rule(
    "por-greedy-taker",
    "A message of the set is not sent to a maximal quorum that is not in the set.",
    "rule 16; stubborn.hpp, 4",
    statement(
        STUBBORN,
        "«add(send.column, Future::find(footprints_[send.column]->outside->disabled, send.message));»",
        when="!Future::find(footprints_[send.column]->outside->disabled, send.message).labels.empty()",
    ),
    focus=("maximal sets",),
)
stubborn.rule(
    "por-events",
    "Steps whose events do not commute are in the set together.",
    "rule 6; stubborn.hpp, 6",
    expression(
        STUBBORN,
        "if (monitor == event.column && «!relations_.instances.events.commute(monitor, event.message, another)»)",
        "false",
    ),
    focus=("monitor",),
)
stubborn.rule(
    "por-pardons",
    "A step that the set makes up for comes along if somebody asks for what it sends.",
    "docs/partial-orders.md; rule 15",
    expression(
        STUBBORN,
        "if («std::any_of(absorbed.unsent.begin(), absorbed.unsent.end(), asked_for)») add(column, absorbed.label);",
        "false",
    ),
)
stubborn.rule(
    "por-room",
    "Where there is no room for what the set sends, the steps that make room come along.",
    "rule 5; stubborn.hpp, 5",
    statement(STUBBORN, "if (tables_.network.bounded()) «oblige_channels(column);»"),
    focus=("bounded",),
)
stubborn.rule(
    "por-room-key",
    "The key has room for what it sends.",
    "rule 5",
    expression(
        STUBBORN,
        "if («tables_.network.bounded() && !possible(seed, roots_[seed]->seeds[which])») return false;",
        "false",
    ),
    focus=("bounded",),
)
stubborn.rule(
    "por-necessary",
    "A step of the set that is not possible stays so: one of its messages is not sent without the set.",
    "stubborn.hpp, 2; necessary enabling sets, definition 16 of the thesis",
    expression(STUBBORN, "if («kept») continue; const Footprint::Clause& clause", "true"),
)
stubborn.rule(
    "por-necessary-elsewhere",
    "That holds for steps from local states that the process may still get to, too.",
    "necessary_enabling.cpp",
    expression(ENABLING, "if («stood_for(set(one))») continue;", "true"),
)
stubborn.rule(
    "por-foresee",
    "What others may send when they get what may be sent to them may come as well.",
    "stubborn.cpp, foresee",
    statement(
        STUBBORN, "coming_[word] |= bits; dirty_[relations_.instances.space.receiver(word)] = true; «changed = true;»"
    ),
)
stubborn.rule(
    "por-foresee-pending",
    "What is pending can be consumed.",
    "stubborn.cpp, foresee",
    expression(STUBBORN, "(coming_[first + i] | («pending ? root.pending[i] : 0»)) & root.used[i]", "std::uint64_t{0}"),
)
stubborn.rule(
    "por-foresee-states",
    "A process sends what it sends from any local state that it gets to.",
    "future.cpp, forward",
    expression(
        FUTURE,
        "if («std::find(found.begin(), found.end(), end.to) == found.end()») found.push_back(end.to);",
        "false",
    ),
)
stubborn.rule(
    "por-visible",
    "If the set has a visible step, it holds every step that may be seen.",
    "Valmari 1998, V; stubborn.hpp, 7; rule 17",
    expression(STUBBORN, "if («visible_ && !seen && keep == Keep::safety») {", "false"),
)
stubborn.rule(
    "por-visible-set",
    "A set is visible if one of its possible steps is.",
    "Valmari 1998, V; stubborn.hpp, 7; rule 17",
    statement(FOOTPRINT, "«result->visible |= there->visible;»", when="there->visible"),
)
stubborn.rule(
    "por-visible-elsewhere",
    "A step is visible if it shows something in any local state in which it may be taken after steps without the set.",
    "stubborn.hpp, 7; rule 17",
    statement(
        FOOTPRINT,
        "«result->visible |= there->visible;»",
        when="there->visible && at != local",
    ),
)
stubborn.rule(
    "por-draws",
    "Without `key`, steps that draw on one budget are in the set together.",
    "rule 7; stubborn.hpp, 6",
    expression(STUBBORN, "if («!relations_.options().weak() && draws_ != drawn») {", "false"),
    focus=("losses, duplicates or crashes", "without key"),
)
stubborn.rule(
    "por-keep",
    "Only deadlocks are kept unless properties are asked for: then what is reachable is.",
    "Valmari 1998; partial_orders.py",
    expression(
        "quorate/reduce/partial_orders.py",
        "self.keep = «_core.Keep.safety if visible(self.model) else _core.Keep.deadlocks»",
        "_core.Keep.deadlocks",
    ),
)

twins.rule(
    "twins-same",
    "A step stands for another only if it does the same wherever there is the other.",
    "docs/partial-orders.md",
    expression(
        TWINS,
        "if (key == none || «kinds[key].effect != kinds[other].effect» || kinds[key].effect == none) return false;",
        "false",
    ),
)
twins.rule(
    "twins-everywhere",
    "In every local state that the process may still get to, not only in the present one.",
    "docs/partial-orders.md",
    value(
        TWINS,
        "if (key != none && other != none && «stands_for(key, other)»)",
        """[&] {
            Id a = key, b = other;  // where either is possible first
            while (kinds[a].before != none) a = kinds[a].before;
            while (kinds[b].before != none) b = kinds[b].before;
            return kinds[a].at == kinds[b].at && kinds[a].effect == kinds[b].effect && kinds[a].effect != none;
        }()""",
    ),
)
twins.rule(
    "twins-reliable",
    "A step that may fail, be cut or lead out of the universe is nobody's twin.",
    "rule 15",
    expression(
        TWINS,
        "if (key == none || kinds[key].effect != kinds[other].effect || «kinds[key].effect == none») return false;",
        "false",
    ),
)
twins.rule(
    "twins-deed-fragile",
    "What a step does cannot be relied on if it may fail or be cut, or draws on a budget.",
    "rules 7 and 15",
    expression(INSTANCES, "bool reliable = «!instance.fragile && instance.budget == Budget::free»;", "true"),
)
twins.rule(
    "twins-deed-sends",
    "Twins send the same.",
    "docs/partial-orders.md",
    statement(
        INSTANCES,
        "«for (const Send& send : end.sends) content.insert(content.end(), {send.column, send.message});»",
        when="!end.sends.empty()",
    ),
)
twins.rule(
    "twins-absent",
    "A step can never come about only if a message that it needs is neither there nor may be sent.",
    "twins.cpp, represented",
    statement(TWINS, "«unite(messages, sendable);»"),
)
twins.rule(
    "twins-left-over",
    "What is left over when the twin was taken and not the key is not asked for any more.",
    "docs/partial-orders.md",
    expression(TWINS, "return «matters(bits(tag), bits(key))» || matters(bits(key), bits(tag));", "false"),
)
twins.rule(
    "twins-left-over-key",
    "What is left over when the key was taken and not the twin is not asked for any more.",
    "docs/partial-orders.md",
    expression(TWINS, "return matters(bits(tag), bits(key)) || «matters(bits(key), bits(tag))»;", "false"),
)
twins.rule(
    "twins-fifo",
    "In a FIFO channel what is left over stands in the way.",
    "docs/partial-orders.md; rule 5",
    expression(TWINS, "const bool quiet = «!network.ordered()» &&", "true"),
    focus=("fifo",),
)
twins.rule(
    "twins-bounded",
    "In a bounded channel what is left over takes up room.",
    "docs/partial-orders.md; rule 5",
    expression(TWINS, "const bool quiet = !network.ordered() && «!network.bounded()» &&", "true"),
    focus=("bounded",),
)
twins.rule(
    "twins-losses",
    "What is left over may be lost.",
    "docs/partial-orders.md; rule 7",
    expression(TWINS, "!network.bounded() && «!network.loses()» && !network.repeats();", "true"),
    focus=("losses",),
)
twins.rule(
    "twins-duplicates",
    "What is left over may be repeated.",
    "docs/partial-orders.md; rule 7",
    expression(TWINS, "!network.bounded() && !network.loses() && «!network.repeats()»;", "true"),
    focus=("duplicates",),
)
twins.rule(
    "twins-copies",
    "A message of which there are two copies, or that stands, is not gone when it is consumed.",
    "twins.cpp, represented",
    expression(
        TWINS,
        "if («!column.messages[message].stands && std::count(inbox.begin(), inbox.end(), message) == 1»)",
        "true",
    ),
    focus=("multiset, or attackers",),
)
twins.rule(
    "twins-sent-again",
    "A message that may be sent again is not gone when it is consumed.",
    "twins.cpp, represented",
    value(TWINS, "wanted.stays ? 0 : «consumed[i] & removed[i] & ~sendable[i]»;", "consumed[i] & removed[i]"),
)
twins.rule(
    "twins-never",
    "A use that needs a message which may still be sent may come about.",
    "twins.cpp, represented",
    value(TWINS, "rest = «uses.all[i] & ~pending[i] & ~sendable[i]»;", "uses.all[i] & ~pending[i]"),
)
twins.rule(
    "twins-stays",
    "What is read and kept is not gone.",
    "twins.cpp, represented",
    expression(TWINS, "const std::uint64_t gone = «wanted.stays» ? 0 : consumed", "false"),
    focus=("keep=True",),
)
twins.rule(
    "twins-commuting",
    "No twins in a process whose steps never commute.",
    "twins.cpp; rules 5 and 16",
    expression(TWINS, "if («!steps.commuting» || !instances_.options.twins) return result;", "false"),
    focus=("maximal sets, or fifo with heads skipped",),
)

RULES = [*stubborn.rules, *twins.rules]
