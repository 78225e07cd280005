"""By what factor each reduction shrinks a search: the same search without it, as far as that costs little."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from quorate.reduce.reductions import ALL
from quorate.results.result import Result

TOGETHER = "all together"
SECONDS = 3.0
"""For each search. The verdict is known, this is for the reader of a report."""


class Factor(NamedTuple):
    """What a search needs without a reduction."""

    states: int
    less: int
    """What it needs with it."""
    whole: bool
    """Otherwise the time was up, and it needs more than that."""

    def __str__(self) -> str:
        if not self.whole and self.states <= self.less:
            return f"not known: without it the search got no further than {self.states:,} states in time"
        more = "" if self.whole else "more than "
        return f"{self.states:,} states without, factor {more}{self.states / max(1, self.less):,.1f}"


def factors(result: Result, again: Callable[..., Result]) -> dict[str, Factor]:
    """Of every reduction that ran, and of all together. `again` searches with some options changed.

    Nothing where states cannot be compared: depth-first, a violation is met sooner or later by chance, and a search
    that was stopped says nothing about the rest.
    """
    ran = [each for each in ALL if result.reductions.get(each.name, {}).get("ran")]
    if result.search != "bfs" or result.stopped_by is not None:
        return {}
    asked = {each.name: dict(each.off) for each in ran}
    if len(ran) > 1:
        asked[TOGETHER] = {key: value for each in ran for key, value in each.off.items()}
    return {name: _without(result, again, changed) for name, changed in asked.items()}


def _without(result: Result, again: Callable[..., Result], changed: dict[str, Any]) -> Factor:
    found = again(**changed, trace=False, timeout=SECONDS)
    return Factor(found.states, result.states, found.stopped_by is None)
