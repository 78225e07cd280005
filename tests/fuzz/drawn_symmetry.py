"""Protocols that tell interchangeable processes apart after all: the first of a set, or the order of a loop.

One process knows some equal ones. One of them has, or chose, something that the others have not; then a step takes the
first of them, names them one by one, fails by who asks, or filters by who asks. What can be observed depends on whether
the one that was taken is the one that has it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .protocol import NONE, Action, Class, Connect, Field, Network, Node, Protocol, Record, Spawn, node

if TYPE_CHECKING:
    from .draw import Drawing

MANY = node("self", "to_x")
FIRST = node("first", MANY)
SENDER = node("m", "sender")
ME = node("me")


def callers(drawing: Drawing) -> Protocol:
    d = drawing.dice
    clerk, watch = d.chance(40), d.chance(40)
    drawing.records[:] = [Record("Ping"), Record("Vote"), Record("News", None, (Field("a", "pid"),))]
    drawing.events[:] = []
    drawing.monitors[:] = []
    if watch:
        drawing.events.append(Record("Seen", None, (Field("v", "pid"),), is_event=True))
        free = node("eq", node("self", "n"), NONE) if d.chance(75) else None
        told = Action("told", "on", (node("set", "n", node("m", "v")),), "Seen", free)
        drawing.monitors.append(Class("Watch", fields=(Field("n", "maybe", NONE),), actions=(told,), is_monitor=True))
    if d.chance(45):
        drawing.network = Network("fifo", head=d.one(("block", "skip", "drop", "drop")))
    caller, peer = _caller(drawing, clerk, watch), _peer(drawing)
    classes = [caller, peer]
    spawns = [Spawn("Alpha"), Spawn("Beta", 3 if d.chance(10) else 2)]
    connects = [Connect(0, None, "to_x", node("group", 1)), Connect(1, None, "to_u", node("group", 0))]
    if clerk:
        classes.append(_clerk(drawing))
        spawns.append(Spawn("Gamma"))
        connects += [Connect(0, None, "clerk_x", node("group", 2)), Connect(2, None, "to_s", node("group", 1))]
    return drawing._protocol(classes, spawns, connects, ())


def _peer(drawing: Drawing) -> Class:
    """Has something or not (`u`), and is told or not (`uu`)."""
    d = drawing.dice
    told = node("set", "uu", d.one((node("int", 1), node("plus", node("self", "u"), 1, 2))))
    actions: list[Action] = []
    voting = (node("send", node("self", "to_u"), node("make", "Vote", ())),)
    behind = (node("send", node("self", "to_u"), node("make", "Ping", ())),) if d.chance(40) else ()
    if d.chance(50):
        guard = node("eq", node("self", "u"), node("int", 1)) if d.chance(30) else None
        body = (node("choose", "u", node("options", node("int", 0), node("int", 1))), *voting, *behind)
        if guard is not None:
            body = (*body[:1], node("if", guard, body[1:], behind))
        actions.append(Action("do0_u", "start", body))
    actions.append(
        Action("hear0_u", "on", (node("set", "u", node("int", 1)), *(voting if d.chance(70) else ())), "Ping")
    )
    answer = (node("reply", node("make", "News", (d.one((ME, SENDER)),))),) if d.chance(35) else ()
    guard = node("eq", node("self", "uu"), node("int", 0)) if d.chance(40) else None
    actions.append(Action("hear1_u", "on", (told, *answer), "News", guard))
    fields = (
        Field("u", "int", node("int", 0)),
        Field("uu", "int", node("int", 0)),
        Field("to_u", "peers", node("nobody")),
    )
    return Class("Beta", fields=fields, actions=tuple(actions))


def _caller(drawing: Drawing, clerk: bool, watch: bool) -> Class:
    d = drawing.dice
    ping, news = node("make", "Ping", ()), node("make", "News", (node("it"),))
    actions: list[Action] = []
    if d.chance(65):
        chosen = node("choose", "maybe_x", node("members", MANY))
        actions.append(Action("do0_x", "start", (chosen, node("send", node("self", "maybe_x"), ping))))
    elif d.chance(50):
        actions.append(Action("do0_x", "start", (node("send", MANY, ping),)))
    if d.chance(30):
        actions.append(_filtering(drawing))
    else:
        actions.append(Action("hear0_x", "on", _unfair(drawing, clerk, watch), "Vote"))
    if d.chance(60):
        rest = node("less", MANY, SENDER)
        further = d.one(
            (
                (node("send", rest, node("make", "News", (ME,))),),
                (node("set", "maybe_x", SENDER),),
                (node("send", SENDER, node("make", "News", (SENDER,))),),
                (node("each", MANY, (node("send", node("it"), news),)),),
            )
        )
        guard = node("eq", node("self", "x"), node("int", d.between(0, 1))) if d.chance(30) else None
        actions.append(Action("hear1_x", "on", further, d.one(("News", "Ping")), guard))
    fields = [
        Field("x", "int", node("int", 0)),
        Field("maybe_x", "maybe", NONE),
        Field("to_x", "peers", node("nobody")),
    ]
    if clerk:
        fields.append(Field("clerk_x", "peers", node("nobody")))
    return Class("Alpha", fields=tuple(fields), actions=tuple(actions))


def _unfair(drawing: Drawing, clerk: bool, watch: bool) -> tuple[Node, ...]:
    """What a handler does that does not treat all of them alike."""
    d = drawing.dice
    it, news = node("it"), node("make", "News", (node("it"),))
    whom = d.one((FIRST, FIRST, SENDER, node("self", "maybe_x"))) if d.chance(80) else ME
    ways: dict[str, float] = {"call": 4, "number": 2, "keep": 1, "fail": 2, "if": 2, "fair": 1}
    ways |= {"name": 10} if clerk else {}
    ways |= {"emit": 8} if watch else {}
    way = d.weighted(ways)
    if way == "call":
        return (node("send", FIRST, node("make", "News", (whom if whom.op != "self" else ME,))),)
    if way == "number":
        numbered = (
            node("set", "x", node("plus", node("self", "x"), 1, 2)),
            node("if", _odd(), (node("send", it, news),), ()),
        )
        return (node("each", MANY, numbered),)
    if way == "keep":
        return (node("set", "maybe_x", FIRST), node("send", node("self", "maybe_x"), node("make", "News", (ME,))))
    if way == "fail":
        kinds = [
            (node("assert", node("bool", False)),),
            (
                node(
                    "raise",
                ),
            ),
            (node("set", "x", node("int", 1)),),
        ]
        one, two = d.random.sample(kinds, 2)
        return (node("if", node("eq", SENDER, FIRST), one, two),)
    if way == "if":
        called = (node("send", SENDER, node("make", "News", (ME,))),)
        one, two = d.random.sample([called, (node("set", "x", node("int", 1)),)], 2)
        return (node("if", node("eq", SENDER, FIRST), one, two),)
    if way == "name":
        return (node("each", MANY, (node("send", node("self", "clerk_x"), news),)),)
    if way == "emit":
        return (node("each", MANY, (node("emit", node("make", "Seen", (it,))),)),)
    return (node("send", MANY, node("make", "News", (SENDER,))), node("set", "maybe_x", SENDER))


def _odd() -> Node:
    return node("eq", node("self", "x"), node("int", 1))


def _filtering(drawing: Drawing) -> Action:
    """A quorum that takes messages of some of them only."""
    d = drawing.dice
    where = node(d.one(("eq", "ne")), SENDER, d.one((FIRST, FIRST, node("self", "maybe_x"))))
    body = d.one(((node("set", "x", node("size")),), (node("reply", node("make", "News", (ME,))),)))
    if d.chance(50):
        return Action("hear0_x", "quorum", body, "Vote", size=d.weighted({1: 1, 2: 3}), where=where)
    enough = node("le", node("int", d.between(1, 2)), node("size"))
    return Action("hear0_x", "quorum", body, "Vote", enough=enough, sets=d.one(("minimal", "maximal")), where=where)


def _clerk(drawing: Drawing) -> Class:
    """Calls whom it is named first, or each."""
    d = drawing.dice
    guard = node("eq", node("self", "s"), node("int", 0)) if d.chance(80) else None
    to = node("m", "a") if d.chance(75) else node("self", "to_s")
    body = (node("set", "s", node("int", 1)), node("send", to, node("make", "News", (node("m", "a"),))))
    fields = (Field("s", "int", node("int", 0)), Field("to_s", "peers", node("nobody")))
    return Class("Gamma", fields=fields, actions=(Action("hear0_s", "on", body, "News", guard),))
