"""The closure that goes on beside a search, and gets as much as that."""

from __future__ import annotations

from quorate import _core
from quorate.base.watchdog import Halted
from quorate.reduce.reductions import Reductions
from quorate.search.limits import Watcher


class Closing:
    """The closure that goes on beside the searches of a check."""

    def __init__(self, reductions: Reductions, watcher: Watcher) -> None:
        self.reductions = reductions
        self.watcher = watcher
        self.before = 0
        """The transitions of searches that are over."""
        self.ended = False
        self.stopped: BaseException | None = None
        """Why it was stopped, and the search with it."""

    def go_on(self, _: int, transitions: int) -> bool:
        """While the search rests: whether that is to end."""
        journal = self.reductions.model.journal
        if journal is not None:
            journal.meanwhile(transitions)
        phase, self.watcher.phase = self.watcher.phase, "analysis"
        try:
            self.ended = self.reductions.go_on(self.before + transitions)
        except (_core.StoppedError, Halted) as stopped:
            self.stopped = stopped
            return True
        finally:
            self.watcher.phase = phase
        return self.ended
