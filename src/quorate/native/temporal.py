"""The bridge to the core's engine for temporal properties: a stored graph, and questions about its fair runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

from quorate import _core
from quorate.native.backend import Cells, Stop, Witness, witness_of
from quorate.native.model import Model
from quorate.properties.temporal.automaton import Automaton
from quorate.properties.temporal.fairness import Fairness


class Act(NamedTuple):
    """Which step: of a process by a transition on these messages, or of the environment."""

    column: int
    kind: str
    transition: int | None
    messages: tuple[int, ...]


@dataclass(frozen=True)
class Explored:
    """The graph of all states."""

    stop: Stop
    states: int
    transitions: int
    depth: int
    deadlocks: int
    store_bytes: int
    cut: tuple[int, ...]
    """The columns whose `within` cut something."""
    blocked: bool
    """A full channel kept a step from happening."""
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

    def __init__(self, model: Model, memory: int | None) -> None:
        self.model = model
        self.memory = memory
        self.native = _core.Temporal(model.engine)

    def explore(self, max_states: int | None, seconds: float | None) -> Explored:
        predicates = list(range(len(self.model.properties)))
        found: dict[str, Any] = self.native.explore(
            self.model, predicates, states=max_states, memory=self.memory, seconds=seconds
        )
        witness = found["violation"]
        return Explored(
            stop=cast(Stop, found["stop"]),
            states=found["states"],
            transitions=found["transitions"],
            depth=found["depth"],
            deadlocks=found["deadlocks"],
            store_bytes=found["store_bytes"],
            cut=tuple(found["cut"]),
            blocked=bool(found["blocked"]),
            violation=None if witness is None else witness_of(witness),
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
        found: dict[str, Any] = self.native.check(
            self.model,
            _described(automaton),
            list(atoms),
            **fairness.keywords(),
            crashable=list(crashable),
            crashes=crashes,
            memory=self.memory,
            seconds=seconds,
        )
        return Answer(
            stop=cast(Stop, found["stop"]),
            complete=bool(found["complete"]),
            product_states=found["product_states"],
            violation=_lasso(found["violation"]),
            bounded=_lasso(found["bounded"]),
        )

    def exists(
        self, automaton: Automaton, atoms: Sequence[_core.StateSet], fairness: Fairness, seconds: float | None
    ) -> tuple[_core.StateSet, bool]:
        """The states in which a fair run begins that is accepted; and whether bounds or limits leave that open."""
        states, stop, bounded = self.native.exists(
            self.model,
            _described(automaton),
            list(atoms),
            **fairness.keywords(),
            memory=self.memory,
            seconds=seconds,
        )
        return states, bounded or stop != "finished"

    def always(self, inside: _core.StateSet, fairness: Fairness, seconds: float | None) -> tuple[_core.StateSet, bool]:
        """The states in which a fair run begins that stays inside for ever."""
        states, stop, bounded = self.native.always(
            self.model, inside, **fairness.keywords(), memory=self.memory, seconds=seconds
        )
        return states, bounded or stop != "finished"


def _described(automaton: Automaton) -> Any:
    return automaton.states, automaton.initial, automaton.sets, [tuple(edge) for edge in automaton.edges]


def _lasso(found: dict[str, Any] | None) -> Lasso | None:
    if found is None:
        return None
    return Lasso(
        path=[(list(columns), list(left)) for columns, left in found["path"]],
        acts=tuple(map(_act, found["steps"])),
        loop_from=found["loop_from"],
        stopped=tuple(found["stopped"]),
        starved=tuple((_act(act), bool(always)) for act, always in found["starved"]),
    )


def _act(found: tuple[int, str, int | None, list[int]]) -> Act:
    column, kind, transition, messages = found
    return Act(column, kind, transition, tuple(messages))
