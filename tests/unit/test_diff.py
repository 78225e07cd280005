from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest

from quorate import Map
from quorate.results.diff import Difference, differences, line, told


class Vote(NamedTuple):
    ballot: int
    value: int


@dataclass(frozen=True)
class Entry:
    term: int
    votes: frozenset[int]


def lines(before: Any, after: Any) -> list[str]:
    return [line(each) for each in differences(before, after, "x")]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (1, 1, []),
        (1, True, ["x: 1 → True"]),
        (1, 2, ["x: 1 → 2"]),
        (None, Vote(1, 2), ["x: None → Vote(ballot=1, value=2)"]),
        (Vote(1, 2), Vote(3, 2), ["x.ballot: 1 → 3"]),
        (frozenset({1, 2}), frozenset({2, 3}), ["x: - 1", "x: + 3"]),
        (frozenset({1}), frozenset({True}), ["x: - 1", "x: + True"]),
        ((1, 2), (1, 3), ["x[1]: 2 → 3"]),
        ((1, 2), (1, 2, 5, 6), ["x[2]: + 5", "x[3]: + 6"]),
        ((1, 2, 3), (2, 3), ["x[0]: - 1"]),
        ((1, 9, 3), (1, 3), ["x[1]: - 9"]),
        ((1, 1), (1,), ["x[1]: - 1"]),
        ((1,), (2, 3), ["x[0]: - 1", "x[0]: + 2", "x[1]: + 3"]),
        (Map({1: 2}), Map({1: 3, 4: 5}), ["x[1]: 2 → 3", "x[4]: + 5"]),
        (Map({1: 2}), Map(), ["x[1]: - 2"]),
        (Entry(1, frozenset()), Entry(1, frozenset({7})), ["x.votes: + 7"]),
        ((Entry(1, frozenset()),), (Entry(2, frozenset()),), ["x[0].term: 1 → 2"]),
        ((1, 2), Vote(1, 2), ["x: (1, 2) → Vote(ballot=1, value=2)"]),
    ],
)
def test_what_changed(before: Any, after: Any, expected: list[str]) -> None:
    assert lines(before, after) == expected


def test_short_changes_are_told_whole() -> None:
    assert told("learned", frozenset({1}), frozenset({1, 2})) == [
        Difference("learned", "changed", frozenset({1}), frozenset({1, 2}))
    ]


def test_long_ones_by_what_is_different() -> None:
    log = tuple(Vote(n, n) for n in range(5))
    assert [line(each) for each in told("log", log, (*log, Vote(9, 9)))] == ["log[5]: + Vote(ballot=9, value=9)"]


def test_long_ones_whole_if_everything_is_different() -> None:
    before, after = frozenset(range(0, 40, 2)), frozenset(range(1, 41, 2))
    assert len(told("numbers", before, after)) == 1
