"""Automata over infinite words, as the engine explores them: transition-based generalised Büchi automata.

A run is accepting if it takes edges of each acceptance set again and again. An edge can be taken where the predicates
of one mask are true and those of another are false; bit i is predicate `names[i]`. There is one initial state, a state
may have several edges for a letter, or none, and a word is accepted if some run is accepting. With no acceptance set
every infinite run is accepting.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from quorate.base.errors import LimitError

# The engine keeps predicates and acceptance sets in a word each, and states in two bytes.
MOST_NAMES = 64
MOST_SETS = 64
MOST_STATES = 65_536


class Edge(NamedTuple):
    source: int
    must_be_true: int
    must_be_false: int
    target: int
    acceptance: int

    def allows(self, label: int) -> bool:
        return self.must_be_true & ~label == 0 and self.must_be_false & label == 0


@dataclass(frozen=True)
class Automaton:
    """States are numbered from 0; edges are sorted by their source."""

    names: tuple[str, ...]
    states: int
    initial: int
    edges: tuple[Edge, ...]
    sets: int
    formula: str = ""
    _ends: dict[int, tuple[bool, ...]] = field(default_factory=dict, init=False, repr=False, compare=False)

    def within_limits(self) -> Automaton:
        """Itself, if the engine can explore it; Q505 otherwise."""
        check_limit("predicates", len(self.names), MOST_NAMES)
        check_limit("acceptance sets", self.sets, MOST_SETS)
        check_limit("states", self.states, MOST_STATES)
        return self

    @property
    def is_empty(self) -> bool:
        """Whether no word at all is accepted."""
        return not self.accepting_states()[self.initial]

    @cached_property
    def outgoing(self) -> tuple[tuple[Edge, ...], ...]:
        """The edges of each state."""
        found: list[list[Edge]] = [[] for _ in range(self.states)]
        for edge in self.edges:
            found[edge.source].append(edge)
        return tuple(map(tuple, found))

    @property
    def all_sets(self) -> int:
        return (1 << self.sets) - 1

    @cached_property
    def read(self) -> int:
        """The predicates that some edge looks at."""
        result = 0
        for edge in self.edges:
            result |= edge.must_be_true | edge.must_be_false
        return result

    def label(self, true: Collection[str]) -> int:
        """The letter in which exactly these predicates are true."""
        return sum(1 << number for number, name in enumerate(self.names) if name in true)

    def accepts_for_ever(self, state: int, label: int) -> bool:
        """Whether the word that repeats this letter for ever is accepted from a state: a run that simply ends there."""
        return self.ends(label)[state]

    def ends(self, label: int) -> tuple[bool, ...]:
        """For each state: whether it accepts this letter repeated for ever. Computed when first asked for."""
        label &= self.read
        known = self._ends.get(label)
        if known is None:
            known = self._ends[label] = accepting(
                self.states, [edge for edge in self.edges if edge.allows(label)], self.all_sets
            )
        return known

    def accepting_states(self) -> tuple[bool, ...]:
        """For each state: whether it accepts any word."""
        return accepting(self.states, self.edges, self.all_sets)


def check_limit(what: str, number: int, most: int) -> None:
    if number > most:
        raise LimitError(
            f"the formula is too large: its automaton has {number:,} {what}, and at most {most:,} are supported",
            hint="split the property: each operand of & can be a property of its own",
            code="Q505",
        )


def accepting(states: int, edges: Sequence[Edge], wanted: int) -> tuple[bool, ...]:
    """From which states a component can be reached, over these edges, that has all acceptance sets."""
    component = components(states, edges)
    marks: dict[int, int] = {}
    for edge in edges:
        if component[edge.source] == component[edge.target]:
            marks[component[edge.source]] = marks.get(component[edge.source], 0) | edge.acceptance
    good = {number for number, found in marks.items() if found & wanted == wanted}
    # Components are numbered so that targets come first.
    for edge in sorted(edges, key=lambda edge: component[edge.source]):
        if component[edge.target] in good:
            good.add(component[edge.source])
    return tuple(component[state] in good for state in range(states))


def components(states: int, edges: Iterable[Edge]) -> list[int]:
    """The number of each state's strongly connected component (Tarjan, without recursion), targets before sources."""
    successors: list[list[int]] = [[] for _ in range(states)]
    for edge in edges:
        successors[edge.source].append(edge.target)
    order = [0] * states  # 0: not seen yet
    low = [0] * states
    component = [-1] * states
    stack: list[int] = []
    count = found = 0
    for root in range(states):
        if order[root]:
            continue
        count += 1
        order[root] = low[root] = count
        stack.append(root)
        path = [(root, iter(successors[root]))]
        while path:
            state, rest = path[-1]
            for target in rest:
                if not order[target]:
                    count += 1
                    order[target] = low[target] = count
                    stack.append(target)
                    path.append((target, iter(successors[target])))
                    break
                if component[target] < 0:
                    low[state] = min(low[state], order[target])
            else:
                path.pop()
                if path:
                    low[path[-1][0]] = min(low[path[-1][0]], low[state])
                if low[state] == order[state]:
                    while True:
                        member = stack.pop()
                        component[member] = found
                        if member == state:
                            break
                    found += 1
    return component
