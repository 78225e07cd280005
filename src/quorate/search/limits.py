"""How far a search may go: states, memory, time, and the user's patience."""

from __future__ import annotations

import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any

from quorate import _core
from quorate.results.result import Limit, Progress


def default_memory_limit() -> int:
    """Most of what the machine has left, so that a search ends with an answer before the system ends it."""
    free = _available()
    return int(free * 0.9)


def peak_memory() -> int:
    """The most bytes of memory that this process had at a time."""
    unit = 1 if sys.platform == "darwin" else 1024  # macOS counts bytes
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _available() -> int:
    page = os.sysconf("SC_PAGE_SIZE")
    # macOS does not say how much is left: all that there is, then.
    available = page * os.sysconf("SC_AVPHYS_PAGES" if "SC_AVPHYS_PAGES" in os.sysconf_names else "SC_PHYS_PAGES")
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


class Watcher:
    """Asked about ten times a second while something long runs: reports progress, and says whether to stop.

    As a context it turns Ctrl-C into a request to stop, so that what was covered is still reported.
    """

    def __init__(
        self, timeout: float | None, progress: Callable[[Progress], object] | None, max_memory: int | None = None
    ) -> None:
        self.started = time.perf_counter()
        self.timeout = timeout
        self.memory = max_memory if max_memory is not None else default_memory_limit() + _core.resident_bytes()
        self.progress = progress
        self.phase = "analysis"
        self.reason: Limit | None = None
        self._interrupted = False
        self._previous: Any = None

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.started

    @property
    def seconds_left(self) -> float | None:
        return None if self.timeout is None else max(0.0, self.timeout - self.seconds)

    def __call__(self, states: int, transitions: int, frontier: int, depth: int, memory: int) -> bool:
        if self.progress is not None:
            self.progress(Progress(states, transitions, frontier, depth, self.seconds, memory, self.phase))
        if self._interrupted:
            self.reason = "interrupt"
        elif self.timeout is not None and self.seconds > self.timeout:
            self.reason = "time"
        elif memory > self.memory:
            self.reason = "memory"
        return self.reason is not None

    def __enter__(self) -> Watcher:
        # Python runs signal handlers in the main thread alone; elsewhere Ctrl-C is not ours to take.
        if threading.current_thread() is threading.main_thread():
            self._previous = signal.signal(signal.SIGINT, self._interrupt)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)

    def _interrupt(self, signum: int, frame: FrameType | None) -> None:
        if self._interrupted:  # asked twice: do not insist on a report
            raise KeyboardInterrupt
        self._interrupted = True
