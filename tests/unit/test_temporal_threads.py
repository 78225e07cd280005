"""The graph of temporal properties is the same for any number of threads: every state, step and number; and so are
runs, lassos and what is told of them."""

from __future__ import annotations

from typing import Any

import pytest

from quorate import System, check
from quorate.model.define import define
from quorate.native.model import Model
from quorate.native.temporal import Explored, TemporalGraph
from quorate.options import Options
from quorate.properties.temporal.kept import needs_of
from quorate.properties.temporal.stated import asked_for
from quorate.protocols.lock import Locking
from quorate.protocols.paxos import Paxos
from quorate.reduce.reductions import Reductions

Steps = list[tuple[int, str, int | None, tuple[int, ...], str, int | None]]

PLAIN: dict[str, Any] = {"quotient": "off", "dead_messages": "off"}
CASES: dict[str, tuple[System, str, dict[str, Any]]] = {
    "all steps": (Paxos(), "G agreement", {**PLAIN, "symmetry": "none"}),
    "the oracle is asked meanwhile": (Paxos(), "G agreement", {"max_behaviours": 10}),
    "partial orders": (Paxos(acceptors=4), "G agreement", {**PLAIN, "por": "lpor-net", "fairness": "process"}),
    "symmetry": (Paxos(ballots=2), "G agreement", {"fairness": "progress"}),
    "both": (Paxos(ballots=2), "G agreement", {"por": "lpor-net", "fairness": "none"}),
    "cycles": (Locking(clients=8, queue=False), "G mutual_exclusion", {}),
}


def explored(made: System, formula: str, threads: int, **chosen: Any) -> tuple[Explored, list[tuple[Any, Steps]]]:
    definition = define(made)
    (prop,) = asked_for(definition, [formula], "ltl")
    options = Options(**chosen)
    model = Model(definition, list(prop.predicates.values()))
    reductions = Reductions(model, options, needs_of(definition, [prop], options.fairness))
    reductions.analyse(options.max_behaviours)
    while True:
        graph = TemporalGraph(model, None, threads)
        found = graph.explore(None, None)
        if found.stop != "regrown":
            break
        reductions.apply_again()
    listed: list[tuple[Any, Steps]] = []
    for number in range(found.states):
        steps = [
            (e.act.column, e.act.kind.name, e.act.transition, tuple(e.act.messages), e.leads.name, e.target)
            for e in graph.native.steps(number)
        ]
        listed.append((graph.native.state(number), steps))
    return found, listed


@pytest.mark.parametrize("case", CASES)
def test_the_graph_is_the_same(case: str) -> None:
    made, formula, options = CASES[case]
    one, listed = explored(made, formula, 1, **options)
    assert one.states > 4_000, "enough for several threads to be at work"
    for threads in (2, 5)[: 1 if one.states > 10_000 else 2]:
        found, others = explored(made, formula, threads, **options)
        assert (found.states, found.transitions, found.depth, found.deadlocks, found.stands_for) == (
            one.states,
            one.transitions,
            one.depth,
            one.deadlocks,
            one.stands_for,
        )
        assert others == listed


@pytest.mark.parametrize(
    ("made", "asked"),
    [
        (Locking(clients=5, queue=False), {"property": "waiting", "fairness": "message"}),
        (Locking(clients=5), {"property": "waiting", "fairness": "process"}),
        (Paxos(acceptors=3), {"ltl": "F learned", "crashes": 2, "fairness": "message", **PLAIN}),
    ],
)
def test_runs_and_what_is_told_of_them_are_the_same(made: System, asked: dict[str, Any]) -> None:
    def told(threads: int) -> Any:
        document = check(made, threads=threads, **asked).to_json()
        return [document[key] for key in ("verdict", "properties", "trace", "fairness", "states", "product_states")]

    one = told(1)
    assert one[0] == "violated"
    assert told(2) == told(3) == one


def test_a_limit_on_states_is_overstepped_by_little() -> None:
    for threads in (1, 2):
        found = check(Paxos(acceptors=4), ltl="G agreement", max_states=5_000, threads=threads, **PLAIN)
        assert found.verdict == "incomplete"
        assert 5_000 < found.states < 5_500
