"""What temporal properties need of a reduced graph, by their formulas and by what is assumed of runs."""

from __future__ import annotations

from collections.abc import Sequence

from quorate.model.definition import Definition
from quorate.properties.kinds import Kept
from quorate.properties.temporal.branching import linear
from quorate.properties.temporal.fairness import STRONG, WEAK, fairness_of
from quorate.properties.temporal.stated import TemporalProperty


def needs_of(definition: Definition, asked: Sequence[TemporalProperty], level: str) -> frozenset[Kept]:
    """Whole runs, or their tree; and as much of the steps along them as fairness asks for."""
    wanted = {Kept.LINEAR, *_fairness(definition, level)}
    if any(linear(each.formula) is None for each in asked):
        wanted.add(Kept.BRANCHING)
    return frozenset(wanted)


def _fairness(definition: Definition, level: str) -> set[Kept]:
    """Nothing where a run may stop at any time, or only must go on while it can, by whatever step."""
    if definition.environment.crash == "implicit":
        return {Kept.FAIRNESS}
    if level == "none":
        return set()
    if all_weak(definition):
        return {"progress": set[Kept](), "process": {Kept.WHO}}.get(level, {Kept.FAIRNESS})
    # What is strongly fair is so by process and transition, at every level.
    which = level == "progress" and not definition.attackers and STRONG not in _strengths(definition)
    return {Kept.WHICH} if which else {Kept.FAIRNESS}


def all_weak(definition: Definition) -> bool:
    """Whether every step is assumed to be taken if it stays possible, and no more than that."""
    return _strengths(definition) <= {WEAK} and not definition.attackers


def _strengths(definition: Definition) -> set[int]:
    return {each for column in fairness_of(definition, "process").steps for each in column}
