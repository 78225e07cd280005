"""Every combination of partial orders with the other reductions, against none, on bundled and generated protocols.

QUORATE_DEEP=1 takes every combination on every bundled protocol; otherwise a choice of them, another for each protocol.
"""

from __future__ import annotations

import os
from random import Random
from typing import Any

import pytest

import corpus
from byzantine_models import Multicast, Voting
from composition import ALL_WAYS, PLAIN, Ways, compare_all, some_ways
from generator import Protocol, without_claims
from quorate import System, check, fifo, multiset, unordered
from quorate.language.network import Network
from quorate.model.target import load
from test_against_reference import INSTANCES

pytestmark = pytest.mark.usefixtures("taken_to_be_pure")

DEEP = bool(int(os.environ.get("QUORATE_DEEP", "0")))
# More states than this, and a comparison takes seconds.
MOST_STATES = 3_000


def on_network(name: str, network: Network, **parameters: Any) -> System:
    """A bundled protocol on another network than its own."""
    cls = load(name)
    made: type[System] = type(cls.__name__, (cls,), {"network": network})
    return made(**parameters)


NETWORKS = [
    unordered(losses=1),
    unordered(losses="any"),
    unordered(duplicates=1),
    unordered(duplicates="any"),
    unordered(capacity=1),
    unordered(capacity=1, full="replace"),
    multiset(),
    multiset(losses=1, duplicates=1),
    multiset(capacity=1),
    fifo(),
    fifo(head="skip"),
    fifo(head="drop"),
    fifo(capacity=1),
    fifo(capacity=1, full="replace"),
    fifo(losses=1),
]
ON_NETWORKS: list[tuple[str, dict[str, Any]]] = [
    ("paxos", {"proposers": 2, "acceptors": 1}),
    ("paxos", {"proposers": 1, "acceptors": 2}),
    ("two-phase-commit", {"participants": 2}),
    ("regular-storage", {"bases": 2}),
    ("chandra-toueg", {"processes": 2, "rounds": 1, "crashes": 0}),
]
FAULTS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("paxos", {"proposers": 2, "acceptors": 1}, {"crash": "explicit", "crashes": 1}),
    ("paxos", {"proposers": 1, "acceptors": 2}, {"crash": "explicit", "crashes": 2}),
    ("paxos-single", {"proposers": 1, "acceptors": 2}, {"crash": "explicit", "crashes": 1}),
    ("two-phase-commit", {"participants": 2}, {"crash": "explicit", "crashes": 1}),
    ("two-phase-commit-recovery", {"participants": 1, "crashes": 1}, {}),
    ("raft-election", {"servers": 2, "terms": 1, "crashes": 1}, {}),
    ("chain-replication", {"servers": 2, "writes": 1, "reads": 1, "crashes": 1}, {}),
    (
        "echo-multicast",
        {"honest_receivers": 2, "honest_initiators": 1, "byzantine_receivers": 0, "byzantine_initiators": 0},
        {"byzantine": {"initiator": 1}},
    ),
]


def ways_for(name: object) -> list[Ways]:
    return ALL_WAYS if DEEP else some_ways(5, name)


def compare(made: System, name: object, **environment: Any) -> bool:
    """Whether partial orders have left something out in some way."""
    size = check(made, property=(), max_states=MOST_STATES, **PLAIN, **environment)
    if size.stopped_by is not None:
        pytest.skip(f"more than {MOST_STATES} states")
    return any(result.reductions["por"]["ran"] for result in compare_all(made, ways_for(name), **environment))


@pytest.mark.parametrize(("name", "parameters"), INSTANCES, ids=[f"{each[0]}{each[1]}" for each in INSTANCES])
def test_bundled_protocols(name: str, parameters: dict[str, Any]) -> None:
    compare(load(name)(**parameters), (name, parameters))


@pytest.mark.parametrize("network", NETWORKS, ids=str)
@pytest.mark.parametrize(("name", "parameters"), ON_NETWORKS, ids=[f"{each[0]}{each[1]}" for each in ON_NETWORKS])
def test_bundled_protocols_on_other_networks(name: str, parameters: dict[str, Any], network: Network) -> None:
    compare(on_network(name, network, **parameters), (name, parameters, str(network)))


@pytest.mark.parametrize(
    ("name", "parameters", "environment"), FAULTS, ids=[f"{each[0]}{each[1]}{each[2]}" for each in FAULTS]
)
def test_bundled_protocols_with_faults(name: str, parameters: dict[str, Any], environment: dict[str, Any]) -> None:
    compare(load(name)(**parameters), (name, parameters, environment), **environment)


@pytest.mark.parametrize(
    "made",
    [
        Voting(voters=3, byzantine=1, quorum=2),
        Voting(voters=3, byzantine=1, quorum=3),
        Multicast(receivers=3, byzantine=1),
        Multicast(receivers=3, byzantine=2),
    ],
    ids=repr,
)
def test_attackers(made: System) -> None:
    assert compare(made, repr(made.parameters))


@corpus.each(corpus.sized, 50)
def test_generated_protocols(protocol: Protocol, dice: Random) -> None:
    compare_all(corpus.built(without_claims(protocol)), dice.choices(ALL_WAYS, k=4))
