"""Properties that read messages in flight (`self.pending`), drawn after all else, so that the rest stays as it is.

Reductions are off where they are asked for, and so is what cannot do without: most checks leave that out.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

from .evaluate import Msg
from .explorer import Exploration
from .expressions import Dice
from .options import Check
from .protocol import Node, Property, Protocol, node, reads_flight
from .system import System

REDUCED = ("por", "split", "por_options", "dpor_variant", "max_depth", "self_check", "checkpoint")
"""Keywords that are refused for such properties, and those that depend on them."""


def in_flight(seed: int, protocol: Protocol, system: System, found: Exploration) -> Protocol:
    """The protocol, now and then with such properties too."""
    d = Dice(Random(f"in flight {seed}"))
    sent = [(box % system.count, each) for state in found.depths for box, inbox in enumerate(state.pending)
            for each in inbox if each.cls in protocol.records_by_name]  # fmt: skip
    if not sent or not d.chance(40):
        return protocol
    names = {each.name for each in protocol.properties}
    wanted = [
        Property("crowd", "invariant", node("le", _count(d, system, *d.one(sent)), node("int", d.between(0, 2)))),
        Property("flown", "can", _fact(d, system, *d.one(sent))),
        Property("flight", "invariant", _look(d, system, sent)),
        Property("done", "final", node("eq", _count(d, system, *d.one(sent)), node("int", 0))),
    ]
    some = tuple(each for each in wanted if each.name not in names and d.chance(45))
    return replace(protocol, properties=(*protocol.properties, *some))


def _look(d: Dice, system: System, sent: list[tuple[int, Msg]]) -> Node:
    return node("note", "flight", *(_count(d, system, *d.one(sent)) for _ in range(d.between(1, 3))))


def _count(d: Dice, system: System, receiver: int, message: Msg) -> Node:
    """How many messages are in flight like this one: of its class or a base, to its receiver or to all."""
    return node("flight", d.one(system.protocol.lineage(message.cls)), _to(d, system, receiver))


def _fact(d: Dice, system: System, receiver: int, message: Msg) -> Node:
    """That one like this is in flight."""
    plain = [name for name in message.names if type(message.get(name)) is int]
    if plain and d.chance(70):
        name = d.one(plain)
        return node("flown", message.cls, _to(d, system, receiver), name, message.get(name))
    return node("lt", node("int", d.between(0, 1)), _count(d, system, receiver, message))


def _to(d: Dice, system: System, receiver: int) -> tuple[str, int] | None:
    """A process as properties name it: by its class and its place among those of the class."""
    cls = system.classes[receiver]
    same = [i for i in range(system.count) if i not in system.attackers and system.classes[i] == cls]
    plain = not any(system.protocol.is_a(system.classes[i], cls) for i in range(system.count) if i not in same)
    return (cls, same.index(receiver)) if receiver in same and plain and d.chance(40) else None


def without_reductions(seed: int, checks: list[Check], protocol: Protocol) -> list[Check]:
    """Most checks without what is refused for such properties."""
    if not reads_flight(protocol.properties):
        return checks
    d = Dice(Random(f"reduced {seed}"))
    return [each if d.chance(25) else _plain(each) for each in checks]


def _plain(check: Check) -> Check:
    return check._replace(keywords=tuple(each for each in check.keywords if each[0] not in REDUCED))
