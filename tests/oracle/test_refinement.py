"""Transition refinement: a split changes what can be chosen alone, and nothing else (definition 11 of the thesis)."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pytest

from quorate import System, _core, check
from quorate.base.errors import QuorateError
from quorate.model.define import define
from quorate.native.model import Model
from quorate.options import REFINEMENTS
from quorate.protocols.paxos import Paxos
from small_instances import SMALL, small

MOST = 60_000
SPLITS = {"none": (False, False), "reply": (False, True), "quorum": (True, False), "combined": (True, True)}
Part = tuple[int, tuple[int, ...]]


def related(system: System, split: str) -> Model | None:
    """The oracle of a system whose transitions are split; nothing where there are no relations."""
    definition = define(system)
    model = Model(definition, definition.properties)
    if not model.engine.close(model, MOST).complete:
        return None
    model.engine.reduce(False, False)
    quorums, replies = SPLITS[split]
    asked = _core.PorOptions(split_quorums=quorums, split_replies=replies, keep=_core.Keep.safety)
    why = model.engine.relate(asked)
    return None if why else model


def parts(model: Model) -> list[dict[Part, int]]:
    """Per process: the part that each transition with each set of messages belongs to. Each has just one."""
    found: list[dict[Part, int]] = []
    for column in model.definition.processes:
        listed = model.engine.parts(column.index)
        mapping = {(transition, tuple(messages)): part for transition, messages, part in listed}
        assert len(mapping) == len(listed)
        found.append(mapping)
    return found


@pytest.mark.parametrize("name", sorted(SMALL))
def test_a_split_leaves_the_graph_of_states_unchanged(name: str) -> None:
    """The steps of the parts, taken together, are the steps of the transitions: none is lost, none is added."""
    unsplit = related(small(name), "none")
    if unsplit is None:
        pytest.skip("no relations are proven for this protocol")
    whole = parts(unsplit)
    unsplit.engine.unrelate()
    graph = unsplit.engine.graph(unsplit)
    assert (
        len(graph.states)
        == check(small(name), property=(), quotient="off", dead_messages="off", symmetry="none").states
    )
    steps: dict[tuple[int, int, int], set[int]] = defaultdict(set)  # state, process, transition -> next states
    for edge in graph.edges:
        if edge.transition is not None:
            steps[edge.source, edge.column, edge.transition].add(edge.target)
    for split in ("reply", "quorum", "combined"):
        model = related(small(name), split)
        assert model is not None
        split_up = parts(model)
        for before, now in zip(whole, split_up, strict=True):
            assert now.keys() == before.keys()
            assert len({(part, transition) for (transition, _), part in now.items()}) == len(set(now.values()))
        by_part: dict[tuple[int, int, int, int], set[int]] = defaultdict(set)
        for edge in graph.edges:
            if edge.transition is not None:
                part = split_up[edge.column][edge.transition, tuple(edge.messages)]
                by_part[edge.source, edge.column, edge.transition, part].add(edge.target)
        together: dict[tuple[int, int, int], set[int]] = defaultdict(set)
        for (state, process, transition, _), found in by_part.items():
            together[state, process, transition] |= found
        assert together == steps


@pytest.mark.parametrize(
    ("split", "proposer", "acceptor", "learner"),
    [
        # prepare, and propose: one part, or one for every two of the three acceptors
        ("none", 2, 2, 1),
        # promise replies to one of two proposers; accept sends to learners
        ("reply", 2, 3, 1),
        ("quorum", 4, 2, 3),
        ("combined", 4, 3, 3),
    ],
)
def test_what_paxos_is_split_into(split: str, proposer: int, acceptor: int, learner: int) -> None:
    model = related(Paxos(), split)
    assert model is not None
    counts = {
        column.cls.__name__: len(set(mapping.values()))
        for column, mapping in zip(model.definition.processes, parts(model), strict=True)
    }
    assert counts == {"Proposer": proposer, "Acceptor": acceptor, "Learner": learner}


@pytest.mark.parametrize(
    ("instance", "options", "states"),
    [
        ((2, 3), {"quotient": "off", "dead_messages": "off"}, 2_121),
        ((2, 3), {}, 343),
        ((3, 3), {}, 5_695),
        ((2, 5), {}, 7_926),
    ],
)
def test_how_far_paxos_is_reduced(instance: tuple[int, int], options: dict[str, Any], states: int) -> None:
    proposers, acceptors = instance
    result = check(
        Paxos(proposers=proposers, acceptors=acceptors),
        por="lpor-net",
        split="combined",
        symmetry="none",
        threads=2,
        **options,
    )
    assert (result.verdict, result.states) == ("holds", states)


@pytest.mark.parametrize("name", REFINEMENTS)
def test_each_refinement_gains(name: str) -> None:
    known = check(Paxos(proposers=3), por="lpor-net", split="combined").states
    assert known < check(Paxos(proposers=3), por="lpor-net", split="combined", por_options={name: False}).states


def test_a_refinement_that_there_is_not() -> None:
    with pytest.raises(QuorateError, match="por_options='smalest' is not a refinement") as error:
        check(Paxos(), por="lpor-net", por_options={"smalest": False})
    assert "smallest" in (error.value.hint or "")
