"""The bundled protocols, small enough for the reference explorer. Larger instances are the native search's tests."""

import importlib
import io
import tokenize
from pathlib import Path
from typing import Any

import pytest

from quorate import System
from quorate.base.errors import ParameterError
from quorate.model.define import define
from quorate.protocols import CATALOGUE
from reference import explore


def load(name: str) -> type[System]:
    module, cls = CATALOGUE[name].split(":")
    found: type[System] = getattr(importlib.import_module(module), cls)
    return found


@pytest.mark.parametrize(
    ("name", "parameters", "figures", "violations"),
    [
        # states, transitions, depth, deadlocks
        ("paxos", {}, (8649, 20049, 18, 1152), {}),
        # By hand: 1 + 2^3 states before the proposal, then for each of 3 quorums 28, of which 6 are final.
        ("paxos", {"proposers": 1}, (1 + 8 + 3 * 28, 160, 9, 3 * 6), {}),
        ("paxos", {"proposers": 1, "ballots": 2, "acceptors": 2}, None, {}),
        ("paxos", {"acceptors": 2, "learners": 2}, None, {}),
        ("paxos", {"acceptors": 2, "majority": 1}, None, {"agreement": 10}),
        ("faulty-paxos", {}, (13005, 34689, 19, 1080), {"agreement": 11}),
        ("faulty-paxos-2", {"proposers": 2, "acceptors": 2}, None, {}),
        ("paxos-single", {"acceptors": 2}, None, {}),
        ("paxos-single", {"acceptors": 2, "majority": 1}, None, {"agreement": 10}),
        ("two-phase-commit", {}, (92, 159, 8, 8), {}),
        ("two-phase-commit", {"crashes": 1}, (373, 626, 9, 100), {"deadlock": 1}),
        ("ping-pong", {}, (11, 10, 10, 1), {}),
    ],
)
def test_figures_and_verdicts(
    name: str, parameters: dict[str, Any], figures: tuple[int, int, int, int] | None, violations: dict[str, int]
) -> None:
    found = explore(define(load(name)(**parameters)))
    assert found.violations == violations
    assert found.failures == {}
    if figures is not None:
        assert (found.states, found.transitions, found.depth, len(found.deadlocks)) == figures


def test_two_phase_commit_can_commit() -> None:
    assert explore(define(load("two-phase-commit")())).witnesses == {"commit": 8}


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("paxos", {"majority": 4}),
        ("paxos", {"acceptors": 0}),
        ("paxos-single", {"majority": -1}),
        ("ping-pong", {"rally": 0}),
    ],
)
def test_parameters_that_make_no_sense_are_refused(name: str, parameters: dict[str, int]) -> None:
    with pytest.raises(ParameterError) as caught:
        define(load(name)(**parameters))
    assert caught.value.code == "Q203"


def test_variants_call_their_processes_as_the_original_does() -> None:
    variants = ("paxos", "faulty-paxos", "faulty-paxos-2", "paxos-single")
    names = [[column.name for column in define(load(name)(proposers=2)).columns] for name in variants]
    assert names == [names[0]] * 4


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_protocol_says_what_it_is(name: str) -> None:
    system = load(name)
    assert system.__doc__
    assert define(system()).invariants


def lines_of_code(name: str) -> int:
    """Lines that hold code: no blank ones, comments or docstrings."""
    source = Path(importlib.import_module(CATALOGUE[name].split(":")[0]).__file__ or "").read_text()
    skipped = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
    lines: set[int] = set()
    previous = tokenize.NEWLINE
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        alone = token.type == tokenize.STRING and previous in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
        if token.type not in skipped and not alone:
            lines.update(range(token.start[0], token.end[0] + 1))
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            previous = token.type
    return len(lines)


def test_protocols_are_short() -> None:
    assert lines_of_code("paxos") <= 90
    assert lines_of_code("two-phase-commit") < 50


@pytest.mark.parametrize(("proposers", "ballots"), [(1, 1), (2, 3), (3, 2)])
def test_ballots_are_unique_to_a_proposer_and_rise(proposers: int, ballots: int) -> None:
    definition = define(load("paxos")(proposers=proposers, ballots=ballots))
    (initial,) = definition.initials
    owned = [
        dict(zip(column.fields, initial[column.index], strict=True))["ballots"]
        for column in definition.columns
        if column.name.startswith("proposer")
    ]
    assert [len(each) for each in owned] == [ballots] * proposers
    assert all(list(each) == sorted(each) for each in owned)
    assert sorted(ballot for each in owned for ballot in each) == list(range(1, proposers * ballots + 1))
