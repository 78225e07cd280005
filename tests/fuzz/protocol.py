"""An abstract protocol as plain frozen data: what is drawn, explored, translated and shrunk.

Nothing here knows Quorate. An expression or a statement is a `Node`, an operator and its arguments, so that one table
interprets it (`evaluate.py`), another writes it as Python (`translate.py`), and shrinking needs to know neither.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

Budget = int | Literal["any"]
Type = Literal[
    "int", "bool", "pid", "maybe", "peers", "pair", "map", "signed", "sealed", "twice", "scalar", "scalars", "note"
]
"""`maybe` is an identity, `pair` an identity and a number, `signed` a signed number, `sealed` one of these with a
number, `twice` one of these signed again, `scalar` a value that is only compared, `note` a message of the class Vote;
each of these may be None. `scalars` are all such values."""


class Node(NamedTuple):
    """An operator and its arguments: `Node("eq", (Node("self", ("x",)), Node("int", (1,))))` is `self.x == 1`."""

    op: str
    args: tuple[Any, ...] = ()


def node(op: str, *args: Any) -> Node:
    return Node(op, args)


TRUE = node("bool", True)
FALSE = node("bool", False)
NONE = node("none")
PASS = node("pass")


class Field(NamedTuple):
    """A field of a process, monitor or message. Without a default (None) it is given where the process is spawned."""

    name: str
    type: Type
    default: Node | None = None


class Record(NamedTuple):
    """A class of messages or events; a subclass has the fields of its base first."""

    name: str
    base: str | None = None
    fields: tuple[Field, ...] = ()
    is_event: bool = False


class Action(NamedTuple):
    """One transition of a process, or one reaction of a monitor."""

    name: str
    kind: Literal["start", "step", "on", "quorum"]
    body: tuple[Node, ...] = ()
    message: str | None = None
    when: Node | None = None
    keep: bool = False
    size: int | str | Node | None = None
    each: str | Node | None = None
    enough: Node | None = None
    sets: Literal["minimal", "maximal", "any"] = "minimal"
    where: Node | None = None
    same: str | None = None


class Class(NamedTuple):
    """A class of processes or monitors. No bases: a process by itself."""

    name: str
    bases: tuple[str, ...] = ()
    fields: tuple[Field, ...] = ()
    constants: tuple[tuple[str, int], ...] = ()
    actions: tuple[Action, ...] = ()
    overrides: tuple[tuple[str, Node], ...] = ()
    """New defaults for inherited fields."""
    within: Node | None = None
    byzantine: bool = False
    durable: tuple[str, ...] = ()
    is_monitor: bool = False


@dataclass(frozen=True)
class Spawn:
    """One process (`count` is None) or several equal ones."""

    cls: str
    count: int | None = None
    given: tuple[tuple[str, Node], ...] = ()

    @property
    def number(self) -> int:
        return 1 if self.count is None else self.count


class Connect(NamedTuple):
    """Sets a field of all processes of a spawn, or of one of them. The value may name any process."""

    spawn: int
    which: int | None
    field: str
    value: Node


class Network(NamedTuple):
    kind: Literal["unordered", "multiset", "fifo"] = "unordered"
    losses: Budget = 0
    duplicates: Budget = 0
    capacity: int | None = None
    full: Literal["block", "replace"] = "block"
    head: Literal["block", "skip", "drop"] = "block"
    lost: Literal["anywhere", "head"] = "anywhere"


class Faults(NamedTuple):
    crashes: Budget = 0
    of: tuple[str, ...] = ()
    cut_short: bool = True
    recover: bool = False
    down: int | None = None
    redeliver: bool = False


class Posted(NamedTuple):
    """A message that is pending at the beginning: by the places of its receiver and sender."""

    to: int
    sender: int
    record: str
    values: tuple[Node, ...] = ()


RELIABLE = Network()
NO_FAULTS = Faults()


class Property(NamedTuple):
    name: str
    kind: Literal["invariant", "can", "final"]
    claim: Node


@dataclass(frozen=True)
class Protocol:
    """A system with all that it is made of. Classes come after their bases."""

    records: tuple[Record, ...] = ()
    classes: tuple[Class, ...] = ()
    monitors: tuple[Class, ...] = ()
    spawns: tuple[Spawn, ...] = ()
    connects: tuple[Connect, ...] = ()
    corrupt: tuple[tuple[int, int], ...] = ()
    """(spawn, how many of its last processes an exhaustive attacker takes the place of)."""
    network: Network = RELIABLE
    faults: Faults = NO_FAULTS
    properties: tuple[Property, ...] = ()
    posted: tuple[Posted, ...] = ()
    within: Node | None = None
    """The bound of the whole system."""

    @cached_property
    def by_name(self) -> dict[str, Class]:
        return {each.name: each for each in (*self.classes, *self.monitors)}

    @cached_property
    def records_by_name(self) -> dict[str, Record]:
        return {each.name: each for each in self.records}

    @cached_property
    def places(self) -> tuple[tuple[int, int], ...]:
        """Every process in the order of spawning: (spawn, which of its processes)."""
        return tuple((number, which) for number, each in enumerate(self.spawns) for which in range(each.number))

    @cached_property
    def ancestries(self) -> dict[str, tuple[Class, ...]]:
        """Every class with its bases in the order in which Python looks an attribute up."""
        made: dict[str, type] = {}
        for each in (*self.classes, *self.monitors):
            made[each.name] = type(each.name, tuple(made[base] for base in each.bases), {})
        return {
            name: tuple(self.by_name[each.__name__] for each in cls.__mro__ if each is not object)
            for name, cls in made.items()
        }

    def ancestry(self, name: str) -> tuple[Class, ...]:
        return self.ancestries[name]

    def fields_of(self, name: str) -> tuple[Field, ...]:
        """All fields of a class, with the default that Python's attribute lookup finds."""
        order = self.ancestry(name)
        found: dict[str, Field] = {}
        for each in reversed(order):
            for field in each.fields:
                found.setdefault(field.name, field)
        for each in reversed(order):
            for field in each.fields:
                found[field.name] = field
            for changed, default in each.overrides:
                found[changed] = found[changed]._replace(default=default)
        return tuple(found.values())

    def actions_of(self, name: str) -> tuple[Action, ...]:
        """All transitions of a class, overridden ones in the place of what they override."""
        found: dict[str, Action] = {}
        for each in reversed(self.ancestry(name)):
            for action in each.actions:
                found[action.name] = action
        return tuple(found.values())

    def constants_of(self, name: str) -> dict[str, int]:
        return {key: value for each in reversed(self.ancestry(name)) for key, value in each.constants}

    def within_of(self, name: str) -> Node | None:
        return next((each.within for each in self.ancestry(name) if each.within is not None), None)

    def durable_of(self, name: str) -> tuple[str, ...]:
        return next((each.durable for each in self.ancestry(name) if each.durable), ())

    def is_byzantine(self, name: str) -> bool:
        return any(each.byzantine for each in self.ancestry(name))

    def is_a(self, name: str, base: str) -> bool:
        return any(each.name == base for each in self.ancestry(name))

    def lineage(self, record: str | None) -> tuple[str, ...]:
        """A class of messages and its bases, itself first."""
        found: list[str] = []
        while record is not None:
            found.append(record)
            record = self.records_by_name[record].base
        return tuple(found)

    def record_fields(self, record: str) -> tuple[Field, ...]:
        return tuple(field for name in reversed(self.lineage(record)) for field in self.records_by_name[name].fields)


