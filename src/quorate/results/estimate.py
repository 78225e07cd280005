"""How many states a search is going to have, from the sizes of its levels so far.

The levels of a breadth-first search of a finite system grow, each by a smaller factor than the one before, come to a
peak and shrink. So the logarithm of the factor falls, more or less along a line: the sizes are a bell. How steeply it
falls is hard to see from a few levels. Two things bound it from below: how it has fallen since it was largest; and that
it will have come down to nothing after two fifths as many levels again, which is what the bundled protocols have in
common.

Levels that stay as large as they were, as in a protocol that goes on step by step, do not tell when they end. Then
nothing is said about the most.

It is an estimate, and early on it is too low more often than too high. `python -m benchmarks.estimates` says how good
it is on the bundled protocols.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import exp, inf, isfinite, log
from operator import sub
from typing import NamedTuple

FEWEST_LEVELS = 4
AGAIN = 0.4
"""After so many times as many levels as there are, growth is expected to be over."""
SEEN = 0.5
"""How much of the decline that was seen is expected to go on."""
SLOWEST = 0.02
MOST = 1e15
MOST_LEVELS = 100_000
STILL_GROWS = 0.25
"""While levels grow by more than this, most is still to come, and nobody knows how much."""
LONG, FLAT = 10, 2.5
"""Where the later half of so many levels differs in size by less than this factor, nothing tells where they end."""
LEVEL, SUDDEN = 0.1, 0.25
"""Nor where the last levels differ by less than the first of these, and the factor between them falls no longer: by
less than such a share of how it fell before. At the top of a bell it falls as it did."""


class Estimate(NamedTuple):
    """States that are to be expected in all."""

    likely: float
    low: float
    high: float
    """Infinite where no end is in sight."""

    def to_json(self) -> dict[str, int | None]:
        high = round(self.high) if isfinite(self.high) else None
        return {"likely": round(self.likely), "low": round(self.low), "high": high}


def estimate(starts: Sequence[int], states: int, frontier: int = 0, *, closed: bool = True) -> Estimate | None:
    """From how many states there were before each level; None if there are too few levels.

    The last level is being found while the states of the one before are expanded, of which some are still in the
    frontier. `closed`: all that processes may do was found, so there is an end. Otherwise the levels of a system that
    has none look the same, and nothing is said about the most.
    """
    sizes: list[float] = [after - before for before, after in pairwise(starts)]
    if len(sizes) < FEWEST_LEVELS:
        return None
    found = states - starts[-1]
    expanded = 1 - min(1.0, max(0, frontier - found) / max(1.0, sizes[-1]))
    known = float(starts[-1])
    if expanded > 0.3 and found > 0:
        sizes.append(found / expanded)
        known += sizes[-1]
    if min(sizes[-3:]) <= 0:
        return None
    factors = [log(after / before) for before, after in pairwise(sizes)]
    factor = (factors[-1] + factors[-2]) / 2
    top = max(range(len(factors)), key=factors.__getitem__)
    seen = (factors[top] - factor) / max(1.0, len(factors) - 0.5 - top)
    slope = -max(factor / (AGAIN * len(sizes)), SEEN * seen, SLOWEST)
    size, likely, grows = sizes[-1], known, factor
    for _ in range(MOST_LEVELS):
        factor += slope
        size *= exp(min(factor, 50.0))
        if size < 0.5 or likely > MOST:
            break
        likely += size
    likely = max(likely, float(states))
    later = sizes[len(sizes) // 2 :]
    flat = len(sizes) >= LONG and max(later) < FLAT * min(later)  # a bell has a steeper side
    last = factors[-3:]
    flat |= max(map(abs, last)) < LEVEL and max(map(abs, map(sub, last[1:], last))) < SUDDEN * seen
    if flat:
        return Estimate(max(likely, 2 * float(states)), float(states), inf)
    most = 10.0 if grows > STILL_GROWS else 4.0 if grows > 0 else 3.0
    return Estimate(likely, max(float(states), likely / 7), likely * most if closed else inf)
