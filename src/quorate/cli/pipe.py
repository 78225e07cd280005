"""What a command tells the process that watches over it (`supervisor.py`): its limits, how far it is, what it knows.

So that something true can be said, should it not come back from a call of the model. Where nobody watches, as in tests,
nothing is told.
"""

import json
import os
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from quorate.cli import interrupts

if TYPE_CHECKING:
    from quorate.language.system import System
    from quorate.model.environment import Environment
    from quorate.options import Options
    from quorate.results.result import Progress, PropertyOutcome, Result

EVERY = 0.25  # seconds between two reports of progress

_to_supervisor: int | None = None
_supervisor = 0
_told_by = 0
"""The process that tells. Copies of it, by the model or to ask the model twice, have nothing to say."""
_last_alive = 0.0


def opened(descriptor: int, supervisor: int) -> None:
    """Someone watches from now on."""
    global _to_supervisor, _supervisor, _told_by
    from quorate.base import interruptible, watchdog

    _to_supervisor, _supervisor, _told_by = descriptor, supervisor, os.getpid()
    interrupts.heard = lambda: tell(heard=True)
    interruptible.limited = lambda seconds: tell(limit=seconds)
    watchdog.alive = _alive


def _alive() -> None:
    global _last_alive
    now = time.monotonic()
    if now >= _last_alive + EVERY:
        _last_alive = now
        tell(alive=True)


def attach() -> None:
    """Do not outlive whoever watches."""
    if _to_supervisor is not None:
        from quorate import _core

        _core.end_with(_supervisor)


def tell(**message: Any) -> None:
    """Tell whoever watches; one line each, written at once."""
    if _to_supervisor is None or os.getpid() != _told_by:
        return
    with suppress(OSError):
        os.write(_to_supervisor, json.dumps(message).encode() + b"\n")


def begin(target: str, options: "Options", environment: "Environment", *, as_json: bool) -> None:
    """A check begins: its file is about to be loaded."""
    if _to_supervisor is None:
        return
    from quorate import _core
    from quorate.base.machine import default_memory_limit

    memory = options.max_memory
    if memory is None:
        memory = default_memory_limit() + _core.resident_bytes()
    how = {"search": options.kind, "store": options.store, "threads": options.threads}
    limits = {"timeout": options.timeout, "memory": memory}
    tell(begin={"target": target, "json": as_json, **limits, **how, "environment": environment.to_json()})


def made(system: "System") -> None:
    """Which instance is going to be checked."""
    if _to_supervisor is not None:
        from quorate.results.json import value_to_json

        given = {name: value_to_json(value) for name, value in system.parameters.items()}
        tell(instance={"system": type(system).__name__, "parameters": given})


def followed(progress: Callable[["Progress"], object] | None) -> Callable[["Progress"], object] | None:
    """Progress that is told on its way to whoever else wants to know."""
    if _to_supervisor is None:
        return progress
    last, phase = -EVERY, ""
    told: tuple[PropertyOutcome, ...] = ()

    def update(now: "Progress") -> None:
        nonlocal last, phase, told
        if now.undecided != told:  # also that a violation was met
            told = now.undecided
            tell(properties=[each.to_json() for each in now.undecided])
            last = -EVERY
        if now.seconds >= last + EVERY or now.phase != phase:
            last, phase = now.seconds, now.phase
            figures = {"states": now.states, "transitions": now.transitions, "frontier": now.frontier}
            tell(progress={**figures, "depth": now.depth, "seconds": now.seconds}, phase=now.phase)
        if progress is not None:
            progress(now)

    return update


def known(result: "Result") -> None:
    """The verdict is there; what is left is to show it."""
    if _to_supervisor is not None:
        from dataclasses import replace

        tell(result=replace(result, trace=None, witnesses={}).to_json(), phase="output")
