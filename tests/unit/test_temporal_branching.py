from dataclasses import replace
from random import Random

import pytest

from quorate.properties.temporal.branching import Kind, Logic, linear, logic, plan
from quorate.properties.temporal.formula import Formula, Op, conjunction, disjunction, name, negation
from quorate.properties.temporal.parse import parse, parse_ctl
from temporal_reference import Graph, Step, check_ctl, check_ctl_star, check_ltl, run_plan
from temporal_words import random_formula
from test_temporal_reference import NONE, random_graph


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("p", Logic.LTL),
        ("G(p -> F q)", Logic.LTL),
        ("AG EF decided", Logic.CTL),
        ("A(p U EG q) -> !E(p W q)", Logic.CTL),
        ("A G F p", Logic.CTL_STAR),
        ("E(F p & G q)", Logic.CTL_STAR),
        ("E p", Logic.CTL_STAR),
        ("A(p & F q)", Logic.CTL_STAR),
        ("E !F p", Logic.CTL_STAR),
        ("AG p & EF p", Logic.CTL),
    ],
)
def test_which_logic(formula: str, expected: Logic) -> None:
    assert logic(parse(formula)) is expected


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("G p", "G p"),
        ("A(G F p -> F q)", "G F p -> F q"),
        ("AG p & AF q", "G p & F q"),
        ("AG p & q", "G p & q"),
        ("AG EF p", None),
        ("EF p", None),
        ("!AG p", None),
        ("AG p | AF q", None),
    ],
)
def test_what_is_linear(formula: str, expected: str | None) -> None:
    found = linear(parse(formula))
    assert (None if found is None else str(found)) == expected


@pytest.mark.parametrize(
    ("formula", "questions"),
    [
        ("AG EF p", "#0 = fair E(G true)\n#1 = E(true U (p & #0))\n#2 = E(true U (!#1 & #0))\nanswer: !#2"),
        ("EG p", "#0 = fair E(G p)\nanswer: #0"),
        ("A(p U q)", "#0 = fair E(G true)\n#1 = E(!q U (!p & !q & #0))\n#2 = fair E(G !q)\nanswer: !(#1 | #2)"),
        ("E(p W q) & r", "#0 = fair E(G true)\n#1 = E(p U (q & #0))\n#2 = fair E(G p)\nanswer: (#1 | #2) & r"),
        ("E(G F p & q)", "#0 = fair E(G F p)\nanswer: q & #0"),
        ("A(G F EF p -> F q)", "#0 = fair E(G true)\n#1 = E(true U (p & #0))\n#2 = fair E(G F #1 & G !q)\nanswer: !#2"),
        ("E(p & q)", "#0 = fair E(G true)\nanswer: p & q & #0"),
        ("p", "answer: p"),
        ("EF p | EF p", "#0 = fair E(G true)\n#1 = E(true U (p & #0))\nanswer: #1 | #1"),
    ],
)
def test_plans(formula: str, questions: str) -> None:
    assert str(plan(parse_ctl(formula))) == questions


def test_without_fairness_every_state_has_a_run() -> None:
    assert str(plan(parse("AG EF p"), fair=False)) == "#0 = E(true U p)\n#1 = E(true U !#0)\nanswer: !#1"


def test_only_state_formulas_have_plans() -> None:
    with pytest.raises(ValueError, match="about a run"):
        plan(parse("G p"))


def test_every_question_knows_what_it_asks_about() -> None:
    random = Random(40)
    for _ in range(300):
        found = plan(random_state_formula(random, 4))
        known = {"a", "b"}
        for question in found.questions:
            for formula in question.formulas:
                assert _names(formula) <= known
            known.add(question.name)
        assert _names(found.answer) <= known


def _names(formula: Formula) -> set[str]:
    return {formula.name} if formula.op is Op.NAME else set().union(*map(_names, formula.parts))


# --- on graphs ---------------------------------------------------------------------------------------------------


