"""Every soundness rule of the core and of the analysis, with the source that lacks it."""

from __future__ import annotations

from . import (
    cells,
    declared,
    dynamic,
    growing,
    language,
    open_symmetry,
    proviso,
    relations,
    roles,
    search,
    stubborn,
    symmetry,
    tables,
    together,
    universe,
)
from .aims import AIMS
from .rule import Rule

RULES: tuple[Rule, ...] = (
    *tables.RULES,
    *universe.RULES,
    *symmetry.RULES,
    *dynamic.RULES,
    *search.RULES,
    *relations.RULES,
    *stubborn.RULES,
    *proviso.RULES,
    *language.RULES,
    *roles.RULES,
    *together.RULES,
    *growing.RULES,
    *cells.RULES,
    *declared.RULES,
    *open_symmetry.RULES,
)

if len({rule.id for rule in RULES}) != len(RULES):
    raise ValueError("two rules have the same name")

FOCUS = {
    "closure": "tables",
    "quotient": "tables",
    "dead messages": "tables",
    "universe": "universe",
    "flows": "flows",
    "symmetry": "symmetry",
    "renamings": "symmetry",
    "dynamic partial orders": "dynamic",
    "relations": "partial",
    "making up for a step": "twins",
    "events": "events",
    "stubborn sets": "partial",
    "twins": "twins",
    "ignoring proviso": "partial",
    "whole runs": "runs",
    "implicit crashes": "implicit",
    "attackers": "attack",
    "message traffic": "traffic",
    "roles taken apart": "roles",
    "steps": "environment",
    "monitors that grow": "events",
    "properties by parts": "symmetry",
    "symmetry without a closure": "symmetry",
}
"""By group of rules; all others need nothing in particular."""


def focus_of(rule: Rule) -> str:
    """What is drawn to find a rule soon: a point of its own, or what its group needs."""
    return AIMS.get(rule.id) or FOCUS.get(rule.group, "")
