"""Warnings about invariants that hold for a poor reason: one search for all their variants (properties/vacuity.py)."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace

from quorate.model.definition import Definition
from quorate.properties.asked import Asked
from quorate.properties.vacuity import Variant, variants
from quorate.results.result import Result


def with_vacuity(
    result: Result, definition: Definition, asked: Asked, search: Callable[[Definition, Asked], Result]
) -> Result:
    """The result, with a warning for each part of an invariant that the verdict does not need.

    `search` checks other properties of the same processes. It ends as soon as every part was shown to matter, so where
    nothing is wrong it is usually short.
    """
    holding = {each.name for each in result.properties if each.verdict == "holds" and each.kind == "invariant"}
    found = [each for prop in asked.properties if prop.name in holding for each in variants(prop)]
    if not found:
        return result
    system = copy.copy(definition)
    system.invariants, system.cans = (), tuple(each.breaks for each in found)
    system.final = None
    outcome = {each.name: each.verdict for each in search(system, Asked(system.properties, False, True)).properties}
    vacuous = [each for each in found if outcome.get(each.breaks.name) == "violated"]
    undecided = sum(outcome.get(each.breaks.name) == "incomplete" for each in found)
    warnings = [_told(each) for each in _outermost(vacuous)]
    if undecided:
        warnings.append(f"whether {undecided} parts of invariants matter is not known: the search was stopped")
    return replace(result, warnings=(*result.warnings, *warnings))


def _told(variant: Variant) -> str:
    of, text, value, line, _ = variant
    return f"{of}, line {line}: `{text}` does not matter; with {value} there it holds as well"


def _outermost(found: list[Variant]) -> list[Variant]:
    """Without parts of parts that were told already."""
    kept: list[Variant] = []
    for each in found:
        if not any(each.of == other.of and each.text in other.text and each.line == other.line for other in kept):
            kept.append(each)
    return kept
