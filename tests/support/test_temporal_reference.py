"""The oracle itself: against fairness as part of the formula, against random runs, and on graphs one can look at."""

from dataclasses import replace
from random import Random

import pytest

from quorate.properties.temporal.formula import Formula, Op
from quorate.properties.temporal.parse import parse
from quorate.properties.temporal.words import satisfied
from temporal_reference import Graph, Lasso, Step, check_ltl, is_fair, validate
from temporal_words import random_formula

NONE: frozenset[int] = frozenset()


def groups(*numbers: int) -> frozenset[int]:
    return frozenset(numbers)


def random_graph(random: Random, most: int = 6, names: tuple[str, ...] = ("a", "b")) -> Graph:
    states = random.randint(1, most)
    every = range(random.choice((0, 1, 2, 2, 3)))
    edges = {
        Step(random.randrange(states), random.randrange(states), frozenset(g for g in every if random.random() < 0.5))
        for _ in range(random.randint(states - 1, 2 * states))
    }
    enabled = [
        frozenset(g for edge in edges if edge.source == state for g in edge.taken)
        | frozenset(g for g in every if random.random() < 0.06)  # a reduced graph lacks edges of enabled groups
        for state in range(states)
    ]
    kinds = {g: random.choice(("weak", "weak", "strong", "strong", "both", "unfair")) for g in every}
    return Graph(
        names,
        tuple(random.randrange(1 << len(names)) if random.random() < 0.6 else 0 for _ in range(states)),
        tuple(sorted(edges, key=lambda e: (e.source, e.target, sorted(e.taken)))),
        tuple(enabled),
        tuple({random.randrange(states) for _ in range(random.randint(1, 2))}),
        frozenset(g for g, kind in kinds.items() if kind in ("weak", "both")),
        frozenset(g for g, kind in kinds.items() if kind in ("strong", "both")),
    )


def written_out(graph: Graph) -> tuple[Graph, Formula]:
    """A graph without fairness whose states are the steps of this one, and the fairness as a formula over it."""
    steps = graph.steps
    every = sorted(graph.weak | graph.strong)
    names = (*graph.names, *(f"enabled{g}" for g in every), *(f"taken{g}" for g in every))
    labels = []
    for step in steps:
        bits = [graph.labels[step.source] >> place & 1 for place in range(len(graph.names))]
        bits += [int(g in graph.enabled[step.source]) for g in every] + [int(g in step.taken) for g in every]
        labels.append(sum(bit << place for place, bit in enumerate(bits)))
    edges = [
        Step(i, j, NONE) for i, one in enumerate(steps) for j, other in enumerate(steps) if one.target == other.source
    ]
    fair = [parse(f"G F (!enabled{g} | taken{g})") for g in sorted(graph.weak)]
    fair += [parse(f"G F enabled{g} -> G F taken{g}") for g in sorted(graph.strong)]
    initial = tuple(i for i, step in enumerate(steps) if step.source in graph.initial)
    larger = Graph(names, tuple(labels), tuple(edges), (NONE,) * len(steps), initial, may_stop=False)
    return larger, Formula(Op.AND, tuple(fair)) if len(fair) > 1 else fair[0] if fair else parse("true")


def test_against_fairness_written_into_the_formula() -> None:
    random = Random(30)
    verdicts = {True: 0, False: 0}
    different = {"weak": 0, "strong": 0}
    while sum(verdicts.values()) < 120:
        graph = random_graph(random, most=4)
        formula = random_formula(random, random.randint(1, 4), graph.names)
        if random.random() < 0.6:
            formula = parse(random.choice(("F a", "G F a", "F G a", "G(a -> F b)", "a U b", "F a & F b")))
        verdict = check_ltl(graph, formula)
        needs_weak = verdict.holds != check_ltl(replace(graph, weak=NONE), formula).holds
        needs_strong = verdict.holds != check_ltl(replace(graph, strong=NONE), formula).holds
        if not needs_weak and not needs_strong and random.random() < 0.95:
            continue  # fairness makes no difference for most
        different["weak"] += needs_weak
        different["strong"] += needs_strong
        verdicts[verdict.holds] += 1
        larger, fairness = written_out(graph)
        assert verdict.holds == check_ltl(larger, Formula(Op.IMPLIES, (fairness, formula))).holds, (graph, formula)
        if verdict.lasso is not None:
            validate(graph, formula, verdict.lasso)
    assert min(verdicts.values()) > 30
    assert min(different.values()) > 20


