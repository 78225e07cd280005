"""Random formulas and words, and a slow membership test for automata that shares nothing with their construction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from quorate.properties.temporal.automaton import Automaton
from quorate.properties.temporal.formula import FALSE, TRUE, Formula, Op, conjunction, disjunction, name, negation

Letters = list[dict[str, int]]


def random_formula(random: Random, size: int, names: Sequence[str]) -> Formula:
    """A formula with about so many operators."""
    if size <= 0:
        if random.random() < 0.03:
            return random.choice((TRUE, FALSE))
        atom = name(random.choice(names))
        return negation(atom) if random.random() < 0.25 else atom
    op = random.choice((Op.NOT, Op.AND, Op.OR, Op.IMPLIES, Op.IFF, Op.G, Op.G, Op.F, Op.F, Op.U, Op.R, Op.W))
    if op in (Op.NOT, Op.G, Op.F):
        return Formula(op, (random_formula(random, size - 1, names),))
    left = random.randrange(size)
    parts = (random_formula(random, left, names), random_formula(random, size - 1 - left, names))
    if op is Op.AND:
        return conjunction(parts)
    return disjunction(parts) if op is Op.OR else Formula(op, parts)


def random_words(random: Random, names: Sequence[str], number: int) -> tuple[Letters, int, int]:
    """So many words of one shape: letters, where the loop begins, and a mask with a bit for each."""
    length = random.randint(1, 7)
    letters = [{n: random.getrandbits(number) for n in names} for _ in range(length)]
    # Random letters change all the time; most loops that matter are quieter.
    for place in range(1, length):
        for n in names:
            still = random.getrandbits(number) & random.getrandbits(number) | (
                random.getrandbits(number) if random.random() < 0.5 else 0
            )
            letters[place][n] = letters[place][n] & ~still | letters[place - 1][n] & still
    return letters, random.randrange(length), (1 << number) - 1


def accepted(automaton: Automaton, letters: Sequence[Mapping[str, int]], loop_from: int, everything: int) -> int:
    """Which of the words the automaton accepts, from the definition as a fixpoint.

    The largest set of (state, position) from which, for each acceptance set, a path within it leads over an edge of
    that set. With no acceptance set: from which a path goes on for ever.
    """
    places = range(len(letters))
    after = [*range(1, len(letters)), loop_from]
    possible: list[list[list[tuple[int, int, int]]]] = []  # by position and state: words, target, acceptance
    for place in places:
        rows: list[list[tuple[int, int, int]]] = [[] for _ in range(automaton.states)]
        for edge in automaton.edges:
            words = everything
            for number, n in enumerate(automaton.names):
                if edge.must_be_true >> number & 1:
                    words &= letters[place].get(n, 0)
                if edge.must_be_false >> number & 1:
                    words &= ~letters[place].get(n, 0)
            if words:
                rows[edge.source].append((words, edge.target, edge.acceptance))
        possible.append(rows)
    good = [[everything] * automaton.states for _ in places]
    while True:
        before = [row[:] for row in good]
        if automaton.sets == 0:
            for place in reversed(places):
                for state, edges in enumerate(possible[place]):
                    good[place][state] &= _some(edges, good[after[place]])
        for bit in range(automaton.sets):
            reach = [[0] * automaton.states for _ in places]
            changed = True
            while changed:
                changed = False
                for place in reversed(places):
                    for state, edges in enumerate(possible[place]):
                        found = 0
                        for words, target, acceptance in edges:
                            on = good[after[place]][target] if acceptance >> bit & 1 else reach[after[place]][target]
                            found |= words & on
                        found &= good[place][state]
                        if found & ~reach[place][state]:
                            reach[place][state] |= found
                            changed = True
            good = reach
        if good == before:
            return good[0][automaton.initial]


def _some(edges: Sequence[tuple[int, int, int]], good: Sequence[int]) -> int:
    found = 0
    for words, target, _ in edges:
        found |= words & good[target]
    return found
