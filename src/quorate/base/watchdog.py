"""Handlers that never return.

Counting every instruction of every handler would be dear, a time limit alone would make verdicts depend on the machine.
So a patrol notices a handler that has been running for long, interrupts it, and the run is repeated with its
instructions counted: only the count decides. The limit is high enough that the patrol comes by before it is reached.
"""

from __future__ import annotations

import _thread
import os
import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import Any, TypeVar

from quorate.base.errors import Location, Signal, nearest

T = TypeVar("T")

PATROL_SECONDS = 0.25
MAX_STEPS = 20_000_000
_LAST_STEPS = 10_000
_IDLE_ROUNDS = 20


class Suspicion(Signal):
    """Raised by the patrol inside a handler that runs for long."""


class Endless(Signal):
    """The counted run went over the limit."""

    def __init__(self, location: Location | None) -> None:
        super().__init__(str(location))
        self.location = location


class Watch:
    """What the patrol and those it watches tell each other.

    `serial` goes up with every run, `thread` is the thread that runs it, 0 between runs. While the patrol is `striking`
    it decides whether to interrupt a run; `struck` says that it has done so.
    """

    __slots__ = ("patrolling", "serial", "striking", "struck", "thread")

    def __init__(self) -> None:
        self.serial = 0
        self.thread = 0
        self.without_patrol()

    def without_patrol(self) -> None:
        self.striking = False
        self.struck = False
        self.patrolling = False


watch = Watch()
os.register_at_fork(after_in_child=watch.without_patrol)  # the patrol is a thread, and threads do not survive a fork


def supervised(run: Callable[[], T]) -> T:
    """Run something that may have no end; Endless if it has none. It may be run twice, so it must start afresh."""
    try:
        watch.serial += 1
        watch.thread = _thread.get_ident()
        if not watch.patrolling:
            watch.patrolling = True
            _thread.start_new_thread(_patrol, (watch,))
        try:
            return run()
        finally:
            _stand_down()
    except Suspicion:
        _stand_down()  # the blow may have fallen before that was done
    return counted(run)


def _stand_down() -> None:
    """From here on no blow hits this thread: none is dealt any more, and one that has not yet fallen is waited for."""
    watch.thread = 0
    while watch.striking:
        time.sleep(0.001)
    if not watch.struck:
        return
    watch.struck = False
    try:
        # Whether it has fallen cannot be known, but there is never more than one to come: this takes its place. (After
        # one that was withdrawn, Python 3.11 does not get on where instructions are counted.)
        _raise_in(_thread.get_ident())
        while True:
            time.sleep(0.001)
    except Suspicion:
        pass


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


def _patrol(watch: Watch) -> None:
    seen = -1
    idle = 0
    while True:
        time.sleep(PATROL_SECONDS)
        serial, thread = watch.serial, watch.thread
        if thread and serial == seen:
            _interrupt(watch, serial, thread)
        elif thread:
            idle, seen = 0, serial
        else:
            idle += 1
        if idle >= _IDLE_ROUNDS:
            watch.patrolling = False
            if not watch.thread:
                return
            # A run has begun just now, perhaps trusting in this patrol. That it may have called another does no harm.
            watch.patrolling = True
            idle = 0


def _interrupt(watch: Watch, serial: int, thread: int) -> None:
    watch.striking = True
    if watch.serial == serial and watch.thread == thread:
        watch.struck = True
        _raise_in(thread)
    watch.striking = False


def _raise_in(thread: int) -> None:
    """Raise Suspicion in a thread, as soon as it gets on."""
    import ctypes

    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(Suspicion))
