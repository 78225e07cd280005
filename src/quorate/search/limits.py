"""How far a search may go: states, memory, time, and the user's patience."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from quorate import _core
from quorate.base.interruptible import Interruptible
from quorate.base.machine import default_memory_limit
from quorate.base.watchdog import Halted
from quorate.results.estimate import Estimate, estimate
from quorate.results.result import VIOLATION_MET, Limit, Progress, PropertyOutcome


def peak_memory(of: int = resource.RUSAGE_SELF) -> int:
    """The most bytes of memory that this process had at a time; or its children."""
    unit = 1 if sys.platform == "darwin" else 1024  # macOS counts bytes
    return resource.getrusage(of).ru_maxrss * unit


ANALYSIS_SECONDS = 20.0
"""Of the processor's time. The analysis also asks about what no run meets, and a handler may have no end there. So
after a call that takes so long the check does without analysis; no verdict depends on that."""
FINISHING_SECONDS = 10.0
"""What the search has found is replayed although the time is up; but the model's code is not waited for without end."""

PROBE_SECONDS = 1.0
"""A search that is over sooner needs no estimate."""


class Watcher(Interruptible):
    """Asked about ten times a second while something long runs: reports progress, and says whether to stop.

    As a context it turns Ctrl-C into a request to stop, so that what was covered is still reported. Code of the model
    that runs meanwhile is stopped too (`base/watchdog.py`).
    """

    def __init__(
        self, timeout: float | None, progress: Callable[[Progress], object] | None, max_memory: int | None = None
    ) -> None:
        super().__init__()
        self.started = time.perf_counter()
        self.timeout = timeout
        self.memory = max_memory if max_memory is not None else default_memory_limit() + _core.resident_bytes()
        self.progress = progress
        self.phase = "analysis"
        self.may_give_up = False
        """Whether there is something to be given up: an analysis, and a check that can do without."""
        self.reason: Limit | None = None
        self.figures = (0, 0, 0, 0)
        self.levels: Sequence[int] = ()
        """How many states there were before each level of a breadth-first search."""
        """States, transitions, frontier and depth, as they were last told."""
        self.closed = True
        """Whether it is known what all processes may do: otherwise there may be states without end."""
        self.probe: Callable[[], int | None] | None = None
        """Says how many levels there may be; asked once, if a search takes long and somebody looks on."""
        self._horizon: int | None = None
        self.shares: tuple[int, ...] = ()
        """How many states each worker has, where there are several."""
        self.undecided: tuple[PropertyOutcome, ...] = ()
        """What is asked for, once that is known, as it stands as long as nothing is decided."""
        self.violated: tuple[str, ...] = ()
        """What the search that runs has met a violation of. It may turn out to be void."""
        self.found: tuple[str, ...] = ()
        """What some search has found a violation of."""
        self.analysis_given_up = False
        """A call of the model took too long for the analysis."""
        self.without_analysis = False
        """That was so once, and from then on the check does without."""
        self._call, self._call_since = -1, 0.0
        self._finishing: float | None = None
        self._lifted = False

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.started

    @property
    def seconds_left(self) -> float | None:
        return None if self.timeout is None else max(0.0, self.timeout - self.seconds)

    def asks(self, undecided: tuple[PropertyOutcome, ...]) -> None:
        """Tell at once what is asked for: the model's code may never come back from the next call."""
        self.undecided = undecided
        self._tell(_core.resident_bytes())

    def finds(self, names: Iterable[str]) -> None:
        """Tell at once what was violated: the run that shows it is still to be made."""
        before, self.found = self.found, tuple(dict.fromkeys((*self.found, *names)))
        if self.found != before:
            self._tell(_core.resident_bytes())

    @property
    def so_far(self) -> tuple[PropertyOutcome, ...]:
        """What is asked for, as it stands: not decided, but perhaps a violation was met."""
        broken = {*self.found, *self.violated}
        known = {each.name for each in self.undecided}
        told = [replace(each, note=VIOLATION_MET) if each.name in broken else each for each in self.undecided]
        failed = [PropertyOutcome(name, "assertion", "incomplete", VIOLATION_MET) for name in sorted(broken - known)]
        return (*failed, *told)

    def __call__(
        self,
        states: int,
        transitions: int,
        frontier: int,
        depth: int,
        memory: int,
        levels: Sequence[int] = (),
        violated: tuple[str, ...] | None = None,
    ) -> bool:
        self.figures = states, transitions, frontier, depth
        self.levels = levels or self.levels
        self.violated = self.violated if violated is None else violated
        self._tell(memory)
        return self._stops(memory)

    def _tell(self, memory: int) -> None:
        if self.progress is not None:
            expected = None
            if self.phase == "search":
                expected = self._expected()
            told = Progress(*self.figures, self.seconds, memory, self.phase, self.so_far, self.shares, expected)
            self.progress(told)

    def _expected(self) -> Estimate | None:
        probe = self.probe
        if probe is not None and self.seconds > PROBE_SECONDS:
            self.probe = None
            self._horizon = probe()
        return estimate(self.levels, self.figures[0], self.figures[2], closed=self.closed, horizon=self._horizon)

    def was_stopped(self) -> bool:
        """No verdict rests on what comes, and somebody waits."""
        return self.reason is not None

    def still_there(self) -> None:
        """Tell where the search stands while it rests: it is being saved, or loaded."""
        self._tell(_core.resident_bytes())

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
        self._tell(_core.resident_bytes())
        self._watch.stand_down()

    def go_on(self, phase: str) -> None:
        """After something was replayed: there is more to search, and limits are what they were."""
        self.phase = phase
        self._finishing = None

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

    def _halting(self) -> None:
        self.reason = "interrupt"
