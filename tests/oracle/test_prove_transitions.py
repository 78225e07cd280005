"""The actions of a proof against the plain semantics: the same successors, of reachable and of arbitrary states."""

import random
from dataclasses import replace

import pytest

from corpus import drawn as described
from generator import Protocol, system
from quorate.model.define import define
from quorate.model.definition import Definition
from quorate.proofs.encode import Encoded
from quorate.proofs.refusal import RefusedError
from shared_generated import drawn, made
from small_instances import SMALL, small
from successors import Concretely, arbitrary, by_semantics, reachable

REFUSED = {
    "paxos-counting": "Proposer.unsent is declared as",
    "echo-multicast": "signatures",
    "om": "Lieutenant.orders is declared as",
    "raft": "an integer that has no bound",
    "viewstamped-replication": "an integer that has no bound",
    "saga": "Service.outbox is declared as",
    "lamport-mutex": "fifo()",
    "alternating-bit": "fifo(",
}
LONG = {"multi-writer-storage", "paxos-single"}
"""Accepted, and the same successors, but their actions take minutes to make."""


def compare(definition: Definition, encoded: Encoded, number: int, seed: int) -> int:
    """How many successors agree. Where a set would overflow its slots, the actions say so instead of a successor."""
    actions = Concretely(encoded)
    dice = random.Random(seed)
    states = [*reachable(definition, number, seed), *(arbitrary(encoded, dice) for _ in range(number))]
    agreed = 0
    for state in states:
        mine, theirs = actions.successors(state), by_semantics(definition, state)
        overflow = ("overflow", b"")
        if overflow in mine:
            assert mine - {overflow} <= theirs
        else:
            assert mine == theirs
        agreed += len(theirs)
    return agreed


@pytest.mark.parametrize("name", sorted(set(SMALL) - set(REFUSED) - LONG))
def test_actions_do_what_the_semantics_does(name: str) -> None:
    definition = define(small(name))
    assert compare(definition, Encoded(definition), 25, 1) > 20


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_what_has_no_encoding_is_refused_by_name_and_line(name: str) -> None:
    with pytest.raises(RefusedError) as refused:
        Encoded(define(small(name)))
    assert REFUSED[name] in str(refused.value)
    assert refused.value.location is not None
    assert refused.value.hint


def tame(protocol: Protocol) -> Protocol:
    """Without queues, capacities and maximal sets, which are refused."""
    network = protocol.network
    kind = "set" if network.kind == "fifo" else network.kind
    network = replace(network, kind=kind, capacity=None, full="block", head="block", fair=False)
    roles = tuple(
        role._replace(
            rules=tuple(rule._replace(kind="minimal") if rule.kind == "maximal" else rule for rule in role.rules)
        )
        for role in protocol.roles
    )
    return protocol._replace(network=network, roles=roles)


def test_actions_of_generated_shared_cells_do_what_the_semantics_does() -> None:
    accepted = 0
    for number in range(10):
        definition = define(made(drawn(number)))
        try:
            encoded = Encoded(definition)
        except RefusedError:
            continue
        accepted += 1
        compare(definition, encoded, 6, number)
    assert accepted >= 6


def test_actions_of_generated_protocols_do_what_the_semantics_does() -> None:
    accepted = 0
    for number in range(14):
        definition = define(system(tame(described(number))))
        try:
            encoded = Encoded(definition)
        except RefusedError:
            continue
        accepted += 1
        compare(definition, encoded, 8, number)
    assert accepted >= 10
