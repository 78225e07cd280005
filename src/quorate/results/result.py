"""What a check found: one object that the terminal, pytest and JSON all render.

The keys of `Result.to_json` are a promise to scripts (docs/json.md); `schema` counts the times that promise changed.
"""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from quorate.base.watchdog import Running
from quorate.properties.kinds import Verdict
from quorate.results.estimate import Estimate

if TYPE_CHECKING:
    from quorate.results.coverage import Coverage
    from quorate.results.trace import Trace

SCHEMA = 1

Limit = Literal["states", "memory", "time", "interrupt", "depth", "cycle", "disk"]


class CheckFailed(AssertionError):  # noqa: N818 - a verdict, not an accident
    """Raised by `Result.check` when the answer is anything but "holds"; its text is the whole report."""

    def __init__(self, result: Result) -> None:
        super().__init__(str(result))
        self.result = result


VIOLATION_MET = "a violation was met, and the check was stopped before it had the run that shows it"


@dataclass(frozen=True)
class PropertyOutcome:
    """How one property fared. A search that stops at a violation leaves the others "incomplete"."""

    name: str
    kind: str  # "invariant" | "can" | "deadlock" | "assertion"
    verdict: Verdict
    note: str = ""

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "kind": self.kind, "verdict": self.verdict, "note": self.note}


@dataclass(frozen=True)
class Violation:
    """How often a property is violated, and a shortest run that shows it."""

    property: str
    count: int
    """In so many of the states that were visited; of a handler that fails, in so many steps."""
    trace: Trace | None = None

    def to_json(self) -> dict[str, Any]:
        from quorate.results.json import trace_to_json

        trace = trace_to_json(self.trace) if self.trace is not None else None
        return {"property": self.property, "count": self.count, "trace": trace}


@dataclass(frozen=True)
class Progress:
    """Where a running search stands; handed to the `progress` callable about ten times a second."""

    states: int
    transitions: int
    frontier: int
    depth: int
    seconds: float
    memory_bytes: int
    phase: str  # what is being done now, in a word: "analysis", "search", "replay"
    undecided: tuple[PropertyOutcome, ...] = ()
    """What is asked for, as it stands as long as nothing is decided."""
    shares: tuple[int, ...] = ()
    """With workers: how many states each of them has."""
    expected: Estimate | None = None
    """How many states a breadth-first search is going to have, once that can be guessed."""


