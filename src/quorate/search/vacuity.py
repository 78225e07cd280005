"""Warnings about invariants that hold for a poor reason: one search for all their variants (properties/vacuity.py)."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from quorate.base.words import count
from quorate.model.definition import Definition, Property
from quorate.model.views import CRASH_FLAG, PENDING, Panel
from quorate.properties.asked import Asked
from quorate.properties.evaluate import evaluate
from quorate.properties.vacuity import Variant, variants
from quorate.results.coverage import Coverage
from quorate.results.result import Result
from quorate.semantics.state import initial_states


def with_vacuity(
    result: Result, definition: Definition, asked: Asked, search: Callable[[Definition, Asked], Result]
) -> Result:
    """The result, with a warning for each part of an invariant that the verdict does not need.

    `search` checks other properties of the same processes. It ends as soon as every part was shown to matter, so where
    nothing is wrong it is usually short.
    """
    holding = {each.name for each in result.properties if each.verdict == "holds" and each.kind == "invariant"}
    stated = [prop for prop in asked.properties if prop.name in holding]
    found = [each for prop in stated for each in variants(prop)]
    still = {f"{prop.name} changes": prop.name for prop in stated}
    moving = tuple(_changes(definition, prop) for prop in stated)
    if not stated:
        return result
    system = copy.copy(definition)
    system.invariants, system.cans = (), (*(broken for each in found for broken in each.breaks), *moving)
    system.final = None
    outcome = {each.name: each.verdict for each in search(system, Asked(system.properties, False, True)).properties}
    said = [{outcome.get(broken.name) for broken in each.breaks} for each in found]
    vacuous = [each for each, verdicts in zip(found, said, strict=True) if verdicts == {"violated"}]
    undecided = sum("incomplete" in verdicts and "holds" not in verdicts for verdicts in said)
    fixed = [still[name] for name, verdict in outcome.items() if name in still and verdict == "violated"]
    warnings = [_told(each) for each in _outermost(vacuous)]
    warnings += [f"{name} reads only fields that never change" for name in fixed]
    if undecided:
        warnings.append(f"whether {undecided} parts of invariants matter is not known: the search was stopped")
    return replace(result, warnings=(*result.warnings, *warnings))


def never_happening(covered: Coverage | None, warnings: Sequence[str]) -> list[str]:
    """What is there and never happens, which a verdict says nothing about; not what was warned of already."""
    if covered is None or not covered.complete:
        return []
    found = [
        f"{each.role}.{each.name} never happens{each.why_never}" for each in covered.transitions if each.depth is None
    ]
    found += [
        f"{each.role}.{each.name} had to wait {count(each.blocked, 'time')}: the capacity of channels cuts that"
        for each in covered.transitions
        if each.depth is not None and each.blocked
    ]
    untaken = [name for name in covered.never_consumed if not any(each.startswith(f"{name} is") for each in warnings)]
    found += [f"{name} is sent, and never consumed" for name in untaken]
    return found + [f"{name} are allowed, and never happen" for name, times in covered.faults.items() if times == 0]


def _changes(definition: Definition, prop: Property) -> Property:
    """A property that holds where something differs from the beginning that the other one has read there.

    What a property reads first it reads everywhere. So if none of it ever changes, it always reads the same. The field
    of a monitor may be there to say what has gone wrong, and then ought not to change: whether it has heard of
    anything is told by its transitions.
    """
    first = initial_states(definition)[0]
    reads = evaluate(definition, prop, first.locals, first.pending).reads
    before = tuple(
        (index, "crashed", False)
        if field == CRASH_FLAG
        else (index, definition.columns[index].fields[field], first.locals[index][field])
        for index, field in reads
        if field != PENDING
    )
    history = {column.index for column in definition.monitors if column not in definition.shared}
    may_change = any(field == PENDING or index in history for index, field in reads)

    def changes(self: Any) -> bool:
        panel: Panel = self.__dict__["_views"]
        return may_change or any(getattr(panel.view(index), name) != value for index, name, value in before)

    return Property(f"{prop.name} changes", "can", "", changes, prop.location)


def _told(variant: Variant) -> str:
    value = " or ".join(map(str, variant.values))
    told = f"{variant.of}, line {variant.line}: `{variant.text}` does not matter"
    return f"{told}; with {value} there it holds as well\n{variant.underlined}"


def _outermost(found: list[Variant]) -> list[Variant]:
    """Without parts of parts that are told anyway."""

    def lies_in(one: Variant, other: Variant) -> bool:
        (first, last), (start, end) = one.span, other.span
        return one.of == other.of and one.span != other.span and start <= first and last <= end

    return [each for each in found if not any(lies_in(each, other) for other in found)]
