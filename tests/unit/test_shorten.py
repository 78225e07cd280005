"""Shorter, and still a run that shows the same."""

from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest

import corpus
from generator import Protocol
from handmade import violation
from models import Everything
from quorate import QuorateError, System, check
from quorate.protocols.faulty_paxos import FaultyPaxos
from quorate.protocols.faulty_paxos_2 import FaultyPaxos2
from quorate.results.claim import Claim
from quorate.results.shorten import shorten, verified, without_needless_steps
from quorate.semantics.follow import Differs, Run, follow
from quorate.semantics.identity import Identity


@pytest.mark.parametrize("make", [FaultyPaxos, lambda: FaultyPaxos(acceptors=5), FaultyPaxos2])
def test_leaving_out_steps_finds_the_shortest_run_of_broken_paxos(make: Callable[[], System]) -> None:
    shortest = check(make()).trace
    found = check(make(), search="dfs").trace
    assert shortest is not None
    assert found is not None
    assert len(found) > len(shortest)
    assert len(without_needless_steps(found)) == len(shortest)


def test_checking_with_shorten_gives_the_shortest_run_and_says_what_it_was() -> None:
    result = check(FaultyPaxos(), search="dfs", shorten=True)
    assert result.trace is not None
    assert result.trace.shortest
    assert len(result.trace) == 11
    assert result.trace.shortened_from == 13
    assert "The shortest run that breaks agreement: 11 steps, shortened from 13\n" in str(result.trace)
    assert result.to_json()["trace"]["shortened_from"] == 13


@pytest.mark.parametrize("search", [{"store": "bitstate"}, {"search": "dfs"}, {"stateless": True}])
def test_a_run_of_any_search_can_be_shortened(search: dict[str, str]) -> None:
    result = check(FaultyPaxos(), shorten=True, timeout=30, **search)  # type: ignore[arg-type]
    assert result.trace is not None
    assert len(result.trace) == 11


def test_a_shortest_run_is_left_as_it_is() -> None:
    trace = violation(Everything(), "one_busy")
    assert shorten(trace) is trace


def test_every_kind_of_end_is_kept() -> None:
    for name in ("never_blue", "one_busy", "deadlock", "assertion"):
        trace = violation(Everything(), name)
        shorter = shorten(replace(trace, shortest=False))
        assert len(shorter) <= len(trace)
        assert Claim.of(shorter)[1:] == Claim.of(trace)[1:]


@corpus.each(corpus.sized)
def test_what_is_left_is_a_run_that_shows_the_same(protocol: Protocol, dice: Random) -> None:
    trace = check(corpus.built(protocol), search="dfs", regroup=False).trace
    if trace is None:
        return
    shorter = shorten(trace)
    assert len(shorter) <= len(trace)
    assert Claim.of(shorter)[1:] == Claim.of(trace)[1:]
    assert isinstance(follow(trace.definition, trace.initial, map(Identity.of, shorter.steps)), Run)
    for position in range(len(shorter)):  # and nothing of it can be left out
        rest = (*shorter.steps[:position], *shorter.steps[position + 1 :])
        run = follow(trace.definition, trace.initial, map(Identity.of, rest))
        assert isinstance(run, Differs) or not run.steps or not Claim.of(trace).shown_by(run.steps[-1])


def test_a_run_that_shows_something_else_is_not_taken() -> None:
    trace = replace(violation(Everything(), "assertion"), shortest=False)
    other = violation(Everything(), "never_blue")
    assert len(other) < len(trace)
    assert shorten(trace, lambda _: other).property == trace.property


def test_a_wrong_run_is_never_shown() -> None:
    trace = violation(Everything(), "one_busy")
    with pytest.raises(QuorateError, match="does not show what the longer one did"):
        verified(replace(trace, steps=trace.steps[:-1]))
    with pytest.raises(QuorateError, match="does not show what the longer one did"):
        verified(replace(trace, steps=trace.steps[1:]))
