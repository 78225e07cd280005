"""Guessing how many states a search will have."""

from functools import cache
from itertools import accumulate
from math import exp

import pytest
from benchmarks.estimates import PLAIN, after

from quorate import Process, System, check, step
from quorate.base.watchdog import Halted
from quorate.model.define import define
from quorate.model.definition import Definition
from quorate.model.target import load
from quorate.protocols.multi_paxos import MultiPaxos
from quorate.protocols.paxos import Paxos
from quorate.protocols.raft import Raft
from quorate.protocols.token_ring import TokenRing
from quorate.results.estimate import estimate
from quorate.results.result import Progress
from quorate.search.limits import Watcher
from quorate.search.probes import longest_run
from rank_models import Duel


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
    starts, states = [0, 1, 4, 10, 20, 35, 52, 69], 85
    closed, still_open = estimate(starts, states), estimate(starts, states, closed=False)
    assert closed is not None
    assert still_open is not None
    assert closed.to_json()["high"] is not None
    assert still_open.to_json()["high"] is None


def test_while_levels_grow_only_random_runs_tell_of_an_end() -> None:
    """The first 20,000 of the 8,485,569 states of Paxos with five acceptors. Random runs take 26 steps."""
    starts = [*accumulate([1, 2, 11, 30, 65, 150, 372, 912, 2230, 5420], initial=0)]
    alone, told = estimate(starts, 20_000), estimate(starts, 20_000, horizon=26)
    assert alone is not None
    assert told is not None
    assert alone.to_json()["high"] is None
    assert told.low <= 8_485_569 <= told.high


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


@pytest.mark.parametrize(
    "sizes",
    [
        [5] * 1000,
        [*range(1, 300), *range(300, 0, -1)],
        [min(5000, 2**at) for at in range(200)],
        [3**at for at in range(13)],
    ],
    ids=["a path", "a grid", "a plateau", "a tree"],
)
@pytest.mark.parametrize("share", [0.1, 0.3, 0.6])
def test_random_runs_tell_where_levels_end(sizes: list[int], share: float) -> None:
    guess = after(share, list(accumulate(sizes, initial=0))[:-1], sum(sizes), len(sizes) - 1)
    assert guess is not None
    assert guess.low <= sum(sizes) <= guess.high
    assert guess.high < 25 * sum(sizes)


def test_an_end_that_is_far_away_is_no_reason_to_expect_the_growth_to_go_on() -> None:
    """A rise and a fall, and then a thousand levels of few states."""
    sizes = [round(1e5 * exp(-(((at - 10) / 3) ** 2) / 2)) + 500 for at in range(1000)]
    guess = after(0.1, list(accumulate(sizes, initial=0))[:-1], sum(sizes), 999)
    assert guess is not None
    assert guess.low <= sum(sizes) <= guess.high
    assert guess.likely < 10 * sum(sizes)


class Spender(Process):
    """Counts without an end, or buys something and stops."""

    money: int = 0
    most: int | None
    done: bool = False

    @step(when=lambda self: not self.done and (self.most is None or self.money < self.most))
    def earn(self) -> None:
        self.money += 1

    @step(when=lambda self: not self.done and self.money > 0)
    def buy(self) -> None:
        assert self.money < 1000
        self.done = True


class Spending(System):
    most: int | None = None
    spenders: int = 1

    def build(self) -> None:
        self.spawn(Spender, self.spenders, most=self.most)


@pytest.mark.parametrize(
    ("system", "steps"),
    [
        (Paxos(), 18),
        (Raft(), 18),
        (TokenRing(), None),
        (Duel(), None),
        (Spending(most=1), 2),
        (Spending(spenders=101), None),
    ],
    ids=lambda each: type(each).__name__,
)
def test_the_longest_of_some_runs(system: System, steps: int | None) -> None:
    """All of them end, or are cut by a bound; or some go on, numbers have no bound, or there are too many processes."""
    assert longest_run(define(system)) == steps


def test_what_code_of_the_model_does_in_random_runs_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_: object) -> None:
        raise Halted

    monkeypatch.setattr("quorate.search.probes.Model", stopped)
    assert longest_run(define(Paxos())) is None


def test_random_runs_are_taken_once_and_late(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def probe() -> int:
        asked.append(len(told))
        return 999

    told: list[Progress] = []
    watcher = Watcher(None, told.append)
    watcher.phase, watcher.levels, watcher.figures = "search", list(range(0, 60, 5)), (55, 55, 5, 11)
    watcher.probe = probe
    watcher.still_there()
    monkeypatch.setattr("quorate.search.limits.PROBE_SECONDS", 0.0)
    watcher.still_there()
    watcher.still_there()
    assert asked == [1]
    without, expected, again = (each.expected for each in told)
    assert without is not None
    assert expected is not None
    assert without.to_json()["high"] is None
    assert expected == again
    assert 4000 < expected.likely < 6000


def test_random_runs_leave_no_trace_in_a_result(monkeypatch: pytest.MonkeyPatch) -> None:
    probed: list[int | None] = []

    def spied(definition: Definition) -> int | None:
        probed.append(longest_run(definition))
        return probed[-1]

    monkeypatch.setattr("quorate.search.limits.PROBE_SECONDS", 0.0)
    monkeypatch.setattr("quorate.search.safety.longest_run", spied)
    watched = check(MultiPaxos(), progress=lambda _: None)
    assert probed == [30]
    alone = check(MultiPaxos())
    kept = ("verdict", "states", "transitions", "depth", "cells", "python_calls", "levels")
    assert [getattr(watched, each) for each in kept] == [getattr(alone, each) for each in kept]


@pytest.mark.parametrize(("share", "fewest"), [(0.1, 8), (0.3, 10), (0.6, 10)])
def test_bundled_protocols_are_estimated_within_a_factor_of_three(share: float, fewest: int) -> None:
    near = 0
    for name, levels, states, horizon in bundled():
        guess = after(share, levels, states, horizon)
        assert guess is not None
        assert guess.low <= states <= guess.high, name
        near += states / 3 <= guess.likely <= states * 3
    assert near >= fewest


@cache
def bundled() -> list[tuple[str, tuple[int, ...], int, int | None]]:
    """Ten protocols of some thousand states, with their levels."""
    found = []
    for name in TEN.split():
        result = check(load(name)(), property="assertions", trace=False, **PLAIN)  # type: ignore[arg-type]
        found.append((name, result.levels, result.states, longest_run(define(load(name)()))))
    return found


TEN = (
    "paxos faulty-paxos saga pbft gossip chain-replication raft-election chang-roberts three-phase-commit lamport-mutex"
)
