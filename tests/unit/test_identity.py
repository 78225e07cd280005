"""What tells a step from all others of its state, and nothing more."""

from hypothesis import given
from hypothesis import strategies as st

from generator import Protocol, protocols, system
from quorate import fifo, multiset
from quorate.model.define import define
from quorate.model.definition import Definition
from quorate.semantics.identity import Identity
from quorate.semantics.state import State, initial_states
from quorate.semantics.steps import steps, steps_like
from test_semantics import reachable, talk


def assert_apart(definition: Definition, state: State) -> None:
    offered = steps(definition, state)
    identities = [Identity.of(step) for step in offered]
    assert len(set(identities)) == len(offered)
    for step, identity in zip(offered, identities, strict=True):
        (same,) = [other for other in steps_like(definition, state, identity) if identity.matches(other, state)]
        assert (same.next, same.failure) == (step.next, step.failure)


@given(protocols(), st.lists(st.integers(0, 255), max_size=12))
def test_it_tells_the_steps_of_every_state_apart(protocol: Protocol, choices: list[int]) -> None:
    definition = define(system(protocol))
    state = initial_states(definition)[0]
    for choice in choices:
        assert_apart(definition, state)
        after = [step.next for step in steps(definition, state) if step.next is not None]
        if not after:
            return
        state = after[choice % len(after)]


def test_it_tells_apart_which_of_several_equal_messages_in_a_queue_is_lost() -> None:
    """Losing the first or the last of three leaves other queues behind."""
    definition = talk(fifo(losses=1, duplicates=1), (1, 2, 1))
    (full,) = [state for state in reachable(definition) if len(state.pending[0]) == 3 and state.budget[:2] == (1, 1)]
    for kind in ("lose", "duplicate"):
        found = [step for step in steps(definition, full) if step.kind == kind]
        assert [(str(step.consumed[0]), step.place) for step in found] == [
            ("Note(number=1)", 0),
            ("Note(number=2)", 0),
            ("Note(number=1)", 1),
        ]
        assert len({step.next for step in found}) == 3
    assert_apart(definition, full)


def test_equal_messages_without_an_order_are_one() -> None:
    definition = talk(multiset(losses=1), (1, 2, 1))
    for state in reachable(definition):
        assert all(step.place == 0 for step in steps(definition, state))
        assert_apart(definition, state)


def test_it_is_the_same_in_another_definition_of_the_system() -> None:
    one, two = (talk(fifo(losses=1), (1, 2)) for _ in range(2))
    for here, there in zip(reachable(one), reachable(two), strict=True):
        assert [Identity.of(step) for step in steps(one, here)] == [Identity.of(step) for step in steps(two, there)]
