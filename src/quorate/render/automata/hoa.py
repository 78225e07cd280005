"""An automaton in the Hanoi omega-automata format, version 1, which other tools read (Spot, Owl, ltl3ba, Rabinizer)."""

from __future__ import annotations

from quorate.properties.temporal.automaton import Automaton, Edge
from quorate.properties.temporal.cubes import covered, meet


def hoa(automaton: Automaton) -> str:
    """The whole file. Labels and acceptance are on the edges."""
    from importlib.metadata import version

    quoted = " ".join(map(_quoted, automaton.names))
    sets = automaton.sets
    acceptance = "&".join(f"Inf({number})" for number in range(sets)) or "t"
    known_as = "all" if sets == 0 else "Buchi" if sets == 1 else f"generalized-Buchi {sets}"
    properties = ["trans-labels", "explicit-labels", "trans-acc", "stutter-invariant"]  # no formula has next
    if is_deterministic(automaton):
        properties.append("deterministic")
    if is_complete(automaton):
        properties.append("complete")
    lines = [
        "HOA: v1",
        *([f"name: {_quoted(automaton.formula)}"] if automaton.formula else []),
        f'tool: "quorate" {_quoted(version("quorate"))}',
        f"States: {automaton.states}",
        f"Start: {automaton.initial}",
        f"AP: {len(automaton.names)}{' ' if quoted else ''}{quoted}",
        f"acc-name: {known_as}",
        f"Acceptance: {sets} {acceptance}",
        f"properties: {' '.join(properties)}",
        "--BODY--",
    ]
    for state, edges in enumerate(automaton.outgoing):
        lines.append(f"State: {state}")
        lines.extend(_edge(edge, sets) for edge in edges)
    return "\n".join([*lines, "--END--"]) + "\n"


def _edge(edge: Edge, sets: int) -> str:
    asked = edge.must_be_true | edge.must_be_false
    literals = [
        f"{'!' if edge.must_be_false >> number & 1 else ''}{number}"
        for number in range(asked.bit_length())
        if asked >> number & 1
    ]
    marks = [str(number) for number in range(sets) if edge.acceptance >> number & 1]
    text = f"[{'&'.join(literals) or 't'}] {edge.target}"
    return f"{text} {{{' '.join(marks)}}}" if marks else text


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def is_deterministic(automaton: Automaton) -> bool:
    """Whether no letter allows two edges of a state."""
    for edges in automaton.outgoing:
        cubes = [(edge.must_be_true, edge.must_be_false) for edge in edges]
        if any(meet(one, other) for place, one in enumerate(cubes) for other in cubes[place + 1 :]):
            return False
    return True


def is_complete(automaton: Automaton) -> bool:
    """Whether every letter allows an edge of every state."""
    return all(
        covered((0, 0), [(edge.must_be_true, edge.must_be_false) for edge in edges]) for edges in automaton.outgoing
    )