def random_ctl(random: Random, depth: int) -> Formula:
    if depth == 0:
        return name(random.choice("ab"))
    choice = random.random()
    if choice < 0.15:
        return negation(random_ctl(random, depth - 1))
    if choice < 0.35:
        op = random.choice((Op.AND, Op.OR, Op.IMPLIES, Op.IFF))
        both = (random_ctl(random, depth - 1), random_ctl(random, depth - 1))
        if op is Op.AND:
            return conjunction(both)
        return disjunction(both) if op is Op.OR else Formula(op, both)
    op = random.choice((Op.G, Op.F, Op.U, Op.R, Op.W))
    parts = tuple(random_ctl(random, depth - 1) for _ in range(1 if op in (Op.G, Op.F) else 2))
    return Formula(random.choice((Op.A, Op.E)), (Formula(op, parts),))


def random_state_formula(random: Random, size: int) -> Formula:
    """Of CTL*: path formulas whose names stand for state formulas."""
    inner = {n: name(n) for n in "ab"}
    for n in "ab":
        if size > 2 and random.random() < 0.6:
            inner[n] = random_state_formula(random, size - 2)
    path = random_formula(random, random.randint(1, size), "ab")
    formula = Formula(random.choice((Op.A, Op.E)), (_substituted(path, inner),))
    return negation(formula) if random.random() < 0.2 else formula


def _substituted(formula: Formula, inner: dict[str, Formula]) -> Formula:
    if formula.op is Op.NAME:
        return inner[formula.name]
    parts = [_substituted(part, inner) for part in formula.parts]
    if formula.op is Op.AND:
        return conjunction(parts)
    return disjunction(parts) if formula.op is Op.OR else Formula(formula.op, tuple(parts))


def test_fixpoints_automata_and_plans_agree_on_ctl() -> None:
    random = Random(41)
    some = every = 0
    for _ in range(250):
        graph = random_graph(random, most=5)
        formula = random_ctl(random, random.randint(1, 3))
        expected = check_ctl(graph, formula)
        assert check_ctl_star(graph, formula) == expected, (graph, str(formula))
        questions = plan(formula)
        assert all(question.kind is not Kind.PATH for question in questions.questions)
        assert run_plan(graph, questions) == expected, (graph, str(formula))
        assert run_plan(graph, plan(formula, automata_only=True)) == expected, (graph, str(formula))
        some += bool(expected)
        every += len(expected) == len(graph.labels)
    assert 50 < every < some < 240


def test_automata_and_plans_agree_on_ctl_star() -> None:
    random = Random(42)
    asked = set()
    for _ in range(250):
        graph = random_graph(random, most=4)
        formula = random_state_formula(random, random.randint(2, 5))
        questions = plan(formula)
        asked |= {question.kind for question in questions.questions}
        assert run_plan(graph, questions) == check_ctl_star(graph, formula), (graph, str(formula))
    assert asked == set(Kind)


def test_without_fairness_the_shorter_plan_is_enough() -> None:
    random = Random(43)
    for _ in range(100):
        graph = replace(random_graph(random, most=4), weak=NONE, strong=NONE)
        formula = random_state_formula(random, 4)
        assert run_plan(graph, plan(formula, fair=False)) == check_ctl_star(graph, formula)


def test_a_linear_formula_is_the_same_asked_either_way() -> None:
    random = Random(44)
    for _ in range(150):
        graph = random_graph(random, most=4)
        path = random_formula(random, random.randint(1, 5), graph.names)
        everywhere = check_ctl_star(graph, Formula(Op.A, (path,)))
        assert check_ltl(graph, path).holds == (set(graph.initial) <= everywhere)


def test_commit_can_always_still_be_decided() -> None:
    """Deciding stays possible until the coordinator crashes."""
    group = frozenset({0})
    graph = Graph(
        ("decided",),
        (0, 1, 0),
        (Step(0, 1, group), Step(0, 2, NONE)),
        (group, NONE, NONE),
        (0,),
        weak=group,
    )
    assert check_ctl(graph, parse("EF decided")) == {0, 1}
    assert check_ctl(graph, parse("AG EF decided")) == {1}
    alive = replace(graph, edges=(Step(0, 1, group),))
    assert check_ctl(alive, parse("AG EF decided")) == {0, 1}
    assert check_ctl(alive, parse("AF decided")) == {0, 1}
    assert check_ctl(replace(alive, weak=NONE), parse("AF decided")) == {1}
