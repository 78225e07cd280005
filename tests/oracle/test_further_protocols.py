"""The protocols beyond the papers: every verdict, every known mistake found, every count of the plain search."""

import importlib
from typing import Any

import pytest

import quorate
from quorate import System
from quorate.base.errors import ParameterError
from quorate.model.define import define
from quorate.protocols import CATALOGUE
from quorate.protocols.raft import Mistake as RaftMistake
from quorate.protocols.viewstamped_replication import Mistake as ViewMistake
from reference import explore

PLAIN = {"quotient": "off", "dead_messages": "off", "symmetry": "none"}


def load(name: str, parameters: dict[str, Any]) -> System:
    module, cls = CATALOGUE[name].split(":")
    system: System = getattr(importlib.import_module(module), cls)(**parameters)
    return system


HOLDS: list[tuple[str, dict[str, Any]]] = [
    ("raft", {}),
    ("raft", {"entries": 2, "crashes": 0}),
    ("raft", {"servers": 4, "terms": 1, "crashes": 0}),
    ("viewstamped-replication", {}),
    ("viewstamped-replication", {"views": 1, "requests": 2}),
    ("paxos-commit", {}),
    ("paxos-commit", {"managers": 3}),
    ("paxos-commit", {"leaders": 3}),
    ("saga", {}),
    ("saga", {"services": 3, "crashes": 1}),
    ("chang-roberts", {}),
    ("chang-roberts", {"nodes": 2}),
    ("chang-roberts", {"nodes": 5}),
    ("termination-detection", {}),
    ("termination-detection", {"nodes": 2, "messages": 3}),
    ("raft-election", {}),
    ("raft-election", {"servers": 4, "terms": 1}),
    ("raft-election", {"crashes": 2}),
    ("raft-election", {"elections": 1}),
    ("multi-writer-storage", {}),
    ("multi-writer-storage", {"bases": 2, "readers": 1}),
    ("multi-writer-storage", {"bases": 1, "writers": 1, "writes": 3}),
    ("multi-paxos", {}),
    ("multi-paxos", {"acceptors": 2, "slots": 3}),
    ("multi-paxos", {"learners": 2, "slots": 1}),
    ("pbft", {}),
    ("pbft", {"byzantine": 0}),
    ("pbft", {"f": 2, "byzantine": 2}),
    ("pbft", {"f": 2, "byzantine": 1}),
    ("ben-or", {}),
    ("ben-or", {"rounds": 3}),
    ("ben-or", {"processes": 4, "rounds": 1}),
    ("chandra-toueg", {}),
    ("chandra-toueg", {"rounds": 3, "crashes": 0}),
    ("chandra-toueg", {"processes": 4, "crashes": 0}),
    ("two-phase-commit-recovery", {}),
    ("two-phase-commit-recovery", {"participants": 3}),
    ("two-phase-commit-recovery", {"crashes": 3}),
    ("three-phase-commit", {}),
    ("three-phase-commit", {"crashes": 0}),
    ("three-phase-commit", {"crashes": 2}),
    ("three-phase-commit", {"participants": 4}),
    ("chain-replication", {}),
    ("chain-replication", {"crashes": 2}),
    ("chain-replication", {"readers": 2, "reads": 1}),
    ("lamport-mutex", {}),
    ("lamport-mutex", {"requests": 3}),
    ("gossip", {}),
    ("gossip", {"losses": 2}),
    ("gossip", {"nodes": 2, "losses": 0, "updates": 3}),
]


@pytest.mark.parametrize(("name", "parameters"), HOLDS)
def test_holds(name: str, parameters: dict[str, Any]) -> None:
    result = quorate.check(load(name, parameters))
    assert result.ok
    assert result.warnings == ()


