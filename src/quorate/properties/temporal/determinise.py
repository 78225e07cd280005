"""Deterministic automata, where following all states at once is enough to have one.

- Without acceptance sets a word is accepted if no finite part of it gets stuck in all runs (by König's lemma it then
  has an infinite run): a safety property. G(p -> q W r).
- If the only component that accepts is one state that accepts everything, a word is accepted as soon as some run gets
  there: the negation of a safety property. F(p & (!q U r)).

For both the subset construction is exact, and its result is made as small as any deterministic automaton. Determinism
matters more than size: a search that need not guess when the violation begins visits each state of the system with one
state of the automaton, not with several.
"""

from __future__ import annotations

from dataclasses import replace

from quorate.properties.temporal.automaton import Automaton, Edge, components
from quorate.properties.temporal.cubes import Cube, merged
from quorate.properties.temporal.reduce import numbered

MOST_READ = 8  # predicates: every letter is tried
LARGEST = 64

STUCK, DONE = -1, -2  # what a letter may lead to beside a state


def determinised(automaton: Automaton) -> Automaton | None:
    """The smallest deterministic automaton with the same words; None if it may have none, or a large one.

    The automaton has no dead states: what is not stuck can go on for ever.
    """
    if automaton.is_empty or automaton.states > LARGEST or automaton.read.bit_count() > MOST_READ:
        return None
    done = _final_state(automaton)
    if automaton.sets and done is None:
        return None
    table = _table(automaton, done if automaton.sets else None)
    return None if table is None else _automaton(automaton, _smallest(table))


def _final_state(automaton: Automaton) -> int | None:
    """The state that accepts everything, if it is the only one on an accepting loop."""
    component = components(automaton.states, automaton.edges)
    marks: dict[int, int] = {}
    for edge in automaton.edges:
        if component[edge.source] == component[edge.target]:
            marks[component[edge.source]] = marks.get(component[edge.source], 0) | edge.acceptance
    accepting = [number for number, found in marks.items() if found == automaton.all_sets]
    members = [state for state in range(automaton.states) if component[state] in accepting]
    if len(members) != 1:
        return None
    (state,) = members
    for edge in automaton.outgoing[state]:
        if (
            edge.target == state
            and edge.acceptance == automaton.all_sets
            and not edge.must_be_true | edge.must_be_false
        ):
            return state
    return None


def _table(automaton: Automaton, done: int | None) -> list[list[int]] | None:
    """By set of states that the automaton may be in, and letter: the number of the set that comes next."""
    letters = _letters(automaton.read)
    start = 1 << automaton.initial
    number = {start: 0}
    waiting = [start]
    table = []
    for states in waiting:
        edges = [edge for state, edges in enumerate(automaton.outgoing) if states >> state & 1 for edge in edges]
        row = []
        for letter in letters:
            after = 0
            for edge in edges:
                if edge.allows(letter):
                    after |= 1 << edge.target
            if done is not None and after >> done & 1:
                row.append(DONE)
                continue
            if after and after not in number:
                if len(number) >= LARGEST:
                    return None
                number[after] = len(number)
                waiting.append(after)
            row.append(number[after] if after else STUCK)
        table.append(row)
    return table


def _letters(read: int) -> list[int]:
    """Every way in which the predicates that are read can be true and false."""
    letters = [0]
    for number in range(read.bit_length()):
        if read >> number & 1:
            letters += [letter | 1 << number for letter in letters]
    return letters


def _smallest(table: list[list[int]]) -> list[list[int]]:
    """Merge states with the same future (Moore): all look alike until a letter leads to different classes."""
    classes = [0] * len(table)
    while True:
        shapes: dict[tuple[int, ...], int] = {}
        refined = [
            shapes.setdefault((classes[state], *(after if after < 0 else classes[after] for after in row)), len(shapes))
            for state, row in enumerate(table)
        ]
        if len(shapes) == len(set(classes)):
            break
        classes = refined
    first = [classes.index(number) for number in range(len(set(classes)))]
    return [[after if after < 0 else classes[after] for after in table[state]] for state in first]


def _automaton(automaton: Automaton, table: list[list[int]]) -> Automaton:
    read = automaton.read
    everything = len(table)
    edges: list[Edge] = []
    for state, row in enumerate(table):
        cubes: dict[int, list[Cube]] = {}
        for letter, after in zip(_letters(read), row, strict=True):
            if after != STUCK:
                cubes.setdefault(everything if after == DONE else after, []).append((letter, read & ~letter))
        for target, group in cubes.items():
            edges += [Edge(state, true, false, target, 0) for true, false in sorted(merged(group))]
    if automaton.sets:
        edges.append(Edge(everything, 0, 0, everything, 1))
        return numbered(replace(automaton, states=everything + 1, initial=0, edges=tuple(edges), sets=1))
    return numbered(replace(automaton, states=everything, initial=0, edges=tuple(edges)))
