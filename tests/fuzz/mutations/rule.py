"""A soundness rule, and how it is switched off: the text of the source with it, and the text without it.

A site is a snippet that occurs exactly once in its file, white space aside. The part between « and » is replaced; the
rest is there to make it unique. Without marks all of it is replaced. An expression becomes a choice between the two
texts, a statement a branch, so that one build holds every mutant (mutant schemata, Untch and others 1993).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Site:
    """One place in the source that a rule lives in."""

    file: str
    """Below `src/`."""
    snippet: str
    without: str
    kind: Literal["expression", "value", "statement"]
    when: str = ""
    """Of a statement: where leaving it out could make a difference."""


@dataclass(frozen=True)
class Rule:
    """What keeps one reduction sound, and the source without it."""

    id: str
    group: str
    text: str
    """The rule, in one sentence."""
    argued: str
    """Where it is argued: a rule of docs/soundness.md, a theorem, a page."""
    sites: tuple[Site, ...]
    focus: tuple[str, ...] = ()
    """What a protocol needs to have, or the options to be, for the rule to matter; in words of the table."""


def expression(file: str, snippet: str, without: str) -> Site:
    """One of the two texts is evaluated; or, if it is a literal without the rule, both."""
    return Site(file, snippet, without, "expression")


def value(file: str, snippet: str, without: str) -> Site:
    """Both texts are evaluated, and may be compared: so it is known where they differ."""
    return Site(file, snippet, without, "value")


def statement(file: str, snippet: str, without: str = "", when: str = "") -> Site:
    return Site(file, snippet, without, "statement", when)


class Group:
    """Collects the rules of one reduction."""

    def __init__(self, name: str, *focus: str) -> None:
        self.name = name
        self.focus = focus
        self.rules: list[Rule] = []

    def rule(self, id: str, text: str, argued: str, *sites: Site, focus: tuple[str, ...] = ()) -> None:
        self.rules.append(Rule(id, self.name, text, argued, sites, self.focus + focus))
