"""What a check would make of temporal properties: the formulas, what is assumed of runs, and what may be reduced."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from quorate.model.definition import Definition, Property
from quorate.model.views import CRASH_FLAG, PENDING
from quorate.native.model import Model
from quorate.options import Options
from quorate.properties.temporal.branching import linear
from quorate.properties.temporal.fairness import assumed
from quorate.properties.temporal.formula import names
from quorate.properties.temporal.kept import needs_of
from quorate.properties.temporal.stated import TemporalProperty
from quorate.properties.temporal.translate import translate_negation
from quorate.reduce.reductions import FIRST_BEHAVIOURS, Reductions
from quorate.search.limits import Watcher
from quorate.search.temporal import without_graph
from quorate.semantics.state import initial_states


@dataclass(frozen=True)
class Formulated:
    """A temporal property as it is asked."""

    name: str
    formula: str
    reads: tuple[str, ...]
    """The fields that its predicates read in the initial states."""
    automaton_states: int | None
    """Of the automaton for the runs that violate it; None where states are labelled instead (CTL)."""

    def to_json(self) -> dict[str, Any]:
        return {"formula": self.formula, "reads": list(self.reads), "automaton_states": self.automaton_states}


@dataclass(frozen=True)
class TemporalPlan:
    """The search for temporal properties, which is one of its own: it needs all states, and whole runs."""

    properties: tuple[Formulated, ...]
    level: str
    assuming: str
    undecided: str
    """Why these options leave them undecided; empty if they do not."""
    reductions: Mapping[str, Mapping[str, Any]]

    def to_json(self) -> dict[str, Any]:
        return {
            "properties": {each.name: each.to_json() for each in self.properties},
            "fairness": {"level": self.level, "assuming": self.assuming},
            "undecided": self.undecided,
            "reductions": {name: dict(figures) for name, figures in self.reductions.items()},
        }


def plan_temporal(
    definition: Definition, asked: Sequence[TemporalProperty], options: Options, watcher: Watcher
) -> TemporalPlan:
    """As `search.liveness` goes about it, up to the search."""
    predicates = {id(prop): prop for each in asked for prop in each.predicates.values()}
    model = Model(definition, list(predicates.values()), watcher)
    reads = {number: first_reads(model, prop) for number, prop in predicates.items()}
    reductions = Reductions(model, options, needs_of(definition, asked, options.fairness))
    reductions.analyse(options.max_behaviours or FIRST_BEHAVIOURS)
    return TemporalPlan(
        properties=tuple(_formulated(each, reads) for each in asked),
        level=options.fairness,
        assuming=assumed(definition, options.fairness),
        undecided=without_graph(options),
        reductions=reductions.to_json(),
    )


def _formulated(prop: TemporalProperty, reads: Mapping[int, list[str]]) -> Formulated:
    formula = linear(prop.formula)
    automaton = None if formula is None else translate_negation(formula, names(formula)).within_limits()
    fields = dict.fromkeys(field for each in prop.predicates.values() for field in reads[id(each)])
    return Formulated(prop.name, str(prop.formula), tuple(fields), None if automaton is None else automaton.states)


def first_reads(model: Model, prop: Property) -> list[str]:
    """The fields that a property reads in the initial states. They count as observed from now on."""
    found: dict[str, None] = {}
    for state in initial_states(model.definition):
        reads = model.evaluate(prop, state.locals, state.pending).reads
        model.note_reads(reads)
        for column, field in reads:
            owner = model.definition.columns[column]
            name = "crashed" if field == CRASH_FLAG else "inbox" if field == PENDING else owner.fields[field]
            found.setdefault(f"{owner.name}.{name}")
    return list(found)
