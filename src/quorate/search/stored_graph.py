"""The graph of a model that temporal properties are asked about: explored once, then asked as often as one likes.

Quotient and dead messages keep what fairness looks at: which process could take which step, on which messages. So both
are used as the options say. Symmetry and partial orders are left out; `left_out` says why.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, Literal

from quorate import _core
from quorate.model.definition import Definition, Transition
from quorate.native.model import Model
from quorate.options import Options
from quorate.reduce.reductions import Figures, analyse, reduce

Level = Literal["none", "progress", "process", "transition", "message", "strong"]
LEVELS: tuple[Level, ...] = ("none", "progress", "process", "transition", "message", "strong")
"""From assuming nothing to assuming most."""
UNFAIR, WEAK, STRONG = 0, 1, 2


@dataclass(frozen=True)
class Fairness:
    """What is assumed of runs: a level, and what is said of single transitions."""

    level: Level = "message"
    unfair: Collection[Transition] = ()
    """These may, but need not happen."""
    strong: Collection[Transition] = ()
    recoveries: bool = False
    """Whether a crashed process that may come back does so."""

    def arguments(self, definition: Definition) -> dict[str, Any]:
        """As the core takes them. Nothing is assumed of attackers."""
        unfair, strong = set(map(id, self.unfair)), set(map(id, self.strong))

        def strength(column: int, each: Transition) -> int:
            if column in definition.attackers or id(each) in unfair:
                return UNFAIR
            return STRONG if id(each) in strong else WEAK

        fair = [
            [] if column.is_monitor else [strength(column.index, each) for each in definition.transitions(column)]
            for column in definition.columns
        ]
        return {"level": self.level, "fair": fair, "recoveries": WEAK if self.recoveries else UNFAIR}


@dataclass(frozen=True)
class StoredGraph:
    """A graph, and what its exploration found. It is good until the model's engine is used for something else."""

    model: Model
    graph: _core.Temporal
    found: Mapping[str, Any]
    figures: Figures

    @property
    def complete(self) -> bool:
        return bool(self.found["stop"] == "finished")

    @property
    def left_out(self) -> Mapping[str, str]:
        """The reductions that are not used, with the reason."""
        return dict(self.found["left_out"])

    def atoms(self) -> list[_core.StateSet]:
        """Where each predicate holds, in the order they were asked for."""
        return [self.graph.predicate(index) for index in range(self.found["predicates"])]

    def check(
        self,
        automaton: _core.Automaton,
        fairness: Fairness,
        atoms: Sequence[_core.StateSet] | None = None,
        **options: Any,
    ) -> dict[str, Any]:
        """Look for a fair run that the automaton accepts."""
        sets = self.atoms() if atoms is None else list(atoms)
        return self.graph.check(self.model, automaton, sets, **fairness.arguments(self.model.definition), **options)


def explore(
    model: Model,
    predicates: Sequence[int],
    options: Options,
    *,
    max_states: int | None = None,
    memory: int | None = None,
    seconds: float | None = None,
) -> StoredGraph:
    """Explore the model; `predicates` are the numbers of the properties that are noted for every state."""
    began = perf_counter()
    options = replace(options, symmetry="none", por="none", split="none", stateless=False, store="exact")
    figures = analyse(model, options)
    while True:
        graph = _core.Temporal(model.engine)
        left = None if seconds is None else max(0.0, seconds - (perf_counter() - began))
        found = graph.explore(model, list(predicates), max_states, memory, left)
        if found["stop"] != "regrown":
            return StoredGraph(model, graph, found | {"predicates": len(predicates)}, figures)
        # A predicate read a field that the quotient did not keep apart: its answer is void (design rule 8).
        model.engine.clear_answers()
        reduce(model, figures, options)
