"""Checks that were stopped while the model's code ran: outside of a search, or in an analysis that can be left out."""

from __future__ import annotations

from quorate.base.watchdog import Halted, Running
from quorate.language.system import System
from quorate.model.environment import Environment
from quorate.native.model import Model
from quorate.options import Options
from quorate.results.result import Result
from quorate.search.limits import Watcher, peak_memory


def halted_result(
    system: System | type[System],
    environment: Environment,
    options: Options,
    watcher: Watcher,
    halted: Halted,
    target: str | None,
) -> Result:
    """The result where the model's code was stopped outside of a search: what is known of the search, if one began."""
    watcher.halted(halted)
    states, transitions, frontier, depth = watcher.figures
    asked = system if isinstance(system, System) else system()
    return Result(
        system=type(asked).__name__,
        target=target,
        parameters=asked.parameters,
        verdict="incomplete",
        properties=watcher.so_far,
        states=states,
        transitions=transitions,
        frontier=frontier,
        depth=depth,
        seconds=watcher.seconds,
        peak_memory_bytes=peak_memory(),
        search=options.kind,
        store=options.store,
        threads=options.threads,
        stopped_by=watcher.reason,
        running=halted.running,
        environment=environment.to_json(),
    )


class GivenUp(Exception):  # noqa: N818 - the check goes on
    """The analysis met a call of the model that takes too long."""

    def __init__(self, running: Running | None) -> None:
        where = (
            f"{running.what} ran for long, in {running.file}:{running.line}"
            if running is not None
            else "a call ran for long"
        )
        super().__init__(f"no reductions: in the analysis, which also asks about what no run meets, {where}")


def require_not_given_up(watcher: Watcher, model: Model) -> None:
    """Raises GivenUp if it was the analysis alone that was stopped; the check then goes on without it."""
    if watcher.analysis_given_up and watcher.reason is None:
        watcher.may_give_up, watcher.analysis_given_up, watcher.without_analysis = False, False, True
        raise GivenUp(model.halted.running if model.halted is not None else None) from None
