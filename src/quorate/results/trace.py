"""A run of a system, from an initial state step by step: a counterexample, or a witness that something can happen."""

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
    loop_from: int | None = None
    shortened_from: int | None = None  # how many steps it had before `--shorten` left some out

    def __len__(self) -> int:
        return len(self.steps)

    @builtins.property
    def states(self) -> tuple[State, ...]:
        """The states along the run, the initial one first."""
        return (self.initial, *(step.next for step in self.steps if step.next is not None))

    @cached_property
    def explanation(self) -> Part | None:
        """Which part of the property decided, and for which values; None where the values read have to say it."""
        from quorate.properties.explanation import explain
        from quorate.results.claim import Claim

        claim = Claim.of(self)
        if claim.property is None or claim.fails:
            return None
        return explain(self.definition, claim.property, self.states[-1].locals)

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
