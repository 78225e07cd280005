"""What tells a step from all others of its state.

It does not refer to a definition or to the state: so it finds the same step in another state, in another definition of
the same system, and in the same system tomorrow. What the step leads to is no part of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from quorate.base.values import encode

if TYPE_CHECKING:
    from quorate.semantics.state import Kind, State, Step


@dataclass(frozen=True)
class Identity:
    """Who does what, on which messages, and with which choices."""

    kind: Kind
    column: int
    transition: str | None = None
    consumed: tuple[bytes, ...] = ()
    choices: tuple[bytes, ...] = ()
    sent: bytes = b""
    """Of a crash in the midst of a step: what was still sent."""
    redelivered: bool = False
    """The same: whether what the step consumed is still pending."""
    place: int = 0
    """Of a message that is lost or copied: which one, where a queue has several runs of it."""

    @classmethod
    def of(cls, step: Step) -> Identity:
        outcome = step.outcome
        return cls(
            step.kind,
            step.column,
            step.transition.name if step.transition is not None else None,
            tuple(map(encode, step.consumed)),
            tuple(map(encode, outcome.choices)) if outcome is not None else (),
            encode(outcome.sends) if step.kind == "crash" and outcome is not None else b"",
            step.redelivered,
            step.place,
        )

    def matches(self, step: Step, before: State) -> bool:
        return Identity.of(step) == self


def same_effect(one: Step, two: Step) -> bool:
    """Whether the process did, sent and told the same."""
    if one.outcome is None or two.outcome is None:
        return one.outcome is two.outcome
    return encode(one.outcome[:3]) == encode(two.outcome[:3]) and one.failure == two.failure
