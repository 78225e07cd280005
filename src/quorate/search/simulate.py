"""Random runs: for systems that are too large to be searched, or whose states have no end.

The runs go over the same tables as every search, without any reduction: nothing is assumed of what may happen. A run
that violates something is replayed in the plain semantics, and shortened.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from typing import Any, Literal, cast

from quorate import _core
from quorate.base.errors import LimitError, QuorateError
from quorate.base.watchdog import Halted
from quorate.language.system import System
from quorate.model.define import define
from quorate.model.definition import Definition
from quorate.model.environment import Environment
from quorate.native.backend import witness_of
from quorate.native.model import Model
from quorate.options import LEVELS
from quorate.properties.asked import Asked, select
from quorate.properties.purity import Purity
from quorate.properties.temporal.branching import linear
from quorate.results.result import Limit, Progress
from quorate.results.simulation import Novelty, Simulation
from quorate.results.trace import Trace
from quorate.search.accidents import raise_accidents
from quorate.search.implicit import refuse_what_implicit_crashes_miss
from quorate.search.in_flight import asking_again
from quorate.search.limits import Watcher
from quorate.search.ranked import refuse_ranks
from quorate.search.rebuild import rebuild
from quorate.search.temporal_walks import TemporalWalks

Strategy = Literal["uniform", "pct", "rare"]
STRATEGIES: tuple[Strategy, ...] = ("uniform", "pct", "rare")
SECONDS = 10.0
"""How long, unless runs or a time are given."""
DEPTH = 1000
CHANGES = 3
SHORTER_STATES = 500_000
SHORTER_SECONDS = 10.0


def simulate(
    system: System | type[System],
    *,
    property: str | Iterable[str] | None = None,
    seconds: float | None = None,
    runs: int | None = None,
    depth: int = DEPTH,
    seed: int = 0,
    fairness: str = "message",
    strategy: Strategy = "uniform",
    changes: int = CHANGES,
    threads: int = 1,
    max_memory: int | None = None,
    coverage: bool = False,
    shorten: bool = True,
    progress: Callable[[Progress], object] | None = None,
    target: str | None = None,
    **faults: Any,
) -> Simulation:
    """Take random runs and look at every property in each of their states."""
    _require(runs=runs, depth=depth, seconds=seconds, threads=threads, changes=changes)
    if strategy not in STRATEGIES:
        raise QuorateError(f"strategy={strategy!r} is not a valid choice", hint=f"one of {STRATEGIES}", code="Q600")
    if not 0 <= seed < 2**64:
        raise QuorateError(f"seed={seed}", hint="it must be between 0 and 2**64 - 1", code="Q600")
    if fairness not in LEVELS:
        raise QuorateError(f"fairness={fairness!r} is not a valid choice", hint=f"one of {LEVELS}", code="Q600")
    environment = Environment.of(faults)
    time = SECONDS if seconds is None and runs is None else seconds
    watcher = Watcher(time, progress, max_memory)

    def run(shown: tuple[type, ...]) -> Simulation:
        try:
            definition = define(system, environment)
            definition.shown = shown
            refuse_ranks(definition, "random runs")
            asked = select(definition, property, (), ())
            refuse_what_implicit_crashes_miss(definition, asked)
            with Purity(definition, hurried=watcher.was_stopped):
                model = Model(definition, asked.properties, watcher)
                watcher.phase = "search"
                setup = watcher.seconds
                walks: TemporalWalks | None = None
                if any(linear(each.formula) is not None for each in asked.temporal):
                    walks = TemporalWalks(definition, asked.temporal, fairness, depth=depth, seed=seed, watcher=watcher)
                share = watcher.seconds_left
                if share is not None and walks is not None:
                    share /= 2  # half of the time for temporal properties, which have walks of their own
                options = _core.RunOptions(
                    strategy=_core.Strategy[strategy],
                    seed=seed,
                    runs=runs,
                    depth=depth,
                    changes=changes,
                    threads=threads,
                    deadlock=asked.deadlock,
                    seconds=share,
                    memory=watcher.memory,
                )
                report = model.engine.random_runs(model, options)
                took = watcher.seconds - setup
                found = _told(definition, model, asked, report, watcher)
                if walks is not None and found.trace is None and found.stopped_by is None:
                    watcher.go_on("search")
                    looked, trace = walks.run(runs, time)
                    found = replace(found, walks=looked, trace=trace, property=looked.property)
                    if watcher.reason in ("interrupt", "memory"):
                        found = replace(found, stopped_by=watcher.reason)
        except Halted as halted:
            raise _stopped(halted, watcher, "before the first run began") from None
        except _core.LimitError as limit:
            raise LimitError(str(limit), code="Q501") from None
        if coverage:
            from quorate.search.coverage import coverage_of

            with watcher.lifted():
                found = replace(found, covered=coverage_of(model, report.census, complete=False, runs=True))
        if shorten and found.trace is not None:
            found = replace(found, trace=_shortened(definition, found.trace, fairness, watcher))
        processes = sum(not column.is_monitor for column in definition.columns)
        return replace(
            found,
            strategy=strategy,
            seed=seed,
            depth=depth,
            seconds=took,
            setup_seconds=setup,
            changes=changes if strategy == "pct" else None,
            target=target,
            processes=processes,
            probability=_bound(processes, report.span, changes) if strategy == "pct" else None,
        )

    with watcher:
        return asking_again(run)


def _stopped(halted: Halted, watcher: Watcher, when: str) -> LimitError:
    """There is nothing to tell of runs."""
    why = "out of memory" if halted.out_of_memory else "interrupted" if watcher.reason == "interrupt" else "stopped"
    at = halted.running
    where = f" in {at.what}, {at.file}:{at.line}," if at is not None else ""
    return LimitError(f"{why}{where} {when}", hint="give it more time" if why == "stopped" else "", code="Q506")


def _told(definition: Definition, model: Model, asked: Asked, report: _core.RunReport, watcher: Watcher) -> Simulation:
    halted = model.halted if report.violation is None else None
    if halted is not None:
        watcher.halted(halted)
    stopped: Limit | None = None
    if report.stop.name not in ("finished", "violation", "time"):
        stopped = watcher.reason or cast(Limit, report.stop.name)
    if stopped == "time" and not (halted is not None and report.runs == 0):
        stopped = None  # that is when it is to end, unless code of the model let no run get anywhere
    trace: Trace | None = None
    reached: dict[str, int] = {}
    watcher.finish()
    try:
        with watcher.lifted():  # however long a run is, and however slow the handlers
            if report.violation is not None:
                violation = witness_of(report.violation)
                trace = rebuild(model, violation, False)
                raise_accidents(model, violation, trace)
            for goal in report.goals:
                run = rebuild(model, witness_of(goal), False)
                reached[run.property] = len(run)
    except Halted as stop:
        found = "a goal was reached" if report.violation is None else f"run {report.run:,} violates something"
        raise _stopped(stop, watcher, f"while it was replayed that {found}") from None
    goals = [each.name for each in asked.properties if each.kind == "can"]
    return Simulation(
        system=definition.name,
        parameters=definition.parameters,
        strategy="uniform",
        seed=0,
        depth=0,
        runs=report.runs,
        steps=report.steps,
        seconds=0.0,
        setup_seconds=0.0,
        ended=report.ended,
        full=report.full,
        cut=report.cut,
        unfinished=report.unfinished,
        distinct=report.distinct,
        exact=report.exact,
        span=report.span,
        novelty=Novelty.of(report.sampled_visits, report.met_once),
        property=trace.property if trace is not None else None,
        run=report.run if trace is not None else None,
        trace=trace,
        reached=reached,
        not_reached=tuple(name for name in goals if name not in reached),
        left_out=tuple(each.name for each in asked.temporal if linear(each.formula) is None),
        stopped_by=stopped,
        running=halted.running if halted is not None else None,
    )


def _bound(processes: int, span: int, changes: int) -> float:
    """Of one run of `span` steps, for an order of `changes` steps of processes (Burckhardt et al. 2010, theorem 1).

    A thread does one thing next. A process here may have several messages and choices: the theorem is silent on these.
    """
    return float(1 / (processes * float(span) ** (changes - 1)))


def _shortened(definition: Definition, trace: Trace, fairness: str, watcher: Watcher) -> Trace:
    """Without needless steps; and the shortest of all, where a search level by level gets there quickly.

    It is shown as it was found if handlers are too slow for that, or somebody does not want to wait.
    """
    from quorate.results.regroup import regroup
    from quorate.results.shorten import shorten
    from quorate.search.check import check

    def search(name: str) -> Trace | None:
        found = check(
            definition.system,
            property="assertions" if name == "exceptions" else name,
            fairness=fairness,
            max_states=SHORTER_STATES,
            timeout=SHORTER_SECONDS,
            regroup=False,
            **definition.environment.to_json(),
        )
        watcher.finish()
        return found.trace

    watcher.finish()
    if trace.loop_from is not None:
        return search(trace.property) or trace
    with suppress(Halted):
        trace = shorten(trace, search)
        trace = regroup(trace)
    return trace


def _require(**given: float | None) -> None:
    for name, value in given.items():
        if value is not None and value <= 0:
            raise QuorateError(f"{name}={value}", hint="it must be greater than 0", code="Q600")
