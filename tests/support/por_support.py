"""Random small transition systems, and what temporal logic can tell of two graphs: for the tests of `quorate.por`."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import replace
from itertools import product
from random import Random
from typing import Any, TypeVar

from hypothesis import settings
from hypothesis import strategies as st

from quorate.por import Relations, TransitionSystem, exact_relations

State = tuple[int, ...]
System = TransitionSystem[State, str]
Graph = Mapping[State, Iterable[tuple[str, State]]]
K = TypeVar("K", bound=Hashable)
F = TypeVar("F", bound=Callable[..., None])


def random_system(random: Random) -> System:
    """A few small variables, and transitions that each look at one or two of them: some interfere, many do not."""
    sizes = [random.choice([2, 2, 3]) for _ in range(random.randint(2, 4))]
    everything = list(product(*map(range, sizes)))
    edges: list[tuple[State, str, State]] = []
    for name in "abcdef"[: random.randint(3, 6)]:
        touched = sorted(random.sample(range(len(sizes)), random.choice([1, 1, 2])))
        rules = {
            tuple(tuple(random.randrange(sizes[each]) for each in touched) for _ in ("old", "new"))
            for _ in range(random.randint(1, 3))
        }
        for state in everything:
            for old, new in sorted(rules):
                if old == tuple(state[each] for each in touched):
                    changed = dict(zip(touched, new, strict=True))
                    edges.append((state, name, tuple(changed.get(i, value) for i, value in enumerate(state))))
    return TransitionSystem.from_edges(random.sample(everything, random.choice([1, 1, 2])), edges)


# Evenly random, not drawn bit by bit: Hypothesis likes small examples, and in those little can go wrong.
randoms = st.integers(0, 2**32).map(Random)
systems = randoms.map(random_system)


@st.composite
def tangles(draw: st.DrawFn) -> System:
    """A few states and any edges between them: hardly anything is independent, and nothing has a reason."""
    state = st.tuples(st.integers(0, 6))
    edge = st.tuples(state, st.sampled_from("abcd"), state)
    return TransitionSystem.from_edges([(0,)], draw(st.lists(edge, min_size=1, max_size=14)))


def examples(number: int) -> Callable[[F], F]:
    """So many examples where the profile of `conftest.py` asks for no more."""
    return settings(max_examples=max(number, settings().max_examples))


def random_observation(random: Random, system: System) -> Callable[[State], bool]:
    """What a property may read: one variable against a constant, or now and then anything."""
    if random.random() < 0.8:
        variable, constant = random.randrange(len(system.initial[0])), random.randrange(2)
        return lambda state: state[variable] == constant
    watched = random.sample(reachable(system), 1)
    return lambda state: state in watched


def random_relations(
    random: Random, system: System, observe: Callable[[State], Hashable] | None = None
) -> Relations[str]:
    """Right relations: the best there are, half the time made worse in a few pairs."""
    best = exact_relations(system, observe=observe)
    if random.random() < 0.5:
        return best
    pairs = list(product(system.transitions, repeat=2))
    dependent, enabling, unnecessary = (set(random.sample(pairs, random.randint(0, 1))) for _ in range(3))
    assert best.necessary is not None
    assert best.to_fire is not None
    necessary, to_fire = best.necessary, best.to_fire
    return replace(
        best,
        dependent=lambda a, b: best.dependent(a, b) or (a, b) in dependent,
        can_enable=lambda a, b: best.can_enable(a, b) or (a, b) in enabling,
        necessary=lambda a, b: necessary(a, b) and (a, b) not in unnecessary,
        to_fire=lambda state, a, b: to_fire(state, a, b) and (a, b) not in unnecessary,
    )


def reachable(system: System) -> list[State]:
    found = list(system.initial)
    for state in found:
        found += [each for moves in system.moves(state).values() for each in moves if each not in found]
    return list(dict.fromkeys(found))


def full_graph(system: System) -> dict[State, tuple[tuple[str, State], ...]]:
    return {
        state: tuple((name, after) for name, outcomes in system.moves(state).items() for after in outcomes)
        for state in reachable(system)
    }


# --- what LTL without next sees -----------------------------------------------------------------------------------


def same_traces(initial: Iterable[State], one: Graph, two: Graph, label: Callable[[State], Hashable]) -> bool:
    """Whether two graphs have the same maximal runs up to stuttering.

    A trace is the sequence of labels without repetitions; it may end in a deadlock, or with a label that stays for
    ever. As graphs are finite, two with the same finite beginnings of traces have the same infinite ones.
    """
    graphs = [{state: [after for _, after in steps] for state, steps in graph.items()} for graph in (one, two)]
    endless = [_endless(graph, label) for graph in graphs]

    def closure(which: int, states: Iterable[State]) -> frozenset[State]:
        found = list(states)
        for state in found:
            found += [x for x in graphs[which][state] if label(x) == label(state) and x not in found]
        return frozenset(found)

    def letters(which: int, states: frozenset[State]) -> dict[Hashable, frozenset[State]]:
        after: dict[Hashable, set[State]] = {}
        for state in states:
            for x in graphs[which][state]:
                if label(x) != label(state):
                    after.setdefault(("label", label(x)), set()).add(x)
            if not graphs[which][state]:
                after.setdefault("deadlock", set())
            if state in endless[which]:
                after.setdefault("for ever", set())
        return {letter: closure(which, states) for letter, states in after.items()}

    starts: dict[Hashable, list[State]] = {}
    for state in initial:
        starts.setdefault(label(state), []).append(state)
    pending = [(closure(0, states), closure(1, states)) for states in starts.values()]
    seen = set(pending)
    while pending:
        first, second = pending.pop()
        here, there = letters(0, first), letters(1, second)
        if here.keys() != there.keys():
            return False
        for letter in here:
            pair = here[letter], there[letter]
            if pair not in seen:
                seen.add(pair)
                pending.append(pair)
    return True


def _endless(graph: Mapping[State, list[State]], label: Callable[[State], Hashable]) -> set[State]:
    """The states from which a run can keep the label for ever."""
    left = set(graph)
    while True:
        ended = {x for x in left if not any(y in left and label(y) == label(x) for y in graph[x])}
        if not ended:
            return left
        left -= ended


# --- what CTL* without next sees ----------------------------------------------------------------------------------


def same_branching(initial: Iterable[State], one: Graph, two: Graph, label: Callable[[State], Hashable]) -> bool:
    """Whether two graphs are stutter bisimilar, sensitive to divergence; a deadlock stutters for ever."""
    edges: dict[tuple[int, State], list[tuple[int, State]]] = {}
    for which, graph in enumerate((one, two)):
        for state, steps in graph.items():
            after = [(which, x) for _, x in steps]
            edges[which, state] = after or [(which, state)]
    block: dict[tuple[int, State], Hashable] = {each: label(each[1]) for each in edges}
    while True:
        signature = {each: (block[each], _seen_from(each, edges, block)) for each in edges}
        numbers: dict[Any, int] = {}
        refined: dict[tuple[int, State], Hashable] = {
            each: numbers.setdefault(signature[each], len(numbers)) for each in edges
        }
        if len(set(refined.values())) == len(set(block.values())):
            return all(refined[0, state] == refined[1, state] for state in initial)
        block = refined


def _seen_from(start: K, edges: Mapping[K, list[K]], block: Mapping[K, Hashable]) -> frozenset[Hashable]:
    """The blocks that can be entered after stuttering in the own one, and whether one can stay in that for ever."""
    inside = [start]
    for each in inside:
        inside += [x for x in edges[each] if block[x] == block[start] and x not in inside]
    left = set(inside)
    while ended := {x for x in left if not left & set(edges[x])}:
        left -= ended
    found: set[Hashable] = {block[x] for each in inside for x in edges[each] if block[x] != block[start]}
    return frozenset(found | ({"for ever"} if left else set()))
