"""Elections with an attacker among the voters: who counts, counts all that is there, or just enough of it.

What an attacker could say it may also keep back. It is refused where sets must be maximal; where that is let pass, the
honest votes alone are never counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .handlers import DECLARED
from .protocol import Action, Class, Connect, Field, Network, Protocol, Record, Spawn, node

if TYPE_CHECKING:
    from .draw import Drawing


def ballots(drawing: Drawing) -> Protocol:
    d = drawing.dice
    fields = (Field("a", "int"),) if d.chance(30) else ()
    drawing.records[:] = [Record("Vote", None, fields), Record("News")]
    drawing.events[:] = []
    drawing.monitors[:] = []
    drawing.network = Network(d.one(("unordered", "unordered", "multiset", "fifo")))
    drawing.faults = drawing.faults._replace(crashes=0, recover=False)
    drawing.environment = DECLARED
    vote = node("make", "Vote", tuple(node("int", d.between(0, 1)) for _ in fields))
    cast = Action("do0_u", "start", (node("send", node("self", "to_u"), vote),))
    told = Action("hear0_u", "on", (node("set", "u", node("int", 1)),), "News")
    voter = Class(
        "Beta", fields=(Field("u", "int", node("int", 0)), Field("to_u", "peers", node("nobody"))), actions=(cast, told)
    )
    least = node("int", d.between(1, 2))
    enough = d.one((node("le", least, node("size")), node("le", least, node("size")), node("eq", least, node("size"))))
    if fields and d.chance(40):
        enough = node("some", "a", d.between(0, 1))
    body = [node("set", "x", node("size"))]
    if d.chance(75):
        body.append(node("reply", node("make", "News", ())))
    if d.chance(30):
        body.append(node("set", "peers_x", node("senders")))
    once = node("eq", node("self", "x"), node("int", 0)) if d.chance(65) else None
    count = Action("hear0_x", "quorum", tuple(body), "Vote", when=once, enough=enough, sets="minimal")
    count = count._replace(sets="maximal") if d.chance(70) else count
    counted = (Field("x", "int", node("int", 0)), Field("peers_x", "peers", node("nobody")))
    classes = [Class("Alpha", fields=counted, actions=(count,)), voter]
    spawns = [Spawn("Alpha"), Spawn("Beta", 3 if d.chance(80) else 2)]
    corrupt = ((1, 1),)
    return drawing._protocol(classes, spawns, [Connect(1, None, "to_u", node("group", 0))], corrupt)
