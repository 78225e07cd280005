"""What each reduction is worth, measured by the same search without it."""

from collections.abc import Callable
from typing import Any

from quorate import check
from quorate.protocols.faulty_paxos import FaultyPaxos
from quorate.protocols.paxos import Paxos
from quorate.render.html.document import document
from quorate.results.result import Result
from quorate.search.factors import TOGETHER, Factor, factors


def again(system: Any, **asked: Any) -> Callable[..., Result]:
    return lambda **changed: check(system, **{**asked, **changed})


def test_every_reduction_that_ran_has_its_factor() -> None:
    asked = {"por": "lpor-net", "symmetry": "auto"}
    result = check(Paxos(), **asked)  # type: ignore[arg-type]
    found = factors(result, again(Paxos(), **asked))
    assert list(found) == ["quotient", "dead-messages", "symmetry", "por", TOGETHER]
    assert all(each.whole and each.less == result.states for each in found.values())
    assert found[TOGETHER].states == check(Paxos(), quotient="off", dead_messages="off", symmetry="none").states
    assert found["por"].states == check(Paxos(), symmetry="auto").states


def test_it_is_told_in_the_report() -> None:
    result = check(Paxos())
    source = document(result, factors(result, again(Paxos())))
    plain = check(Paxos(), quotient="off", dead_messages="off", symmetry="none").states
    assert f"{plain:,} states without, factor {plain / result.states:,.1f}" in source


def test_nothing_is_said_where_states_cannot_be_compared() -> None:
    for asked in ({"search": "dfs"}, {"max_states": 10}, {"stateless": True, "timeout": 20}):
        assert factors(check(FaultyPaxos(), **asked), again(FaultyPaxos(), **asked)) == {}


def test_a_search_that_takes_too_long_gives_a_bound() -> None:
    assert str(Factor(8649, 1005, True)) == "8,649 states without, factor 8.6"
    assert str(Factor(8649, 1005, False)) == "8,649 states without, factor more than 8.6"


def test_a_factor_below_one_is_not_told_as_more_than_it() -> None:
    assert "not known" in str(Factor(states=10, less=1_000, whole=False))
    assert "more than" in str(Factor(states=10_000, less=1_000, whole=False))
