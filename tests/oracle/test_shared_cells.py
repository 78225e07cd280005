"""Shared cells: the core against the plain semantics and against an explorer of its own, with every reduction."""

from __future__ import annotations

from typing import Any

import pytest

from agreement import PLAIN
from quorate import check
from quorate.model.define import define
from reference import explore
from shared_generated import drawn, explored, made

SEEDS = range(120)
REDUCED: tuple[dict[str, Any], ...] = ({}, {"symmetry": "none"}, {"quotient": "off"}, {"por": "lpor-net"})


@pytest.mark.parametrize("block", range(6))
def test_all_agree_on_generated_protocols(block: int) -> None:
    compared = 0
    for seed in SEEDS[block::6]:
        protocol = drawn(seed)
        alone = explored(protocol)
        if alone is None:
            continue
        compared += 1
        system = made(protocol)
        plain = check(system, **PLAIN, property="always")
        assert (plain.states, plain.transitions) == (alone.states, alone.transitions), protocol
        for name, expected in (("first", alone.first), ("second", alone.second), ("deadlock", not alone.deadlock)):
            for reduced in REDUCED:
                found = check(system, property=name, **reduced)
                assert found.ok == expected, (protocol, name, reduced, found)
    assert compared > 10


@pytest.mark.parametrize("seed", range(0, 40, 4))
def test_the_plain_semantics_is_what_was_meant(seed: int) -> None:
    protocol = drawn(seed)
    alone = explored(protocol)
    if alone is not None:
        found = explore(define(made(protocol)))
        assert (found.states, found.transitions, len(found.deadlocks)) == (
            alone.states,
            alone.transitions,
            len(alone.stuck),
        )
