"""What time was spent on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter


class Stopwatch:
    """Seconds by what they were spent on. Kinds do not nest: what is measured within another counts for itself."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._inner = 0.0

    @contextmanager
    def on(self, what: str) -> Iterator[None]:
        """Measure what is done within this context."""
        begun, before, self._inner = perf_counter(), self._inner, 0.0
        try:
            yield
        finally:
            took = perf_counter() - begun
            self.seconds[what] = self.seconds.get(what, 0.0) + took - self._inner
            self._inner = before + took