def test_what_holds_is_true_of_random_fair_runs() -> None:
    random = Random(31)
    tried = 0
    for _ in range(400):
        graph = random_graph(random)
        formula = random_formula(random, random.randint(1, 5), graph.names)
        if not check_ltl(graph, formula).holds:
            continue
        for _ in range(10):
            lasso = random_lasso(random, graph)
            if lasso is not None and is_fair(graph, lasso.loop):
                tried += 1
                letters = [
                    {n: graph.labels[step.source] >> bit & 1 for bit, n in enumerate(graph.names)}
                    for step in (*lasso.stem, *lasso.loop)
                ]
                assert satisfied(formula, letters, len(lasso.stem), 1), (graph, formula, lasso)
    assert tried > 500


def random_lasso(random: Random, graph: Graph) -> Lasso | None:
    steps: list[Step] = []
    state = random.choice(graph.initial)
    for _ in range(12):
        step = random.choice([step for step in graph.steps if step.source == state])
        steps.append(step)
        state = step.target
        starts = [place for place, earlier in enumerate(steps) if earlier.source == state]
        if starts and random.random() < 0.4:
            place = random.choice(starts)
            return Lasso(tuple(steps[:place]), tuple(steps[place:]))
    return None


# --- graphs small enough to see ----------------------------------------------------------------------------------

# 0 --t--> 1, and a step u that stays in 0.
CHOICE = Graph(
    ("done",),
    (0, 1),
    (Step(0, 1, groups(0)), Step(0, 0, groups(1))),
    (groups(0, 1), NONE),
    (0,),
)


@pytest.mark.parametrize(
    ("weak", "strong", "holds"), [([], [], False), ([1], [], False), ([0], [], True), ([], [0], True), ([], [1], False)]
)
def test_what_stays_possible_is_done(weak: list[int], strong: list[int], holds: bool) -> None:
    graph = replace(CHOICE, weak=frozenset(weak), strong=frozenset(strong))
    verdict = check_ltl(graph, parse("F done"))
    assert verdict.holds is holds
    if verdict.lasso is not None:
        validate(graph, parse("F done"), verdict.lasso)


def test_a_run_that_stops() -> None:
    verdict = check_ltl(CHOICE, parse("F done"))
    assert verdict.lasso == Lasso((), (Step(0, 0, NONE),)) or verdict.lasso == Lasso((), (Step(0, 0, groups(1)),))
    alone = Graph(("done",), (0,), (), (NONE,), (0,), weak=groups(0), strong=groups(1))
    assert check_ltl(alone, parse("F done")).lasso == Lasso((), (Step(0, 0, NONE),))


def test_what_is_possible_again_and_again_needs_strong_fairness() -> None:
    """A lock that is free every other moment: weak fairness lets its client starve."""
    lock = Graph(
        ("inside",),
        (0, 0, 1),
        (Step(0, 1, groups(1)), Step(1, 0, groups(1)), Step(0, 2, groups(0))),
        (groups(0, 1), groups(1), NONE),
        (0,),
        weak=groups(0, 1),
    )
    verdict = check_ltl(lock, parse("F inside"))
    assert verdict.lasso == Lasso((), (Step(0, 1, groups(1)), Step(1, 0, groups(1))))
    assert check_ltl(replace(lock, strong=groups(0)), parse("F inside")).holds


@pytest.mark.parametrize(
    ("lasso", "why"),
    [
        (Lasso((), ()), "at least one step"),
        (Lasso((Step(0, 1, groups(0)),), (Step(0, 0, groups(1)),)), "do not follow"),
        (Lasso((), (Step(0, 0, groups(1)),)), "not fair"),
        (Lasso((Step(0, 1, groups(0)),), (Step(1, 1, NONE),)), "satisfies the formula"),
    ],
)
def test_wrong_lassos_are_refused(lasso: Lasso, why: str) -> None:
    graph = replace(CHOICE, weak=groups(0))
    with pytest.raises(AssertionError, match=why):
        validate(graph, parse("F done"), lasso)