def nodes_in(value: Any) -> list[Node]:
    """Every node inside of a value, itself included, outermost first."""
    found: list[Node] = []
    todo = [value]
    while todo:
        one = todo.pop()
        if isinstance(one, Node):
            found.append(one)
            todo.extend(one.args)
        elif isinstance(one, Protocol):
            todo += [one.classes, one.monitors, one.spawns, one.connects, one.properties, one.posted, one.within]
        elif isinstance(one, Spawn):
            todo.append(one.given)
        elif isinstance(one, tuple):
            todo.extend(one)
    return found


def reads_flight(value: Any) -> bool:
    """Whether properties read messages in flight."""
    return any(each.op in ("flight", "flown") for each in nodes_in(value))


def well_formed(protocol: Protocol) -> bool:
    """Whether every name stands for something; what is drawn does, what is made smaller may not."""
    records = set(protocol.records_by_name)
    said = {"sender"} | {f.name for each in protocol.records for f in each.fields}
    fields = {name: {f.name for f in protocol.fields_of(name)} for name in protocol.by_name}
    for cls in (*protocol.classes, *protocol.monitors):
        mine = fields[cls.name]
        constants = protocol.constants_of(cls.name)
        for action in cls.actions:
            named = [each for each in (action.size, action.each) if isinstance(each, str)]
            if not mine.issuperset(named) or (action.message not in (None, "Crash") and action.message not in records):
                return False
        for each in nodes_in((cls.actions, cls.within)):
            known = {"self": mine, "set": mine, "choose": mine, "m": said, "make": records, "constant": constants}
            if each.op in known and each.args and each.args[0] not in known[each.op]:
                return False
    for each in nodes_in((*protocol.properties, protocol.within)):
        if (
            each.op in ("any", "all", "count", "total", "row", "largest", "weighed", "nth", "monitor")
            and each.args[0] not in protocol.by_name
        ):
            return False
        if each.op in ("flight", "flown") and not (
            each.args[0] in records
            and (each.args[1] is None or each.args[1][0] in protocol.by_name)
            and said.issuperset(each.args[2:3])
        ):
            return False
    places = len(protocol.places)
    for sent in protocol.posted:
        if sent.record not in records or max(sent.to, sent.sender) >= places:
            return False
        if len(sent.values) != len(protocol.record_fields(sent.record)):
            return False
    spawned = {each.cls for each in protocol.spawns}
    return spawned <= set(fields) and all(
        link.field in fields[protocol.spawns[link.spawn].cls] for link in protocol.connects
    )
