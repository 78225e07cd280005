"""The protocols of the papers: every verdict they report, every faulty variant found, every count of the plain search.

Rows that take more than a few seconds run where QUORATE_DEEP is set.
"""

import importlib
import os
import time
from math import ceil
from typing import Any

import pytest

import quorate
from quorate import System, can
from quorate.base.errors import ParameterError
from quorate.model.define import define
from quorate.protocols import CATALOGUE
from quorate.protocols.echo_multicast import EchoMulticast, Receiver
from quorate.protocols.fd_consensus import DetectorConsensus, Participant
from quorate.protocols.paxos_counting import PaxosCounting
from quorate.protocols.regular_storage import Reader
from reference import explore

Parameters = dict[str, Any]

PLAIN: Any = {"quotient": "off", "dead_messages": "off", "symmetry": "none", "por": "none"}
DEEP = pytest.mark.skipif(not os.environ.get("QUORATE_DEEP"), reason="set QUORATE_DEEP to run the long ones")


def load(name: str, parameters: Parameters) -> System:
    module, cls = CATALOGUE[name].split(":")
    system: System = getattr(importlib.import_module(module), cls)(**parameters)
    return system


def multicast(*setting: int, **more: bool) -> Parameters:
    """A setting as the papers write it."""
    roles = ("honest_receivers", "honest_initiators", "byzantine_receivers", "byzantine_initiators")
    return {**dict(zip(roles, setting, strict=True)), **more}


SETTINGS = [(3, 0, 1, 1), (2, 1, 0, 1), (3, 1, 1, 1), (3, 1, 1, 0), (4, 1, 1, 0)]

HOLDS = [
    *(("echo-multicast", multicast(*setting)) for setting in SETTINGS),
    *(("echo-multicast", multicast(*setting, switching=True)) for setting in SETTINGS),
    ("echo-multicast", multicast(2, 1, 0, 2)),
    ("regular-storage", {}),
    ("regular-storage", {"readers": 2}),
    ("regular-storage", {"writes": 3}),
    ("regular-storage", {"bases": 5}),
    ("safe-storage", {}),
    ("safe-storage", {"bases": 4, "writes": 2}),
    ("atomic-storage", {}),
    ("atomic-storage", {"bases": 4, "writes": 3, "readers": 1}),
    ("om", {"lieutenants": 3}),
    ("om", {"lieutenants": 4}),
    ("om", {"lieutenants": 5}),
    ("om", {"lieutenants": 4, "rounds": 2}),
    ("om", {"lieutenants": 2, "traitors": 0, "rounds": 0}),
    ("fd-consensus", {}),
    ("fd-consensus", {"crashes": 2}),
    ("fd-consensus", {"processes": 4, "crashes": 0}),
    ("regular-storage", {"bases": 5, "readers": 2}),
    ("atomic-storage", {"writes": 2}),
    pytest.param("fd-consensus", {"processes": 4}, marks=DEEP),
]


@pytest.mark.parametrize(("name", "parameters"), HOLDS)
def test_holds(name: str, parameters: Parameters) -> None:
    result = quorate.check(load(name, parameters))
    assert result.ok
    assert result.warnings == ()


VIOLATED: list[tuple[str, Parameters, str, int]] = [
    # what is wrong, the property that shows it, and how long the shortest run is
    ("echo-multicast", multicast(2, 1, 2, 1), "agreement", 11),
    ("echo-multicast", multicast(2, 1, 2, 1, switching=True), "agreement", 11),
    ("wrong-regular-storage", {"readers": 1}, "regularity", 8),
    ("wrong-regular-storage", {"readers": 2}, "regularity", 8),
    ("safe-storage", {"late": True}, "safety", 12),
    ("atomic-storage", {"write_back": False}, "atomicity", 10),
    ("om", {"lieutenants": 3, "traitors": 2}, "ic2", 5),
    ("om", {"lieutenants": 4, "traitors": 2}, "ic2", 6),
    ("om", {"lieutenants": 5, "traitors": 2}, "ic1", 8),
    ("om", {"lieutenants": 3, "rounds": 0}, "ic1", 3),
    ("om", {"lieutenants": 2}, "ic2", 4),
    ("om", {"lieutenants": 3, "rounds": 2}, "ic2", 8),  # four generals are too few for two rounds
    ("faulty-fd-consensus", {}, "agreement", 9),
    ("paxos-counting", {"heed": False}, "agreement", 30),
]


