"""Turns that drawn protocols are given afterwards, so that the cases of small numbers stay what they are.

A number from `FIRST` on is the case of that number less `FIRST`, with a turn of its own: messages that are pending at
the beginning, losses at the head of a queue, sets of any size, crashes that are bounded by how many are down at once,
messages that are delivered again after a crash, and bounds of the whole system.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Literal

from .expressions import Dice
from .protocol import Action, Budget, Class, Faults, Network, Node, Posted, Protocol, Type, node

FIRST = 1 << 30

Turn = Callable[[Dice, Protocol], Protocol]


def varied(protocol: Protocol, seed: int) -> Protocol:
    """The protocol with one or two turns; as it is where none applies."""
    d = Dice(Random(f"turn {seed}"))
    for _ in range(d.weighted({1: 3, 2: 1})):
        protocol = d.weighted(TURNS)(d, protocol)
    return protocol


def _posted(d: Dice, protocol: Protocol) -> Protocol:
    """Some messages are there at the beginning; twice the same, perhaps, and some that are sent again later."""
    places = range(len(protocol.places))
    found: list[Posted] = []
    for _ in range(d.weighted({1: 4, 2: 3, 3: 1})):
        to, sender = d.one([*places]), d.one([*places])
        cls = protocol.spawns[protocol.places[to][0]].cls
        taken = {action.message for action in protocol.actions_of(cls)}
        records = [each for each in protocol.records if not each.is_event]
        wanted = [each for each in records if taken & set(protocol.lineage(each.name))] or records
        if not wanted:
            return protocol
        record = d.one(wanted)
        values = [_value(d, field.type, len(places), protocol) for field in protocol.record_fields(record.name)]
        if any(each is None for each in values):
            return protocol
        found.append(Posted(to, sender, record.name, tuple(each for each in values if each is not None)))
        if d.chance(20):
            found.append(found[-1])
    return replace(protocol, posted=tuple(found))


def _value(d: Dice, kind: Type, count: int, protocol: Protocol) -> Node | None:
    if kind == "int":
        return node("int", d.between(0, 2))
    if kind == "bool":
        return node("bool", d.chance(50))
    if kind in ("maybe", "pair"):
        return node("none")
    if kind == "pid":
        return node("process", *protocol.places[d.between(0, count - 1)])
    return None


def _at_the_head(d: Dice, protocol: Protocol) -> Protocol:
    network = protocol.network
    losses: Budget = d.one((1, 1, 1, 2, "any"))
    head: Literal["block", "skip", "drop"] = d.one(("block", "block", "skip", "drop"))
    duplicates = 0 if network.duplicates == "any" else network.duplicates
    full = network.full if network.capacity is not None else "block"
    return replace(protocol, network=Network("fifo", losses, duplicates, network.capacity, full, head, "head"))


def _of_any_size(d: Dice, protocol: Protocol) -> Protocol:
    def turned(action: Action) -> Action:
        if action.kind != "quorum":
            return action
        least = node("le", node("int", d.between(1, 2)), node("size"))
        return action._replace(size=None, each=None, enough=action.enough or least, sets="any")

    def of(cls: Class) -> Class:
        return cls._replace(actions=tuple(map(turned, cls.actions)))

    return replace(protocol, classes=tuple(map(of, protocol.classes)))


def _down(d: Dice, protocol: Protocol) -> Protocol:
    if _vague(protocol):
        return protocol
    crashes: Budget = d.one(("any", "any", "any", 2, 2, 3))
    faults = Faults(
        crashes, protocol.faults.of, d.chance(60), True, d.weighted({1: 3, 2: 1}), protocol.faults.redeliver
    )
    return replace(protocol, faults=faults._replace(redeliver=faults.redeliver and faults.cut_short))


def _again(d: Dice, protocol: Protocol) -> Protocol:
    faults = protocol.faults
    if _vague(protocol):
        return protocol
    return replace(
        protocol, faults=faults._replace(crashes=faults.crashes or 1, cut_short=True, recover=True, redeliver=True)
    )


def _bounded(d: Dice, protocol: Protocol) -> Protocol:
    """A bound of the whole system that is about several processes, or about one in particular."""
    cls = d.one(protocol.spawns).cls
    ints = [field.name for field in protocol.fields_of(cls) if field.type == "int"]
    if not ints:
        return protocol
    field = d.one(ints)
    value = node("eq", node("p", field), node("int", d.between(0, 2)))
    within = d.one(
        (
            node("lt", node("total", cls, field), node("int", d.between(1, 4))),
            node("lt", node("count", cls, value), node("int", d.between(1, 2))),
            node("not", node("all", cls, value)),
            node("lt", node("nth", cls, 0, field), node("int", d.between(1, 3))),
        )
    )
    return replace(protocol, within=within)


def _vague(protocol: Protocol) -> bool:
    """Whether a process that recovers would have to remember how it began."""
    return any(value.op == "choose" for each in protocol.spawns for _, value in each.given)


TURNS: dict[Turn, float] = {_posted: 5, _at_the_head: 2, _of_any_size: 3, _down: 2, _again: 1, _bounded: 4}
