"""Handlers that never return.

Counting every line of every handler would be dear, a time limit alone would make verdicts depend on the machine. So a
patrol notices a handler that has been running for long, interrupts it, and the run is repeated with its lines counted:
only the count decides. The limit is so high that no machine executes that many lines before the patrol comes by.
"""

from __future__ import annotations

import _thread
import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import Any, TypeVar

T = TypeVar("T")

PATROL_SECONDS = 0.5
MAX_LINES = 20_000_000
_IDLE_ROUNDS = 10


class Suspicion(BaseException):
    """Raised by the patrol inside a handler that runs for long."""


class Endless(BaseException):
    """The counted run went over the limit."""

    def __init__(self, file: str, line: int) -> None:
        super().__init__(f"{file}:{line}")
        self.file = file
        self.line = line


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
    finally:
        watch.thread = 0
        # The blow may fall just after the run ended by itself. Wait for it here, where it is expected.
        while watch.struck == serial:
            time.sleep(0.001)


def counted(run: Callable[[], T], limit: int = 0) -> T:
    """Run with every line of Python counted."""
    left = limit or MAX_LINES

    def count(frame: FrameType, _event: str, _argument: Any) -> Any:
        nonlocal left
        left -= 1
        if left < 0:
            raise Endless(frame.f_code.co_filename, frame.f_lineno)
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
