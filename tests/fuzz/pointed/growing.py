"""Points about monitors that grow, and about properties by parts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fuzz.handlers import Environment
from fuzz.protocol import NONE, Action, Class, Field, Network, Node, Property, Protocol, Record, node

from .point import assembled, at, both, cls, links, make, mine, num, numbers, options, point, put, send

if TYPE_CHECKING:
    from fuzz.draw import Drawing
    from fuzz.expressions import Dice

SEEN = Record("Seen", None, (Field("v", "int"),), is_event=True)
PING = Record("Ping")
MOST = 3


def grows(dice: Dice) -> list[tuple[str, int]]:
    """So that no monitor has a table."""
    return [("core.most_reactions", dice.between(0, 1))]


def _emit(number: int | Node) -> Node:
    return node("emit", make("Seen", number))


def _telling(drawing: Drawing, name: str, letter: str) -> Class:
    """Does one thing after the other, and tells of some of it."""
    d = drawing.dice
    steps: list[Action] = []
    for n in range(d.between(1, 2)):
        body: tuple[Node, ...] = (put(letter, n + 1),)
        if d.chance(75):
            body = (_emit(d.between(1, 2)), *body)
        steps.append(Action(f"do{n}_{letter}", "step", body, when=at(letter, n)))
    return cls(name, numbers(letter), *steps)


@point("noted", "deadlock", "", por="lpor-net", symmetry="none", thresholds=grows)
def told_in_turn(drawing: Drawing) -> Protocol:
    """Processes that have nothing to do with one another, but for a monitor to which their order counts."""
    d = drawing.dice
    told: tuple[Node, ...] = d.one((
        (put("n", node("m", "v")),),
        (put("n", node("if", node("eq", mine("n"), num(0)), node("m", "v"), mine("n"))),),
        (put("n", node("plus", mine("n"), 1, MOST)),),
    ))  # fmt: skip
    if d.chance(45):
        told = (node("assert", node(d.one(("ne", "le")), mine("n"), num(d.between(1, 2)))), *told)
    watch = Class("Watch", fields=numbers("n"), actions=(Action("told", "on", told, "Seen"),), is_monitor=True)
    classes = [_telling(drawing, *each) for each in (("Alpha", "x"), ("Beta", "u"), ("Gamma", "s"))[: d.between(2, 3)]]
    return assembled(drawing, classes, {}, records=(SEEN,), monitors=(watch,))


@point("deadlock", por="lpor-net", symmetry="none", thresholds=grows)
def told_never(drawing: Drawing) -> Protocol:
    """One goes round for ever; another one tells a monitor of something that must not be, if it is not forgotten."""
    d = drawing.dice
    turns = [Action(f"do{n}_x", "step", (put("x", 1 - n),), when=at("x", n)) for n in range(2)]
    round_and_round = cls("Alpha", numbers("x"), *turns)
    tells = cls("Beta", numbers("u"), Action("do0_u", "step", (_emit(d.between(0, 2)), put("u", 1)), when=at("u", 0)))
    fails = (node("assert", node("lt", node("m", "v"), num(d.between(0, 2)))),)
    watch = Class("Watch", fields=numbers("n"), actions=(Action("told", "on", fails, "Seen"),), is_monitor=True)
    return assembled(drawing, [round_and_round, tells], {}, records=(SEEN,), monitors=(watch,))


@point("", symmetry="auto", quotient="off", thresholds=grows)
def told_who(drawing: Drawing) -> Protocol:
    """Equal processes, and a monitor that treats the least name of those it has heard of in another way."""
    d = drawing.dice
    steps = [Action("do0_x", "step", (_emit(1), put("x", 1)), when=at("x", 0))]
    if d.chance(40):
        steps.append(Action("do1_x", "step", (_emit(2), put("x", 2)), when=at("x", 1)))
    equal = cls("Alpha", numbers("x"), *steps)
    who, everyone = node("m", "sender"), node("with", mine("all_n"), node("m", "sender"))
    is_first = node("eq", who, node("first", mine("all_n")))
    if d.chance(50):  # and only once it has heard of all
        is_first = node("and", node("eq", node("len", mine("all_n")), num(d.between(2, 3))), is_first)
    counts = put("n", node("plus", mine("n"), 1, MOST))
    fails = (node("assert", node("bool", False)),)
    other = d.one(((counts,), (put("n", num(2)),), fails, (node("raise"),), (put("n", node("m", "v")),)))
    body = (node("set", "all_n", everyone), node("if", is_first, other, (counts,) if d.chance(50) else ()))
    fields = (*numbers("n"), Field("all_n", "peers", node("nobody")))
    watch = Class("Watch", fields=fields, actions=(Action("told", "on", body, "Seen"),), is_monitor=True)
    return assembled(drawing, [equal], {}, records=(SEEN,), monitors=(watch,), counts={"Alpha": d.between(2, 3)})


def _claimed(drawing: Drawing, claim: Node) -> tuple[Property, ...]:
    if drawing.dice.chance(60):
        return (Property("reached1", "can", claim),)
    return (Property("safe1", "invariant", node("not", claim)),)


@point("", symmetry="auto", quotient="off")
def in_a_row(drawing: Drawing) -> Protocol:
    """Equal processes, and a property that puts them in a row, or takes the largest of what has no order."""
    d = drawing.dice
    number = d.between(2, 3)
    chosen = node("choose", "x", options(1, 2))
    equal = cls("Alpha", numbers("x"), Action("do0_x", "step", (chosen,), when=at("x", 0)))
    values = tuple(d.between(0, 2) for _ in range(number))
    row = node("eq", node("row", "Alpha", "x"), node("tuple", *map(num, values)))
    largest = node("eq", node("largest", "Alpha", "x"), node("single", num(d.between(0, 2))))
    claim = both(d.one((row, largest)), node("eq", node("total", "Alpha", "x"), num(sum(values))))
    assert claim is not None
    protocol = assembled(drawing, [equal], {}, counts={"Alpha": number})
    return replace(protocol, properties=_claimed(drawing, claim))


@point("", symmetry="auto", quotient="off")
def picked(drawing: Drawing) -> Protocol:
    """One process picks one of equal ones, and a property asks whether it was the first of them."""
    d = drawing.dice
    pick = node("choose", "maybe_x", node("members", mine("of_x")))
    tells = (send("maybe_x", "Ping"),) if d.chance(60) else ()
    picker = cls("Alpha", (Field("maybe_x", "maybe", NONE), *links("of_x")),
                 Action("do0_x", "step", (pick, *tells), when=node("eq", mine("maybe_x"), NONE)))  # fmt: skip
    equal = cls("Beta", numbers("u"), Action("hear0_u", "on", (put("u", 1),), "Ping"))
    is_first = node("eq", node("p", "maybe_x"), node("first", node("p", "of_x")))
    which = is_first if d.chance(50) else node("and", node("ne", node("p", "maybe_x"), NONE), node("not", is_first))
    protocol = assembled(drawing, [picker, equal], {"Alpha": {"of_x": "Beta"}}, records=(PING,),
                         counts={"Beta": d.between(2, 3)})  # fmt: skip
    return replace(protocol, properties=_claimed(drawing, node("any", "Alpha", which)))


@point("", symmetry="auto", quotient="off")
def weighed(drawing: Drawing) -> Protocol:
    """Equal processes, and a property that sums them up, the first of them twice."""
    d = drawing.dice
    number = d.between(2, 3)
    equal = cls("Alpha", (*numbers("x"), *links("of_x")), Action("do0_x", "step", (put("x", 1),), when=at("x", 0)))
    claim = node("eq", node("weighed", "Alpha", "x", "of_x"), num(d.between(1, number + 1)))
    if d.chance(50):
        claim = node("and", claim, node("eq", node("total", "Alpha", "x"), num(d.between(1, number))))
    protocol = assembled(drawing, [equal], {"Alpha": {"of_x": "Alpha"}}, counts={"Alpha": number})
    return replace(protocol, properties=_claimed(drawing, claim))


@point("", crash="implicit")
def crashed_late(drawing: Drawing) -> Protocol:
    """A property that asks late in a run whether a process has crashed, and crashes that are not modelled."""
    d = drawing.dice
    drawing.environment = Environment(crash="implicit")
    goes = Action("do0_x", "step", (put("x", 1),), when=at("x", 0))
    equal = cls("Alpha", numbers("x"), goes)
    late = node("and", node("eq", node("p", "x"), num(1)), node("crashed"))
    claim = node(d.one(("any", "any", "all")), "Alpha", late)
    protocol = assembled(
        drawing, [equal], {}, counts={"Alpha": d.between(1, 2)}, network=Network(d.one(("unordered", "fifo")))
    )
    return replace(protocol, properties=_claimed(drawing, claim))
