"""The best relations a system has: definitions 15, 16, 17 and 22 with "iff" for "if", by brute force.

They need the very state space that a reduction is to save. Their use is to see, on a small instance, how far relations
that were thought out are from the best, and to test everything else in this package.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cache

from quorate.por.brute import Graph, interferences
from quorate.por.errors import ReductionError
from quorate.por.relations import Relations
from quorate.por.system import S, T, TransitionSystem


def exact_relations(
    system: TransitionSystem[S, T], *, observe: Callable[[S], Hashable] | None = None, budget: int = 10_000
) -> Relations[T]:
    """The fewest pairs in `dependent` and `can_enable`, the most in `necessary` and `to_fire`, that are right.

    With `observe`, what a property reads of a state, `visible` is exact as well.
    """
    graph = Graph(system, budget)
    if not graph.complete:
        raise ReductionError(
            f"the system has more than {budget} states, and exact relations need all of them",
            hint="give a larger `budget`, or look at a smaller instance",
        )
    dependent: set[tuple[T, T]] = set()
    can_enable: set[tuple[T, T]] = set()
    visible: set[T] = set()
    branching: set[T] = set()
    for each in interferences(graph, observe):
        match each.kind:
            case "enables":
                can_enable.add((each.first, each.second))
            case "disables" | "order":
                dependent.add((each.first, each.second))
            case "changes":
                visible.add(each.first)
            case "outcomes":
                branching.add(each.first)
    necessary: set[tuple[T, T]] = set()
    for second in system.transitions:
        avoidable = {each for state in graph.avoiding(second) for each in graph.moves[state]}
        necessary.update((first, second) for first in system.transitions if first not in avoidable)
    enabling_without = cache(graph.can_enable_without)
    return Relations(
        dependent=lambda first, second: (first, second) in dependent,
        can_enable=lambda first, second: (first, second) in can_enable,
        necessary=lambda first, second: (first, second) in necessary,
        visible=None if observe is None else lambda transition: transition in visible,
        deterministic=lambda transition: transition not in branching,
        to_fire=lambda state, first, second: state not in enabling_without(first, second),
        candidates=lambda first, second: first != second,
    )