@pytest.mark.parametrize(("name", "parameters", "broken", "steps"), VIOLATED)
def test_faulty_variants_are_found(name: str, parameters: Parameters, broken: str, steps: int) -> None:
    result = quorate.check(load(name, parameters))
    assert (result.verdict, result.property) == ("violated", broken)
    assert result.trace is not None
    assert len(result.trace.steps) == steps


@pytest.mark.parametrize(
    ("receivers", "byzantine"),
    [
        (4, {"receiver": 1}),
        (3, {"initiator": 1}),
        (4, {"initiator": 1, "receiver": 1}),
    ],
)
def test_multicast_holds_whatever_attackers_send(receivers: int, byzantine: dict[str, int]) -> None:
    assert quorate.check(EchoMulticast(**multicast(receivers, 1, 0, 0)), byzantine=byzantine).ok


@DEEP
def test_attackers_find_by_themselves_how_to_break_multicast_beyond_the_threshold() -> None:
    system = EchoMulticast(**multicast(4, 1, 0, 0))
    result = quorate.check(system, byzantine={"initiator": 1, "receiver": 2})
    assert result.property == "agreement"
    assert result.trace is not None
    assert len(result.trace.steps) == 6  # the strategy takes 11: it also waits for echoes that it could have made up


def test_without_the_second_round_the_register_is_regular() -> None:
    assert quorate.check(load("atomic-storage", {"write_back": False}), property="regularity").ok


def test_a_loyal_commander_is_obeyed_where_agreement_fails() -> None:
    """The lemma behind OM: with more than 2k + m generals, k traitors cannot break IC2."""
    system = load("om", {"lieutenants": 5, "traitors": 2})
    assert quorate.check(system, property="ic2").ok
    assert not quorate.check(system, property="ic1").ok


# What holds is not void


class Delivering(EchoMulticast):
    @can
    def all_deliver(self) -> bool:
        return all(receiver.delivered for receiver in self[Receiver])

    @can
    def some_deliver(self) -> bool:
        return any(receiver.delivered for receiver in self[Receiver])


@pytest.mark.parametrize("setting", SETTINGS)
def test_messages_are_delivered(setting: tuple[int, ...]) -> None:
    goal = "all_deliver" if setting[1] else "some_deliver"  # a Byzantine initiator convinces one group at most
    assert quorate.check(Delivering(**multicast(*setting)), property=goal).ok


@pytest.mark.parametrize("name", ["regular-storage", "safe-storage", "atomic-storage"])
def test_reads_find_old_and_new_values(name: str) -> None:
    system = type(load(name, {}))

    class Reading(system):  # type: ignore[misc, valid-type]
        @can
        def old(self) -> bool:
            return any(reader.result == 0 for reader in self[Reader])

        @can
        def new(self) -> bool:
            return any(reader.result == self.parameters["writes"] for reader in self[Reader])

    assert quorate.check(Reading(), property=["old", "new"]).ok


class Deciding(DetectorConsensus):
    @can
    def survivors_decide(self) -> bool:
        """The crashed process has not told everyone, and those left decide all the same."""
        left = [each for each in self[Participant] if not each.crashed]
        return len(left) < self.processes and all(each.decision is not None for each in left)


def test_processes_decide_despite_a_crash() -> None:
    assert quorate.check(Deciding(), property="survivors_decide").ok


# Paxos as modelled for Spin (Delzanno, Tatarek, Traverso 2014)

