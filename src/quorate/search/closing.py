"""The closure that goes on beside a search, for a share of what that costs (`reduce/share.py`)."""

from __future__ import annotations

from quorate import _core
from quorate.base.watchdog import Halted
from quorate.reduce.optimistic import Universe
from quorate.reduce.reductions import Reductions
from quorate.results.estimate import FEWEST_LEVELS, estimate
from quorate.search.limits import Watcher


class Closing:
    """The closure that goes on beside the searches of a check."""

    def __init__(self, reductions: Reductions, watcher: Watcher, *, by_levels: bool) -> None:
        """`by_levels`: it goes on at the end of each level of a search, so that it can be told how far that is."""
        self.reductions = reductions
        self.watcher = watcher
        self.before = 0
        """The transitions of searches that are over."""
        self.ended = False
        self.universe: Universe | None = None
        """In which the search stays, if it does."""
        self.stopped: BaseException | None = None
        """Why it was stopped, and the search with it."""
        self._by_levels = by_levels
        self._ends: list[int] = []
        """How many transitions the search has made up to the end of each level."""
        self.expected = 0
        """How many transitions the search is going to make; or the longest of those that were dropped."""
        self._dropped = 0
        self._drop_at: int | None = None
        self._worth_it = 0

    def drop_at(self, states: int | None, expected: int) -> None:
        """End a search that has this many states, and is expected to have that many in all; or none."""
        self._drop_at, self._worth_it = states, expected

    def go_on(self, states: int, transitions: int) -> bool:
        """While the search rests: whether that is to end."""
        journal = self.reductions.model.journal
        if journal is not None:
            journal.meanwhile(transitions)
        phase, self.watcher.phase = self.watcher.phase, "analysis"
        try:
            self.expected = self._expected(transitions)
            self.ended = self.reductions.go_on(self.before + transitions, self.before + self.expected)
        except (_core.StoppedError, Halted) as stopped:
            self.stopped = stopped
            return True
        finally:
            self.watcher.phase = phase
        return self.ended or self._drops(states, transitions)

    def outgrown(self) -> bool | None:
        """While the search waits for what lies outside of its universe: whether it goes on with that inside; None if it
        is to stop."""
        assert self.universe is not None
        phase, self.watcher.phase = self.watcher.phase, "analysis"
        try:
            return self.universe.outgrown()
        except (_core.StoppedError, Halted) as stopped:
            self.stopped = stopped
            return None
        finally:
            self.watcher.phase = phase

    def _drops(self, states: int, transitions: int) -> bool:
        if self._drop_at is None or states < self._drop_at:
            return False
        known = len(self._ends) >= FEWEST_LEVELS
        return not known or self.expected * states >= self._worth_it * transitions

    def _expected(self, transitions: int) -> int:
        """How many transitions the search is going to make. Without levels nothing points to its end: twice as many."""
        if not self._by_levels:
            return max(self.expected, 2 * transitions)
        if self._ends and transitions < self._ends[-1]:  # another search
            self._ends.clear()
            self._dropped = self.expected
        if transitions not in self._ends[-1:]:
            self._ends.append(transitions)
        found = estimate((0, *self._ends), transitions)
        return max(self._dropped, transitions if found is None else round(found.likely))
