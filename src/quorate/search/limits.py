"""How far a search may go: states, memory, time, and the user's patience."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any

from quorate import _core
from quorate.language.watchdog import Halted, Watch
from quorate.search.result import Limit, Progress


def default_memory_limit() -> int:
    """Most of what the machine has left, so that a search ends with an answer before the system ends it."""
    free = _available()
    return int(free * 0.9)


def _available() -> int:
    page = os.sysconf("SC_PAGE_SIZE")
    available = page * os.sysconf("SC_AVPHYS_PAGES")
    try:
        with open("/proc/meminfo") as file:
            for line in file:
                if line.startswith("MemAvailable:"):
                    available = int(line.split()[1]) * 1024
    except OSError:
        pass
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            with open(path) as file:
                text = file.read().strip()
        except OSError:
            continue
        if text.isdigit():
            available = min(available, int(text))
    return available


INTERRUPTED_AGAIN = 0.3
"""Seconds: two interrupts so close are one, sent to the process and to its group."""
ANALYSIS_SECONDS = 20.0
"""Of the processor's time. The analysis also asks about what no run meets, and a handler may have no end there. So
after a call that takes so long the check does without analysis; no verdict depends on that."""
FINISHING_SECONDS = 10.0
"""What the search has found is replayed although the time is up; but the model's code is not waited for without end."""


class Watcher:
    """Asked about ten times a second while something long runs: reports progress, and says whether to stop.

    As a context it turns Ctrl-C into a request to stop, so that what was covered is still reported. Code of the model
    that runs meanwhile is stopped too (`language/watchdog.py`).
    """

    def __init__(
        self, timeout: float | None, progress: Callable[[Progress], object] | None, max_memory: int | None = None
    ) -> None:
        self.started = time.perf_counter()
        self.timeout = timeout
        self.memory = max_memory if max_memory is not None else default_memory_limit() + _core.resident_bytes()
        self.progress = progress
        self.phase = "analysis"
        self.may_give_up = False
        """Whether there is something to be given up: an analysis, and a check that can do without."""
        self.reason: Limit | None = None
        self.figures = (0, 0, 0, 0)
        """States, transitions, frontier and depth, as they were last told."""
        self.analysis_given_up = False
        """A call of the model took too long for the analysis."""
        self._call, self._call_since = -1, 0.0
        self._finishing: float | None = None
        self._lifted = False
        self._interrupted = False
        self._interrupted_at = -INTERRUPTED_AGAIN
        self._previous: Any = None
        self._watch = Watch(self._is_over)

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.started

    @property
    def seconds_left(self) -> float | None:
        return None if self.timeout is None else max(0.0, self.timeout - self.seconds)

    def __call__(self, states: int, transitions: int, frontier: int, depth: int, memory: int) -> bool:
        self.figures = states, transitions, frontier, depth
        if self.progress is not None:
            self.progress(Progress(states, transitions, frontier, depth, self.seconds, memory, self.phase))
        return self._stops(memory)

    def _stops(self, memory: int) -> bool:
        if self._interrupted:
            self.reason = "interrupt"
        elif self.timeout is not None and self.seconds > self.timeout:
            self.reason = "time"
        elif memory > self.memory:
            self.reason = "memory"
        return self.reason is not None

    def _is_over(self) -> bool:
        """Asked while the model's code runs."""
        if self._lifted:
            return False
        if self._finishing is None:
            return self._stops(_core.resident_bytes()) or self._gives_up_analysis()
        if self._interrupted or (self.timeout is not None and time.perf_counter() > self._finishing):
            self.reason = "interrupt" if self._interrupted else "time"
            return True
        return False

    def _gives_up_analysis(self) -> bool:
        if self.phase != "analysis" or not self.may_give_up:
            return False
        now, call = self._watch.cpu_seconds(), self._watch.serial
        if call != self._call:
            self._call, self._call_since = call, now
        elif now > self._call_since + ANALYSIS_SECONDS and self._watch.is_in_model():
            self.analysis_given_up = True
        return self.analysis_given_up

    def finish(self) -> None:
        """The search is over: what it found may still be replayed, whatever stopped it."""
        self.phase = "replay"
        self._finishing = time.perf_counter() + FINISHING_SECONDS
        self._interrupted = False  # that was about the search
        if self.progress is not None:
            states, transitions, frontier, depth = self.figures
            memory = _core.resident_bytes()
            self.progress(Progress(states, transitions, frontier, depth, self.seconds, memory, self.phase))
        self._watch.stand_down()

    @contextmanager
    def lifted(self) -> Iterator[None]:
        """For something short that must not be lost: a run that was found is replayed although the time is up."""
        before, self._lifted = self._lifted, True
        try:
            yield
        finally:
            self._lifted = before

    def halted(self, halted: Halted) -> None:
        """The model's code was stopped."""
        if halted.out_of_memory:
            self.reason = "memory"
        elif self.reason is None:
            self.reason = "interrupt"

    def __enter__(self) -> Watcher:
        # Python runs signal handlers in the main thread alone; elsewhere Ctrl-C is not ours to take.
        if threading.current_thread() is threading.main_thread():
            self._previous = signal.signal(signal.SIGINT, self._interrupt)
        self._watch.begin()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._watch.end()
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)

    def _interrupt(self, signum: int, frame: FrameType | None) -> None:
        before, self._interrupted_at = self._interrupted_at, time.perf_counter()
        if self._interrupted_at < before + INTERRUPTED_AGAIN:
            return
        if self._interrupted:  # asked twice: do not insist on a report
            raise KeyboardInterrupt
        self._interrupted = True
        if self._watch.running:  # in this thread, the only one that handles signals
            self.reason = "interrupt"
            raise Halted