TABLE_1 = [
    # proposers, acceptors, channel size, majority, and whether agreement holds
    (2, 2, 3, 1, False),
    (2, 2, 3, 2, True),
    (2, 2, 4, 2, True),
    (2, 3, 3, 1, False),
    (2, 3, 6, 2, True),
    (2, 4, 3, 1, False),
    (2, 4, 3, 2, False),
    (2, 4, 3, 3, True),
    (2, 4, 6, 3, True),
    (2, 4, 7, 3, True),
    (2, 4, 8, 3, True),
    (2, 4, 9, 3, True),
    (2, 5, 3, 1, False),
    (2, 5, 3, 2, False),
    (2, 5, 10, 3, True),
    (2, 5, 12, 3, True),
    (2, 5, 15, 3, True),
    (2, 5, 20, 3, True),
    (2, 6, 12, 2, False),
    (2, 6, 12, 3, False),
    # 68 million states: where channels bind, there is less to reduce. A channel that blocks takes runs away and adds
    # none, so what holds for the larger ones above holds here as well.
    pytest.param(2, 5, 3, 3, True, marks=DEEP),
]


@pytest.mark.parametrize(("proposers", "acceptors", "size", "majority", "safe"), TABLE_1)
def test_votes_counted_one_by_one(proposers: int, acceptors: int, size: int, majority: int, safe: bool) -> None:
    # Their channels are shared, so this is an acceptor's share. Two messages of one process never wait for more room
    # (see below), and without a bound there is more to reduce.
    share = ceil(size / acceptors)
    system = PaxosCounting(
        proposers=proposers, acceptors=acceptors, majority=majority, capacity=share if share < 2 else None
    )
    result = quorate.check(system, property="agreement", por="lpor", search=None if safe else "dfs")
    assert result.ok == safe
    assert safe or (result.trace is not None and result.trace.steps)


def test_no_more_than_two_messages_of_a_process_are_pending() -> None:
    unlimited = quorate.check(PaxosCounting(), **PLAIN)
    assert quorate.check(PaxosCounting(capacity=2), **PLAIN).states == unlimited.states
    assert quorate.check(PaxosCounting(capacity=1), **PLAIN).states < unlimited.states


@pytest.mark.parametrize("fifo", [False, True])
@pytest.mark.parametrize("register", [False, True])
@pytest.mark.parametrize("atomic", [False, True])
def test_how_it_is_modelled_does_not_matter(fifo: bool, register: bool, atomic: bool) -> None:
    model: Parameters = {"fifo": fifo, "register": register, "atomic": atomic}
    assert quorate.check(PaxosCounting(**model)).ok
    assert quorate.check(PaxosCounting(**model, majority=1)).property == "agreement"
    assert quorate.check(PaxosCounting(**model, heed=False)).property == "agreement"


TABLE_2 = [
    # proposers, acceptors, majority, and whether agreement holds
    (2, 2, 2, True),
    (2, 3, 2, True),
    (2, 4, 3, True),
    (2, 5, 3, True),
    (2, 6, 4, True),
    (2, 7, 4, True),
    (2, 8, 5, True),
    (2, 8, 4, False),  # there a search by bitstate hashing found no error; but half of the acceptors is no majority
    (3, 2, 2, True),
    (3, 3, 2, True),
    (3, 4, 3, True),
    (3, 5, 3, True),
    (2, 5, 2, False),
    (4, 2, 2, True),
    (4, 3, 2, True),
    (4, 4, 3, True),
    (4, 4, 2, False),
    (5, 2, 2, True),
    (5, 3, 2, True),
    (5, 3, 1, False),
    (6, 2, 2, True),
    (7, 2, 2, True),
    (8, 2, 2, True),
    (8, 2, 1, False),
]


@pytest.mark.parametrize(("proposers", "acceptors", "majority", "safe"), TABLE_2)
def test_quorum_transitions(proposers: int, acceptors: int, majority: int, safe: bool) -> None:
    system = load("paxos", {"proposers": proposers, "acceptors": acceptors, "majority": majority})
    search: Any = None if safe else "dfs"
    result = quorate.check(system, property="agreement", por="lpor", symmetry="auto", search=search)
    assert result.ok == safe
    assert safe or (result.trace is not None and result.trace.steps)


