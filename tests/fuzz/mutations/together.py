"""Rules that stand in for one another, all switched off. Last, so that the others keep their numbers."""

from __future__ import annotations

from .rule import Group, expression, statement, value

INDEPENDENCE = "core/reduce/por/independence.cpp"
TABLES = "core/model/tables.cpp"
SYMMETRY = "core/reduce/symmetry/symmetry.cpp"

twins = Group("twins", "partial orders")
universe = Group("universe", "closure does not end")
symmetry = Group("symmetry", "interchangeable processes")
absorbing = Group("making up for a step", "partial orders", "dead messages")

twins.rule(
    "twins-left-over-either",
    "What is left over when one of twins was taken is not asked for any more (both ways at once).",
    "docs/partial-orders.md",
    expression(
        "core/reduce/por/twins.cpp", "return «matters(bits(tag), bits(key)) || matters(bits(key), bits(tag))»;", "false"
    ),
)
universe.rule(
    "universe-locals",
    "A search that meets a local state outside of the universe is void (`universe-cell` and `universe-next`).",
    "rule 24",
    expression(
        TABLES,
        "if («optimistic && !column.as_is && !column.grows && !column.locals[local].member») outgrown = true;",
        "false",
    ),
    statement(
        TABLES,
        "«if (step.next != none) note(column, column.locals[column.cells[step.next].local].member);»",
    ),
    statement(TABLES, "«note(column, column.locals[column.cells[cell].local].member);» for (Id message"),
)
universe.rule(
    "universe-messages",
    "A search that meets a message from outside of the universe is void (`universe-inbox` and `universe-sent`).",
    "rule 24",
    statement(
        TABLES,
        "if (message < bundle_bit) «note(receiver, receiver.messages[message].member);» else",
        when="!receiver.as_is && !receiver.messages[message].member",
    ),
    statement(
        TABLES,
        "«for (Id message : column.inboxes[column.cells[cell].inbox]) note(column, column.messages[message].member);»",
    ),
)
symmetry.rule(
    "symmetry-beginning",
    "Processes are interchangeable only if the initial states are (`symmetry-proposed` and `symmetry-initials`).",
    "rule 10",
    expression(
        "quorate/reduce/families.py",
        "if «content(image, [(columns[to], renamed(each, names)) for to, each in sends]) not in initials»:",
        "False",
    ),
    expression(SYMMETRY, 'if («!initials.contains({image, pending})») return Breach{"initial"};', "false"),
)

absorbing.rule(
    "absorb-told-asked",
    "A step that sends to itself or emits is not made up for (`absorb-told` and `por-pardons`).",
    "rules 2 and 6",
    expression(
        INDEPENDENCE,
        "if («std::any_of(end.sends.begin(), end.sends.end(), told)») return false;",
        "false",
    ),
    expression(
        "core/reduce/por/stubborn.cpp",
        "if («std::any_of(absorbed.unsent.begin(), absorbed.unsent.end(), asked_for)») add(column, absorbed.label);",
        "false",
    ),
)
universe.rule(
    "universe-live",
    "A message from outside of the universe is not dropped unnoticed (`universe-live-message`, `universe-live-unknown` "
    "and `universe-sent`).",
    "rule 24",
    expression(
        "core/analysis/dead_messages.cpp",
        "if («!closure.holds(column, column.messages[message])») continue; bits[message]",
        "false",
    ),
    value(
        TABLES,
        "if («message >= live.size() || live[message]») alive.push_back(message);",
        "message < live.size() && live[message]",
    ),
    statement(TABLES, "if (message < bundle_bit) «note(receiver, receiver.messages[message].member);» else"),
)

RULES = [*twins.rules, *universe.rules, *symmetry.rules, *absorbing.rules]