@dataclass(frozen=True)
class Result:
    """The answer of `quorate.check`.

    `ok` is the short form of the verdict, `trace` the run that breaks a property, `str(result)` the report that
    the command line prints, and `check()` raises with that report unless the verdict is "holds".
    """

    system: str
    verdict: Verdict
    parameters: Mapping[str, Any] = field(default_factory=dict)
    target: str | None = None
    property: str | None = None
    states: int = 0
    transitions: int = 0
    depth: int = 0
    seconds: float = 0.0
    setup_seconds: float = 0.0
    setup: Mapping[str, float] = field(default_factory=dict)
    """What setting up was spent on, in seconds."""
    peak_memory_bytes: int = 0
    bytes_per_state: float = 0.0
    python_calls: int = 0
    repeated_calls: int = 0
    """How many evaluations of handlers and properties were done again, to see whether they give the same."""
    cells: int = 0
    messages: int = 0
    reductions: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    trace: Trace | None = None
    properties: tuple[PropertyOutcome, ...] = ()
    deadlocks: int = 0
    search: Literal["bfs", "dfs", "stateless"] = "bfs"
    store: Literal["exact", "fingerprint", "bitstate"] = "exact"
    threads: int = 1
    workers: Mapping[str, Any] | None = None
    """With `workers`: how many, how the states are shared among them, and what they sent; None without."""
    stopped_by: Limit | None = None
    running: Running | None = None
    """The code of the model that was running when the check was stopped; None if none was."""
    frontier: int = 0
    coverage: float | None = None
    """The share of the states that a bitstate search is expected to have seen; None unless it came to its end."""
    expected_omissions: float | None = None
    """How many states a bitstate search is expected to have left out, among those that it came to."""
    miss_probability: float | None = None
    """With fingerprints: how probable it is, at most, that a state was taken for another; None without."""
    warnings: tuple[str, ...] = ()
    bounds: tuple[str, ...] = ()
    levels: tuple[int, ...] = ()
    """Of a breadth-first search: how many states there were before each level. Not a part of the JSON."""
    witnesses: Mapping[str, Trace] = field(default_factory=dict)
    environment: Mapping[str, Any] = field(default_factory=dict)
    """The faults that were asked for with the check; what the system declares is not repeated."""
    fairness: Mapping[str, Any] | None = None
    """What temporal properties were allowed to assume of runs; None if none was asked for."""
    graph: Mapping[str, Any] | None = None
    """The graph that temporal properties were decided on, with its own reductions, where the other properties had a
    search of theirs: the figures of the result are of that search. None otherwise."""
    product_states: int = 0
    """Pairs of a state and a state of a formula's automaton that were visited."""
    self_check: Mapping[str, Any] | None = None
    """What `self_check=True` looked at; None if that was not asked for."""
    covered: Coverage | None = None
    """What of the model ran, with `coverage=True`; None if that was not asked for."""
    violations: tuple[Violation, ...] | None = None
    """With `all=True`: every property that is violated, the one with the shortest run first; None without."""
    checkpoint: Mapping[str, Any] | None = None
    """Where the check was saved and how far, and what of it was done in earlier runs; None without `checkpoint`."""
    schema: int = SCHEMA

    @builtins.property  # `property` is a field here
    def ok(self) -> bool:
        """Every property asked for holds, in every run of this instance."""
        return self.verdict == "holds"

    @builtins.property  # `property` is a field here
    def shown(self) -> Trace | None:
        """The run to draw: what breaks a property, else what shows a `can`. One without steps is still one."""
        runs = [self.trace, *self.witnesses.values()]
        return next((each for each in runs if each is not None), None)

    @builtins.property  # `property` is a field here
    def states_per_second(self) -> float:
        """Over the time spent searching, without the setting up."""
        return self.states / self.seconds if self.seconds > 0 else 0.0

    def __bool__(self) -> bool:
        return self.ok

    def check(self) -> Result:
        """Return this result if everything holds, and raise with the counterexample otherwise."""
        __tracebackhide__ = True  # pytest shows the line of the test, not this one
        if not self.ok:
            raise CheckFailed(self)
        return self

    def to_json(self) -> dict[str, Any]:
        """The object that `quorate check --json` prints: plain dicts, lists, strings and numbers."""
        from quorate.results.json import trace_to_json, value_to_json

        return {
            "schema": self.schema,
            "system": self.system,
            "target": self.target,
            "parameters": {name: value_to_json(value) for name, value in self.parameters.items()},
            "verdict": self.verdict,
            "property": self.property,
            "states": self.states,
            "transitions": self.transitions,
            "depth": self.depth,
            "seconds": self.seconds,
            "setup_seconds": self.setup_seconds,
            "setup": dict(self.setup),
            "peak_memory_bytes": self.peak_memory_bytes,
            "bytes_per_state": self.bytes_per_state,
            "python_calls": self.python_calls,
            "repeated_calls": self.repeated_calls,
            "cells": self.cells,
            "messages": self.messages,
            "reductions": {name: dict(figures) for name, figures in self.reductions.items()},
            "properties": [outcome.to_json() for outcome in self.properties],
            "deadlocks": self.deadlocks,
            "search": self.search,
            "store": self.store,
            "threads": self.threads,
            "workers": dict(self.workers) if self.workers is not None else None,
            "stopped_by": self.stopped_by,
            "running": self.running._asdict() if self.running is not None else None,
            "frontier": self.frontier,
            "coverage": self.coverage,
            "expected_omissions": self.expected_omissions,
            "miss_probability": self.miss_probability,
            "warnings": list(self.warnings),
            "bounds": list(self.bounds),
            "environment": dict(self.environment),
            "fairness": dict(self.fairness) if self.fairness is not None else None,
            "graph": dict(self.graph) if self.graph is not None else None,
            "product_states": self.product_states,
            "self_check": dict(self.self_check) if self.self_check is not None else None,
            "violations": [each.to_json() for each in self.violations] if self.violations is not None else None,
            "covered": self.covered.to_json() if self.covered is not None else None,
            "checkpoint": dict(self.checkpoint) if self.checkpoint is not None else None,
            "trace": trace_to_json(self.trace) if self.trace is not None else None,
            "witnesses": {name: trace_to_json(trace) for name, trace in self.witnesses.items()},
        }

    def __str__(self) -> str:
        from quorate.render.report import report

        return report(self).plain()

    def __repr__(self) -> str:
        # Short, so that pytest shows it whole where it explains an `assert`.
        what = [self.system, self.verdict]
        if self.property is not None:
            what.append(self.property)
        if self.trace is not None:
            what.append(f"{len(self.trace.steps)} steps")
        return f"<Result {', '.join(what)}; {self.states:,} states>"
