"""How transitions really interfere, seen in the states of a system: definitions 15, 16, 17 and 22, read backwards.

Both what is wrong with given relations (`verify.py`) and the best relations there are (`exact.py`) come from here.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from typing import Generic, Literal

from quorate.por.run import Tree
from quorate.por.system import S, T, TransitionSystem

Kind = Literal["enables", "disables", "order", "outcomes", "changes"]


class Graph(Generic[S, T]):
    """The reachable states in breadth-first order, up to a budget, with all enabled transitions of each."""

    def __init__(self, system: TransitionSystem[S, T], budget: int) -> None:
        self.system = system
        self.moves: dict[S, dict[T, tuple[S, ...]]] = {}
        self.complete = True
        self.tree: Tree[S, T] = Tree((state, None) for state in system.initial)
        queue = deque(self.tree)
        while queue:
            if len(self.moves) == budget:
                self.complete = False
                break
            state = queue.popleft()
            self.moves[state] = system.moves(state)
            for transition, outcomes in self.moves[state].items():
                for after in outcomes:
                    if after not in self.tree:
                        self.tree[after] = (state, transition)
                        queue.append(after)

    def moves_of(self, state: S) -> dict[T, tuple[S, ...]]:
        """The enabled transitions of any state, also one that the budget kept from being explored."""
        known = self.moves.get(state)
        return self.system.moves(state) if known is None else known

    def avoiding(self, transition: T) -> Tree[S, T]:
        """The states that can be reached without a transition, and how (definition 17)."""
        tree: Tree[S, T] = Tree((state, None) for state in self.system.initial)
        queue = deque(tree)
        while queue:
            state = queue.popleft()
            for other, outcomes in self.moves.get(state, {}).items():
                for after in outcomes if other != transition else ():
                    if after not in tree and after in self.moves:
                        tree[after] = (state, other)
                        queue.append(after)
        return tree

    def can_enable_without(self, transition: T, other: T) -> frozenset[S]:
        """The states from which a transition can come to be enabled though another is not executed (definition 22)."""
        before: dict[S, list[S]] = {}
        for state, moves in self.moves.items():
            for each, outcomes in moves.items():
                for after in outcomes if each != other else ():
                    before.setdefault(after, []).append(state)
        found = {state for state, moves in self.moves.items() if transition in moves}
        pending = list(found)
        while pending:
            for state in before.get(pending.pop(), ()):
                if state not in found:
                    found.add(state)
                    pending.append(state)
        return frozenset(found)


@dataclass(frozen=True)
class Interference(Generic[S, T]):
    """One thing that transitions do in a state.

    "enables": `first`, leading to `after`, enables `second`. "disables": the same for disabling. "order": `first` then
    `second` may lead to `after`, `second` then `first` may not. "outcomes": `first` has several. "changes": `first`,
    leading to `after`, changes what is observed.
    """

    kind: Kind
    first: T
    second: T
    state: S
    after: S


def interferences(
    graph: Graph[S, T],
    observe: Callable[[S], Hashable] | None = None,
    matters: Callable[[Kind, T, T], bool] = lambda kind, first, second: True,
) -> Iterator[Interference[S, T]]:
    """What happens in the states of the graph, nearest first; pairs that do not matter are not looked at."""
    for state, moves in graph.moves.items():
        for first, outcomes in moves.items():
            if len(outcomes) > 1 and matters("outcomes", first, first):
                yield Interference("outcomes", first, first, state, outcomes[1])
            for after in outcomes:
                if observe is not None and matters("changes", first, first) and observe(state) != observe(after):
                    yield Interference("changes", first, first, state, after)
                then = graph.moves_of(after)
                for second in then:
                    if second not in moves and matters("enables", first, second):
                        yield Interference("enables", first, second, state, after)
                for second in moves:
                    if second == first or not matters("disables", first, second):
                        continue
                    if second not in then:
                        yield Interference("disables", first, second, state, after)
                        continue
                    other_way = {end for middle in moves[second] for end in graph.moves_of(middle).get(first, ())}
                    for end in then[second]:
                        if end not in other_way:
                            yield Interference("order", first, second, state, end)
