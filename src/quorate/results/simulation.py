"""What random runs found, and how much they have seen."""

from __future__ import annotations

import builtins
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from quorate.base.watchdog import Running
    from quorate.results.coverage import Coverage
    from quorate.results.result import Limit
    from quorate.results.trace import Trace

SCHEMA = 1
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Novelty:
    """How likely the next step is to lead to a state that no run has met (Good and Turing)."""

    probability: float
    low: float
    high: float

    @classmethod
    def of(cls, visits: int, met_once: int) -> Novelty:
        """The share of visits to states that were met once, with the interval of McAllester and Schapire (2000).

        It is meant for independent visits. Those of one run are not, so the interval is a little too narrow.
        """
        if visits == 0:
            return cls(1.0, 0.0, 1.0)
        share = met_once / visits
        half = (2 * math.sqrt(2) + math.sqrt(3)) * math.sqrt(math.log(3 / (1 - CONFIDENCE)) / visits)
        return cls(share, max(0.0, share - half), min(1.0, share + half))


@dataclass(frozen=True)
class Walks:
    """What was looked at for temporal properties: runs of their own, each up to a bound on its steps."""

    properties: tuple[str, ...]
    depth: int
    level: str
    """What was assumed of runs (`--fairness`)."""
    runs: int = 0
    steps: int = 0
    ends: int = 0
    """How often a run could have stopped for ever."""
    loops: int = 0
    """How often a run was back in a state that it had been in."""
    property: str | None = None
    run: int | None = None
    """The number of the run that violates it."""

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "properties": list(self.properties)}


@dataclass(frozen=True)
class Simulation:
    """The answer of `quorate.simulate`. That nothing was found proves nothing."""

    system: str
    parameters: Mapping[str, Any]
    strategy: Literal["uniform", "pct", "rare"]
    seed: int
    depth: int
    runs: int
    steps: int
    seconds: float
    setup_seconds: float
    ended: int
    """Runs after which nothing more could happen."""
    full: int
    """Runs that were stopped because they were as long as they might be."""
    cut: int
    """Runs that a bound (`within`) cut."""
    distinct: float
    """Different states that were met: exactly, or within about 1%."""
    novelty: Novelty
    property: str | None = None
    """What a run violates; None if none does."""
    run: int | None = None
    """The number of that run: the same for the same seed, on any number of threads."""
    trace: Trace | None = None
    reached: Mapping[str, int] = field(default_factory=dict)
    """`can` properties that were reached, with the length of the run."""
    not_reached: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    """Properties that random runs say nothing about."""
    unfinished: int = 0
    """Runs that were under way when the time was up, or it was stopped; their steps count."""
    walks: Walks | None = None
    """What was done for temporal properties; None if none was asked for."""
    exact: bool = False
    """Whether the different states were counted, and not estimated."""
    changes: int | None = None
    """With pct: the depth of the bugs that it is aimed at."""
    span: int = 0
    """With pct: the steps of the longest run so far, among which the next run has its change points."""
    probability: float | None = None
    """With pct: how likely the next run is, at least, to take the processes in a given order of that depth, if runs
    take no more than `span` steps: 1 / (n k^(d-1)) for n processes, k steps and depth d. Which of its messages or
    choices each takes is drawn as well, and no part of it."""
    processes: int = 0
    """Among which pct chooses, channels included."""
    covered: Coverage | None = None
    stopped_by: Limit | None = None
    running: Running | None = None
    """The code of the model that was running when it was stopped, by whatever; None if none was."""
    target: str | None = None
    schema: int = SCHEMA

    @builtins.property
    def ok(self) -> bool:
        return self.property is None

    @builtins.property
    def steps_per_second(self) -> float:
        return self.steps / self.seconds if self.seconds > 0 else 0.0

    def __str__(self) -> str:
        from quorate.render.simulation import simulation

        return simulation(self).plain()

    def __repr__(self) -> str:
        found = f"{self.property} violated in run {self.run}" if self.property is not None else "nothing found"
        return f"<Simulation {self.system}, {found}; {self.runs:,} runs>"

    def to_json(self) -> dict[str, Any]:
        from quorate.results.json import trace_to_json, value_to_json

        return {
            "schema": self.schema,
            "system": self.system,
            "target": self.target,
            "parameters": {name: value_to_json(value) for name, value in self.parameters.items()},
            "verdict": "violated" if self.property is not None else "nothing found",
            "property": self.property,
            "strategy": self.strategy,
            "seed": self.seed,
            "depth": self.depth,
            "run": self.run,
            "runs": self.runs,
            "steps": self.steps,
            "seconds": self.seconds,
            "setup_seconds": self.setup_seconds,
            "ended": self.ended,
            "full": self.full,
            "cut": self.cut,
            "unfinished": self.unfinished,
            "distinct_states": self.distinct,
            "exact": self.exact,
            "next_state_is_new": {
                "probability": self.novelty.probability,
                "low": self.novelty.low,
                "high": self.novelty.high,
                "confidence": CONFIDENCE,
            },
            "changes": self.changes,
            "span": self.span,
            "probability": self.probability,
            "processes": self.processes,
            "reached": dict(self.reached),
            "not_reached": list(self.not_reached),
            "left_out": list(self.left_out),
            "temporal": self.walks.to_json() if self.walks is not None else None,
            "covered": self.covered.to_json() if self.covered is not None else None,
            "stopped_by": self.stopped_by,
            "running": self.running._asdict() if self.running is not None else None,
            "trace": trace_to_json(self.trace) if self.trace is not None else None,
        }
