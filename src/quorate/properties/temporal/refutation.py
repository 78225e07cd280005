"""Whether a run that goes round for ever shows that a formula is violated, by the definitions alone."""

from __future__ import annotations

from collections.abc import Sequence

from quorate.model.definition import Definition
from quorate.properties.evaluate import evaluate
from quorate.properties.temporal.fairness import starved
from quorate.properties.temporal.formula import Formula, names
from quorate.properties.temporal.stated import TemporalProperty
from quorate.properties.temporal.words import holds
from quorate.semantics.recurrence import comes_back
from quorate.semantics.state import State, Step


def refuted(
    definition: Definition,
    prop: TemporalProperty,
    formula: Formula,
    initial: State,
    taken: Sequence[Step],
    loop_from: int,
    level: str,
    stopped: Sequence[int] = (),
) -> str:
    """Why a lasso does not show that a formula is violated; empty if it does.

    Without steps in the loop the last state repeats for ever.
    """
    states = (initial, *(step.next for step in taken if step.next is not None))
    if len(states) != len(taken) + 1:
        return "a step of it fails"
    if loop_from < len(taken) and not comes_back(definition, states, loop_from):
        return "its loop does not close"
    letters = [
        [
            name
            for name in names(formula)
            if evaluate(definition, prop.predicates[name], state.locals, state.pending).value
        ]
        for state in states
    ]
    last = len(states) if loop_from >= len(taken) else len(states) - 1
    if holds(formula, letters[:loop_from], letters[loop_from:last]):
        return f"{prop.name} holds on it"
    loop = states[loop_from:last]
    unfair = starved(definition, level, loop, taken[loop_from:], stopped)
    if unfair:
        return f"it is not fair: {', '.join(unfair)}"
    if any(step.column in stopped and step.kind in ("step", "discard") for step in taken[loop_from:]):
        return "a crashed process goes on"
    return ""
