"""Points about bounds of a whole system, about how many are down at once, and about what a crash leaves pending."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fuzz.protocol import Action, Class, Faults, Node, Protocol, Record, node

from .point import assembled, at, cls, links, mine, num, numbers, options, point, put, send

if TYPE_CHECKING:
    from fuzz.draw import Drawing

PING = Record("Ping")


def _going(drawing: Drawing, name: str, letter: str, most: int = 2) -> Class:
    """Goes on, step by step; now and then one of the steps is left out."""
    d = drawing.dice
    steps = [
        Action(f"do{n}_{letter}", "step", (put(letter, n + 1),), when=at(letter, n)) for n in range(d.between(1, most))
    ]
    if d.chance(20):
        back = node("choose", letter, options(0, 1)) if d.chance(50) else put(letter, 0)
        steps.append(Action(f"do9_{letter}", "step", (back,), when=at(letter, len(steps))))
    return cls(name, numbers(letter), *steps)


def _ahead(drawing: Drawing) -> Protocol:
    """Two that have nothing to do with one another, but for a bound that lets only one of them go first."""
    d = drawing.dice
    protocol = assembled(drawing, [_going(drawing, "Alpha", "x"), _going(drawing, "Beta", "u")], {})
    one, other = node("nth", "Alpha", 0, "x"), node("nth", "Beta", 0, "u")
    if d.chance(50):
        one, other = other, one
    first: Node = node("and", node("eq", one, num(d.between(1, 2))), node("eq", other, num(d.between(0, 1))))
    within = node("not", first) if d.chance(70) else node("le", one, other)
    return replace(protocol, within=within)


@point("noted", "deadlock", "", por="lpor-net", symmetry="none")
def ahead(drawing: Drawing) -> Protocol:
    """One order of two steps leaves the bound, the other does not."""
    return _ahead(drawing)


@point("noted", "deadlock", "", por="dpor")
def ahead_dynamic(drawing: Drawing) -> Protocol:
    """The same, without stored states."""
    return _ahead(drawing)


@point("", symmetry="auto")
def kept_back(drawing: Drawing) -> Protocol:
    """Equal processes, of which the bound of the system keeps one back."""
    d = drawing.dice
    protocol = assembled(drawing, [_going(drawing, "Alpha", "x")], {}, counts={"Alpha": d.between(2, 3)})
    within = node("lt", node("nth", "Alpha", d.between(0, 1), "x"), num(d.between(1, 2)))
    return replace(protocol, within=within)


@point("noted", "deadlock", "", por="lpor-net", symmetry="none")
def one_down(drawing: Drawing) -> Protocol:
    """Who is down keeps others from crashing until it recovers."""
    d = drawing.dice
    pair = [_going(drawing, "Alpha", "x"), _going(drawing, "Beta", "u")]
    of = () if d.chance(60) else (d.one(("Alpha", "Beta")),)
    return assembled(drawing, pair, {}, faults=Faults("any", of, d.chance(50), True, 1))


@point("noted", "deadlock", "", por="lpor-net", symmetry="none")
def not_gone(drawing: Drawing) -> Protocol:
    """What a step has consumed that a crash cuts short may still be there, for whoever comes back."""
    d = drawing.dice
    says = Action("do0_x", "step", (send("to_x", "Ping"), put("x", 1)), when=at("x", 0))
    sender = cls("Alpha", (*numbers("x"), *links("to_x")), says)
    heard = (put("u", node("plus", mine("u"), 1, 2)), send("to_u", "Ping"))
    hears = Action("hear0_u", "on", heard if d.chance(60) else heard[:1], "Ping")
    receiver = cls("Beta", (*numbers("u"), *links("to_u")), hears)
    last = cls("Gamma", numbers("s"), Action("hear0_s", "on", (put("s", 1),), "Ping"))
    faults = Faults(d.between(1, 2), ("Beta",) if d.chance(60) else (), True, True, None, True)
    return assembled(drawing, [sender, receiver, last], {"Alpha": {"to_x": "Beta"}, "Beta": {"to_u": "Gamma"}},
                     records=(PING,), faults=faults)  # fmt: skip
