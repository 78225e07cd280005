"""The benchmarks of temporal properties: the models that Spin gets, and what is told of a product. Nothing is timed."""

from __future__ import annotations

import shutil

import pytest
from benchmarks.experiment import Limits
from benchmarks.peers import promela_lock, promela_storage
from benchmarks.peers.process import Finished
from benchmarks.peers.spin import Spin, parse
from benchmarks.product import product
from benchmarks.protocols.lock import Locking
from benchmarks.protocols.temporal_storage import AtomicRegister, RegularRegister
from benchmarks.temporal import LOCK, REGISTER

from quorate import System, check

QUIET = Limits(seconds=60, repeat=1)
needs_spin = pytest.mark.skipif(shutil.which("spin") is None, reason="spin is not installed")


@needs_spin
@pytest.mark.parametrize(
    ("system", "text", "formula"),
    [
        (Locking(clients=4), promela_lock.model(4), "released"),
        (RegularRegister(), promela_storage.temporal(3, 1, 1), "ends"),
    ],
)
def test_spin_says_the_same_of_as_large_a_product(system: System, text: str, formula: str) -> None:
    theirs = Spin("", text, build="no reduction", formula=formula).measure(QUIET)
    ours = check(
        system, property=formula, fairness="process", quotient="off", dead_messages="off", symmetry="none", trace=False
    )
    assert theirs.status == ours.verdict
    if ours.product_states:  # there is none where no run can end in a violation, and none comes back to a state
        assert theirs.states == ours.product_states
    else:
        assert theirs.states == ours.states


def test_a_search_that_was_not_deep_enough_is_not_complete() -> None:
    output = """\
error: max search depth too small
State-vector 124 byte, depth reached 999, errors: 0
     8696 states, stored
    15467 transitions (= visited+matched)
"""
    found = parse(Finished(output, 0, 1.0, 1.0, 1 << 20, ""))
    assert (found.status, found.note) == ("incomplete", "limit of depth")


def test_a_product_is_measured_in_a_process_of_its_own() -> None:
    register = product(REGISTER, {"readers": 1}, "answered", "message")
    assert (register.states, register.product_states, register.groups) == (3_757, 7_153, 35)
    lock = product(LOCK, {"clients": 5}, "released", "process")
    assert (lock.states, lock.product_states, lock.groups) == (352, 699, 6)
    assert lock.product_seconds > 0


def test_the_properties_that_are_measured_hold() -> None:
    assert check(AtomicRegister(readers=1), property=["ends", "answered", "atomicity"]).ok
