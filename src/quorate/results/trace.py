"""A run of a system, step by step: a counterexample, or a witness that something can happen.

It may go on for ever, as a stem and a loop (a lasso): that something never happens is not shown by any end.
"""

from __future__ import annotations

import builtins
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from quorate.model.definition import Definition
    from quorate.properties.explanation import Part
    from quorate.semantics.state import State, Step

Kind = Literal["violation", "witness", "error"]
"""At the end something is wrong, or something is reached, or a property raises an error instead of answering."""

Start = Literal["initial", "any"]
"""Where a run may start: in an initial state, or in any state, reachable or not, as where an induction fails."""


@dataclass(frozen=True, eq=False)
class Trace:
    """The run, and why it is shown.

    Only the last step may lack a next state: then its handler failed and nothing else happened.
    """

    kind: Kind
    property: str
    reason: tuple[str, ...]  # what the property read in the last state, one value a line
    definition: Definition
    initial: State
    steps: tuple[Step, ...]
    shortest: bool  # no shorter run of the full system shows the same
    shortened_from: int | None = None  # how many steps it had before `--shorten` left some out
    loop_from: int | None = None
    """The number of the state from which the run goes on after its last step, as it did before, for ever. If that is
    the last state, nothing happens any more. None if the run ends."""
    start: Start = "initial"
    shown: frozenset[tuple[int, str]] | None = None
    """Of a run that starts anywhere: the fields of its first state that matter, by column and name; None for all."""
    fairness: str | None = None
    """Of a run that breaks a temporal property: the level of fairness that it keeps."""
    crashed: tuple[int, ...] = ()
    """The columns that take no step in its loop, because they have crashed implicitly."""

    def __post_init__(self) -> None:
        if self.loop_from is None:
            return
        from quorate.semantics.recurrence import comes_back

        states = self.states
        if not (
            0 <= self.loop_from < len(states)
            and comes_back(self.definition, states, self.loop_from)
            and all(step.next is not None for step in self.steps)
        ):
            raise ValueError(f"the run does not come back to its state {self.loop_from}")

    def __len__(self) -> int:
        return len(self.steps)

    @builtins.property
    def states(self) -> tuple[State, ...]:
        """The states along the run, the initial one first."""
        return (self.initial, *(step.next for step in self.steps if step.next is not None))

    @builtins.property
    def loop(self) -> tuple[Step, ...]:
        """The steps that are taken again and again."""
        return self.steps[self.loop_from :] if self.loop_from is not None else ()

    @builtins.property
    def stops(self) -> bool:
        """Whether the run goes on for ever in a state in which nothing happens any more."""
        return self.loop_from == len(self.steps)

    @cached_property
    def explanation(self) -> Part | None:
        """Which part of the property decided, and for which values; None where the values read have to say it."""
        from quorate.properties.explanation import explain
        from quorate.results.claim import Claim
        from quorate.results.history import explained

        claim = Claim.of(self)
        if claim.property is None or claim.fails:
            return None
        history = explained(self, claim.property)
        return history or explain(self.definition, claim.property, self.states[-1])

    def to_json(self) -> dict[str, Any]:
        from quorate.results.json import trace_to_json

        return trace_to_json(self)

    def save(self, path: str | PathLike[str], target: str | None = None) -> None:
        """Write the run to a file that `quorate replay` reads."""
        from quorate.results.json import save

        save(self, path, target)

    def __str__(self) -> str:
        from quorate.render.text import run

        return run(self).plain()

    def __repr__(self) -> str:
        return f"<Trace {self.kind} of {self.property}, {len(self.steps)} steps>"
