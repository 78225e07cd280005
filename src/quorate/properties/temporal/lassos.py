"""What a temporal property says of one run, straight from the definitions: predicates in its states, then the word."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from quorate.model.definition import Definition
from quorate.model.outcome import Local
from quorate.properties.evaluate import evaluate
from quorate.properties.temporal.branching import linear
from quorate.properties.temporal.claims import TemporalProperty, asked_for, temporal_of
from quorate.properties.temporal.errors import FormulaError
from quorate.properties.temporal.formula import Formula, names
from quorate.properties.temporal.words import holds


def named(definition: Definition, name: str) -> tuple[TemporalProperty, Formula] | None:
    """The property of that name, or the formula that the name is, as it is asked of runs; None if there is none."""
    found = next((each for each in temporal_of(definition) if each.name == name), None)
    found = found or _read(definition, name, "ltl") or _read(definition, name, "ctl")
    formula = linear(found.formula) if found is not None else None
    return (found, formula) if found is not None and formula is not None else None


def _read(definition: Definition, formula: str, kind: Literal["ltl", "ctl"]) -> TemporalProperty | None:
    try:
        return asked_for(definition, [formula], kind)[0]
    except FormulaError:
        return None


def holds_on(
    definition: Definition,
    prop: TemporalProperty,
    formula: Formula,
    states: Sequence[tuple[Local, ...]],
    loop_from: int,
) -> bool:
    """Whether a run satisfies a formula. `states` are the fields of the processes, each state of the loop once."""
    letters = [
        [name for name in names(formula) if evaluate(definition, prop.predicates[name], state).value]
        for state in states
    ]
    return holds(formula, letters[:loop_from], letters[loop_from:])
