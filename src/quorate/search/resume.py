"""Going on with a check that was saved."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from os import PathLike, fspath
from typing import Any

from quorate.base.errors import TargetError
from quorate.language.system import System
from quorate.model.environment import Environment
from quorate.model.given import restored
from quorate.native.journal import changed
from quorate.options import Options, told
from quorate.results.json import value_to_json
from quorate.results.result import Progress, Result
from quorate.search.check import checked
from quorate.search.checkpoint import Checkpoint, difference
from quorate.search.limits import Watcher


def resume(
    directory: str | PathLike[str],
    system: System | type[System] | Callable[[str], type[System]],
    *,
    threads: int | None = None,
    spill: str | None = None,
    max_states: int | None = None,
    max_memory: int | None = None,
    timeout: float | None = None,
    checkpoint_every: float = 60.0,
    progress: Callable[[Progress], object] | None = None,
    trace: bool = True,
    target: str | None = None,
    begun: Callable[[System, Options, Environment, str], object] | None = None,
) -> Result:
    """Go on with the check that `check(system, checkpoint=directory)` has saved, as if it had never been stopped.

    The model has to be the one that was saved. Of the options, only how far to go, how many threads, and where states
    spill to are given anew. In place of a system, a function may say where its class is, given the target that was
    saved. `target` is where it is now, if it has moved: the result names that.
    """
    with Checkpoint(fspath(directory), checkpoint_every, resumed=True) as saving:
        saved = saving.about
        limits = {"max_states": max_states, "max_memory": max_memory, "timeout": timeout}
        given = {**limits, "threads": threads, "spill": spill, "checkpoint": fspath(directory)}
        options = _options(saved["options"], given)
        environment = Environment.from_json(saved["environment"])
        instance = _instance(system, saved)
        named = target or saved["target"]
        asked = None if saved["properties"] is None else tuple(saved["properties"])
        if begun is not None:
            begun(instance, options, environment, named)
        watcher = Watcher(timeout, progress, options.max_memory)
        found = checked(instance, asked, environment, options, watcher, trace, named, saving)
        return saving.told(found)


def _options(saved: Mapping[str, Any], given: Mapping[str, Any]) -> Options:
    known = told(Options)
    if unknown := [name for name in saved if name not in known]:
        raise TargetError(f"the checkpoint has an option that is not known: {unknown[0]}", code="Q342")
    plain = {name: tuple(value) if isinstance(value, list) else value for name, value in saved.items()}
    return Options(**{**plain, **{name: value for name, value in given.items() if value is not None}})


def _instance(given: System | type[System] | Callable[[str], type[System]], saved: Mapping[str, Any]) -> System:
    if isinstance(given, System):
        parameters = {name: value_to_json(value) for name, value in given.parameters.items()}
        if parameters != saved["parameters"]:
            raise changed(difference(saved["parameters"], parameters, "parameters"))
        return given
    cls: type[System] = given if isinstance(given, type) else given(saved["target"])
    return restored(cls, saved["parameters"])
