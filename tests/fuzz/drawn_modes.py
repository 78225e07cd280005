"""Protocols of a client that goes to and fro between a few modes, and a server that answers in several messages.

What the client takes depends on its mode, so an answer may wait through several modes for one that takes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .protocol import Action, Class, Connect, Field, Node, Protocol, Record, Spawn, node

if TYPE_CHECKING:
    from .draw import Drawing

RECORDS = ("Ping", "Vote", "News")


def modes(drawing: Drawing) -> Protocol:
    d = drawing.dice
    drawing.records[:] = [Record(name) for name in RECORDS]
    drawing.events[:] = []
    drawing.monitors[:] = []
    client = _client(drawing)
    answers = d.random.sample(("Vote", "News"), 2) if d.chance(75) else [d.one(("Vote", "News"))]
    body = [node("reply", node("make", each, ())) for each in answers]
    if d.chance(25):
        body.append(node("set", "u", node("int", 1)))
    server = Class(
        "Beta", fields=(Field("u", "int", node("int", 0)),), actions=(Action("hear0_u", "on", tuple(body), "Ping"),)
    )
    spawns = [Spawn("Alpha", 2 if d.chance(15) else None), Spawn("Beta")]
    return drawing._protocol([client, server], spawns, [Connect(0, None, "to_x", node("group", 1))], ())


def _client(drawing: Drawing) -> Class:
    d = drawing.dice
    mode = node("self", "x")

    def at(n: int) -> Node:
        return node("eq", mode, node("int", n))

    def to(n: int) -> Node:
        return node("set", "x", node("int", n))

    ask = node("send", node("self", "to_x"), node("make", "Ping", ()))
    actions: list[Action] = []
    asks = d.between(0, 2)
    for number in range(d.between(2, 4)):
        here = number % 3 if d.chance(70) else d.between(0, 2)
        there = d.one([n for n in range(3) if n != here])
        body = (to(there), *((ask,) if number == asks or d.chance(15) else ()))
        once = d.chance(25)
        actions.append(Action(f"do{number}_x", "start" if once else "step", body, when=at(here)))
    got = node("set", "xx", d.one((node("int", 1), node("plus", node("self", "xx"), 1, 2))))
    actions.append(Action("hear0_x", "on", (got,), "Vote", at(d.between(0, 2)), keep=d.chance(10)))
    back = to(d.weighted({0: 4, 1: 1, 2: 1}))
    guard = at(d.between(0, 2)) if d.chance(40) else None
    actions.append(Action("hear1_x", "on", (back,), "News", guard))
    hidden = d.chance(60)
    fields = (
        Field("x", "int", node("int", 0)),
        Field("xx", "int", node("int", 0)),
        Field("to_x", "peers", node("nobody")),
    )
    if hidden:  # properties see what it got alone
        renamed = _renamed(tuple(actions), "x", "hid_x")
        fields = (fields[0]._replace(name="hid_x"), *fields[1:])
        actions = list(renamed)
    return Class("Alpha", fields=fields, actions=tuple(actions))


def _renamed(actions: tuple[Action, ...], old: str, new: str) -> tuple[Action, ...]:
    def change(one: object) -> object:
        if isinstance(one, Node):
            named = one.op in ("self", "set") and one.args[0] == old
            arguments = (new, *one.args[1:]) if named else one.args
            return Node(one.op, tuple(change(each) for each in arguments))
        return tuple(change(each) for each in one) if isinstance(one, tuple) else one

    return tuple(
        each._replace(body=change(each.body), when=change(each.when))  # type: ignore[arg-type]
        for each in actions
    )
