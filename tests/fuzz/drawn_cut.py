"""Protocols about steps that are cut short: several messages in one step, relayed, counted, with little room.

Checked with crashes as steps, and with implicit ones, whose answers must be those of explicit ones where they are not
refused.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from .handlers import Environment
from .protocol import TRUE, Action, Class, Connect, Faults, Field, Network, Node, Protocol, Record, Spawn, node

if TYPE_CHECKING:
    from .draw import Drawing


def cut(drawing: Drawing) -> Protocol:
    d = drawing.dice
    drawing.records[:] = [Record("Ping"), Record("Vote", None, (Field("a", "int"),))]
    drawing.events[:] = []
    drawing.monitors[:] = []
    reasons = ("replaces", "repeats", "recovers", "notified", "maximal")
    may = set(reasons)
    if d.chance(60):
        drawing.environment = Environment(crash="implicit")
        may = {d.one((*reasons, "", ""))}  # one reason to refuse them at most: another would hide it
    drawing.faults = Faults(1, (), d.chance(85), "recovers" in may and d.chance(20 if len(may) > 1 else 80))
    kind = d.weighted({"unordered": 4, "multiset": 3, "fifo": 4})
    capacity = d.weighted({None: 3, 1: 2, 2: 2})
    if len(may) == 1 and may & {"replaces", "repeats"}:
        capacity = 2 if "repeats" in may else d.one((1, 2))
    duplicates = int(len(may) == 1 or d.chance(50)) if capacity is not None and "repeats" in may else 0
    replaces = "replaces" in may and capacity is not None and (kind == "fifo" or capacity == 1) and d.chance(60)
    head = d.one(("block", "skip", "drop")) if kind == "fifo" else "block"
    drawing.network = Network(kind, 0, duplicates, capacity, "replace" if replaces else "block", head)  # type: ignore[arg-type]
    crashing = ("Alpha",) if d.chance(60) else ()
    classes = [_sender(drawing, may), _receiver(drawing, may), _relay(drawing)]
    spawns = [Spawn("Alpha", 2 if d.chance(20) else None), Spawn("Beta"), Spawn("Gamma")]
    connects = [
        Connect(0, None, "to_x", node("group", 1)),
        Connect(0, None, "via_x", node("group", 2)),
        Connect(2, None, "to_s", node("group", 1)),
    ]
    protocol = drawing._protocol(classes, spawns, connects, ())
    return replace(protocol, faults=drawing.faults._replace(of=crashing))


def _vote(a: int) -> Node:
    return node("make", "Vote", (node("int", a),))


def _sender(drawing: Drawing, may: set[str]) -> Class:
    d = drawing.dice
    direct, via = node("self", "to_x"), node("self", "via_x")
    said = [node("send", direct, _vote(0)), node("send", direct, _vote(1)), node("send", via, node("make", "Ping", ()))]
    body = [d.one(said) for _ in range(d.weighted({1: 1, 2: 5, 3: 3}))]
    if len(may) == 1 and may & {"replaces", "repeats"} and d.chance(60):
        body = d.random.sample(said[:2], 2)
    if d.chance(40):
        body.append(node("set", "x", node("int", 1)))
    actions = [Action("do0_x", "start", tuple(body))]
    if d.chance(25):
        actions.append(Action("do1_x", "start", (d.one(said), node("set", "x", node("int", 2)))))
    if "notified" in may and d.chance(15):
        actions.append(Action("mourn_x", "on", (node("set", "x", node("int", 2)),), "Crash"))
    fields = (
        Field("x", "int", node("int", 0)),
        Field("to_x", "peers", node("nobody")),
        Field("via_x", "peers", node("nobody")),
    )
    return Class(
        "Alpha", fields=fields, actions=tuple(actions), durable=("to_x", "via_x") if drawing.faults.recover else ()
    )


def _receiver(drawing: Drawing, may: set[str]) -> Class:
    """Hears or counts votes; some of its guards raise."""
    d = drawing.dice
    u, uu = node("self", "u"), node("self", "uu")
    more = node("set", "u", node("plus", u, 1, 2))
    heard = d.one((node("set", "uu", node("m", "a")), node("set", "u", node("plus", node("m", "a"), 1, 2)), more))
    actions: list[Action] = []
    if may == {"repeats"} and d.chance(60):
        wanted = node("eq", node("m", "a"), node("int", d.between(0, 1)))
        actions.append(Action("hear0_u", "on", (more,), "Vote", wanted))
    elif d.chance(45) and may != {"maximal"}:
        guard = d.one((None, node("eq", node("m", "a"), node("int", d.between(0, 1))), node("lt", u, node("int", 1))))
        actions.append(Action("hear0_u", "on", (heard, *((more,) if d.chance(40) else ())), "Vote", guard))
    else:
        enough = d.one((node("some", "a", 1), node("some", "a", 0), node("le", node("int", 1), node("size"))))
        sets: Literal["minimal", "maximal"] = "maximal" if "maximal" in may and d.chance(65) else "minimal"
        fine: Node | None = None
        where: Node | None = None
        raising = node("eq", node("divide", node("int", 1), d.one((u, uu))), node("int", 1))
        if d.chance(18):
            fine = raising
        elif d.chance(18):
            where = node("eq", node("divide", node("int", 1), d.one((u, node("m", "a")))), node("int", 1))
        if d.chance(70):
            actions.append(
                Action(
                    "hear0_u", "quorum", (node("set", "u", node("size")), node("set", "uu", node("top", "a"))), "Vote",
                    when=fine, enough=enough, sets=sets, where=where,
                )
            )  # fmt: skip
        else:
            size = d.weighted({1: 2, 2: 2})
            actions.append(Action("hear0_u", "quorum", (more,), "Vote", when=fine, size=size, where=where))
    if d.chance(40):
        body = (d.one((node("set", "u", node("int", 2)), node("set", "uu", node("int", 1)))),)
        guard = node("eq", u, node("int", d.between(0, 1))) if d.chance(40) else None
        actions.append(Action("do0_u", "start", body, when=guard))
    if "notified" in may and d.chance(20 if len(may) > 1 else 70):
        actions.append(Action("mourn_u", "on", (node("set", "uu", node("int", 2)),), "Crash"))
    fields = (Field("u", "int", node("int", 0)), Field("uu", "int", node("int", 0)))
    return Class("Beta", fields=fields, actions=tuple(actions))


def _relay(drawing: Drawing) -> Class:
    d = drawing.dice
    sends = [node("send", node("self", "to_s"), _vote(d.between(0, 1)))] if d.chance(75) else []
    body = [*sends, node("set", "s", node("int", 1))]
    guard = node("eq", node("self", "s"), node("int", 0)) if d.chance(25) else TRUE
    actions = [Action("hear0_s", "on", tuple(body), "Ping", guard if guard is not TRUE else None)]
    fields = (Field("s", "int", node("int", 0)), Field("to_s", "peers", node("nobody")))
    return Class("Gamma", fields=fields, actions=tuple(actions), durable=("to_s",) if drawing.faults.recover else ())
