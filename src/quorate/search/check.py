"""Checking a system: the pipeline from definition to result."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from os import PathLike, fspath
from typing import Any, Literal

from quorate import _core
from quorate.base.errors import LimitError
from quorate.base.failures import TOO_DEEP, TOO_DEEP_HINT, model_at_fault
from quorate.base.watchdog import Halted
from quorate.language.pid import DecompositionError
from quorate.language.system import System
from quorate.model.define import define
from quorate.model.definition import Definition
from quorate.model.environment import Environment
from quorate.native.model import Model
from quorate.options import NetworkModel, Options
from quorate.properties.asked import Asked, select
from quorate.properties.purity import Purity
from quorate.reduce.decomposition import Whole, apart_for
from quorate.results.result import Progress, Result
from quorate.search.checkpoint import Checkpoint, about, refuse
from quorate.search.distributed import require_shareable
from quorate.search.implicit import refuse_what_implicit_crashes_miss
from quorate.search.in_flight import asking_again, message_options, read_first, with_messages
from quorate.search.limits import Watcher
from quorate.search.ranked import TOO_MANY, ranked_options
from quorate.search.ranked import undecided as not_with_numbers
from quorate.search.rebuild import ReplayError
from quorate.search.safety import Safety
from quorate.search.spill import require_writable
from quorate.search.stopped import GivenUp, halted_result
from quorate.search.temporal import refuse_too_large, with_temporal
from quorate.search.verdict import undecided

# So many states are searched with plain numbers.
NUMBERS = 300_000


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
    asked = select(definition, property, options.ltl, options.ctl).for_one_search(options)
    if definition.ranked:
        options = ranked_options(definition, asked, options)
    apart, why = (None, "") if definition.ranked else apart_for(options, system, environment)
    watcher.asks(undecided(asked))
    refuse_what_implicit_crashes_miss(definition, asked)
    refuse_too_large(asked.temporal)
    if options.distributed:
        require_shareable(definition)
        read_first(definition, asked)
    if checkpoint is not None:
        refuse(definition, options, asked)
        checkpoint.begins(definition, asked)
    with Purity(definition, apart, hurried=watcher.was_stopped) as purity:
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
                return Safety(model, asked, options, watcher, trace, target, "", checkpoint).run_and_close()
            except DecompositionError as reason:
                why = str(reason)
        return Safety(model_of(definition), asked, options, watcher, trace, target, why, checkpoint).run_and_close()
    except GivenUp as given_up:
        without = options.without_reductions()
        result = Safety(model_of(definition), asked, without, watcher, trace, target, "", checkpoint).run_and_close()
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
    limits = replace(options, symmetry="none", max_states=min(options.max_states or NUMBERS, NUMBERS))
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
        return Safety(Model(system, asked.properties, watcher), asked, plain, watcher, False, None).run()

    result = with_vacuity(result, definition, asked, search)
    covered = result.covered
    if covered is None and result.verdict == "holds":
        watcher.go_on("analysis")
        nothing = Asked((), False, True)
        counted = replace(plain, coverage=True, store="exact", stateless=False, por="none", search=None).for_coverage()
        covered = Safety(Model(definition, (), watcher), nothing, counted, watcher, False, None).run().covered
    told = never_happening(covered, result.warnings)
    return replace(result, warnings=(*result.warnings, *told))
