"""Checking a system: the pipeline from definition to result."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from os import PathLike, fspath
from typing import Any, Literal, cast

from quorate import _core
from quorate.base.errors import LimitError
from quorate.base.failures import TOO_DEEP, TOO_DEEP_HINT, model_at_fault
from quorate.base.watchdog import Halted
from quorate.cluster.backend import DistributedBackend
from quorate.language.pid import DecompositionError
from quorate.language.system import System
from quorate.model.bound import bounds_of
from quorate.model.define import define
from quorate.model.definition import Definition
from quorate.model.environment import Environment
from quorate.model.traffic import differences
from quorate.native.backend import Backend, Found, NativeBackend, Request, Traversal, Witness
from quorate.native.model import Model
from quorate.options import NetworkModel, Options
from quorate.properties.asked import Asked, select
from quorate.reduce.decomposition import Whole, apart_for, roles
from quorate.reduce.optimistic import VOID_STATES, Universe
from quorate.reduce.partial_orders import visible
from quorate.reduce.reductions import FIRST_BEHAVIOURS, FIRST_STATES, MOST_BEHAVIOURS, WORTH_DROPPING, Reductions
from quorate.results.coverage import Coverage
from quorate.results.result import Limit, Progress, PropertyOutcome, Result, Violation
from quorate.results.trace import Trace
from quorate.search.accidents import raise_accidents
from quorate.search.checkpoint import Checkpoint, Saver, about, refuse
from quorate.search.closing import Closing
from quorate.search.distributed import distributed, require_shareable
from quorate.search.implicit import refuse_crash_flags, refuse_what_implicit_crashes_miss
from quorate.search.in_flight import asking_again, message_options, read_first, with_messages
from quorate.search.limits import Watcher, peak_memory
from quorate.search.liveness import with_temporal
from quorate.search.purity import Purity
from quorate.search.ranked import TOO_MANY, ranked_options
from quorate.search.ranked import undecided as not_with_numbers
from quorate.search.rebuild import ReplayError, rebuild
from quorate.search.recompose import recompose
from quorate.search.self_check import SAMPLE, SelfCheck
from quorate.search.spill import require_writable
from quorate.search.stopped import GivenUp, halted_result, require_not_given_up
from quorate.search.verdict import broken_by, outcomes_of, undecided, verdict_of

BITSTATE_BYTES = 64 << 20
# From this probability on that a state was missed, nothing holds.
LIKELY = 0.01
# The numbers of the core's enumeration; 0 is none.
# How far the search for a shorter run goes: it is a convenience, the verdict is known already.
SHORTER_STATES = 2_000_000
SHORTER_SECONDS = 20.0
DROPPED = "searches that were dropped"
# So many states are searched with plain numbers.
NUMBERS = 300_000
# Up to this many states, a search goes on to its end even if all that was asked for has been shown.
SMALL = 100_000


LISTENERS: list[Callable[[Mapping[str, Any], Result], object]] = []
"""Who is told of every check that came to an end, and with which arguments: the plugin of pytest."""


def check(
    system: System | type[System],
    *,
    property: str | Iterable[str] | None = None,
    ltl: str | Iterable[str] | None = None,
    ctl: str | Iterable[str] | None = None,
    fairness: str = "message",
    search: Literal["bfs", "dfs"] | None = None,
    por: str = "none",
    split: str = "none",
    symmetry: str = "auto",
    quotient: str = "on",
    dead_messages: str = "on",
    store: Literal["exact", "fingerprint", "bitstate"] = "exact",
    spill: str | None = None,
    stateless: bool = False,
    threads: int = 1,
    workers: int | None = None,
    address: str | None = None,
    max_states: int | None = None,
    max_memory: int | None = None,
    timeout: float | None = None,
    progress: Callable[[Progress], object] | None = None,
    trace: bool = True,
    target: str | None = None,
    shorten: bool = False,
    regroup: bool = True,
    max_depth: int | None = None,
    dpor_variant: Literal["optimal", "classical"] = "optimal",
    crash: Literal["implicit", "explicit"] | None = None,
    crashes: int | None = None,
    byzantine: Mapping[str, int] | None = None,
    network_model: NetworkModel = "m",
    self_check: bool = False,
    por_options: Mapping[str, bool] | None = None,
    max_behaviours: int | None = None,
    all: bool = False,
    vacuity: bool = False,
    coverage: bool = False,
    checkpoint: str | PathLike[str] | None = None,
    checkpoint_every: float = 60.0,
) -> Result:
    """Check every property of a system (or those named) in every run of this instance."""
    given = {**locals(), "checkpoint": None if checkpoint is None else fspath(checkpoint)}
    environment = Environment.of(given)
    options = Options.of(given).for_coverage()
    asked = (property,) if isinstance(property, str) else None if property is None else tuple(property)
    watcher = Watcher(timeout, progress, options.max_memory)
    if options.checkpoint is None or options.distributed:  # workers keep their own (search/distributed.py)
        result = checked(system, asked, environment, options, watcher, trace, target)
    else:
        with Checkpoint(options.checkpoint, checkpoint_every) as saving:
            saving.about = about(system, asked, environment, options, target)
            result = saving.told(checked(system, asked, environment, options, watcher, trace, target, saving))
    for listener in list(LISTENERS):
        listener(given, result)
    return result


def checked(
    system: System | type[System],
    property: tuple[str, ...] | None,
    environment: Environment,
    options: Options,
    watcher: Watcher,
    trace: bool,
    target: str | None,
    checkpoint: Checkpoint | None = None,
) -> Result:
    """The same with everything read; and saved, or gone on with, where there is a checkpoint."""
    if options.spill is not None:
        require_writable(options.spill)
    try:
        with watcher:
            return asking_again(
                lambda shown: _checked(
                    system, property, environment, options, watcher, trace, target, checkpoint, shown
                )
            )
    except Halted as halted:
        return halted_result(system, environment, options, watcher, halted, target)
    except MemoryError:
        return halted_result(system, environment, options, watcher, Halted.without_memory(), target)
    except RecursionError as error:
        if model_at_fault(error) is not None:
            raise
        # Ours, on the way into a value: a handler's own was caught where it ran.
        raise LimitError(TOO_DEEP, hint=TOO_DEEP_HINT, code="Q501") from None


def _checked(
    system: System | type[System],
    property: tuple[str, ...] | None,
    environment: Environment,
    options: Options,
    watcher: Watcher,
    trace: bool,
    target: str | None,
    checkpoint: Checkpoint | None,
    shown: tuple[type, ...],
) -> Result:
    definition = define(system, environment)
    definition.shown = shown
    if shown:
        options = message_options(definition, options)
        watcher.go_on("analysis")
    asked = select(definition, property, options.ltl, options.ctl)
    if definition.ranked:
        options = ranked_options(definition, asked, options)
    apart, why = apart_for(options, system, environment)
    watcher.asks(undecided(asked))
    refuse_what_implicit_crashes_miss(definition, asked)
    if options.distributed:
        require_shareable(definition)
        read_first(definition, asked)
    if checkpoint is not None:
        refuse(definition, options, asked)
        checkpoint.begins(definition, asked)
    with Purity(definition, apart, watcher=watcher) as purity:
        try:
            result = _safety(definition, apart, why, asked, options, watcher, trace, target, checkpoint)
            if options.vacuity:
                result = _with_vacuity(result, definition, asked, options, watcher)
            if asked.temporal:
                result = with_temporal(result, definition, asked, options, watcher, trace=trace)
            if shown:
                result = with_messages(result, definition)
        except ReplayError:
            if not definition.ranked:
                raise
            result = _with_numbers(definition, asked, options, watcher, trace, target)
        except _core.LimitError as limit:
            hint = TOO_MANY if definition.ranked else ""
            raise LimitError(str(limit), hint=hint, code="Q501") from None
    return replace(result, repeated_calls=purity.repeated)


def _safety(
    definition: Definition,
    apart: Definition | None,
    why: str,
    asked: Asked,
    options: Options,
    watcher: Watcher,
    trace: bool,
    target: str | None,
    checkpoint: Checkpoint | None,
) -> Result:
    """All but temporal properties.

    With the processes taken apart into their roles, if there are any and that is the same system.
    """
    if not asked.safety:
        given, faults = definition.parameters, definition.environment.to_json()
        return Result(definition.name, "holds", given, target, threads=options.threads, environment=faults)

    def model_of(definition: Definition, whole: Whole | None = None) -> Model:
        journal = None if checkpoint is None else checkpoint.journal(definition)
        return Model(definition, asked.properties, watcher, whole=whole, journal=journal)

    watcher.may_give_up = True
    try:
        if apart is not None:
            try:
                model = model_of(apart, Whole(apart, definition))
                return _Check(model, asked, options, watcher, trace, target, "", checkpoint).run_and_close()
            except DecompositionError as reason:
                why = str(reason)
        return _Check(model_of(definition), asked, options, watcher, trace, target, why, checkpoint).run_and_close()
    except GivenUp as given_up:
        without = options.without_reductions()
        result = _Check(model_of(definition), asked, without, watcher, trace, target, "", checkpoint).run_and_close()
        return replace(result, warnings=(*result.warnings, str(given_up)))
    finally:
        watcher.may_give_up = False


def _with_numbers(
    definition: Definition, asked: Asked, options: Options, watcher: Watcher, trace: bool, target: str | None
) -> Result:
    """Check with plain numbers, where the violation that was found could not be taken with them.

    If that search comes to its end, it is of the system as it is written, and its answer is the answer. Temporal
    properties are left open: with ranks, steps are fair together that differ in numbers alone.
    """
    watcher.go_on("analysis")
    limits = replace(options, max_states=min(options.max_states or NUMBERS, NUMBERS))
    found = _safety(replace(definition, ranked=False), None, "", asked, limits, watcher, trace, target, None)
    decided = found.verdict == "violated" or (found.verdict == "holds" and not asked.temporal)
    return found if decided else not_with_numbers(definition, asked, target)


def _with_vacuity(result: Result, definition: Definition, asked: Asked, options: Options, watcher: Watcher) -> Result:
    from quorate.search.vacuity import never_happening, with_vacuity

    plain = replace(
        options, vacuity=False, coverage=False, all=False, self_check=False, workers=None, address=None
    )  # many small searches

    def search(system: Definition, asked: Asked) -> Result:
        watcher.go_on("analysis")
        return _Check(Model(system, asked.properties, watcher), asked, plain, watcher, False, None).run()

    result = with_vacuity(result, definition, asked, search)
    covered = result.covered
    if covered is None and result.verdict == "holds":
        watcher.go_on("analysis")
        nothing = Asked((), False, True)
        counted = replace(plain, coverage=True, store="exact", stateless=False, por="none", search=None).for_coverage()
        covered = _Check(Model(definition, (), watcher), nothing, counted, watcher, False, None).run().covered
    told = never_happening(covered, result.warnings)
    return replace(result, warnings=(*result.warnings, *told))


class _Check:
    """One check under way."""

    def __init__(
        self,
        model: Model,
        asked: Asked,
        options: Options,
        watcher: Watcher,
        trace: bool,
        target: str | None,
        not_decomposed: str = "",
        checkpoint: Checkpoint | None = None,
    ) -> None:
        if options.coverage and model.definition.cells:
            # Which cells a process reads may depend on the order of their names: then what it has read, renamed, does
            # not tell what another one does (`for other in self.others` that stops at the first).
            options = replace(options, symmetry="none")
        self.model = model
        self.checkpoint = checkpoint
        self.definition: Definition = model.definition
        self.asked = asked
        self.options = options
        self.watcher = watcher
        self.wants_trace = trace
        self.self_check = SelfCheck() if options.self_check else None
        self.target = target
        self.dynamic = False
        """Dynamic partial-order reduction runs."""
        self.backend: Backend = NativeBackend(model)
        self.workers: DistributedBackend | None = None
        if options.distributed:
            self.backend = self.workers = distributed(model, asked, options, watcher, target)
        self.whole = model.whole
        self.shown: dict[str, Trace] = {}
        """A run for each `can` that some search has reached: what was shown once stays shown."""
        self.closed = False
        """Whether it is known of all handlers that may fail."""
        self.not_decomposed = not_decomposed
        """Why processes were not taken apart into their roles."""
        self._closing: Closing | None = None

    def run_and_close(self) -> Result:
        try:
            return self.run()
        finally:
            if self.workers is not None:
                self.workers.close()

    def run(self) -> Result:
        limit = self.options.max_states
        try:
            few = FIRST_BEHAVIOURS if self.whole is None and self.workers is None else MOST_BEHAVIOURS
            most = self.options.max_behaviours or few
            reductions = Reductions(self.model, self.options)
            reductions.analyse(most)
            # Then it matters whether handlers may fail.
            if self.asked.only_goals and self.watcher.may_give_up and not self.definition.ranked:
                known = reductions.closure or self.model.engine.close(self.model, most)
                # Whether a monitor that grows may fail is not known either.
                self.closed = known.complete and not self.model.engine.growing()
            if self.whole is not None:
                reductions.require_decomposed()
            setup = self.watcher.seconds
            if reductions.unfinished and self.workers is not None:
                reductions.leave_out("it is not known what all processes may do, and workers take no universe for it")
                self.workers.without_reductions()
            elif reductions.unfinished and not reductions.dynamic:
                return self._unclosed(reductions, limit)
            if self.workers is not None:
                with self.model.spent.on("workers"):
                    self.workers.start(reductions.ran)
                setup = self.watcher.seconds
        except _core.StoppedError:
            require_not_given_up(self.watcher, self.model)
            return self._result(Found("interrupt"), None, self.watcher.seconds, 0.0)
        except Halted as halted:  # in the analysis, perhaps after a search that has shown something
            self.model.halted = halted
            return self._result(Found("interrupt"), None, self.watcher.seconds, 0.0)
        found = self._search(reductions, limit)
        return self._result(found, reductions, setup, self.watcher.seconds - setup)

    def _unclosed(self, reductions: Reductions, limit: int | None) -> Result:
        """Search while the closure goes on beside it: without reductions, then with a universe from the searches.

        Whatever comes to its end first has the answer. A closure that ends is searched with.
        """
        closing = self._closing = Closing(reductions, self.watcher, by_levels=not self.options.depth_first)
        self.watcher.closed = False
        setup = self.watcher.seconds
        first = limit
        if self.options.depth_first or not WORTH_DROPPING:  # no levels to tell by, or no matter what they tell
            first = FIRST_STATES if limit is None else min(limit, FIRST_STATES)
        else:
            closing.drop_at(FIRST_STATES, WORTH_DROPPING * FIRST_STATES)
        with self.model.spent.on(DROPPED):
            found = self._search(reductions, first)
        if (found.stop == "states" and first == limit) or found.stop not in ("states", "overtaken"):
            return self._unclosed_result(found, reductions, setup)
        if self._answered(found):
            return self._unclosed_result(found, reductions, setup)
        self.watcher.phase = "analysis"
        closing.drop_at(None, 0)
        if not closing.ended:
            result = self._optimistic(closing, found, limit)
            if result is not None:
                return result
        self._closing = None
        self.watcher.closed = True
        self.watcher.phase = "analysis"
        self.model.engine.clear_answers()
        reductions = Reductions(self.model, self.options)
        reductions.analyse()
        setup = self.watcher.seconds
        return self._unclosed_result(self._search(reductions, limit), reductions, setup)

    def _optimistic(self, closing: Closing, found: Found, limit: int | None) -> Result | None:
        """Search with a universe that the searches themselves extend, until one of them stays inside.

        None if the closure has ended meanwhile.
        """
        universe = Universe(self.model)
        closing.reductions = reductions = Reductions(self.model, self.options)
        reductions.analyse(0)
        closing.before += found.transitions
        universe.seed()
        while True:
            self.watcher.phase = "analysis"
            universe.prepare(reductions)
            setup = self.watcher.seconds
            with self.model.spent.on(DROPPED):
                found = self._search(reductions, limit)
            if found.stop == "overtaken":
                return None
            if found.stop != "outgrown":
                return self._unclosed_result(found, reductions, setup)
            closing.before += found.transitions
            universe.grow(found)

    def _unclosed_result(self, found: Found, reductions: Reductions, setup: float) -> Result:
        closing = self._closing
        if closing is not None and closing.stopped is not None:
            require_not_given_up(self.watcher, self.model)
        return self._result(found, reductions, setup, self.watcher.seconds - setup)

    def _search(self, reductions: Reductions, max_states: int | None) -> Found:
        self.watcher.phase = "search"
        self.dynamic = reductions.dynamic
        found = self._search_once(max_states, reductions=reductions)
        while found.stop == "regrown" and not self._answered(found, void=True):
            # A property read a field that the quotient did not keep apart, so its answer is void; or it told processes
            # apart that were taken for interchangeable (docs/soundness.md, rules 8 and 10).
            reductions.apply_again()
            found = self._search_once(max_states, reductions=reductions)
        if self.self_check is not None and found.stop != "outgrown":
            try:
                self.self_check.verify(self.model, final=reductions.universe is None or found.stop == "finished")
            except _core.StoppedError:
                if found.stop == "finished":  # the search is over, but what was asked for has not been looked at
                    found = replace(found, stop="interrupt")
        reductions.searched(found)
        static = reductions.por.ran and not self.dynamic
        if static and found.violation is not None and not self.options.depth_first:
            return self._without_por(found, found.violation.length)
        return found

    def _without_por(self, found: Found, depth: int) -> Found:
        """Look again, no deeper: partial orders do not keep shortest runs (docs/soundness.md, rule 12)."""
        self.model.engine.unrelate()
        again = self._search_once(SHORTER_STATES, depth)
        if again.violation is None:  # or it has left the universe, and knows nothing
            return found
        return replace(found, violation=again.violation, is_shortest=True)

    def _search_once(
        self, max_states: int | None, depth: int | None = None, reductions: Reductions | None = None
    ) -> Found:
        options = self.options
        saver = None if reductions is None else self._saver(reductions, max_states)
        bits = 0
        if options.store == "bitstate":
            bits = BITSTATE_BYTES if options.max_memory is None else max(64, options.max_memory // 2)
        traversal: Traversal = "depth_first" if options.depth_first else "breadth_first"
        if self.dynamic:
            traversal = "dpor_classical" if options.dpor_variant == "classical" else "dpor_optimal"
        request = Request(
            traversal,
            deadlock=self.asked.deadlock,
            visible=visible(self.model),
            threads=1 if options.depth_first else options.threads,
            stateless=options.stateless,
            bitstate_bytes=bits,
            fingerprints=options.store == "fingerprint",
            spill=options.spill,
            max_states=max_states,
            max_memory=self.watcher.memory,
            seconds=self.watcher.seconds_left,
            max_depth=options.max_depth if self.dynamic else depth,
            void_states=VOID_STATES,
            goals_end_from=self._goals_end_from if self.closed else None,
            meanwhile=None if self._closing is None or depth is not None else self._closing.go_on,
            sample=SAMPLE if self.self_check is not None and depth is None else None,
            all=options.all,
            census=options.coverage,
            checkpoints=saver,
        )
        found = self.backend.search(request)
        if found.stop not in ("regrown", "outgrown"):
            broken = (found.violation, *(first for first, _ in found.violations))
            self.watcher.finds(broken_by(each, self.model) for each in broken if each is not None)
        if request.meanwhile is not None and self._closing is not None and self._closing.stopped is not None:
            found = replace(found, stop="interrupt")
        return replace(found, is_shortest=not options.depth_first and options.por == "none" and found.miss <= LIKELY)

    def _saver(self, reductions: Reductions, max_states: int | None) -> Saver | None:
        """What saves the search that is about to begin, or brings it to where it was."""
        if self.checkpoint is None:
            return None
        closing = self._closing
        return self.checkpoint.searching(
            self.model,
            self.watcher,
            reductions.to_json(),
            all_states=max_states == self.options.max_states,
            go_on=lambda transitions: None if closing is None else closing.go_on(0, transitions),
            wanted=lambda: closing is not None and closing.stopped is not None,
        )

    def _result(self, found: Found, reductions: Reductions | None, setup: float, seconds: float) -> Result:
        refuse_crash_flags(self.model)
        options = self.options
        trace = self._trace(found.violation, found.is_shortest)
        violations = self._violations(found)
        if trace is None:  # a run without steps is false, and still a run
            trace = next((each.trace for each in violations), None)
        answered = self._answered(found, last=True)
        approximate = options.store == "bitstate" or found.miss > LIKELY
        outcomes = outcomes_of(found, self.model, self.asked, self.shown, approximate=approximate)
        checked: Mapping[str, Any] | None = None
        if self.self_check is not None and self.self_check.begun:
            whole = found.stop in ("finished", "violation") and options.store == "exact" and not options.max_depth
            symmetric = reductions is not None and reductions.symmetry.ran
            self.self_check.compare(self.model, found, self.asked.deadlock, symmetric=symmetric, whole=whole)
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
            covered=self._covered(found),
            violations=violations if options.all else None,
        )

    def _violations(self, found: Found) -> tuple[Violation, ...]:
        """Of a search that went on: how often each property is violated, the first one first."""
        counted: list[Violation] = []
        for first, number in found.violations:
            trace = self._trace(first, found.is_shortest)
            counted.append(Violation(broken_by(first, self.model), number, trace))
        return tuple(counted)

    def _covered(self, found: Found) -> Coverage | None:
        if found.census is None:
            return None
        from quorate.search.coverage import coverage_of

        with self.watcher.lifted():
            return coverage_of(self.model, found.census, complete=found.stop == "finished")

    def _setup(self, seconds: float) -> dict[str, float]:
        """What setting up was spent on. The search that has the answer is none of it, though it may be noted."""
        spent = {name: each for name, each in self.model.spent.seconds.items() if each >= 0.001}
        others = sum(each for name, each in spent.items() if name != DROPPED)
        if DROPPED in spent:
            spent[DROPPED] = max(0.0, min(spent[DROPPED], seconds - others))
        return {name: each for name, each in spent.items() if each >= 0.001 and seconds >= 0.001}

    def _answered(self, found: Found, *, void: bool = False, last: bool = False) -> bool:
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
        enough = self._goals_end_from
        if enough is None or not all(each.name in self.shown for each in self.asked.properties):
            return False
        if self.closed:
            return last or found.states >= enough
        # A dynamic reduction that cut its runs was not stopped by the user: there may be more to find.
        return (last and found.stop not in ("cycle", "depth")) or found.states >= SMALL

    @property
    def _goals_end_from(self) -> int | None:
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
