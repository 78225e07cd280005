from random import Random

import pytest

from quorate.properties.temporal.formula import Formula, Op, conjunction, disjunction, name, names, nnf, walk
from quorate.properties.temporal.implied import covers, excludes, implies, is_eventual, is_universal
from quorate.properties.temporal.parse import parse
from quorate.properties.temporal.simplify import (
    VARIABLES,
    Rule,
    is_suspendable,
    match,
    rules,
    simplify,
    step,
    substitute,
)
from quorate.properties.temporal.words import satisfied
from temporal_words import random_formula, random_words


def fitting(random: Random, variable: str) -> Formula:
    """A random formula that the variable of a rule may stand for."""
    while True:
        formula = nnf(random_formula(random, random.randint(0, 4), "ab"))
        if variable in "eus" and random.random() < 0.7:
            formula = Formula(random.choice((Op.F, Op.G)), (formula,))
        if variable == "s" and random.random() < 0.5:
            formula = Formula(random.choice((Op.F, Op.G)), (formula,))
        if variable not in VARIABLES or VARIABLES[variable](formula):
            return formula


@pytest.mark.parametrize("rule", rules(), ids=str)
def test_each_rule_keeps_the_words(rule: Rule) -> None:
    random = Random(str(rule))
    true = false = 0
    for _ in range(60):
        stands_for = {variable: fitting(random, variable) for variable in names(rule.left)}
        left, right = substitute(rule.left, stands_for), substitute(rule.right, stands_for)
        letters, loop, everything = random_words(random, "ab", 64)
        expected = satisfied(left, letters, loop, everything)
        assert satisfied(right, letters, loop, everything) == expected, (str(left), str(right))
        true += expected.bit_count()
        false += (everything & ~expected).bit_count()
    if rule.right.parts or rule.right.op is Op.NAME:
        assert min(true, false) > 100, "the words hardly test this rule"


@pytest.mark.parametrize("rule", rules(), ids=str)
def test_each_rule_is_used(rule: Rule) -> None:
    plain = {"e": parse("F x"), "u": parse("G x"), "s": parse("G F x")}
    stands_for = {variable: plain.get(variable, name(variable)) for variable in names(rule.left)}
    left = substitute(rule.left, stands_for)
    if rule.left.op not in (Op.AND, Op.OR):
        assert match(rule.left, left) is not None
    assert step(left) is not left


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("G G p", "G p"),
        ("F F p", "F p"),
        ("F G F p", "G F p"),
        ("G F G p", "F G p"),
        ("p U true", "true"),
        ("p & (p | q)", "p"),
        ("p | p & q", "p"),
        ("p & !p", "false"),
        ("F p | !F p", "true"),
        ("G p & F !p", "false"),
        ("p & G p & F p", "G p"),
        ("G p -> F p", "true"),
        ("G(p -> F q)", "G(!p | F q)"),
        ("F p | F q | F r", "F(p | q | r)"),
        ("G F p & G F q", "G(F p & F q)"),
        ("G(p | G F q)", "G F q | G p"),
        ("p U (q & G F r)", "p U q & G F r"),
        ("G(p U q)", "G(F q & (p | q))"),
        ("true U (p U q)", "F q"),
        ("false R p", "G p"),
        ("!(!p U !q)", "p R q"),
        ("p W q & F q", "p U q"),
        ("(p U q) | G p", "p W q"),
        ("!p W p", "true"),
        ("!p U p", "F p"),
        ("p R !p", "G !p"),
        ("true", "true"),
    ],
)
def test_examples(formula: str, expected: str) -> None:
    simple = simplify(parse(formula))
    parts = {frozenset(simple.parts), frozenset(parse(expected).parts)}  # the order of operands does not matter
    assert str(simple) == expected or (simple.op is parse(expected).op and len(parts) == 1)


def test_whole_formulas_keep_their_words_and_shrink() -> None:
    random = Random(5)
    before = after = 0
    for _ in range(800):
        formula = random_formula(random, random.randint(1, 12), "abc")
        simple = simplify(formula)
        letters, loop, everything = random_words(random, "abc", 64)
        assert satisfied(simple, letters, loop, everything) == satisfied(formula, letters, loop, everything), formula
        before += sum(1 for _ in walk(nnf(formula)))
        after += sum(1 for _ in walk(simple))
        assert simplify(simple) is simple
    assert after < 0.65 * before


def test_kinds_of_formulas() -> None:
    """What is eventual stays true when letters come before; what is universal stays true when they go."""
    random = Random(6)
    seen = {"eventual": 0, "universal": 0, "suspendable": 0}
    for _ in range(2500):
        formula = nnf(random_formula(random, random.randint(0, 5), "ab"))
        if not is_eventual(formula) and not is_universal(formula):
            continue
        letters, loop, everything = random_words(random, "ab", 64)
        if loop == 0:
            continue
        whole = satisfied(formula, letters, loop, everything)
        suffix = satisfied(formula, letters[1:], loop - 1, everything)
        if is_eventual(formula):
            assert not suffix & ~whole, str(formula)
            seen["eventual"] += 1
        if is_universal(formula):
            assert not whole & ~suffix, str(formula)
            seen["universal"] += 1
        seen["suspendable"] += is_suspendable(formula)
    assert min(seen.values()) > 50


def test_implication_by_shape_is_implication() -> None:
    random = Random(7)
    found = {"implies": 0, "excludes": 0, "covers": 0}
    for _ in range(2500):
        one = nnf(random_formula(random, random.randint(0, 4), "ab"))
        other = nnf(random_formula(random, random.randint(0, 4), "ab"))
        if random.random() < 0.3:
            join = random.choice((conjunction, disjunction))
            other = Formula(random.choice((Op.U, Op.R, Op.W)), (other, join((one, other))))
        letters, loop, everything = random_words(random, "ab", 64)
        left, right = (satisfied(f, letters, loop, everything) for f in (one, other))
        if implies(one, other):
            found["implies"] += 1
            assert not left & ~right, (str(one), str(other))
        if excludes(one, other):
            found["excludes"] += 1
            assert not left & right, (str(one), str(other))
        if covers(one, other):
            found["covers"] += 1
            assert left | right == everything, (str(one), str(other))
    assert min(found.values()) > 60, found
