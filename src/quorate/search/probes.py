"""Random runs that say how many levels a search is going to have (`results/estimate.py`).

Where everything comes to an end, all runs take nearly as many steps as the states that are furthest away. So a few runs
tell about how many levels there are, long before the search is there. They have tables of their own: what they meet
leaves no trace in those of the search, or in its figures.
"""

from __future__ import annotations

from quorate import _core
from quorate.base.errors import QuorateError
from quorate.base.watchdog import Halted
from quorate.model.definition import Definition
from quorate.native.model import Model

RUNS = 32
DEPTH = 10_000
SECONDS = 0.5
MOST_PROCESSES = 100
"""Of more of them, tables of their own would take much time and memory."""
FEWEST = 8
"""Runs that must have come to an end, if the time was up before all had."""


def longest_run(definition: Definition) -> int | None:
    """The steps of the longest of some random runs; None unless all of them come to an end, or to a bound."""
    if definition.ranked or len(definition.columns) > MOST_PROCESSES:
        return None
    options = _core.RunOptions(
        strategy=_core.Strategy.uniform,
        seed=0,
        runs=RUNS,
        depth=DEPTH,
        changes=1,
        threads=1,
        deadlock=False,
        seconds=SECONDS,
        memory=None,
    )
    try:
        model = Model(definition, ())
        found = model.engine.random_runs(model, options)
    except (QuorateError, Halted, MemoryError, _core.LimitError, _core.StoppedError):
        return None  # whatever it is, the search will meet it too
    ended = found.ended + found.cut
    return None if found.full or found.unfinished or found.violation or ended < FEWEST else found.span