def test_pbft_bears_as_many_attackers_as_it_says_whatever_they_send() -> None:
    nobody = {"byzantine": 0}
    assert quorate.check(load("pbft", {}), byzantine={"byzantine": 1}).ok  # the primary
    assert quorate.check(load("pbft", nobody), byzantine={"replica": 1}).ok
    assert not quorate.check(load("pbft", nobody), byzantine={"replica": 2}).ok


VIOLATED: list[tuple[str, dict[str, Any], str, int]] = [
    # the mistake, the property that shows it, and how long the shortest run is
    ("raft", {"mistake": RaftMistake.NO_LOG_CHECK, "crashes": 0}, "leader_completeness", 12),
    ("raft", {"mistake": RaftMistake.NO_MATCH, "crashes": 0, "entries": 2}, "leader_completeness", 12),
    ("raft", {"mistake": RaftMistake.NO_MATCH, "crashes": 0, "entries": 2}, "log_matching", 13),
    ("raft", {"mistake": RaftMistake.FIGURE_8, "crashes": 0, "terms": 4}, "leader_completeness", 22),
    ("raft", {"mistake": RaftMistake.UNCLAMPED, "crashes": 0, "entries": 2}, "state_machine_safety", 17),
    ("raft", {"mistake": RaftMistake.LOST_VOTE, "terms": 1}, "election_safety", 9),
    ("viewstamped-replication", {"mistake": ViewMistake.TOO_FEW_LOGS}, "nothing_is_lost", 7),
    ("viewstamped-replication", {"mistake": ViewMistake.LONGEST_LOG, "requests": 2}, "agreement", 17),
    ("viewstamped-replication", {"mistake": ViewMistake.LATE_PREPARE}, "nothing_is_lost", 14),
    ("viewstamped-replication", {"mistake": ViewMistake.LATE_PREPARE}, "agreement", 17),
    ("paxos-commit", {"heed": False}, "agreement", 15),
    ("paxos-commit", {"ask": False}, "agreement", 16),
    ("saga", {"outbox": False}, "deadlock", 3),
    ("saga", {"outbox": False}, "the_order_ends", 3),
    ("saga", {"keys": False}, "at_most_once", 7),
    ("saga", {"keys": False}, "all_or_nothing", 9),
    ("chang-roberts", {"stop": False}, "the_highest_is_elected", 5),
    ("chang-roberts", {"distinct": False}, "one_leader", 5),
    ("termination-detection", {"colours": False}, "no_false_alarm", 11),
    ("termination-detection", {"counts": False}, "no_false_alarm", 8),
    ("raft-election", {"forgetful": True}, "at_most_one_leader_per_term", 7),
    ("multi-writer-storage", {"tell_apart": False}, "writes_differ", 14),
    ("multi-writer-storage", {"writers": 1, "readers": 2, "write_back": False}, "atomicity", 13),
    ("multi-paxos", {"last_slot_only": True}, "agreement", 18),
    ("pbft", {"quorum": 2}, "agreement", 7),
    ("pbft", {"quorum": 2}, "certificates_agree", 5),
    ("pbft", {"quorum": 2}, "commits_endure", 4),
    ("pbft", {"byzantine": 2}, "agreement", 8),
    ("pbft", {"lenient": True}, "certificates_agree", 5),
    ("ben-or", {"hasty": True}, "agreement", 12),
    ("chandra-toueg", {"newest": False}, "agreement", 14),
    ("two-phase-commit", {"crashes": 1}, "deadlock", 1),
    ("two-phase-commit-recovery", {"impatient": True}, "agreement", 6),
    ("two-phase-commit-recovery", {"forgetful": True}, "agreement", 8),
    ("three-phase-commit", {"alone": True}, "agreement", 8),
    ("chain-replication", {"anywhere": True}, "single_copy", 8),
    ("chain-replication", {"anywhere": True, "crashes": 0}, "single_copy", 8),
    ("lamport-mutex", {"ordered": False}, "mutual_exclusion", 6),
    ("lamport-mutex", {"ordered": False}, "in_the_order_of_requests", 6),
    ("gossip", {"fanout": 2}, "deadlock", 4),
    ("gossip", {"gullible": True}, "nobody_goes_back", 4),
    ("gossip", {"losses": 3}, "deadlock", 8),
]


