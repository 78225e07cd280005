"""Models that cheat: a handler remembers something, changes its message, or assigns what is no field or no value.

Quorate refuses them with an error, whatever else there is to say (docs/soundness.md, rule 19).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .handlers import DECLARED
from .protocol import Action, Class, Connect, Field, Protocol, Record, Spawn, node

if TYPE_CHECKING:
    from .draw import Drawing


def cheats(drawing: Drawing) -> Protocol:
    d = drawing.dice
    drawing.records[:] = [Record("Ping", None, (Field("a", "int"),))]
    drawing.events[:] = []
    drawing.monitors[:] = []
    drawing.environment = DECLARED
    way = d.one(("remember", "change", "undeclared", "mutable"))
    more = node("set", "x", node("plus", node("self", "x"), 1, 2))
    say = node("send", node("self", "to_x"), node("make", "Ping", (node("int", d.between(0, 1)),)))
    body = [node("cheat", way), *([more] if d.chance(50) else [])]
    d.random.shuffle(body)
    actions = [Action("do0_x", "start", (say,))]
    if way == "change" or d.chance(40):
        actions.append(Action("hear0_x", "on", tuple(body), "Ping"))
    else:
        actions.append(
            Action("do1_x", d.one(("start", "step")), tuple(body), when=node("lt", node("self", "x"), node("int", 2)))
        )
    fields = (
        Field("x", "int", node("int", 0)),
        Field("kept", "peers", node("nobody")),
        Field("to_x", "peers", node("nobody")),
    )
    spawn = Spawn("Alpha", d.one((None, 2)))
    connect = Connect(0, None, "to_x", node("group", 0))
    return drawing._protocol([Class("Alpha", fields=fields, actions=tuple(actions))], [spawn], [connect], ())
