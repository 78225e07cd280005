"""What temporal properties need of a reduced graph, by their formulas and by what is assumed of runs."""

from __future__ import annotations

from collections.abc import Sequence

from quorate.model.definition import Definition
from quorate.properties.kinds import Kept
from quorate.properties.temporal.branching import linear
from quorate.properties.temporal.fairness import WEAK, fairness_of
from quorate.properties.temporal.stated import TemporalProperty


def needs_of(definition: Definition, asked: Sequence[TemporalProperty], level: str) -> frozenset[Kept]:
    """Whole runs, or their tree; and which steps are possible along a run, unless the fairness is so coarse, and the
    same for all steps, that it is enough to know who takes them."""
    wanted = {Kept.LINEAR, Kept.FAIRNESS}
    if any(linear(each.formula) is None for each in asked):
        wanted.add(Kept.BRANCHING)
    implicit = definition.environment.crash == "implicit"
    if not implicit and (level == "none" or (level in ("progress", "process") and all_weak(definition))):
        wanted.remove(Kept.FAIRNESS)
        wanted.add(Kept.WHO)
    return frozenset(wanted)


def all_weak(definition: Definition) -> bool:
    """Whether every step is assumed to be taken if it stays possible, and no more than that."""
    strengths = {each for column in fairness_of(definition, "process").steps for each in column}
    return strengths <= {WEAK} and not definition.attackers