@pytest.mark.parametrize(
    ("proposers", "acceptors", "majority", "safe"),
    [
        *((2, 2, 2, True), (2, 3, 2, True), (2, 4, 3, True), (2, 5, 3, True), (2, 6, 4, True), (2, 7, 4, True)),
        *((2, 8, 5, True), (2, 8, 4, False), (3, 2, 2, True), (3, 3, 2, True), (3, 4, 3, True), (3, 5, 3, True)),
        *((2, 5, 2, False), (3, 3, 1, False), (4, 2, 2, True), (4, 3, 2, True)),
        *(pytest.param(*row, marks=DEEP) for row in [(5, 2, 2, True), (4, 4, 2, False), (5, 3, 1, False)]),
    ],
)
def test_the_optimised_model_counting_votes(proposers: int, acceptors: int, majority: int, safe: bool) -> None:
    system = PaxosCounting(proposers=proposers, acceptors=acceptors, majority=majority, register=True, atomic=True)
    # Where agreement fails, most runs show it, and looking for shortest ones or for equal names only costs time.
    search: Any = {"symmetry": "auto"} if safe else {"search": "dfs"}
    assert quorate.check(system, property="agreement", por="lpor", **search).ok == safe


# All of them


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("echo-multicast", {}),
        ("echo-multicast", multicast(2, 1, 0, 1)),
        ("echo-multicast", multicast(1, 1, 1, 1, switching=True)),
        ("regular-storage", {"bases": 2}),
        ("safe-storage", {"bases": 2, "writes": 1}),
        ("atomic-storage", {"bases": 1}),
        ("om", {}),
        ("om", {"lieutenants": 3, "rounds": 2, "traitors": 0}),
        ("fd-consensus", {"processes": 2}),
        ("fd-consensus", {"processes": 2, "crashes": 2}),
        ("faulty-fd-consensus", {"crashes": 0, "processes": 2}),
        ("paxos-counting", {"acceptors": 2}),
        ("paxos-counting", {"acceptors": 2, "fifo": True, "capacity": 1}),
        ("paxos-counting", {"acceptors": 2, "atomic": True, "register": True}),
    ],
)
def test_the_plain_search_counts_as_the_reference_does(name: str, parameters: Parameters) -> None:
    known = explore(define(load(name, parameters)))
    found = quorate.check(load(name, parameters), **PLAIN)
    assert known.ok
    assert found.ok
    assert (found.states, found.transitions, found.depth, found.deadlocks) == (
        known.states,
        known.transitions,
        known.depth,
        len(known.deadlocks),
    )


@pytest.mark.parametrize("name", CATALOGUE)
def test_the_defaults_are_answered_soon(name: str) -> None:
    began = time.process_time()  # what others do on the machine does not count
    broken = name.startswith(("wrong", "faulty")) or name == "paxos-duel"
    assert quorate.check(load(name, {})).verdict == ("violated" if broken else "holds")
    assert time.process_time() - began < 2


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("regular-storage", {"bases": 0}),
        ("safe-storage", {"bases": 0}),
        ("atomic-storage", {"bases": 0}),
        ("om", {"lieutenants": 2, "rounds": 2}),
        ("om", {"traitors": 5}),
        ("fd-consensus", {"processes": 0}),
        ("echo-multicast", multicast(0, 1, 0, 1)),
        ("paxos-counting", {"majority": 4}),
    ],
)
def test_parameters_that_make_no_sense_are_refused(name: str, parameters: Parameters) -> None:
    with pytest.raises(ParameterError) as caught:
        define(load(name, parameters))
    assert caught.value.code == "Q203"


def test_variants_call_their_processes_as_the_original_does() -> None:
    for variant, original in (
        ("wrong-regular-storage", "regular-storage"),
        ("faulty-fd-consensus", "fd-consensus"),
    ):
        names = [[column.name for column in define(load(name, {})).columns] for name in (variant, original)]
        assert names[0] == names[1]
