"""Symmetry reduction: exact orbit counts by brute force, the same answers as without, and models that break it."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

import corpus
from generator import Look, Protocol, Rule, Send, system, without_claims
from orbits import orbits, renamed_state, renamings
from quorate import (
    Process,
    System,
    can,
    check,
    final,
    invariant,
)
from quorate.base.values import encode
from quorate.model.define import define
from quorate.model.definition import Definition
from quorate.native.model import Model
from quorate.protocols import CATALOGUE
from quorate.protocols.paxos import Paxos
from quorate.reduce.families import Family, Symmetries, proposed
from quorate.semantics.state import State, Step
from quorate.semantics.steps import enabled_protocol
from reference import explore
from small_instances import SMALL, small
from test_against_reference import all_names, compare_verdict, expect, follow, run_of

pytestmark = pytest.mark.usefixtures("taken_to_be_pure")

PLAIN: dict[str, Any] = {"quotient": "off", "dead_messages": "off"}
COMBINED: list[dict[str, Any]] = [
    {"symmetry": "auto", "quotient": "off", "dead_messages": "off"},
    {"symmetry": "auto", "quotient": "off", "dead_messages": "off", "por": "lpor"},
    {"symmetry": "auto", "quotient": "on", "dead_messages": "on"},
    {"symmetry": "auto", "quotient": "on", "dead_messages": "on", "por": "lpor"},
]


def families_of(system: System) -> list[Family]:
    """The families that pass the check, when no property is asked for."""
    model = Model(define(system), ())
    families = proposed(model.definition)
    if not model.engine.close(model, 60_000).complete:
        return []
    return Symmetries(model, families).families


def everything(definition: Definition) -> tuple[list[State], dict[bytes, tuple[Step, ...]]]:
    states: list[State] = []
    found: dict[bytes, tuple[Step, ...]] = {}

    def visit(state: State, _: int, here: tuple[Step, ...]) -> None:
        states.append(state)
        found[state.key] = here

    explore(definition, visit=visit)
    return states, found


def compare_orbits(make: Callable[[], System]) -> int:
    """Counts are those of the orbits, and every renaming maps steps to steps. The number of renamings."""
    definition = define(make())
    families = families_of(make())
    states, here = everything(definition)
    for names in renamings(families):
        if sum(old != encode(new) for old, new in names.items()) != 2:
            continue
        for state in states:
            image = renamed_state(definition, state, names)
            after = {renamed_state(definition, s.next, names).key for s in here[state.key] if s.next is not None}
            assert {s.next.key for s in here[image.key] if s.next is not None} == after
    found = orbits(definition, families, states)
    result = check(make(), property="assertions", symmetry="auto", **PLAIN)
    assert result.states == len(found)
    assert result.reductions["symmetry"].get("stands_for", len(states)) == len(states)
    firsts = [members[0] for members in found.values()]
    assert result.deadlocks == sum(not enabled_protocol(here[state.key]) for state in firsts)
    taken = [s for state in firsts for s in here[state.key] if s.next is not None]
    assert result.transitions == len(taken)
    for options in ({"threads": 3}, {"search": "dfs"}):
        again = check(make(), property="assertions", symmetry="auto", **PLAIN, **options)
        assert (again.states, again.transitions) == (result.states, result.transitions)
    return len(renamings(families))


def compare_answers(make: Callable[[], System]) -> None:
    """With every combination of reductions: the verdicts, lengths and runs of the plain semantics."""
    definition = define(make())
    found = explore(definition)
    deadlock = definition.final is not None
    names = all_names(definition)
    questions: list[tuple[list[str], bool]] = [(names, deadlock), *(([name], False) for name in names)]
    for options in COMBINED:
        for wanted, ends in questions:
            expected = expect(definition, found, wanted, ends)
            asked = [*wanted, "deadlock"] if ends else wanted
            result = check(make(), property=asked, **options)
            if "por" in options:
                assert result.verdict == ("violated" if expected.broken or expected.missed else "holds")
            else:
                compare_verdict(result, expected)
                assert result.states <= expected.states
        expected = expect(definition, found, names, deadlock)
        assert run_of(check(make(), **options)) == run_of(check(make(), threads=3, **options))
        result = check(make(), search="dfs", **options)
        assert result.verdict == ("violated" if expected.broken or expected.missed else "holds")
        if result.trace is not None:
            follow(result.trace)


# Counts


@pytest.mark.parametrize(
    ("parameters", "plain", "reduced"),
    [
        ({"proposers": 2, "acceptors": 3}, 1589, 266),
        ({"proposers": 3, "acceptors": 3}, 136_525, 5095),
        ({"proposers": 2, "acceptors": 5}, 87_631, 1213),
    ],
    ids=["2,3,1", "3,3,1", "2,5,1"],
)
def test_paxos_has_the_counts_of_the_prototype(parameters: dict[str, Any], plain: int, reduced: int) -> None:
    assert check(Paxos(**parameters), symmetry="auto", **PLAIN).states == plain
    assert check(Paxos(**parameters), symmetry="auto").states == reduced
    with_orders = check(Paxos(**parameters), symmetry="auto", por="lpor")
    assert with_orders.verdict == "holds"
    assert with_orders.states < reduced


def test_the_group_is_reported_with_gain_and_efficiency() -> None:
    result = check(Paxos(proposers=2, acceptors=4, learners=2), symmetry="auto")
    figures = result.reductions["symmetry"]
    assert figures["ran"] is True
    assert (figures["group"], figures["order"], figures["left_out"]) == ("2! Learner x 4! Acceptor", 48, [])
    plain = check(Paxos(proposers=2, acceptors=4, learners=2), symmetry="none")
    assert figures["stands_for"] == plain.states
    assert figures["gain"] == plain.states / result.states
    assert figures["efficiency"] == figures["gain"] / 48


def test_large_groups_are_no_problem() -> None:
    """8! x 2! renamings; only orders of eight could be enumerated in no reasonable time."""
    result = check(Paxos(proposers=2, acceptors=8, any_order=True), symmetry="auto")
    figures = result.reductions["symmetry"]
    assert (result.verdict, figures["order"]) == ("holds", 80_640)
    assert (result.states, figures["stands_for"]) == (5_489, 2 * 7_653_257)


@pytest.mark.parametrize("name", CATALOGUE)
def test_counts_are_orbit_counts_on_bundled_protocols(name: str) -> None:
    compare_orbits(lambda: small(name))


@pytest.mark.parametrize(
    "make",
    [
        lambda: Paxos(proposers=2, acceptors=2, learners=2),
        lambda: Paxos(proposers=1, acceptors=4),
    ],
    ids=["paxos 2,2,2", "paxos 1,4,1"],
)
def test_counts_are_orbit_counts_on_larger_ones(make: Callable[[], System]) -> None:
    assert compare_orbits(make) > 1


@pytest.mark.parametrize("name", SMALL)
def test_answers_are_the_same_on_bundled_protocols(name: str) -> None:
    compare_answers(lambda: small(name))


# Generated protocols


def symmetric(protocol: Protocol) -> Protocol:
    """Nobody is named: not the next in a ring, not the first so many."""

    def tame(rule: Rule) -> Rule:
        actions = tuple(
            action._replace(to="others") if isinstance(action, Send) and action.to == "next" else action
            for action in rule.actions
        )
        return rule._replace(actions=actions, by_field=rule.by_field or rule.kind == "each")

    roles = tuple(role._replace(rules=tuple(map(tame, role.rules))) for role in protocol.roles)
    return protocol._replace(roles=roles, starts=())


def looks(look: Look | bool) -> Callable[[Any], bool]:
    """A property that asks the same of every process."""

    def holds(self: Any) -> bool:
        answers = []
        for view in self[Process]:
            here = look
            while isinstance(here, Look):
                here = here.then if getattr(view, here.field) == here.value else here.otherwise
            answers.append(here)
        return all(answers)

    return holds


def symmetric_system(protocol: Protocol) -> System:
    extra: dict[str, Any] = {}
    for number, each in enumerate(protocol.invariants):
        extra[f"invariant{number}"] = invariant(looks(each))
    for number, each in enumerate(protocol.cans):
        extra[f"can{number}"] = can(looks(each))
    if protocol.final is not None:
        extra["ended"] = final(looks(protocol.final))
    return system(protocol, extra)


SYMMETRIC = corpus.Kind("symmetric", lambda protocol, dice: corpus.smaller(symmetric(protocol), corpus.MOST_STATES))


@corpus.each(corpus.sized, 25)
def test_answers_are_the_same_on_generated_protocols(protocol: Protocol, dice: Random) -> None:
    compare_answers(lambda: corpus.built(protocol))


@corpus.each(SYMMETRIC, 25)
def test_answers_are_the_same_on_generated_symmetric_protocols(protocol: Protocol, dice: Random) -> None:
    made = symmetric_system(protocol)
    compare_answers(lambda: made)


@corpus.each(SYMMETRIC, 25, first=25)
def test_counts_are_orbit_counts_on_generated_protocols(protocol: Protocol, dice: Random) -> None:
    made = corpus.built(without_claims(protocol)._replace(invariants=(), cans=(), final=None))
    compare_orbits(lambda: made)
