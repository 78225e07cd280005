"""Runs of a transition system (the paths of section 2.1 of the thesis), and trees of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic

from quorate.por.system import S, T


@dataclass(frozen=True)
class Run(Generic[S, T]):
    """A run from an initial state: the transitions executed, and the states they led to."""

    initial: S
    steps: tuple[tuple[T, S], ...] = ()

    @property
    def last(self) -> S:
        """The state it ends in."""
        return self.steps[-1][1] if self.steps else self.initial

    @property
    def transitions(self) -> tuple[T, ...]:
        """What was executed, in order."""
        return tuple(transition for transition, _ in self.steps)

    def __str__(self) -> str:
        width = max((len(str(each)) for each in self.transitions), default=0)
        lines = [f"{'':{width}}  {self.initial!r}", *(f"{each!s:{width}}  {state!r}" for each, state in self.steps)]
        return "\n".join(lines)


class Tree(dict[S, "tuple[S, T] | None"], Generic[S, T]):
    """For each state that was reached, the step that did so first; none for an initial state."""

    def run_to(self, state: S) -> Run[S, T]:
        """The run of the tree that ends in a state."""
        steps: list[tuple[T, S]] = []
        while (parent := self[state]) is not None:
            steps.append((parent[1], state))
            state = parent[0]
        return Run(state, tuple(reversed(steps)))
