"""Points about roles, crashes that are not modelled, and what properties read."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fuzz.handlers import Environment
from fuzz.protocol import NONE, Action, Class, Connect, Field, Network, Property, Protocol, Record, Spawn, node

from .point import assembled, at, both, cls, links, mine, num, numbers, point, put, said, send

if TYPE_CHECKING:
    from fuzz.draw import Drawing

PING, VOTE = Record("Ping"), Record("Vote", None, (Field("a", "int"),))


@point("", crash="implicit")
def replaced(drawing: Drawing) -> Protocol:
    """What is new replaces what is old in all channels at once, unless the sender crashes in the midst of that."""
    d = drawing.dice
    drawing.environment = Environment(crash="implicit")
    says = [Action(f"do{n}_x", "step", (send("to_x", "Vote", n), put("x", n + 1)), when=at("x", n)) for n in range(2)]
    if d.chance(25):
        says = [Action("do0_x", "start", says[0].body), Action("do1_x", "start", says[1].body, when=at("x", 1))]
    sender = cls("Alpha", (*numbers("x"), *links("to_x")), *says)
    tells = Action("hear0_u", "on", (send("to_u", "Ping"),), "Vote", said("a", 1) if d.chance(85) else None)
    teller = cls("Beta", links("to_u"), tells)
    told = Action("hear1_s", "on", (put("s", 1),), "Ping")
    old = Action("hear0_s", "on", (put("ss", 1),), "Vote", both(said("a", 0), at("s", 1) if d.chance(80) else None))
    reader = cls("Gamma", numbers("s", "ss"), told, old)
    network = Network(d.one(("unordered", "fifo")), capacity=1, full="replace")
    return assembled(drawing, [sender, teller, reader], {"Alpha": {"to_x": "Beta Gamma"}, "Beta": {"to_u": "Gamma"}},
                     records=(PING, VOTE), network=network)  # fmt: skip


def _with_roles(drawing: Drawing) -> Protocol:
    drawing.style = "roles"
    try:
        return drawing._roles()
    finally:
        drawing.style = "pointed"


@point("")
def roles_attacked(drawing: Drawing) -> Protocol:
    """Processes of several roles, of which an attacker has taken one."""
    return replace(_with_roles(drawing), corrupt=((0, 1),))


@point("")
def roles_unsaid(drawing: Drawing) -> Protocol:
    """Links to processes of several roles that do not say which role is meant."""
    d = drawing.dice
    protocol = _with_roles(drawing)
    connects = tuple(
        link._replace(value=link.value.args[0]) if link.value.op == "playing" and d.chance(50) else link
        for link in protocol.connects
    )
    return replace(protocol, connects=connects)


@point("")
def agreed(drawing: Drawing) -> Protocol:
    """Two messages name one process, by different roles of it; a set of messages has to agree on that name."""
    d = drawing.dice
    record = Record("Ping", None, (Field("a", "pid"),))
    chosen = node("choose", "maybe_x", node("members", mine("of_x")))
    names = Action("do0_x", "step", (chosen, send("to_x", "Vote", mine("maybe_x")), put("x", 1)), when=at("x", 0))
    own = Action("do1_x", "step", (send("to_x", "Ping", node("me")), put("x", 1 if d.chance(70) else 2)),
                 when=at("x", 0))  # fmt: skip
    alpha = cls("Alpha", (*numbers("x"), Field("maybe_x", "maybe", NONE), *links("to_x", "of_x")), names, own)
    beta = cls("Beta", numbers("u"), Action("do0_u", "start", (put("u", 1),)))
    body = (put("s", 1),)
    gamma = cls("Gamma", numbers("s"), Action("hear0_s", "quorum", body, "Ping", size=2, same="a"))
    server = Class("Server", ("Alpha", "Beta"))
    role = d.weighted({"Beta": 7, "Alpha": 3})
    connects = (
        Connect(0, None, "to_x", node("group", 1)),
        Connect(0, None, "of_x", node("playing", node("group", 0), role)),
    )
    spawns = (Spawn("Server", 2), Spawn("Gamma"))
    return Protocol((record, Record("Vote", "Ping")), (alpha, beta, gamma, server), (), spawns, connects)


@point("", symmetry="auto", quotient="off", search="dfs")
def read_late(drawing: Drawing) -> Protocol:
    """Two equal processes; a property that tells one from the other reads what they have in common first."""
    d = drawing.dice
    places = [(0, 0), *((d.between(0, 1), d.between(0, 3)) for _ in range(d.between(2, 5)))]
    steps: list[Action] = []
    for n, (x, xx) in enumerate(places[1:], 1):
        before = d.one(places[:n])
        guard = both(at("x", before[0]), at("xx", before[1]))
        steps.append(Action(f"do{n}_x", "step", (put("x", x), put("xx", xx)), when=guard))
    equal = cls("Alpha", numbers("x", "xx"), *steps)
    gate = cls("Beta", numbers("u"), Action("do0_u", "start", (put("u", 1),)))
    protocol = assembled(drawing, [equal, gate] if d.chance(40) else [equal], {}, counts={"Alpha": 2})
    first = node("eq", node("total", "Alpha", "xx"), node("int", d.between(1, 5)))
    if len(protocol.classes) > 1 and d.chance(40):
        first = node("and", first, node("eq", node("nth", "Beta", 0, "u"), node("int", 1)))
    which = node("eq", node("nth", "Alpha", d.between(0, 1), "x"), node("int", 1))
    claim = node("and", first, which)
    shown = Property("reached1", "can", claim) if d.chance(60) else Property("safe1", "invariant", node("not", claim))
    return replace(protocol, properties=(shown,))


@point("", symmetry="auto", quotient="off", dead_messages="off")
def unequal(drawing: Drawing) -> Protocol:
    """Two equal processes that begin differently; each could get where the other begins, but no run gets there."""
    d = drawing.dice
    goes = Action("do0_x", "step", (put("x", 2),), when=at("x", 1))
    resets = Action("hear0_x", "on", (node("choose", "x", node("options", num(0), num(1))),), "Ping")
    equal = cls("Alpha", numbers("x"), goes, resets)
    counts = Action("hear0_u", "on", (put("u", node("plus", mine("u"), 1, 2)),), "Vote")
    tells = Action("do0_u", "start", (send("to_u", "Ping"),), when=at("u", 2 if d.chance(85) else 1))
    counter = cls("Beta", (*numbers("u"), *links("to_u")), counts, tells)
    source = cls("Gamma", links("to_s"), Action("do0_s", "start", (send("to_s", "Vote", 0),)))
    protocol = assembled(drawing, [equal, counter, source], {"Beta": {"to_u": "Alpha"}, "Gamma": {"to_s": "Beta"}},
                         records=(PING, VOTE), counts={"Alpha": 2})  # fmt: skip
    spawn = [each.cls for each in protocol.spawns].index("Alpha")
    return replace(protocol, connects=(*protocol.connects, Connect(spawn, d.between(0, 1), "x", num(d.between(1, 2)))))
