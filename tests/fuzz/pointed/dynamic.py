"""Points about dynamic partial orders: runs that learn from runs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fuzz.protocol import NONE, Action, Connect, Field, Network, Protocol, Record, Spawn, node

from .point import assembled, at, both, cls, links, mine, num, numbers, point, put, send

if TYPE_CHECKING:
    from fuzz.draw import Drawing

PING, VOTE, NEWS = Record("Ping"), Record("Vote", None, (Field("a", "int"),)), Record("News")
DYNAMIC: dict[str, Any] = {"por": "dpor", "max_states": 5_000}


@point("deadlock", **DYNAMIC)
def twice(drawing: Drawing) -> Protocol:
    """Who takes comes first; the same message is sent twice, and on a set two are one while the first is pending."""
    d = drawing.dice
    hears = Action("hear0_u", "on", (put("u", node("plus", mine("u"), 1, 2)),), "Ping")
    taker = cls("Beta", numbers("u"), hears)
    if d.chance(60):
        says = [Action(f"do{n}_x", "step", (send("to_x", "Ping"), put("x", n + 1)), when=at("x", n)) for n in range(2)]
    else:
        says = [Action(f"do{n}_x", "start", (send("to_x", "Ping"),)) for n in range(2)]
    sender = cls("Alpha", (*numbers("x"), *links("to_x")), *says)
    classes = [taker, sender]
    if d.chance(30):
        classes.append(cls("Gamma", numbers("s"), Action("do0_s", "start", (put("s", 1),))))
    return assembled(drawing, classes, {"Alpha": {"to_x": "Beta"}}, records=(PING,),
                     first="Beta" if d.chance(75) else None)  # fmt: skip


@point("deadlock", "noted", **DYNAMIC)
def relayed(drawing: Drawing) -> Protocol:
    """What rules a step out comes by way of others: the race is only seen at the end."""
    d = drawing.dice
    waits = Action("hear0_u", "on", (put("u", 1),), "Ping", at("u", 0))
    goes = Action("do0_u", "step", (put("u", 2),), when=at("u", 0))
    own = [waits, goes] if d.chance(70) else [waits, Action("hear1_u", "on", (put("u", 2),), "News", at("u", 0))]
    taker = cls("Beta", numbers("u"), *own)
    relay = cls("Alpha", (*numbers("x"), *links("to_x")), Action("hear0_x", "on", (send("to_x", "Ping"), put("x", 1)),
                "Vote"))  # fmt: skip
    speech = [send("to_s", "Vote", 0), *([send("via_s", "News")] if d.chance(60) else [])]
    source = cls("Gamma", links("to_s", "via_s"), Action("do0_s", "start", tuple(speech)))
    if d.chance(40):
        source = source._replace(actions=tuple(Action(f"do{n}_s", "start", (each,)) for n, each in enumerate(speech)))
    wires = {"Alpha": {"to_x": "Beta"}, "Gamma": {"to_s": "Alpha", "via_s": "Beta"}}
    return assembled(drawing, [taker, relay, source], wires, records=(PING, VOTE, NEWS))


@point("deadlock", "noted", **DYNAMIC)
def lost_for_good(drawing: Drawing) -> Protocol:
    """Any message may be lost at any time, also where the protocol is stuck."""
    d = drawing.dice
    kind = d.weighted({"fifo": 5, "unordered": 3, "multiset": 2})
    network = Network(kind, losses="any", head=d.one(("block", "skip")) if kind == "fifo" else "block")  # type: ignore[arg-type]
    hears = [
        Action(f"hear{n}_u", "on", (put("u", n + 1),), "Vote",
               both(node("eq", node("m", "a"), num(n)), at("u", *d.one(((0,), (0, 1), (1,))))))
        for n in d.one(((1,), (0, 1)))
    ]  # fmt: skip
    taker = cls("Beta", numbers("u"), *hears)
    speech = [send("to_x", "Vote", n) for n in d.one(((0, 1), (1, 0), (0, 0, 1)))]
    sender = cls("Alpha", (*numbers("x"), *links("to_x")), Action("do0_x", "start", tuple(speech)))
    other = cls("Gamma", numbers("s"), Action("do0_s", "start", (put("s", 1),)))
    return assembled(drawing, [taker, sender, other], {"Alpha": {"to_x": "Beta"}}, records=(VOTE,), network=network)


@point("deadlock", "noted", **DYNAMIC)
def taught(drawing: Drawing) -> Protocol:
    """An attacker is told something signed, or is not: only then can it hand it on to a third."""
    d = drawing.dice
    record = Record("Vote", None, (Field("a", "signed"),))
    teach = Action("do0_x", "start", (send("to_x", "Vote", node("sign", num(d.between(0, 1)))),))
    other = Action("do1_x", "start", (put("x", 1),), when=at("x", 0) if d.chance(30) else None)
    if d.chance(60):  # one or the other
        teach = Action("do0_x", "step", (*teach.body, put("x", 2)), when=at("x", 0))
        other = Action("do1_x", "step", other.body, when=at("x", 0))
    fine = node("ne", node("m", "a"), NONE)
    if d.chance(70):
        fine = node("and", fine, node("ne", node("signer", node("m", "a")), node("m", "sender")))
    hears = Action("hear0_x", "on", (put("xx", 1),), "Vote", both(fine, at("xx", 0)))
    alpha = cls("Alpha", (*numbers("x", "xx"), *links("to_x")), teach, other, hears)
    connects = (Connect(0, None, "to_x", node("group", 0)),)
    protocol = Protocol((record,), (alpha,), (), (Spawn("Alpha", 3),), connects, ((0, 1),))
    if d.chance(60):  # only some teach, only some hear
        beta = cls("Beta", (*numbers("u"), *links("to_u")),
                   Action("hear0_u", "on", (put("u", 1),), "Vote", fine))  # fmt: skip
        eve = cls("Gamma", (*numbers("s"), *links("to_s")), Action("hear0_s", "on", (put("s", 1),), "Vote", fine))
        alpha = alpha._replace(actions=(teach, other))
        order = d.random.sample([Spawn("Alpha"), Spawn("Beta"), Spawn("Gamma")], 3)
        place = {each.cls: n for n, each in enumerate(order)}
        connects = (Connect(place["Alpha"], None, "to_x", node("group", place["Gamma"])),)
        protocol = replace(protocol, classes=(alpha, beta, eve), spawns=tuple(order), connects=connects,
                           corrupt=((place["Gamma"], 1),))  # fmt: skip
    return protocol
