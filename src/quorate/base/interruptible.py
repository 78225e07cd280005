"""What takes Ctrl-C while the model's code runs, and keeps a limit on it (`watchdog.py`)."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, ClassVar, Self

from quorate.base.echo import forget, is_echo
from quorate.base.watchdog import Halted, Watch

limited: Callable[[float | None], object] | None = None
"""Told how many seconds the main thread has from now on, whenever that changes."""


class Interruptible:
    """As a context: Ctrl-C is a request to stop. Code of the model that runs meanwhile is stopped: Halted."""

    _innermost: ClassVar[Interruptible | None] = None

    def __init__(self) -> None:
        self._interrupted = False
        self._previous: Any = None
        self._outer: Interruptible | None = None
        self._watch = Watch(self._is_over)

    @property
    def seconds_left(self) -> float | None:
        """How long this may still take."""
        raise NotImplementedError

    def _is_over(self) -> bool:
        """Asked while the model's code runs, in another thread: whether it is to stop."""
        raise NotImplementedError

    def _halting(self) -> None:
        """Ctrl-C is about to stop the model's code."""

    def __enter__(self) -> Self:
        # Python runs signal handlers in the main thread alone; elsewhere Ctrl-C is not ours to take.
        if threading.current_thread() is threading.main_thread():
            self._previous = signal.signal(signal.SIGINT, self._interrupt)
            forget()
            self._outer, Interruptible._innermost = Interruptible._innermost, self
            self._tell_limit()
        self._watch.begin()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._watch.end()
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)
            Interruptible._innermost = self._outer
            if self._outer is not None:
                self._outer._tell_limit()
            elif limited is not None:
                limited(None)

    def _tell_limit(self) -> None:
        if limited is not None:
            limited(self.seconds_left)

    def _interrupt(self, signum: int, frame: FrameType | None) -> None:
        if is_echo():
            return
        if self._interrupted:  # asked twice: do not insist on a report
            raise KeyboardInterrupt
        self._interrupted = True
        if self._watch.running:  # in this thread, the only one that handles signals
            self._halting()
            self._watch.hit = True
            raise Halted


class Patience(Interruptible):
    """Code of the model is waited for so many seconds, or until Ctrl-C."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self._until = time.monotonic() + seconds

    @property
    def seconds_left(self) -> float | None:
        return max(0.0, self._until - time.monotonic())

    def _is_over(self) -> bool:
        return self._interrupted or time.monotonic() > self._until