@pytest.mark.parametrize(("name", "parameters", "broken", "steps"), VIOLATED)
def test_known_mistakes_are_found(name: str, parameters: dict[str, Any], broken: str, steps: int) -> None:
    result = quorate.check(load(name, parameters), property=broken)
    assert (result.verdict, result.property) == ("violated", broken)
    assert result.trace is not None
    assert len(result.trace.steps) == steps


@pytest.mark.parametrize(("name", "parameters"), list({name: (name, p) for name, p, *_ in VIOLATED[::-1]}.values()))
def test_known_mistakes_are_found_without_naming_the_property(name: str, parameters: dict[str, Any]) -> None:
    assert quorate.check(load(name, parameters)).verdict == "violated"


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("raft", {"terms": 1}),
        ("raft", {"servers": 2, "crashes": 0, "entries": 2}),
        ("viewstamped-replication", {"views": 0, "requests": 2}),
        ("paxos-commit", {"acceptors": 1}),
        ("saga", {"services": 1}),
        ("chang-roberts", {"nodes": 3}),
        ("termination-detection", {"nodes": 2, "messages": 2}),
        ("raft-election", {"terms": 1}),
        ("raft-election", {"servers": 2, "terms": 1, "elections": 1}),
        ("multi-writer-storage", {"bases": 1, "readers": 1}),
        ("multi-writer-storage", {"bases": 2, "writers": 1, "readers": 1}),
        ("multi-paxos", {"acceptors": 1}),
        ("multi-paxos", {"acceptors": 2, "slots": 1}),
        ("pbft", {"byzantine": 2, "quorum": 4}),
        ("ben-or", {"processes": 2, "f": 0}),
        ("ben-or", {"f": 0, "rounds": 1}),
        ("chandra-toueg", {"rounds": 1, "crashes": 0}),
        ("two-phase-commit-recovery", {"participants": 1}),
        ("three-phase-commit", {"participants": 2}),
        ("chain-replication", {"servers": 2, "writes": 1, "reads": 1}),
        ("lamport-mutex", {}),
        ("gossip", {"nodes": 3}),
    ],
)
def test_the_plain_search_counts_as_the_reference_does(name: str, parameters: dict[str, Any]) -> None:
    known = explore(define(load(name, parameters)))
    found = quorate.check(load(name, parameters), **PLAIN)  # type: ignore[arg-type]
    assert known.ok
    assert found.ok
    assert (found.states, found.transitions, found.depth, found.deadlocks) == (
        known.states,
        known.transitions,
        known.depth,
        len(known.deadlocks),
    )
    assert {goal: len(trace.steps) for goal, trace in found.witnesses.items()} == known.witnesses


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("viewstamped-replication", {"replicas": 4}),
        ("paxos-commit", {"leaders": 0}),
        ("saga", {"services": 0}),
        ("chang-roberts", {"nodes": 1}),
        ("termination-detection", {"nodes": 1}),
        ("pbft", {"byzantine": 4}),
        ("pbft", {"quorum": 1}),
        ("ben-or", {"f": 2}),
        ("chandra-toueg", {"crashes": 2}),
        ("chain-replication", {"crashes": 3}),
        ("gossip", {"fanout": 4}),
        ("raft-election", {"forgetful": True, "elections": 1}),
        ("multi-writer-storage", {"bases": 0}),
    ],
)
def test_parameters_that_make_no_sense_are_refused(name: str, parameters: dict[str, Any]) -> None:
    with pytest.raises(ParameterError) as caught:
        define(load(name, parameters))
    assert caught.value.code == "Q203"


def test_elections_are_bounded_by_terms() -> None:
    assert quorate.check(load("raft-election", {})).bounds == ("Server.within",)
