"""Ranks in a search, held against two explorations in plain Python.

One takes `later` for any later place and normalises each state: the core has to come to as many states. The other takes
plain numbers, as far as it goes: each state that it comes to has to be, in its order, one of those.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from quorate import System, check
from quorate.model.define import define
from quorate.model.definition import Definition
from quorate.model.renumbering import normal_form
from quorate.semantics.state import State, initial_states
from quorate.semantics.steps import steps
from rank_models import Duel, Register


def normal(state: State) -> State:
    form = normal_form((state.locals, state.pending))
    assert form is not None
    locals, pending = form
    return State(locals, pending, state.budget)


def explored(definition: Definition, form: Callable[[State], State], most: int) -> set[State]:
    """States that can be reached, breadth first, as `form` leaves each; so many at the most."""
    found = set(initial_states(definition))
    level = list(found)
    while level and len(found) < most:
        following: list[State] = []
        for state in level:
            for step in steps(definition, state):
                if step.next is not None and (after := form(step.next)) not in found:
                    found.add(after)
                    following.append(after)
        level = following
    return found


def by_places(system: System) -> set[State]:
    definition = define(system)
    columns = tuple(replace(column, places=True) for column in definition.columns)
    return explored(replace(definition, columns=columns), normal, 1_000_000)


SMALL = [Register(writers=1), Register(writers=2), Duel(), Duel(proposers=1, acceptors=2)]


@pytest.mark.parametrize("system", SMALL, ids=str)
def test_the_core_comes_to_the_states_of_plain_python(system: System) -> None:
    result = check(system)
    assert result.verdict == "holds"
    assert result.states == len(by_places(system))


@pytest.mark.parametrize("system", SMALL, ids=str)
def test_every_state_with_numbers_is_one_with_places(system: System) -> None:
    known = by_places(system)
    numbers = explored(define(system), lambda state: state, 2_500)
    assert {normal(state) for state in numbers} <= known


def test_a_violation_is_a_run_with_numbers() -> None:
    """With quorums of one of two acceptors both proposers get their values chosen; ballots have no bound."""
    result = check(Duel(acceptors=2, quorum=1))
    assert (result.verdict, result.property) == ("violated", "agreement")
    assert result.trace is not None
    assert "rank 1" in str(result.trace)
