"""Protocols with a field that no property reads, and that decides what happens later.

One process comes to a hidden value: it chooses, or is told. Later that value decides which message it takes and whether
that is kept, what it sends and emits and in which order, how it fails, which messages it passes over, and with recovery
what it does after it has come back. Names of hidden fields begin with `hid`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from .protocol import FALSE, Action, Class, Connect, Faults, Field, Network, Node, Protocol, Record, Spawn, node

if TYPE_CHECKING:
    from .draw import Drawing

HIDDEN = node("self", "hid_x")
FRESH = node("eq", node("self", "hid_v"), node("int", 0))


def number(n: int) -> Node:
    return node("int", n)


def hidden(drawing: Drawing) -> Protocol:
    d = drawing.dice
    drawing.records[:] = [Record("Ping"), Record("Vote", None, (Field("a", "int"),)), Record("News")]
    drawing.events[:] = [Record("Seen", None, (Field("v", "int"),), is_event=True)]
    drawing.monitors[:] = []
    if d.chance(45):
        kept = d.one((node("m", "v"), node("plus", node("self", "n"), 1, 2), node("cycle", node("m", "v"), 1, 3)))
        guard = node("eq", node("self", "n"), number(0)) if d.chance(25) else None
        told = Action("told", "on", (node("set", "n", kept),), "Seen", guard)
        drawing.monitors.append(
            Class("Watch", fields=(Field("n", "int", number(0)),), actions=(told,), is_monitor=True)
        )
    else:
        drawing.events[:] = []
    if d.chance(50):
        drawing.network = Network("fifo", head=d.one(("block", "skip", "drop", "drop")))
    recovery = d.chance(30)
    drawing.faults = Faults(1, (), d.chance(40), True) if recovery else drawing.faults
    alpha, beta = _alpha(drawing, recovery), _beta(drawing)
    spawns = [Spawn("Alpha", 2 if d.chance(15) else None), Spawn("Beta", 2 if d.chance(12) else None)]
    connects = [Connect(0, None, "to_x", node("group", 1)), Connect(1, None, "to_u", node("group", 0))]
    protocol = drawing._protocol([alpha, beta], spawns, connects, ())
    return protocol if not recovery else _crashing(protocol)


def _crashing(protocol: Protocol) -> Protocol:
    return replace(protocol, faults=protocol.faults._replace(of=("Alpha",)))


def _alpha(drawing: Drawing, recovery: bool) -> Class:
    d = drawing.dice
    picking: list[Node] = [node("choose", "hid_x", node("options", number(1), number(2)))]
    if recovery or d.chance(25):
        picking.append(node("set", "hid_v", number(1)))
    actions: list[Action] = []
    way = d.weighted({"start": 4, "on": 3, "told": 2, "two": 1})
    if way == "start":
        actions.append(Action("do0_x", "start", tuple(picking)))
    elif way == "on":
        actions.append(Action("hear0_x", "on", tuple(picking), "Ping", node("eq", HIDDEN, number(0))))
    elif way == "told":
        told = node("set", "hid_x", node("plus", node("m", "a"), 1, 2))
        actions.append(Action("hear0_x", "on", (told, *picking[1:]), "Vote", node("eq", HIDDEN, number(0))))
    else:
        actions += [
            Action(
                f"do{n}_x", "start", (node("set", "hid_x", number(n)), *picking[1:]), when=node("eq", HIDDEN, number(0))
            )
            for n in (1, 2)
        ]
    for at in range(d.weighted({1: 4, 2: 3})):
        actions += _consequence(drawing, at, recovery)
    if d.chance(60):
        actions.append(Action("hear9_x", "on", (node("set", "x", number(d.between(1, 2))),), "News"))
    fields = [
        Field("x", "int", number(0)),
        Field("hid_x", "int", number(0)),
        Field("hid_v", "int", number(0)),
        Field("to_x", "peers", node("nobody")),
    ]
    durable: tuple[str, ...] = ()
    if recovery:
        durable = ("to_x", *(["hid_x"] if d.chance(85) else []), *(["x"] if d.chance(30) else []))
    return Class("Alpha", fields=tuple(fields), actions=tuple(actions), durable=durable)


def _consequence(drawing: Drawing, at: int, recovery: bool) -> list[Action]:
    """What the hidden value decides."""
    d = drawing.dice
    name = f"tell{at}_x"
    forget = (node("set", "hid_x", number(0)),) if d.chance(70) else ()
    ready = node("lt", number(0), HIDDEN)
    if recovery and d.chance(75):
        ready = node("and", ready, FRESH)
    done = node("set", "x", number(d.between(1, 2)))
    ways: dict[str, float] = {"takes": 4, "keeps": 3, "sends": 3, "fails": 3, "filters": 4, "sizes": 1, "any": 2}
    ways |= {"shows": 6} if recovery else {"shows": 1}
    ways |= {"emits": 8} if drawing.events else {}
    ways |= {"filters": 12} if drawing.network.head != "block" else {}
    way = d.weighted(ways)
    if way == "takes":
        wanted = node(d.one(("eq", "eq", "eq", "le")), node("plus", node("m", "a"), 1, 2), HIDDEN)
        return [Action(name, "on", (done, *forget), "Vote", node("and", wanted, ready))]
    if way == "any":
        return [Action(name, "on", (done, *forget), d.one(("Vote", "Ping", "News")), ready)]
    if way == "keeps":
        more = node("set", "x", node("plus", node("self", "x"), 1, 2))
        few = node("lt", node("self", "x"), number(2))
        taken = d.one(("Vote", "Ping", "News"))
        kinds = d.random.sample([False, True], 2)
        return [
            Action(
                f"{name}{n}", "on", (more,), taken, node("and", node("eq", HIDDEN, number(n)), few), keep=kinds[n - 1]
            )
            for n in (1, 2)
        ]
    first, second = node("int", 0), node("int", 1)
    is_one = node("eq", HIDDEN, number(1))
    if way in ("sends", "emits"):
        to = node("self", "to_x")
        say = [
            node("send", to, node("make", "Vote", (each,)))
            if way == "sends"
            else node("emit", node("make", "Seen", (each,)))
            for each in (first, second)
        ]
        options: list[tuple[tuple[Node, ...], tuple[Node, ...]]] = [
            ((say[0],), (say[1],)),
            ((say[0], say[1]), (say[1], say[0])),
            ((say[0], say[1]), (say[1], say[0])),
            ((say[1],), ()),
        ]
        one, two = d.one(options)
        told = node("if", is_one, one, two)
        if d.chance(60):
            told = node("if", is_one, (*one, *forget), (*two, *forget)) if forget else told
        else:
            return [Action(name, "step", (told, node("set", "hid_x", number(0))), when=ready)]
        return [Action(name, "on", (told,), d.one(("Ping", "News")), ready)]
    if way == "fails":
        kinds_of = [(node("assert", FALSE),), (node("raise"),), (done,)]
        one, two = d.random.sample(kinds_of, 2)
        told = node("if", is_one, one, two)
        if d.chance(50):
            return [Action(name, "on", (told,), d.one(("Vote", "Ping", "News")), ready)]
        return [Action(name, "step", (told, node("set", "hid_x", number(0))), when=ready)]
    if way == "shows":
        return [Action(name, "step", (node("set", "x", HIDDEN), *forget, node("set", "hid_v", number(1))), when=ready)]
    if way == "sizes":
        return [Action(name, "quorum", (done, *forget), d.one(("Vote", "Ping")), ready, size="hid_x")]
    where = d.one((node("eq", node("plus", node("m", "a"), 1, 2), HIDDEN), node("lt", node("m", "a"), HIDDEN)))
    never = node("eq", node("self", "hid_v"), number(2)) if d.chance(60) else None
    if d.chance(50):
        return [Action(name, "quorum", (done,), "Vote", when=never, size=d.between(1, 2), where=where)]
    enough = node("le", number(d.between(1, 2)), node("size"))
    return [
        Action(
            name, "quorum", (done, *forget), "Vote", when=never, enough=enough,
            sets=d.one(("minimal", "maximal")), where=where,
        )
    ]  # fmt: skip


def _beta(drawing: Drawing) -> Class:
    """Says a few things, perhaps after some steps of its own; the order counts on FIFO channels."""
    d = drawing.dice
    to = node("self", "to_u")
    said = [
        node("send", to, node("make", "Ping", ())),
        node(
            "send",
            to,
            node("make", "Vote", (d.one((number(0), number(1), *[node("cycle", node("self", "u"), 0, 2)] * 3)),)),
        ),
        node("send", to, node("make", "News", ())),
    ]
    speech = d.random.sample(said, d.weighted({1: 2, 2: 5, 3: 2}))
    if drawing.network.kind == "fifo" and d.chance(45):
        speech = said[1:]
    actions: list[Action] = []
    if d.chance(45):
        speech.insert(0, node("choose", "u", node("options", number(0), number(1))))
    if d.chance(30):  # later, when much has been asked already
        actions.append(Action("do0_u", "step", (node("set", "uu", node("plus", node("self", "uu"), 1, 2)),),
                              when=node("lt", node("self", "uu"), number(2))))  # fmt: skip
        actions.append(Action("do1_u", "start", tuple(speech), when=node("eq", node("self", "uu"), number(2))))
    elif d.chance(75) or len(speech) == 1:
        actions.append(Action("do0_u", "start", tuple(speech)))
    else:
        actions += [Action(f"do{n}_u", "start", (each,)) for n, each in enumerate(speech)]
    if d.chance(45):
        heard = d.one((node("m", "a"), node("plus", node("m", "a"), 1, 2)))
        fresh = node("eq", node("self", "uu"), number(0)) if d.chance(40) else None
        actions.append(Action("hear0_u", "on", (node("set", "uu", heard),), "Vote", fresh))
    fields = (Field("u", "int", number(0)), Field("uu", "int", number(0)), Field("to_u", "peers", node("nobody")))
    return Class("Beta", fields=fields, actions=tuple(actions))
