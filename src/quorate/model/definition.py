"""The compiled form of a system: columns, transitions, initial states, properties. `define` makes it (define.py)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from quorate.base.errors import Location, PropertyError, did_you_mean
from quorate.base.values import encode
from quorate.language.message import Crash, Event, Message, stamped
from quorate.language.pid import Pid, column_of, server_of
from quorate.language.shared import Cell, Shared, Written
from quorate.model.again import Sample

if TYPE_CHECKING:
    from quorate.language.automaton import Automaton
    from quorate.language.faults import Faults
    from quorate.language.message import Record
    from quorate.language.network import Network
    from quorate.language.rank import Ranks
    from quorate.language.system import System
    from quorate.language.transitions import Declaration
    from quorate.model.environment import Environment
    from quorate.model.fields import FieldTypes
    from quorate.model.memory import Memory
    from quorate.model.outcome import Local

Mode = Literal["exact", "each", "minimal", "maximal", "any"]


@dataclass(eq=False)
class Transition:
    """One transition of a class of processes, or one reaction of a monitor."""

    index: int
    name: str
    kind: Literal["start", "step", "on", "quorum"]
    message: type[Any] | None
    keep: bool
    mode: Mode | None
    location: Location
    owner: type[Automaton]
    function: Callable[..., Any]
    declaration: Declaration
    flag: int = -1
    """Where in the local state a `start` notes that it has happened; -1 for the others."""
    sample: Sample = field(default_factory=Sample)
    """Evaluations that are done again at the end."""

    def takes(self, message: object) -> bool:
        """Whether the message is of the type this transition consumes; subclasses of that type are."""
        return self.message is not None and isinstance(message, self.message)

    def __str__(self) -> str:
        return f"{self.owner.__name__}.{self.name}"


@dataclass(eq=False)
class Spec:
    """A class of processes or monitors, read once per definition."""

    cls: type[Automaton]
    fields: tuple[str, ...]
    visible: int
    """How many fields are the user's; the rest are hidden flags."""
    transitions: tuple[Transition, ...]
    within: Callable[[Any], Any] | None
    ends: bool = False
    """Whether its handlers are known to end, however long they take: those that no user has written."""
    types: FieldTypes = field(default_factory=dict)
    """Of each visible field, the type that it is declared with."""
    durable: tuple[bool, ...] = ()
    """Of each visible field, whether a process that recovers still has its value."""
    origin: int = -1
    """Where in the local state it is noted with which fields the process began; -1 if all initial states agree."""


@dataclass(eq=False)
class Column:
    """One process or monitor of the global state."""

    index: int
    name: str
    spec: Spec
    is_monitor: bool
    pid: Pid | None
    may_crash: bool
    keeps: bool = True
    """Whether standing messages, those that attackers can send at any time, are kept when they are consumed."""
    routes: tuple[int, ...] | None = None
    """By process: the column of the channel to it, where what is sent goes first; None if there are no channels."""
    delivers_to: int | None = None
    """Of a channel: the process it leads to."""
    clean: bool = False
    """A transition consumes all that is in the inbox, or it is not enabled."""
    cells: Mapping[bytes, int] = field(default_factory=dict)
    """The columns of shared cells, by the encoding of the cell."""
    ranks: Ranks = "numbers"
    """What ranks are when its handlers run (docs/ranks.md)."""
    beginning: Local = ()
    """The fields as `spawn` and `connect` set them; where initial states differ in that, see `Spec.origin`."""

    @property
    def cls(self) -> type[Automaton]:
        return self.spec.cls

    @property
    def fields(self) -> tuple[str, ...]:
        return self.spec.fields

    @property
    def shown(self) -> tuple[tuple[int, str], ...]:
        """Where in a local state that is, and what it is called, which a reader of states should see: no hidden flags,
        and no constants, which are the same in every state."""
        constants = self.cls._constants
        visible = self.fields[: self.spec.visible]
        return tuple((at, name) for at, name in enumerate(visible) if name not in constants)

    def label(self, field: int) -> str:
        """What a field of this column is called; of a shared cell it is its only one."""
        return self.name if self.cls is Cell else f"{self.name}.{self.fields[field]}"

    @property
    def server(self) -> int | None:
        """Of a role of a process that is taken apart: which process that is."""
        return None if self.pid is None else server_of(self.pid)

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, eq=False)
class Property:
    """Something a system claims."""

    name: str
    kind: Literal["invariant", "can", "final", "predicate", "bound"]
    """A predicate claims nothing: formulas name it."""
    doc: str
    function: Callable[[Any], bool]
    location: Location
    sample: Sample = field(default_factory=Sample)
    """Evaluations that are done again at the end."""


