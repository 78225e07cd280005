"""Taking given steps from a given state, one after the other: the one way in which a run is made again.

What is wanted of a step may be its identity, or something else that can be told by looking at the step: what a file
says of it, or the reduced state that it has to lead to.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple, Protocol

from quorate.semantics.identity import Identity
from quorate.semantics.steps import steps, steps_like

if TYPE_CHECKING:
    from quorate.model.definition import Definition
    from quorate.semantics.state import State, Step


class Wanted(Protocol):
    """Something that a step can be or not be."""

    def matches(self, step: Step, before: State) -> bool: ...


class Run(NamedTuple):
    """Steps that can be taken one after the other."""

    initial: State
    steps: tuple[Step, ...]

    @property
    def last(self) -> State:
        """The last state; before the last step, if that one fails."""
        return next((step.next for step in reversed(self.steps) if step.next is not None), self.initial)


class Differs(NamedTuple):
    """The first step that cannot be taken as it is wanted."""

    taken: tuple[Step, ...]
    number: int
    """Of the step in the run, counted from 1."""
    wanted: Wanted
    state: State | None
    """Where it cannot be taken; None if the step before it fails, so that nothing can follow."""


def follow(definition: Definition, initial: State, wanted: Iterable[Wanted]) -> Run | Differs:
    """The run that takes these steps, or the first step that differs."""
    taken: list[Step] = []
    state: State | None = initial
    for number, each in enumerate(wanted, start=1):
        step = find(definition, state, each) if state is not None else None
        if step is None:
            return Differs(tuple(taken), number, each, state)
        taken.append(step)
        state = step.next
    return Run(initial, tuple(taken))


def find(definition: Definition, state: State, wanted: Wanted) -> Step | None:
    """The first step of a state that is as wanted; None if there is none.

    Of an identity there is at most one. What it leads to may differ from state to state: that is for the caller to see.
    """
    offered = steps_like(definition, state, wanted) if isinstance(wanted, Identity) else steps(definition, state)
    return next((step for step in offered if wanted.matches(step, state)), None)
