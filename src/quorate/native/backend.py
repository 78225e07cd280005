"""What runs a search. The driver asks a `Backend`; reductions, properties and traces do not know which one it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol, cast

from quorate import _core
from quorate.native.model import Model

Traversal = Literal["breadth_first", "depth_first", "dpor_classical", "dpor_optimal"]
Stop = Literal[
    "finished",
    "violation",
    "states",
    "memory",
    "time",
    "interrupt",
    "regrown",
    "outgrown",
    "depth",
    "cycle",
    "reached",
    "overtaken",
    "disk",
]
"""Why a search ended. Regrown: a property read more than was observed. Outgrown: it left the universe. Reached: every
`can` was, and nothing else was asked for. Overtaken: what was done meanwhile says that it can be done better. Disk: the
directory for states is full."""
Finding = Literal["violated", "reached", "raises", "deadlock", "failure"]
Cells = tuple[list[tuple[int, list[int]]], list[int]]
"""A state as the core reports it: by column the local state and what is pending, and what is left of the budgets."""


@dataclass(frozen=True)
class Request:
    """What to search for, how, and how far."""

    traversal: Traversal
    deadlock: bool
    visible: bool = True
    """Whether anything but deadlocks is asked for."""
    threads: int = 1
    stateless: bool = False
    bitstate_bytes: int = 0
    """Of the table of bits; 0 for an exact store."""
    fingerprints: bool = False
    """Whether states are kept as fingerprints alone; breadth-first only."""
    spill: str | None = None
    """A directory for the states; breadth-first only."""
    max_states: int | None = None
    max_memory: int | None = None
    seconds: float | None = None
    max_depth: int | None = None
    void_states: int = 1_000
    """How much further a search goes that has left the universe, to meet what else lies outside."""
    goals_end_from: int | None = None
    """With how many states it is over once every `can` was reached."""
    sample: int | None = None
    """How many states to keep in which partial-order reduction left steps out."""
    all: bool = False
    """Whether to go on after a violation, and count them; breadth-first only."""
    census: bool = False
    """Whether to count what was met, at the end of a breadth-first search."""
    meanwhile: Callable[[int, int], bool] | None = None
    """What is to be done now and then while the search rests, given its states and transitions. True: it is to stop."""
    outgrown: Callable[[], bool | None] | None = None
    """Asked while a breadth-first search waits for what lies outside of the universe: whether all that was decided
    stands with that inside. None: the search is to stop."""
    checkpoints: Checkpoints | None = None
    """How a breadth-first search is saved, and where it goes on."""


@dataclass(frozen=True)
class Witness:
    """The run to something that was found, as states."""

    finding: Finding
    length: int
    path: list[Cells]
    property: int = 0
    """Of those that were asked for; nothing if a handler fails, or it is a deadlock without `@final`."""
    column: int = 0
    failure: int = 0
    """If a handler fails: whose, and how."""


@dataclass(frozen=True)
class Found:
    """What a search reports."""

    stop: Stop
    states: int = 0
    transitions: int = 0
    depth: int = 0
    deadlocks: int = 0
    frontier: int = 0
    store_bytes: int = 0
    stands_for: float = 0.0
    """How many states the visited ones stand for, under symmetry."""
    coverage: float = 0.0
    """The share of the states it came to that a bitstate search is expected to have told apart."""
    miss: float = 0.0
    """With fingerprints: how probable it is, at most, that a state was missed."""
    executions: int = 0
    blocked: int = 0
    por_given_up: int = 0
    """At which depth; 0 if it was not."""
    cut: tuple[int, ...] = ()
    """The columns whose `within` cut something; behind them the system."""
    levels: tuple[int, ...] = ()
    """Breadth-first: how many states there were before each level."""
    violation: Witness | None = None
    goals: tuple[Witness, ...] = ()
    is_shortest: bool = False
    """No shorter run of the full system shows the violation."""
    violations: tuple[tuple[Witness, int], ...] = ()
    """Of a search that goes on: of each kind the first, and in how many states (of a failure: steps)."""
    census: _core.Census | None = None


class Checkpoints(Protocol):
    """What saves a search."""

    @property
    def seconds(self) -> float:
        """Between two times."""

    @property
    def resumed(self) -> _core.SavedSearch | None:
        """What it goes on from."""

    def save(self, snapshot: _core.Snapshot) -> bool:
        """Called while the search rests; False if it could not be saved."""


class Backend(Protocol):
    """Searches the system of one model, as the reductions have prepared it."""

    def search(self, request: Request) -> Found: ...


class NativeBackend:
    """The core, in this process."""

    def __init__(self, model: Model) -> None:
        self.model = model

    def search(self, request: Request) -> Found:
        asked = _core.SearchOptions(
            traversal=_core.Traversal[request.traversal],
            threads=request.threads,
            deadlock=request.deadlock,
            stateless=request.stateless,
            bitstate=request.bitstate_bytes,
            fingerprints=request.fingerprints,
            spill=request.spill or "",
            states=request.max_states,
            memory=request.max_memory,
            seconds=request.seconds,
            depth=request.max_depth,
            void_states=request.void_states,
            visible=request.visible,
            goals_end_from=request.goals_end_from,
            census=request.census,
            all=request.all,
        )
        report = self.model.engine.search(
            self.model, asked, request.sample, request.meanwhile, request.checkpoints, outgrown=request.outgrown
        )
        return Found(
            stop=cast(Stop, report.stop.name),
            states=report.states,
            transitions=report.transitions,
            depth=report.depth,
            deadlocks=report.deadlocks,
            frontier=report.frontier,
            store_bytes=report.store_bytes,
            stands_for=report.stands_for,
            coverage=report.coverage,
            miss=report.miss,
            executions=report.executions,
            blocked=report.blocked,
            por_given_up=report.por_given_up,
            cut=tuple(report.cut),
            levels=tuple(report.levels),
            violation=None if report.violation is None else witness_of(report.violation),
            goals=tuple(map(witness_of, report.goals)),
            violations=tuple((witness_of(first), number) for first, number in report.violations),
            census=report.census,
        )


def witness_of(found: _core.Witness) -> Witness:
    return Witness(
        finding=cast(Finding, found.finding.name),
        length=found.length,
        path=[(list(columns), list(left)) for columns, left in found.path],
        property=found.property,
        column=found.column or 0,
        failure=found.failure or 0,
    )
