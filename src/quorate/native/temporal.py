"""The bridge to the core's engine for temporal properties: a stored graph, and questions about its fair runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, cast

from quorate import _core
from quorate.native.backend import Cells, Stop, Witness, witness_of
from quorate.native.model import Model
from quorate.properties.temporal.automaton import Automaton
from quorate.properties.temporal.fairness import STRONG, UNFAIR, WEAK, Fairness


class Act(NamedTuple):
    """Which step: of a process by a transition on these messages, or of the environment."""

    column: int
    kind: str
    transition: int | None
    messages: tuple[int, ...]


@dataclass(frozen=True)
class Explored:
    """The graph of all states, or of those that were explored before a pause."""

    stop: Stop
    paused: bool
    states: int
    transitions: int
    depth: int
    deadlocks: int
    store_bytes: int
    cut: tuple[int, ...]
    """The columns whose `within` cut something."""
    blocked: bool
    """A full channel kept a step from happening."""
    por_given_up: int
    """The depth from which on all steps were taken; 0: partial orders were not given up."""
    stands_for: float
    """The states, with those that differ in names only."""
    violation: Witness | None
    """A handler that fails, or a predicate that raises."""


@dataclass(frozen=True)
class Lasso:
    """A run that goes round for ever: from `loop_from` to the end, again and again. Without steps there, it stays."""

    path: list[Cells]
    acts: tuple[Act, ...]
    loop_from: int
    stopped: tuple[int, ...]
    """The columns that have crashed, if crashes are implicit."""
    starved: tuple[tuple[Act, bool], ...]
    """What becomes possible on the loop and is never done; whether it is possible all the time."""


@dataclass(frozen=True)
class Answer:
    """What was found about one automaton."""

    stop: Stop
    complete: bool
    product_states: int
    violation: Lasso | None
    bounded: Lasso | None
    """A run that only a bound (`within`, a full channel) brings to its end: it decides nothing."""


class TemporalGraph:
    """The states of one model, stored with their steps and with what predicates say of them."""

    def __init__(self, model: Model, memory: int | None, threads: int = 1) -> None:
        self.model = model
        self.memory = memory
        self.native = _core.Temporal(model.engine, list(range(len(model.properties))), threads)

    def explore(self, max_states: int | None, seconds: float | None, pause: int | None = None) -> Explored:
        """Everything, or up to that many states; then it can be gone on with."""
        found = self.native.explore(self.model, states=max_states, memory=self.memory, seconds=seconds, pause=pause)
        return Explored(
            stop=cast(Stop, found.stop.name),
            paused=found.paused,
            states=found.states,
            transitions=found.transitions,
            depth=found.depth,
            deadlocks=found.deadlocks,
            store_bytes=found.store_bytes,
            cut=tuple(found.cut),
            blocked=found.blocked,
            por_given_up=found.por_given_up,
            stands_for=found.stands_for,
            violation=None if found.violation is None else witness_of(found.violation),
        )

    def check(
        self,
        automaton: Automaton,
        atoms: Sequence[_core.StateSet],
        fairness: Fairness,
        crashable: Sequence[int],
        crashes: int,
        seconds: float | None,
    ) -> Answer:
        """Whether some fair run is accepted."""
        found = self.native.check(
            self.model,
            numbered(automaton),
            list(atoms),
            assumption(fairness),
            crashable=list(crashable),
            crashes=crashes,
            memory=self.memory,
            seconds=seconds,
        )
        return Answer(
            stop=cast(Stop, found.stop.name),
            complete=found.complete,
            product_states=found.product_states,
            violation=_lasso(found.violation),
            bounded=_lasso(found.bounded),
        )

    def exists(
        self, automaton: Automaton, atoms: Sequence[_core.StateSet], fairness: Fairness, seconds: float | None
    ) -> tuple[_core.StateSet, bool]:
        """The states in which a fair run begins that is accepted; and whether bounds or limits leave that open."""
        found = self.native.exists(
            self.model,
            numbered(automaton),
            list(atoms),
            assumption(fairness),
            memory=self.memory,
            seconds=seconds,
        )
        return found.states, found.open or found.stop != _core.Stop.finished

    def always(self, inside: _core.StateSet, fairness: Fairness, seconds: float | None) -> tuple[_core.StateSet, bool]:
        """The states in which a fair run begins that stays inside for ever."""
        found = self.native.always(self.model, inside, assumption(fairness), memory=self.memory, seconds=seconds)
        return found.states, found.open or found.stop != _core.Stop.finished


_STRENGTHS = {UNFAIR: _core.Strength.unfair, WEAK: _core.Strength.weak, STRONG: _core.Strength.strong}


def assumption(fairness: Fairness) -> _core.Assumption:
    """What is assumed of runs, for the core."""
    strong = fairness.level == "strong"
    return _core.Assumption(
        level=_core.Level["message" if strong else fairness.level],
        strong=strong,
        steps=[[_STRENGTHS[each] for each in column] for column in fairness.steps],
        recoveries=_STRENGTHS[fairness.recoveries],
    )


def numbered(automaton: Automaton) -> _core.Automaton:
    """An automaton, for the core."""
    return _core.Automaton(
        states=automaton.states,
        initial=automaton.initial,
        sets=automaton.sets,
        edges=[
            _core.AutomatonEdge(
                source=edge.source,
                must=edge.must_be_true,
                must_not=edge.must_be_false,
                target=edge.target,
                acceptance=edge.acceptance,
            )
            for edge in automaton.edges
        ],
    )


def _lasso(found: _core.Lasso | None) -> Lasso | None:
    if found is None:
        return None
    return Lasso(
        path=[(list(columns), list(left)) for columns, left in found.path],
        acts=tuple(map(_act, found.steps)),
        loop_from=found.loop_from,
        stopped=tuple(found.stopped),
        starved=tuple((_act(each.act), each.always) for each in found.starved),
    )


def _act(found: _core.Act) -> Act:
    return Act(found.column, found.kind.name, found.transition, tuple(found.messages))
