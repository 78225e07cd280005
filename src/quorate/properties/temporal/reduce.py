"""Smaller automata with the same words.

Dead states go, and acceptance sets that no component needs. States are merged, and edges left out, by simulation: t is
above s if for each edge of s and each acceptance set that the edge is in, t has an edge for the same letters that is in
that set and leads above. (Direct simulation, but the answer may depend on the acceptance set: whoever answers takes the
sets in turn, so that all of them come again and again.)

- Merging: states above each other become one state with the edges of all. Each run stays a run; and a run of the new
  automaton is answered, step by step, by a run of the old one from any member.
- Leaving out: an edge goes if the rest of its state's edges answer it. A run that takes it goes on above.

Marks on an edge between components mean nothing, as it is taken at most once. So both are done twice, with no marks
there and with all of them: each finds what the other does not. They must not be mixed: an edge that answers as if it
had all marks, and is left out as if it had none, is missed (F G p would lose its only accepting run).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from quorate.properties.temporal.automaton import Automaton, Edge, components
from quorate.properties.temporal.cubes import Cube, contains, covered, meet, merged

LARGEST_SIMULATION = 200_000  # pairs of edges; beyond that only equal states are merged


def reduced(automaton: Automaton) -> Automaton:
    """As small as these reductions make it, with states numbered from the initial one outwards."""
    before = None
    for _ in range(ROUNDS):
        automaton = merge_equal(plain_acceptance(without_dead(automaton)))
        if _size(automaton) == before:
            break
        before = _size(automaton)
        if len(automaton.edges) ** 2 <= LARGEST_SIMULATION:
            for marked in (False, True):
                automaton = merge_similar(plain_acceptance(automaton, between=marked))
                automaton = without_dominated(plain_acceptance(without_dead(automaton), between=marked))
    return numbered(joined(automaton))


ROUNDS = 20  # two or three are the rule


def _size(automaton: Automaton) -> tuple[int, int, int, int]:
    literals = sum((e.must_be_true | e.must_be_false).bit_count() for e in automaton.edges)
    return automaton.states, automaton.sets, len(automaton.edges), literals


def without_dead(automaton: Automaton) -> Automaton:
    """Keep what can be reached and can still accept; the initial state stays in any case."""
    alive = automaton.accepting_states()
    reached = {automaton.initial}
    waiting = [automaton.initial]
    for state in waiting:
        for edge in automaton.outgoing[state]:
            if alive[edge.target] and edge.target not in reached:
                reached.add(edge.target)
                waiting.append(edge.target)
    edges = [edge for edge in automaton.edges if edge.source in reached and alive[edge.source] and alive[edge.target]]
    return _renamed(automaton, {state: number for number, state in enumerate(sorted(reached))}, edges)


def plain_acceptance(automaton: Automaton, *, between: bool = False) -> Automaton:
    """Only the acceptance sets that are needed, numbered anew in each component; no marks `between` them, or all."""
    component = components(automaton.states, automaton.edges)
    inner: dict[int, list[Edge]] = {}
    for edge in automaton.edges:
        if component[edge.source] == component[edge.target]:
            inner.setdefault(component[edge.source], []).append(edge)
    needed: dict[int, list[int] | None] = {
        number: _needed_sets(edges, automaton.sets) for number, edges in inner.items()
    }
    sets = max((1 if bits is None else len(bits) for bits in needed.values()), default=0)
    full = (1 << sets) - 1

    def marks(edge: Edge) -> int:
        if component[edge.source] != component[edge.target]:
            return full if between else 0
        bits = needed[component[edge.source]]
        if bits is None:
            return 0
        own = sum(1 << place for place, bit in enumerate(bits) if edge.acceptance >> bit & 1)
        return own | (full & ~((1 << len(bits)) - 1))

    edges = dict.fromkeys(edge._replace(acceptance=marks(edge)) for edge in automaton.edges)
    return replace(automaton, edges=tuple(edges), sets=sets)


def _needed_sets(edges: Sequence[Edge], sets: int) -> list[int] | None:
    """The sets that say something in this component; None if one of them has no edge here, so nothing is accepted."""
    members = [frozenset(place for place, e in enumerate(edges) if e.acceptance >> bit & 1) for bit in range(sets)]
    if not all(members):
        return None
    kept: list[int] = []
    for bit in range(sets):
        if len(members[bit]) == len(edges):
            continue
        # Whoever meets a smaller set again and again meets this one too; of equal ones the first stays.
        implied = any(
            members[other] < members[bit] or (members[other] == members[bit] and other < bit)
            for other in range(sets)
            if other != bit
        )
        if not implied:
            kept.append(bit)
    return kept


def merge_equal(automaton: Automaton) -> Automaton:
    """Merge states with the same outgoing edges, until none are left."""
    while True:
        first: dict[frozenset[Edge], int] = {}
        representative: list[int] = []
        for state, edges in enumerate(automaton.outgoing):
            # A loop on the state itself is a loop on whatever it is merged into.
            shape = frozenset(e._replace(source=-1, target=-1 if e.target == state else e.target) for e in edges)
            representative.append(first.setdefault(shape, state))
        if len(first) == automaton.states:
            return automaton
        kept = sorted(first.values())
        edges_left = [
            edge._replace(target=representative[edge.target])
            for edge in automaton.edges
            if representative[edge.source] == edge.source
        ]
        automaton = replace(automaton, initial=representative[automaton.initial])
        automaton = _renamed(automaton, {state: number for number, state in enumerate(kept)}, edges_left)


# --- simulation --------------------------------------------------------------------------------------------------


class _Simulation:
    """Which states are above which, as a mask for each state."""

    def __init__(self, automaton: Automaton) -> None:
        self.automaton = automaton
        everything = (1 << automaton.states) - 1
        self.above = [everything] * automaton.states
        changed = True
        while changed:
            changed = False
            for low in range(automaton.states):
                for high in range(automaton.states):
                    if low != high and self.above[low] >> high & 1 and not self._answers(low, high):
                        self.above[low] &= ~(1 << high)
                        changed = True

    def _answers(self, low: int, high: int) -> bool:
        return all(self.answered(edge, self.automaton.outgoing[high]) for edge in self.automaton.outgoing[low])

    def answered(self, edge: Edge, answers: Sequence[Edge]) -> bool:
        """Whether for each acceptance set of the edge, and each of its letters, one of the answers does."""
        cube = (edge.must_be_true, edge.must_be_false)
        wanted = edge.acceptance
        possible: list[tuple[Cube, int]] = []
        for other in answers:
            if not self.above[edge.target] >> other.target & 1:
                continue
            letters = (other.must_be_true, other.must_be_false)
            if meet(letters, cube):
                if not wanted & ~other.acceptance and contains(letters, cube):
                    return True
                possible.append((letters, other.acceptance))
        if not wanted:
            return covered(cube, [letters for letters, _ in possible])
        return all(
            covered(cube, [letters for letters, given in possible if given >> bit & 1])
            for bit in range(wanted.bit_length())
            if wanted >> bit & 1
        )


def merge_similar(automaton: Automaton) -> Automaton:
    """Merge states that are above each other."""
    above = _Simulation(automaton).above
    representative = [
        next(other for other in range(automaton.states) if above[state] >> other & 1 and above[other] >> state & 1)
        for state in range(automaton.states)
    ]
    if representative == list(range(automaton.states)):
        return automaton
    edges = [
        edge._replace(
            source=representative[edge.source],
            target=representative[edge.target],
        )
        for edge in automaton.edges
    ]
    kept = sorted(set(representative))
    automaton = replace(automaton, initial=representative[automaton.initial])
    return _renamed(automaton, {state: number for number, state in enumerate(kept)}, list(dict.fromkeys(edges)))


def without_dominated(automaton: Automaton) -> Automaton:
    """Leave out edges that others answer, and the letters of an edge that another answers where that is one literal."""
    simulation = _Simulation(automaton)
    result: list[Edge] = []
    for state in range(automaton.states):
        kept = sorted(
            automaton.outgoing[state], key=lambda edge: simulation.above[edge.target].bit_count(), reverse=True
        )
        place = 0
        while place < len(kept):
            if simulation.answered(kept[place], kept[:place] + kept[place + 1 :]):
                kept.pop(place)
            else:
                place += 1
        for place, edge in enumerate(kept):
            for other in kept:
                if other is not edge:
                    edge = _cut(edge, other, simulation)
            kept[place] = edge
        result.extend(kept)
    return replace(automaton, edges=tuple(result))


def _cut(edge: Edge, other: Edge, simulation: _Simulation) -> Edge:
    """The edge without the letters for which the other answers, if what is left is one cube."""
    letters = (other.must_be_true, other.must_be_false)
    if not meet(letters, (edge.must_be_true, edge.must_be_false)):
        return edge
    true, false = letters[0] & ~edge.must_be_true, letters[1] & ~edge.must_be_false
    if (true | false).bit_count() != 1:
        return edge
    shared = edge._replace(must_be_true=edge.must_be_true | true, must_be_false=edge.must_be_false | false)
    if not simulation.answered(shared, [other]):
        return edge
    return edge._replace(must_be_true=edge.must_be_true | false, must_be_false=edge.must_be_false | true)


# --- the last touches --------------------------------------------------------------------------------------------


def joined(automaton: Automaton) -> Automaton:
    """Two edges that differ in the sign of one literal only are one edge without it."""
    cubes: dict[tuple[int, int, int], set[Cube]] = {}
    for edge in automaton.edges:
        group = cubes.setdefault((edge.source, edge.target, edge.acceptance), set())
        group.add((edge.must_be_true, edge.must_be_false))
    return replace(
        automaton,
        edges=tuple(
            Edge(source, true, false, target, acceptance)
            for (source, target, acceptance), group in cubes.items()
            for true, false in sorted(merged(group))
        ),
    )


def numbered(automaton: Automaton) -> Automaton:
    """States in the order in which a breadth-first walk meets them, edges sorted: equal input, equal output."""
    order = {automaton.initial: 0}
    waiting = [automaton.initial]
    for state in waiting:
        for edge in sorted(automaton.outgoing[state], key=_by_letters):
            if edge.target not in order:
                order[edge.target] = len(order)
                waiting.append(edge.target)
    return _renamed(automaton, order, [edge for edge in automaton.edges if edge.source in order])


def _by_letters(edge: Edge) -> tuple[int, int, int]:
    return edge.must_be_true, edge.must_be_false, edge.acceptance


def _renamed(automaton: Automaton, number: dict[int, int], edges: Sequence[Edge]) -> Automaton:
    found = sorted(edge._replace(source=number[edge.source], target=number[edge.target]) for edge in edges)
    return Automaton(
        automaton.names,
        len(number),
        number[automaton.initial],
        tuple(found),
        automaton.sets,
        automaton.formula,
    )
