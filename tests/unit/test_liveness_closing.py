"""The closure goes on beside the graph of temporal properties, and the result tells of both searches."""

from typing import Any

import pytest

from quorate import check
from quorate.protocols.paxos import Paxos
from quorate.protocols.viewstamped_replication import ViewstampedReplication
from quorate.search.closing import Closing

ASKED: dict[str, Any] = {"property": (), "ltl": ("G agreement",), "fairness": "none"}


def test_a_closure_that_ends_beside_the_graph_reduces_it(monkeypatch: pytest.MonkeyPatch) -> None:
    at_once = check(ViewstampedReplication(), **ASKED, max_behaviours=1_000_000)
    assert at_once.reductions["quotient"]["ran"]
    plain = check(ViewstampedReplication(), **ASKED, quotient="off", dead_messages="off", max_states=20_000)
    assert plain.stopped_by == "states"  # without the reductions it is far larger
    rests: list[int] = []
    go_on = Closing.go_on

    def counted(self: Closing, states: int, transitions: int) -> bool:
        rests.append(states)
        return go_on(self, states, transitions)

    monkeypatch.setattr(Closing, "go_on", counted)
    beside = check(ViewstampedReplication(), **ASKED)
    assert len(rests) > 1
    assert rests == sorted(rests)
    for figure in ("states", "transitions", "depth", "verdict"):
        assert getattr(beside, figure) == getattr(at_once, figure)
    assert beside.reductions["closure"]["complete"]


def test_a_graph_that_ends_first_has_the_answer() -> None:
    few = check(ViewstampedReplication(views=1), **ASKED, max_behaviours=10)
    whole = check(ViewstampedReplication(views=1), **ASKED, quotient="off", dead_messages="off")
    assert (few.states, few.verdict) == (whole.states, whole.verdict)
    assert not few.reductions["closure"]["complete"]


def test_the_result_tells_of_both_searches() -> None:
    result = check(Paxos(), property="agreement", ltl=("G agreement",), fairness="process")
    assert result.graph is not None
    assert result.graph["states"] > result.states  # only the search for invariants exchanges acceptors
    assert result.reductions["symmetry"]["ran"]
    assert not result.graph["reductions"]["symmetry"]["ran"]
    alone = check(Paxos(), **{**ASKED, "fairness": "process"})
    assert alone.graph is None
    assert alone.states == result.graph["states"]
    assert check(Paxos(), **ASKED).states < alone.states  # where nothing is fair, symmetry reduces whole runs too
