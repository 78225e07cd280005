"""Every bundled protocol at parameters so small that all its runs can be compared, not just its states."""

from typing import Any

from quorate import System
from quorate.model.target import load
from quorate.model.temporal import read_temporal

SMALL: dict[str, dict[str, Any]] = {
    "paxos": {"proposers": 2, "acceptors": 1},
    "faulty-paxos": {"proposers": 2, "acceptors": 1},
    "faulty-paxos-2": {"proposers": 2, "acceptors": 1},
    "paxos-single": {"proposers": 1, "acceptors": 2},
    "paxos-counting": {"proposers": 1, "acceptors": 1},
    "echo-multicast": {"honest_receivers": 2, "byzantine_receivers": 0},
    "regular-storage": {"bases": 2},
    "wrong-regular-storage": {"bases": 2},
    "safe-storage": {"bases": 2, "writes": 1},
    "atomic-storage": {"bases": 1, "readers": 1},
    "multi-writer-storage": {"bases": 1, "writers": 1, "readers": 1},
    "om": {"lieutenants": 2},
    "fd-consensus": {"processes": 2},
    "faulty-fd-consensus": {"processes": 2},
    "two-phase-commit": {"participants": 2},
    "two-phase-commit-recovery": {"participants": 1, "crashes": 1},
    "three-phase-commit": {"participants": 1},
    "multi-paxos": {"leaders": 1, "acceptors": 1},
    "paxos-commit": {"managers": 1, "acceptors": 1},
    "saga": {"services": 1, "crashes": 0},
    "raft": {"servers": 2, "terms": 1, "crashes": 0},
    "viewstamped-replication": {"views": 0},
    "raft-election": {"servers": 2, "terms": 1, "crashes": 0},
    "pbft": {"byzantine": 3},
    "ben-or": {"processes": 2, "f": 0, "rounds": 1},
    "chandra-toueg": {"processes": 2, "rounds": 1, "crashes": 0},
    "chain-replication": {"servers": 2, "writes": 1, "reads": 1, "crashes": 0},
    "lamport-mutex": {"processes": 2, "requests": 1},
    "gossip": {"nodes": 2},
    "stop-and-wait": {"messages": 1},
    "alternating-bit": {"capacity": 1},
    "token-ring": {"members": 2},
    "chang-roberts": {"nodes": 2},
    "termination-detection": {"nodes": 2},
    "lock": {"clients": 2},
    "dining-philosophers": {"philosophers": 2},
    "racing-increment": {"threads": 2},
    "ticket-lock": {"threads": 2},
    "peterson": {"processes": 2},
    "bakery": {"customers": 2, "highest": 2},
    "shared-philosophers": {"philosophers": 2},
    "paxos-duel": {},
    "ping-pong": {"rally": 3},
}


def small(name: str) -> System:
    return without_temporal(load(name))(**SMALL[name])


def without_temporal(cls: type[System]) -> type[System]:
    """Invariants, goals and deadlocks alone, for what is not about whole runs."""
    stated = {claimed.name: None for claimed in read_temporal(cls)}
    return type(cls.__name__, (cls,), {**stated, "__module__": cls.__module__}) if stated else cls
