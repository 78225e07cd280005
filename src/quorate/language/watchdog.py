"""Handlers that never return.

Counting every instruction of every handler would be dear, a time limit alone would make verdicts depend on the machine.
So a patrol notices a handler that has been running for long, interrupts it, and the run is repeated with its
instructions counted: only the count decides. The limit is high enough that the patrol comes by before it is reached.
"""

from __future__ import annotations

import _thread
import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import Any, TypeVar

from quorate.language.errors import Location, nearest

T = TypeVar("T")

PATROL_SECONDS = 0.25
MAX_STEPS = 20_000_000
_LAST_STEPS = 10_000
_IDLE_ROUNDS = 20


class Suspicion(BaseException):
    """Raised by the patrol inside a handler that runs for long."""


class Endless(BaseException):
    """The counted run went over the limit."""

    def __init__(self, location: Location | None) -> None:
        super().__init__(str(location))
        self.location = location


class Watch:
    """What the patrol looks at.

    `serial` goes up with every run, `thread` is the thread that runs it, 0 between runs, and `struck` is the run that
    the patrol has decided to interrupt.
    """

    __slots__ = ("patrolling", "serial", "struck", "thread")

    def __init__(self) -> None:
        self.serial = 0
        self.thread = 0
        self.struck = -1
        self.patrolling = False


watch = Watch()


def supervised(run: Callable[[], T]) -> T:
    """Run something that may have no end; Endless if it has none. It may be run twice, so it must start afresh."""
    try:
        return _watched(run)
    except Suspicion:
        watch.struck = -1
    return counted(run)


def _watched(run: Callable[[], T]) -> T:
    serial = watch.serial = watch.serial + 1
    if not watch.patrolling:
        watch.patrolling = True
        _thread.start_new_thread(_patrol, ())
    watch.thread = _thread.get_ident()
    try:
        return run()
    except Suspicion:
        watch.struck = -1
        raise
    finally:
        watch.thread = 0
        # The blow may fall just after the run ended by itself. Wait for it here, where it is expected.
        while watch.struck == serial:
            time.sleep(0.001)


def counted(run: Callable[[], T]) -> T:
    """Run with every instruction of Python counted. Lines would not do: `while True: pass` never starts a new one."""
    left = MAX_STEPS
    lines: set[Location] = set()

    def count(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal left
        if event == "call":
            frame.f_trace_opcodes = True  # and lines: without them Python 3.13 reports no opcodes of some loops
        left -= 1
        if left < _LAST_STEPS:
            place = nearest(frame)
            if place is not None:
                lines.add(place)
            if left < 0:
                # The first line of the loop, since where in it the count ends differs between versions of Python,
                # and in some of them from run to run.
                raise Endless(min(lines, default=None))
        return count

    previous = sys.gettrace()
    sys.settrace(count)
    try:
        return run()
    finally:
        sys.settrace(previous)


def _patrol() -> None:
    seen = -1
    idle = 0
    while idle < _IDLE_ROUNDS:
        time.sleep(PATROL_SECONDS)
        serial, thread = watch.serial, watch.thread
        if not thread:
            idle += 1
        elif serial != seen:
            idle, seen = 0, serial
        else:
            _interrupt(serial, thread)
    watch.patrolling = False


def _interrupt(serial: int, thread: int) -> None:
    import ctypes

    watch.struck = serial
    if watch.serial == serial and watch.thread == thread:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(Suspicion))
    else:
        watch.struck = -1