@dataclass(eq=False)
class Definition:
    """A system with its parameters, ready to be run."""

    system: System
    name: str
    parameters: dict[str, Any]
    columns: tuple[Column, ...]
    network: Network
    faults: Faults
    declared: Faults
    """What the system says of crashes; `faults` is what is explored, which a check may ask to be otherwise."""
    environment: Environment
    initials: tuple[tuple[Local, ...], ...]
    invariants: tuple[Property, ...]
    cans: tuple[Property, ...]
    final: Property | None
    bound: Property | None = None
    """Which states of the whole system are looked at."""
    standing: dict[int, tuple[Message, ...]] = field(default_factory=dict)
    """By process: the messages that attackers can send from the beginning on."""
    posted: tuple[tuple[tuple[int, Message], ...], ...] = ()
    """Of each initial state: what is sent before the run begins, with the column that it goes to; in order."""
    attackers: frozenset[int] = frozenset()
    messages: dict[type[Record], FieldTypes] = field(default_factory=dict)
    """The messages and events that a process or monitor takes, with the types that their fields are declared with."""
    scalars: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    """By name of the class: values that are only compared for equality."""
    ranked: bool = False
    """Whether fields hold numbers that are only compared."""
    cells: tuple[Shared[Any], ...] = ()
    """The shared cells, in the order of their columns."""
    processes: tuple[Column, ...] = field(init=False)
    monitors: tuple[Column, ...] = field(init=False)
    """Shared cells are among them: they take what is written as monitors take what they are told."""
    shared: tuple[Column, ...] = field(init=False)
    """The columns of shared cells."""
    memory: Memory = field(init=False)
    """What the model could remember outside of its fields."""
    panel: Any = field(init=False, default=None)
    """What the property layer keeps between evaluations."""
    shown: tuple[type, ...] = field(init=False, default=())
    """The messages that properties read while they are in flight (`self.pending`)."""
    channels: Any = field(init=False, default=None)
    """The policy of the network, which the semantics keeps here."""

    def __post_init__(self) -> None:
        self.processes = tuple(column for column in self.columns if not column.is_monitor)
        self.monitors = tuple(column for column in self.columns if column.is_monitor)
        self.shared = tuple(column for column in self.monitors if column.cls is Cell)
        indices = {encode(cell): column.index for cell, column in zip(self.cells, self.shared, strict=True)}
        for column in self.columns:
            column.cells = indices

    def notices(self, column: Column) -> list[tuple[int, Message]]:
        """What is sent when a process crashes: to every other process that handles the message `Crash`."""
        if column.pid is None:
            return []
        notice = stamped(Crash(), column.pid)
        named = [other for other in self.processes if other.delivers_to is None]
        told = [other for other in named if any(each.takes(notice) for each in other.spec.transitions)]
        found = [other.index for other in told if other is not column and other.index not in self.attackers]
        return [(index if column.routes is None else column.routes[index], notice) for index in found]

    def receiver(self, index: int) -> Column:
        """The process that what is sent to a column is meant for: of a channel, the one it leads to."""
        leads_to = self.columns[index].delivers_to
        return self.columns[index if leads_to is None else leads_to]

    def told(self, event: Event) -> list[Column]:
        """Who takes notice of an event; of one that writes a cell, that cell alone."""
        if type(event) is Written:
            return [self.columns[self.columns[0].cells[encode(event.cell)]]]
        return [each for each in self.monitors if any(reaction.takes(event) for reaction in each.spec.transitions)]

    def place(self, column: Column) -> str:
        """How a message is marked that lies in a column; on its way to a process, which is the rule, not at all."""
        return " (delivered)" if column.routes is not None else ""

    def stands(self, column: Column, message: Message) -> bool:
        """Whether the message is one that its sender, an attacker, can send again at any time."""
        return column.keeps and column_of(message.sender) in self.attackers

    def transitions(self, column: Column) -> tuple[Transition, ...]:
        """The transitions of a process (the reactions of a monitor) in the order they are written."""
        return column.spec.transitions

    @cached_property
    def settings(self) -> dict[str, Network | Faults]:
        """What properties read of the network and of crashes: as `build` has set them, and as the check was asked.

        The system that the user made has neither, since `build` runs on another object.
        """
        implicit = self.environment.crash == "implicit"
        return {"network": self.network, "faults": self.declared if implicit else self.faults}

    @property
    def properties(self) -> tuple[Property, ...]:
        """All that can be asked for by name, `final` excepted: that one defines `deadlock`."""
        return self.invariants + self.cans

    def property(self, name: str) -> Property:
        """The invariant or `can` of that name."""
        for candidate in self.properties:
            if candidate.name == name:
                return candidate
        known = [candidate.name for candidate in self.properties] + ["deadlock"]
        raise PropertyError(f"{self.name} has no property `{name}`", hint=did_you_mean(name, known), code="Q401")
