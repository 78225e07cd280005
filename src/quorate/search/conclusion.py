"""The result of a check, put together from what its searches have found; and whether they have found enough."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from quorate.cluster.backend import DistributedBackend
from quorate.model.bound import bounds_of
from quorate.model.definition import Definition
from quorate.model.traffic import differences
from quorate.native.backend import Found, Witness
from quorate.native.model import Model
from quorate.options import Options
from quorate.properties.asked import Asked
from quorate.reduce.decomposition import roles
from quorate.reduce.reductions import Reductions
from quorate.results.coverage import Coverage
from quorate.results.result import Limit, PropertyOutcome, Result, Violation
from quorate.results.trace import Trace
from quorate.search.accidents import raise_accidents
from quorate.search.implicit import refuse_crash_flags
from quorate.search.limits import Watcher, peak_memory
from quorate.search.rebuild import ReplayError, rebuild
from quorate.search.recompose import recompose
from quorate.search.self_check import SelfCheck
from quorate.search.verdict import broken_by, outcomes_of, verdict_of

# From this probability on that a state was missed, nothing holds.
LIKELY = 0.01
# How far the search for a shorter run goes: it is a convenience, the verdict is known already.
SHORTER_STATES = 2_000_000
SHORTER_SECONDS = 20.0
DROPPED = "searches that were dropped"
# Up to this many states, a search goes on to its end even if all that was asked for has been shown.
SMALL = 100_000


class Conclusion:
    """What is known of one check, from one search to the next."""

    def __init__(
        self,
        model: Model,
        asked: Asked,
        options: Options,
        watcher: Watcher,
        trace: bool,
        target: str | None,
        not_decomposed: str,
        workers: DistributedBackend | None,
    ) -> None:
        self.model = model
        self.definition: Definition = model.definition
        self.asked = asked
        self.options = options
        self.watcher = watcher
        self.wants_trace = trace
        self.target = target
        self.self_check = SelfCheck() if options.self_check else None
        self.dynamic = False
        """Dynamic partial-order reduction runs."""
        self.workers = workers
        self.whole = model.whole
        self.shown: dict[str, Trace] = {}
        """A run for each `can` that some search has reached: what was shown once stays shown."""
        self.closed = False
        """Whether it is known of all handlers that may fail."""
        self.not_decomposed = not_decomposed
        """Why processes were not taken apart into their roles."""

    def result(
        self,
        found: Found,
        reductions: Reductions | None,
        setup: float,
        seconds: float,
        covered: Coverage | None,
    ) -> Result:
        refuse_crash_flags(self.model)
        options = self.options
        trace = self._trace(found.violation, found.is_shortest)
        violations = self._violations(found)
        if trace is None:  # a run without steps is false, and still a run
            trace = next((each.trace for each in violations), None)
        answered = self.answered(found, last=True)
        approximate = options.store == "bitstate" or found.miss > LIKELY
        outcomes = outcomes_of(found, self.model, self.asked, self.shown, approximate=approximate, answered=answered)
        checked: Mapping[str, Any] | None = None
        if self.self_check is not None and self.self_check.begun:
            whole = found.stop in ("finished", "violation") and options.store == "exact" and not options.max_depth
            symmetric = reductions is not None and reductions.symmetry.ran
            self.self_check.compare(
                self.model, found, self.asked.deadlock, symmetric=symmetric, whole=whole, goes_on=options.all
            )
            checked = self.self_check.finish()
        stopped: Limit | None = None
        halted = self.model.halted
        if halted is not None:
            self.watcher.halted(halted)
        if found.stop not in ("finished", "violation") and not answered:
            stopped = self.watcher.reason or cast(Limit, found.stop)
        states = found.states
        if reductions is not None:
            apart = roles(self.definition) if self.whole is not None else None
            reductions.symmetry.taken_apart(apart, self.not_decomposed)
        return Result(
            system=self.definition.name,
            target=self.target,
            parameters=self.definition.parameters,
            verdict=verdict_of(outcomes, stopped),
            property=_first_broken(outcomes, violations),
            states=states,
            transitions=found.transitions,
            depth=found.depth,
            seconds=seconds,
            setup_seconds=setup,
            setup=self._setup(setup),
            peak_memory_bytes=peak_memory(),
            bytes_per_state=found.store_bytes / states if states else 0.0,
            python_calls=self.model.calls,
            cells=self.model.engine.cell_count() if self.workers is None else self.workers.cells,
            messages=self.model.counted_messages(),
            reductions=reductions.to_json() if reductions is not None else {},
            trace=trace,
            properties=outcomes,
            deadlocks=found.deadlocks,
            search="stateless" if options.stateless or self.dynamic else "dfs" if options.depth_first else "bfs",
            store=options.store,
            threads=1 if options.depth_first or self.dynamic else options.threads,
            workers=self.workers.told() if self.workers is not None else None,
            stopped_by=stopped,
            running=halted.running if halted is not None and stopped is not None else None,
            frontier=found.frontier,
            # Of a search that did not end, most states may be missing, and nobody knows how many there are.
            coverage=found.coverage if options.store == "bitstate" and found.stop == "finished" else None,
            expected_omissions=_omissions(found) if options.store == "bitstate" else None,
            miss_probability=found.miss if options.store == "fingerprint" else None,
            warnings=self._warnings(),
            bounds=self._bounds(found),
            levels=found.levels,
            witnesses={name: self._joined(run) for name, run in self.shown.items()} if self.wants_trace else {},
            environment=self.definition.environment.to_json(),
            self_check=checked,
            covered=covered,
            violations=violations if options.all else None,
        )

    def _violations(self, found: Found) -> tuple[Violation, ...]:
        """Of a search that went on: how often each property is violated, the first one first."""
        counted: list[Violation] = []
        for first, number in found.violations:
            trace = self._trace(first, found.is_shortest)
            counted.append(Violation(broken_by(first, self.model), number, trace))
        return tuple(counted)

    def _setup(self, seconds: float) -> dict[str, float]:
        """What setting up was spent on. The search that has the answer is none of it, though it may be noted."""
        spent = {name: each for name, each in self.model.spent.seconds.items() if each >= 0.001}
        others = sum(each for name, each in spent.items() if name != DROPPED)
        if DROPPED in spent:
            spent[DROPPED] = max(0.0, min(spent[DROPPED], seconds - others))
        return {name: each for name, each in spent.items() if each >= 0.001 and seconds >= 0.001}

    def answered(self, found: Found, *, void: bool = False, last: bool = False) -> bool:
        """Keep a run for each `can` that was reached; whether that is all there was to find out.

        In a search that is void a run may lead elsewhere than it seemed to: then it shows nothing. After the last one
        what was shown is all the answer there will be.
        """
        for goal in found.goals:
            shortest = found.is_shortest and self.options.por == "none" and not void
            try:
                with self.watcher.lifted():
                    run = rebuild(self.model, goal, shortest)
            except ReplayError:
                if not void:
                    raise
                continue
            self.shown[run.property] = run
        enough = self.goals_end_from
        if enough is None or not all(each.name in self.shown for each in self.asked.properties):
            return False
        if self.closed:
            return last or found.states >= enough
        # A dynamic reduction that cut its runs was not stopped by the user: there may be more to find.
        return (last and found.stop not in ("cycle", "depth")) or found.states >= SMALL

    @property
    def goals_end_from(self) -> int | None:
        """With how many states a search is over once it has reached every `can`; None if it is not for that.

        A handler that may fail is a question as well; so is one of which it is not known, unless only these properties
        were asked for by name. And small systems are searched to their end, so that their states are counted.
        """
        if not self.asked.only_goals or self.model.failures or not (self.closed or self.asked.named):
            return None
        return 0 if self.asked.named else SMALL

    def _trace(self, violation: Witness | None, shortest: bool) -> Trace | None:
        """Replay what was found. An accident of the model itself is raised as the error it is."""
        self.watcher.finish()
        if violation is None:
            return None
        trace = rebuild(self.model, violation, shortest)
        raise_accidents(self.model, violation, trace)
        return self._readable(self._joined(trace)) if self.wants_trace else None

    def _joined(self, trace: Trace) -> Trace:
        return trace if self.whole is None else recompose(trace, self.whole)

    def _readable(self, trace: Trace) -> Trace:
        """The run as it is easiest to follow: shorter if that was asked for, and one process after the other."""
        from quorate.results.regroup import regroup
        from quorate.results.shorten import shorten

        if self.options.shorten:
            trace = shorten(trace, self._shorter)
        return regroup(trace) if self.options.regroup else trace

    def _shorter(self, name: str) -> Trace | None:
        """Look for the shortest run, level by level, as far as that is cheap."""
        from quorate.search.check import check

        left = self.watcher.seconds_left
        found = check(
            self.definition.system,
            property="assertions" if name == "exceptions" else name,
            search="bfs",
            max_states=SHORTER_STATES,
            timeout=SHORTER_SECONDS if left is None else max(1.0, min(left, SHORTER_SECONDS)),
            regroup=False,
            **self.definition.environment.to_json(),
        )
        return found.trace

    def _warnings(self) -> tuple[str, ...]:
        warnings = [
            f"{message} is sent to {receiver}, but no transition of {receiver} takes it"
            for message, receiver in self.model.unhandled
        ]
        warnings += [preset.caveat(name) for name, preset in self.definition.system.__dict__["_chosen"]]
        specs = {column.cls: column.spec for column in self.definition.processes}.values()
        warnings += differences(self.definition.environment.network_model, specs, self.asked.deadlock)
        if (self.options.depth_first or self.dynamic) and self.options.threads > 1:
            warnings.append("threads are for breadth-first search; this one ran on a single thread")
        if self.workers is not None and self.workers.kept is not None:
            warnings += self.workers.kept.trouble
        return tuple(warnings)

    def _bounds(self, found: Found) -> tuple[str, ...]:
        return tuple(bounds_of(self.definition, found.cut))


def _first_broken(outcomes: Iterable[PropertyOutcome], violations: tuple[Violation, ...]) -> str | None:
    """The property that the run shown first is about."""
    if violations:
        return violations[0].property
    return next((outcome.name for outcome in outcomes if outcome.verdict == "violated"), None)


def _omissions(found: Found) -> float:
    """How many states a bitstate search is expected to have taken for others, among those that it came to."""
    return float(found.states * (1 / found.coverage - 1)) if found.coverage > 0 else 0.0
