"""A point: protocols drawn around one smallest protocol in which one rule matters, and the checks in which it does.

Where anything may meet anything, what a rule is about may come together once in a million protocols. So the smallest
protocol that shows it was thought out, and is drawn with variations: values, guards, orders, networks, what else is
there. None of it is special to a rule; a mistake nearby shows in the same protocols.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from fuzz.protocol import (
    NO_FAULTS,
    RELIABLE,
    Action,
    Class,
    Connect,
    Faults,
    Field,
    Network,
    Node,
    Protocol,
    Record,
    Spawn,
    node,
)

if TYPE_CHECKING:
    from fuzz.draw import Drawing
    from fuzz.expressions import Dice


@dataclass(frozen=True)
class Point:
    """How to draw the protocol, and what its checks have in common."""

    draw: Callable[[Drawing], Protocol]
    keywords: Mapping[str, Any] = field(default_factory=dict)
    """Of every focused check, whatever else is drawn."""
    thresholds: Callable[[Dice], list[tuple[str, int]]] | None = None
    looks: tuple[str, ...] = ()
    """What is asked for, mostly: `deadlock`, or `noted`, which looks at a few fields. Nothing: claims as always."""


POINTS: dict[str, Point] = {}


def point(
    *looks: str, thresholds: Callable[[Dice], list[tuple[str, int]]] | None = None, **keywords: Any
) -> Callable[[Callable[[Drawing], Protocol]], Callable[[Drawing], Protocol]]:
    """Registers a drawing under its name."""

    def register(draw: Callable[[Drawing], Protocol]) -> Callable[[Drawing], Protocol]:
        POINTS[draw.__name__] = Point(draw, keywords, thresholds, looks)
        return draw

    return register


# Words for what most of them are made of


def num(n: int) -> Node:
    return node("int", n)


def mine(name: str) -> Node:
    return node("self", name)


def put(name: str, value: int | Node) -> Node:
    return node("set", name, num(value) if isinstance(value, int) else value)


def at(name: str, *values: int) -> Node:
    """The field has one of these values."""
    if len(values) == 1:
        return node("eq", mine(name), num(values[0]))
    return node("among", mine(name), tuple(sorted(values)))


def both(*conditions: Node | None) -> Node | None:
    found: Node | None = None
    for each in conditions:
        if each is not None:
            found = each if found is None else node("and", found, each)
    return found


def said(field: str, value: int) -> Node:
    return node("eq", node("m", field), num(value))


def make(cls: str, *arguments: int | Node) -> Node:
    return node("make", cls, tuple(num(each) if isinstance(each, int) else each for each in arguments))


def send(to: str, cls: str, *arguments: int | Node) -> Node:
    return node("send", mine(to), make(cls, *arguments))


def options(*values: int) -> Node:
    return node("options", *(num(each) for each in values))


def numbers(*names: str) -> tuple[Field, ...]:
    """Fields that hold numbers, all of them 0 at first."""
    return tuple(Field(name, "int", num(0)) for name in names)


def links(*names: str) -> tuple[Field, ...]:
    return tuple(Field(name, "peers", node("nobody")) for name in names)


def cls(name: str, fields: tuple[Field, ...], *actions: Action, **more: Any) -> Class:
    return Class(name, fields=fields, actions=tuple(actions), **more)


def universes() -> Callable[[Dice], list[tuple[str, int]]]:
    """So that the closure does not end, and the universe begins with little."""

    def drawn(dice: Dice) -> list[tuple[str, int]]:
        most = dice.between(1, 4)
        return [
            ("check.FIRST_BEHAVIOURS", dice.between(1, 3)),
            ("check.FIRST_STATES", dice.between(1, 12)),
            ("check.WORTH_DROPPING", 0),
            ("reductions.MOST_BEHAVIOURS", dice.between(1, 3)),
            ("share.TRANSITIONS_PER_BEHAVIOUR", 1_000_000),
            ("check.MOST_BEHAVIOURS", dice.between(1, 3)),
            ("optimistic.LITTLE", 0),
            ("optimistic.WALKS", dice.between(0, 1)),
            ("optimistic.WALK_STEPS", dice.between(1, 2)),
            ("optimistic.VOID_STATES", most),
            ("check.VOID_STATES", most),
        ]

    return drawn


def flows(dice: Dice) -> list[tuple[str, int]]:
    """So that there is no universe either."""
    return [*universes()(dice), ("optimistic.MOST_ROUNDS", 0)]


def assembled(
    drawing: Drawing,
    classes: list[Class],
    links: dict[str, dict[str, str]],
    *,
    records: tuple[Record, ...] = (),
    network: Network = RELIABLE,
    faults: Faults = NO_FAULTS,
    monitors: tuple[Class, ...] = (),
    counts: Mapping[str, int] = MappingProxyType({}),
    first: str | None = None,
) -> Protocol:
    """One process of each class, in any order; `links` says, class by class, which field leads to which class."""
    order = drawing.dice.random.sample(classes, len(classes))
    if first is not None:
        order.sort(key=lambda each: each.name != first)
    place = {each.name: number for number, each in enumerate(order)}
    connects = [
        Connect(place[owner], None, name, node("group", *(place[each] for each in to.split())))
        for owner, mine in links.items()
        for name, to in mine.items()
    ]
    spawns = tuple(Spawn(each.name, counts.get(each.name)) for each in order)
    return Protocol(records, tuple(classes), monitors, spawns, tuple(connects), (), network, faults)
