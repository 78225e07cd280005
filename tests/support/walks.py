"""Arbitrary runs of arbitrary protocols, for tests of everything that is done with a run."""

from collections.abc import Iterable

from hypothesis import assume
from hypothesis import strategies as st

from generator import Protocol, protocols, system
from quorate.model.define import define
from quorate.model.definition import Definition
from quorate.results.trace import Trace
from quorate.semantics.state import Step, initial_states
from quorate.semantics.steps import steps


def walked(definition: Definition, choices: Iterable[int]) -> Trace:
    """The run that takes, in every state, the step of that number; it ends early where nothing or a failure is next."""
    state = initial = initial_states(definition)[0]
    taken: list[Step] = []
    for choice in choices:
        offered = [step for step in steps(definition, state) if not step.cut]
        if not offered:
            break
        step = offered[choice % len(offered)]
        taken.append(step)
        if step.next is None:
            break
        state = step.next
    return Trace("violation", "nothing in particular", (), definition, initial, tuple(taken), shortest=False)


def _made(protocol: Protocol, choices: list[int]) -> Trace:
    trace = walked(define(system(protocol)), choices)
    assume(len(trace) > 2)
    return trace


def traces(longest: int = 24) -> st.SearchStrategy[Trace]:
    """Runs of generated protocols."""
    choices = st.lists(st.integers(0, 255), min_size=longest, max_size=longest)
    return st.builds(_made, protocols(), choices)
