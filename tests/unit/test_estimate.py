"""Guessing how many states a search will have."""

from itertools import accumulate
from math import exp

import pytest

from quorate import check
from quorate.protocols.paxos import Paxos
from quorate.results.estimate import estimate
from quorate.results.result import Progress


@pytest.mark.parametrize(("peak", "width"), [(12, 3.5), (16, 5.0), (20, 5.5)])
@pytest.mark.parametrize("share", [0.12, 0.2, 0.4])
def test_of_a_bell_the_interval_holds_the_number(peak: int, width: float, share: float) -> None:
    sizes = [max(1, round(1e5 * exp(-(((at - peak) / width) ** 2) / 2))) for at in range(2 * peak)]
    starts = [0, *accumulate(sizes)]
    complete = max(at for at, start in enumerate(starts) if start <= share * starts[-1])
    guess = estimate(starts[: complete + 1], starts[complete])
    assert guess is not None
    assert guess.likely / 5 < starts[-1] < 5 * guess.likely
    assert guess.low <= starts[-1] <= guess.high


def test_few_levels_say_nothing() -> None:
    assert estimate([], 0) is None
    assert estimate([0, 1, 5], 9, 4) is None
    assert estimate([0, 1, 1, 1, 1, 1], 1, 0) is None


def test_it_is_never_less_than_what_was_found() -> None:
    starts = [0, 1, 5, 20, 40, 45, 46]
    guess = estimate(starts, 46, 0)
    assert guess is not None
    assert guess.low >= 46
    assert guess.likely < 60


def test_a_search_tells_its_levels() -> None:
    seen: list[Progress] = []
    result = check(Paxos(), quotient="off", dead_messages="off", symmetry="none", progress=seen.append)
    assert result.levels[:3] == (0, 1, 3)
    assert result.levels[-1] == result.states
    complete = [start for start in result.levels if start <= result.states / 8]
    guess = estimate(complete, complete[-1])
    assert guess is not None
    assert guess.low <= result.states <= guess.high


def test_without_a_closure_there_may_be_no_end() -> None:
    starts, states = [0, 1, 4, 10, 20, 35], 56
    closed, still_open = estimate(starts, states), estimate(starts, states, closed=False)
    assert closed is not None
    assert still_open is not None
    assert closed.to_json()["high"] is not None
    assert still_open.to_json()["high"] is None


@pytest.mark.parametrize(
    "sizes",
    [[1] * 5000, [3] * 2000, list(range(1, 400)), [min(500, 2**at) for at in range(80)]],
    ids=["a chain", "three chains", "one more each time", "a plateau"],
)
@pytest.mark.parametrize("share", [0.2, 0.3, 0.6])
def test_levels_that_stay_as_they_are_do_not_tell_where_they_end(sizes: list[int], share: float) -> None:
    starts = [0, *accumulate(sizes)]
    complete = max(at for at, start in enumerate(starts) if start <= share * starts[-1])
    guess = estimate(starts[: complete + 1], starts[complete], sizes[complete])
    assert guess is not None
    assert guess.low <= starts[-1] <= guess.high
    assert guess.to_json()["high"] is None


@pytest.mark.parametrize("top", [300, 1000])
@pytest.mark.parametrize("rises", [10, 20])
def test_a_rise_that_ends_at_once_has_no_end_in_sight(rises: int, top: int) -> None:
    """A seventh of the states is the rise and a few levels of the plateau."""
    rise = [round(top ** (at / rises)) for at in range(1, rises + 1)]
    sizes = [*rise, *[top] * 60, *reversed(rise)]
    starts = [0, *accumulate(sizes)]
    complete = max(at for at, start in enumerate(starts) if start <= 0.15 * starts[-1])
    guess = estimate(starts[: complete + 1], starts[complete], sizes[complete])
    assert guess is not None
    assert guess.low <= starts[-1] <= guess.high
    assert guess.to_json()["high"] is None


@pytest.mark.parametrize("width", [4.0, 5.0, 6.0])
def test_the_top_of_a_bell_is_no_plateau(width: float) -> None:
    sizes = [round(1e7 * exp(-(((at - 24) / width) ** 2) / 2)) + 1 for at in range(48)]
    starts = [0, *accumulate(sizes)]
    for complete in range(22, 29):
        guess = estimate(starts[: complete + 1], starts[complete], sizes[complete])
        assert guess is not None
        assert guess.to_json()["high"] is not None
