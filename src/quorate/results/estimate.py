"""How many states a search is going to have, from the sizes of its levels so far.

The levels of a breadth-first search of a finite system grow, each by a smaller factor than the one before, come to a
peak and shrink. So the logarithm of the factor falls, more or less along a line: the sizes are a bell. How steeply it
falls is hard to see from a few levels. Two things bound it from below: how it has fallen since it was largest; and that
it will have come down to nothing after two fifths as many levels again, which is what the bundled protocols have in
common.

Levels that stay as large as they were, as in a protocol that goes on step by step, do not tell when they end. Random
runs may: where all of some dozens come to an end, the longest has about as many steps as there are levels
(`search/probes.py`). So the decline is expected to be such that the last level has few states, and no more levels are
expected than that. Nor is the peak expected long before the end: of a thousandth of the states, growth alone tells too
little by a factor of a hundred. Where runs go on and on, nothing is said about the most, neither of levels that grow
nor of levels that stay as they are.

It is an estimate, and early on it is too low more often than too high. `python -m benchmarks.estimates` says how good
it is on the bundled protocols.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import exp, inf, isfinite, log, sqrt
from operator import sub
from typing import NamedTuple

FEWEST_LEVELS = 4
LAST = 20
"""So many states are expected in the last level, if random runs tell which one that is."""
LEAST = 1 / 3
"""So much of the decline that levels point to is expected at least: a long tail may have few states in each level."""
AGAIN = 0.4
"""After so many times as many levels as there are, growth is expected to be over."""
SEEN = 0.5
"""How much of the decline that was seen is expected to go on."""
SLOWEST = 0.02
PEAK = 0.8
"""After so much of what the longest random run takes, levels are largest, if they still grow now."""
MOST = 1e15
MOST_LEVELS = 100_000
STILL_GROWS = 0.25
"""While levels grow by more than this, most is still to come."""
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


def estimate(
    starts: Sequence[int], states: int, frontier: int = 0, *, closed: bool = True, horizon: int | None = None
) -> Estimate | None:
    """From how many states there were before each level; None if there are too few levels.

    The last level is being found while the states of the one before are expanded, of which some are still in the
    frontier. `closed`: all that processes may do was found, so there is an end. Otherwise the levels of a system that
    has none look the same, and nothing is said about the most. `horizon`: the steps of the longest of some random runs,
    if all of them came to an end.
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
    slope = max(factor / (AGAIN * len(sizes)), SEEN * seen, SLOWEST)
    later = sizes[len(sizes) // 2 :]
    flat = len(sizes) >= LONG and max(later) < FLAT * min(later)  # a bell has a steeper side
    last = factors[-3:]
    flat |= max(map(abs, last)) < LEVEL and max(map(abs, map(sub, last[1:], last))) < SUDDEN * seen
    if horizon is None:
        likely = fewest = max(known + _following(sizes[-1], factor, slope, MOST_LEVELS), float(states))
        if flat:
            return Estimate(max(likely, 2 * float(states)), float(states), inf)
    else:
        left = max(2, horizon + 1 - len(sizes))
        few = sqrt(LAST * sizes[-1]) if flat else LAST
        needed = max(0.0, 2 * (log(sizes[-1] / few) + left * factor) / (left * (left + 1)))
        both = needed if flat else max(sqrt(slope * needed), slope * LEAST)
        rise = PEAK * horizon - len(sizes)
        if factor > 0 and rise > 1 and not flat:
            both = min(both, max(factor / rise, SEEN * seen, SLOWEST))
        likely = max(known + _following(sizes[-1], factor, both, left), float(states))
        fewest = min(likely, max(known + _following(sizes[-1], factor, slope, left), float(states)))
    most = 10.0 if factor > STILL_GROWS else 4.0 if factor > 0 else 3.0
    ends = closed and (horizon is not None or factor <= STILL_GROWS)
    return Estimate(likely, max(float(states), fewest / 7), likely * most if ends else inf)


def _following(size: float, factor: float, slope: float, levels: int) -> float:
    """The states of so many more levels, if the logarithm of the factor falls by `slope` with each."""
    found = 0.0
    for _ in range(levels):
        factor -= slope
        size *= exp(min(factor, 50.0))
        if size < 0.5 or found > MOST:
            break
        found += size
    return found
