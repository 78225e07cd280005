"""Making a failing case small: parts are left out or made simpler for as long as the same kind of finding stays."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from .case import Case, examine
from .compare import Finding
from .options import Check
from .protocol import FALSE, PASS, TRUE, Class, Faults, Network, Node, Property, Protocol, node, well_formed
from .system import Environment

SECONDS = 20.0
BOOLEAN = ("eq", "ne", "lt", "le", "and", "or", "not", "in", "among", "some", "every", "any", "all", "flown")


def shrink(case: Case, finding: Finding, seconds: float = SECONDS) -> tuple[Case, Finding]:
    """A smaller case with one check that fails in the same way; the first that is smaller is taken, over and over."""
    end = time.monotonic() + seconds
    progress = True
    while progress and time.monotonic() < end:
        progress = False
        for smaller in _smaller(case):
            if time.monotonic() > end:
                break
            found = still(smaller, finding.kind)
            if found is not None:
                case, finding, progress = smaller, found, True
                break
    return case, finding


def still(case: Case, kind: str) -> Finding | None:
    """The finding of this kind, if a case has it. What is not well-formed any more has none."""
    try:
        if not well_formed(case.protocol):
            return None
        found = examine(case).findings
    except Exception:
        return None
    return next((each for _, each in found if each.kind == kind), None)


def _smaller(case: Case) -> Iterator[Case]:
    for check in _simpler_checks(case.checks[0]):
        yield replace(case, checks=[check], explored=None)
    for protocol in _simpler(case.protocol):
        yield replace(case, protocol=protocol, explored=None)


def _simpler_checks(check: Check) -> Iterator[Check]:
    if check.thresholds:
        yield check._replace(thresholds=())
    for at in range(len(check.keywords)):
        yield check._replace(keywords=check.keywords[:at] + check.keywords[at + 1 :])
    for at in range(len(check.thresholds)):
        yield check._replace(thresholds=check.thresholds[:at] + check.thresholds[at + 1 :])
    plain = Environment()
    for name in Environment._fields:
        if getattr(check.environment, name) != getattr(plain, name):
            yield check._replace(environment=check.environment._replace(**{name: getattr(plain, name)}))


def _simpler(protocol: Protocol) -> Iterator[Protocol]:
    """Larger parts first."""
    for name in ("posted", "properties", "monitors", "connects", "corrupt", "classes", "records"):
        for shorter in _shorter(getattr(protocol, name)):
            changed: dict[str, Any] = {name: shorter}
            yield replace(protocol, **changed)
    if protocol.within is not None:
        yield replace(protocol, within=None)
    yield from _fewer_processes(protocol)
    if protocol.network != Network():
        yield replace(protocol, network=Network())
        yield replace(protocol, network=Network(protocol.network.kind))
        for name, value in Network()._asdict().items():
            if getattr(protocol.network, name) != value and not (name == "losses" and protocol.network.lost == "head"):
                yield replace(protocol, network=protocol.network._replace(**{name: value}))
    if protocol.faults != Faults():
        yield replace(protocol, faults=Faults())
        for name, value in Faults()._asdict().items():
            if getattr(protocol.faults, name) != value and _sensible(protocol.faults._replace(**{name: value})):
                yield replace(protocol, faults=protocol.faults._replace(**{name: value}))
    for at, cls in enumerate(protocol.classes):
        for simpler in _simpler_class(cls):
            yield replace(protocol, classes=(*protocol.classes[:at], simpler, *protocol.classes[at + 1 :]))
    for at, cls in enumerate(protocol.monitors):
        for simpler in _simpler_class(cls):
            yield replace(protocol, monitors=(*protocol.monitors[:at], simpler, *protocol.monitors[at + 1 :]))
    for at, each in enumerate(protocol.properties):
        for claim in _simpler_node(each.claim):
            simple = Property(each.name, each.kind, claim)
            yield replace(protocol, properties=(*protocol.properties[:at], simple, *protocol.properties[at + 1 :]))
    for at, record in enumerate(protocol.records):
        if record.base is not None:
            yield replace(
                protocol, records=(*protocol.records[:at], record._replace(base=None), *protocol.records[at + 1 :])
            )
    yield from _without_record_fields(protocol)


def _sensible(faults: Faults) -> bool:
    """Whether the language has such faults."""
    without_end = faults.crashes == "any" and not (faults.recover and faults.down)
    return not without_end and not (faults.redeliver and not (faults.recover and faults.cut_short))


def _shorter(parts: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    for at in range(len(parts)):
        yield parts[:at] + parts[at + 1 :]


def _fewer_processes(protocol: Protocol) -> Iterator[Protocol]:
    for at, spawn in enumerate(protocol.spawns):
        if spawn.given:
            yield _spawn(protocol, at, replace(spawn, given=()))
        if spawn.count is not None and spawn.count > 1:
            yield _spawn(protocol, at, replace(spawn, count=spawn.count - 1))
        if len(protocol.spawns) > 1:
            connects = tuple(
                each._replace(spawn=each.spawn - (each.spawn > at), value=_renumbered(each.value, at))
                for each in protocol.connects
                if each.spawn != at
            )
            corrupt = tuple((n - (n > at), k) for n, k in protocol.corrupt if n != at)
            spawns = protocol.spawns[:at] + protocol.spawns[at + 1 :]
            yield replace(protocol, spawns=spawns, connects=connects, corrupt=corrupt)
    for at, link in enumerate(protocol.connects):
        if link.value.op == "playing":
            plain = link._replace(value=link.value.args[0])
            yield replace(protocol, connects=(*protocol.connects[:at], plain, *protocol.connects[at + 1 :]))


def _spawn(protocol: Protocol, at: int, spawn: Any) -> Protocol:
    return replace(protocol, spawns=(*protocol.spawns[:at], spawn, *protocol.spawns[at + 1 :]))


def _renumbered(value: Node, gone: int) -> Node:
    if value.op == "playing":
        return node("playing", _renumbered(value.args[0], gone), value.args[1])
    if value.op == "group":
        return node("group", *(each - (each > gone) for each in value.args if each != gone))
    return value


def _simpler_class(cls: Class) -> Iterator[Class]:
    for name in ("actions", "fields", "constants", "overrides", "durable"):
        for shorter in _shorter(getattr(cls, name)):
            changed: dict[str, Any] = {name: shorter}
            yield cls._replace(**changed)
    if cls.within is not None:
        yield cls._replace(within=None)
    if cls.byzantine:
        yield cls._replace(byzantine=False)
    if len(cls.bases) == 1:
        yield cls._replace(bases=())
    for at, action in enumerate(cls.actions):
        for simpler in _simpler_action(action):
            yield cls._replace(actions=(*cls.actions[:at], simpler, *cls.actions[at + 1 :]))


def _simpler_action(action: Any) -> Iterator[Any]:
    for body in _simpler_body(action.body):
        yield action._replace(body=body)
    for name in ("when", "where", "same"):
        if getattr(action, name) is not None and not (name == "when" and action.kind == "step"):
            yield action._replace(**{name: None})
    if action.keep:
        yield action._replace(keep=False)
    if action.kind == "step":
        yield action._replace(kind="start", when=None if action.when == TRUE else action.when)
    if action.sets != "minimal":
        yield action._replace(sets="minimal")
    if action.size is not None and action.size != 1:
        yield action._replace(size=1)
        if not isinstance(action.size, int):
            yield action._replace(size=2)
    for name in ("when", "where", "enough"):
        given = getattr(action, name)
        if given is not None:
            for simpler in _simpler_node(given):
                yield action._replace(**{name: simpler})


def _simpler_body(body: tuple[Node, ...]) -> Iterator[tuple[Node, ...]]:
    if body != (PASS,):
        yield (PASS,)
    if len(body) > 1:
        yield from _shorter(body)
    for at, one in enumerate(body):
        if one.op == "if":
            yield (*body[:at], *one.args[1], *body[at + 1 :]) or (PASS,)
            yield (*body[:at], *one.args[2], *body[at + 1 :]) or (PASS,)
        for simpler in _simpler_node(one):
            yield (*body[:at], simpler, *body[at + 1 :])


def _simpler_node(one: Node) -> Iterator[Node]:
    """The node with something inside made simpler."""
    if one.op in BOOLEAN:
        yield TRUE
        yield FALSE
    if one.op in ("and", "or"):
        yield from one.args
    if one.op == "not" and one.args[0].op in BOOLEAN:
        yield one.args[0]
    if one.op in ("plus", "cycle", "divide", "get", "lookup", "len", "size", "sum", "top", "constant", "m", "self"):
        yield node("int", 0)
        yield node("int", 1)
    if one.op == "int" and one.args[0] > 0:
        yield node("int", one.args[0] - 1)
    if one.op == "choose" and len(one.args) == 2 and one.args[1].op == "options":
        yield node("set", one.args[0], one.args[1].args[0])
    for at, argument in enumerate(one.args):
        if isinstance(argument, Node):
            for simpler in _simpler_node(argument):
                yield Node(one.op, (*one.args[:at], simpler, *one.args[at + 1 :]))
        elif isinstance(argument, tuple) and argument and isinstance(argument[0], Node):
            for inner, each in enumerate(argument):
                for simpler in _simpler_node(each):
                    changed = (*argument[:inner], simpler, *argument[inner + 1 :])
                    yield Node(one.op, (*one.args[:at], changed, *one.args[at + 1 :]))


def _without_record_fields(protocol: Protocol) -> Iterator[Protocol]:
    """A message without one of its fields, and without that argument wherever it is made."""
    for at, record in enumerate(protocol.records):
        for number in range(len(record.fields)):
            slim = record._replace(fields=record.fields[:number] + record.fields[number + 1 :])
            inherited = len(protocol.record_fields(record.name)) - len(record.fields)
            made = {
                each.name: inherited + number for each in protocol.records if record.name in protocol.lineage(each.name)
            }
            classes = tuple(_dropped(cls, made) for cls in protocol.classes)
            yield replace(
                protocol, records=(*protocol.records[:at], slim, *protocol.records[at + 1 :]), classes=classes
            )


def _dropped(value: Any, made: dict[str, int]) -> Any:
    if isinstance(value, Node) and value.op == "make" and value.args[0] in made:
        at = made[value.args[0]]
        return node("make", value.args[0], value.args[1][:at] + value.args[1][at + 1 :])
    if isinstance(value, tuple):
        parts = [_dropped(each, made) for each in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value
