"""The edges of an automaton as people read them: one arrow for each pair of states, one line for each acceptance."""

from __future__ import annotations

from typing import NamedTuple

from quorate.properties.temporal.automaton import Automaton
from quorate.properties.temporal.cubes import Cube, condition


class Line(NamedTuple):
    """When an arrow may be taken, and in which acceptance sets it then is."""

    condition: str
    sets: tuple[int, ...]


class Arrow(NamedTuple):
    source: int
    target: int
    lines: tuple[Line, ...]


def arrows(automaton: Automaton) -> list[Arrow]:
    """All arrows, by source, then by target."""
    letters: dict[tuple[int, int], dict[int, list[Cube]]] = {}
    for edge in automaton.edges:
        by_acceptance = letters.setdefault((edge.source, edge.target), {})
        by_acceptance.setdefault(edge.acceptance, []).append((edge.must_be_true, edge.must_be_false))
    found = []
    for (source, target), by_acceptance in sorted(letters.items()):
        lines = [
            Line(
                condition(cubes, automaton.names),
                tuple(number for number in range(automaton.sets) if acceptance >> number & 1),
            )
            for acceptance, cubes in sorted(by_acceptance.items(), reverse=True)
        ]
        found.append(Arrow(source, target, tuple(lines)))
    return found


def accepted_runs(automaton: Automaton) -> str:
    """Which infinite runs count, in words."""
    if automaton.is_empty:
        return "no word is accepted"
    if automaton.sets == 0:
        return "a word is accepted if it has a run that never gets stuck"
    if automaton.sets == 1:
        return "a word is accepted if it has a run that takes edges of set 0 again and again"
    return f"a word is accepted if it has a run that takes edges of each of the {automaton.sets} sets again and again"
