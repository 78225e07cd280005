import pickle
from random import Random

import pytest

from quorate.properties.temporal.formula import (
    FALSE,
    TRUE,
    Formula,
    Op,
    conjunction,
    disjunction,
    has_quantifier,
    is_temporal,
    name,
    names,
    negation,
    nnf,
    replaced,
    walk,
)
from quorate.properties.temporal.parse import parse
from quorate.properties.temporal.words import satisfied
from temporal_words import random_formula, random_words


def test_equal_formulas_are_one_object() -> None:
    one, other = parse("G(p -> F q)"), parse("[] (p -> <> q)")
    assert one is other
    assert hash(one) == hash(other)
    assert one != parse("G(p -> F p)")
    assert one != "G(p -> F q)"
    assert pickle.loads(pickle.dumps(one)) is one


def test_a_formula_never_changes() -> None:
    with pytest.raises(AttributeError, match="never changes"):
        parse("p").name = "q"


def test_conjunctions_are_flat() -> None:
    p, q, r = map(name, "pqr")
    assert conjunction((p, conjunction((q, r)))).parts == (p, q, r)
    assert disjunction((disjunction((p, q)), r)).parts == (p, q, r)
    assert conjunction(()) is TRUE
    assert disjunction(()) is FALSE
    assert conjunction((p,)) is p


@pytest.mark.parametrize(
    ("written", "spelled"),
    [
        ("[](waiting -> <>!waiting)", "G(waiting -> F !waiting)"),
        ("p&&q||r", "(p & q) | r"),
        ("p -> q -> r", "p -> (q -> r)"),
        ("(p U q) U r", "(p U q) U r"),
        ("!(p U q)", "!(p U q)"),
        ("!!p", "!!p"),
        ("! G F p", "!G F p"),
        ("G(p & q)", "G(p & q)"),
        ("G p & F q", "G p & F q"),
        ("(p)", "p"),
        ("AG EF decided", "AG EF decided"),
        ("A[p U q]", "A(p U q)"),
        ("A (G F p -> F q)", "A(G F p -> F q)"),
        ("(A p) U q", "(A p) U q"),
        ("A G ! E F p", "AG !EF p"),
        ("true U false", "true U false"),
        ("p <-> (q <-> r)", "p <-> (q <-> r)"),
    ],
)
def test_one_spelling(written: str, spelled: str) -> None:
    formula = parse(written)
    assert str(formula) == spelled
    assert parse(spelled) is formula
    assert repr(formula) == f"<{spelled}>"


def test_what_is_printed_is_read_back() -> None:
    random = Random(1)
    for _ in range(1000):
        formula = random_formula(random, random.randint(0, 12), "abc")
        if random.random() < 0.5:
            formula = Formula(random.choice((Op.A, Op.E)), (formula,))
            formula = Formula(random.choice((Op.U, Op.W)), (formula, negation(formula)))
        assert parse(str(formula)) is formula


def test_negation_normal_form() -> None:
    assert str(nnf(parse("!(p W q)"))) == "!q U (!p & !q)"
    assert str(nnf(parse("!G(p -> F q)"))) == "F(p & G !q)"
    assert str(nnf(parse("!AG EF p"))) == "EF AG !p"
    assert str(nnf(parse("p <-> q"))) == "(p & q) | (!p & !q)"
    assert str(nnf(parse("!(p <-> q)"))) == "(p & !q) | (!p & q)"
    assert str(nnf(parse("!(p U q)"))) == "!p R !q"
    assert str(nnf(parse("!(p R true)"))) == "!p U false"


def test_negation_normal_form_keeps_the_words() -> None:
    random = Random(2)
    for _ in range(400):
        formula = random_formula(random, random.randint(1, 8), "ab")
        letters, loop, everything = random_words(random, "ab", 64)
        true = satisfied(formula, letters, loop, everything)
        for negated, expected in ((False, true), (True, everything & ~true)):
            normal = nnf(formula, negated)
            assert satisfied(normal, letters, loop, everything) == expected
            for part in walk(normal):
                assert part.op not in (Op.IMPLIES, Op.IFF)
                assert part.op is not Op.NOT or part.parts[0].op is Op.NAME


def test_parts() -> None:
    formula = parse("G(q -> F p) & q")
    assert names(formula) == ("q", "p")
    assert [str(part) for part in walk(formula)] == ["q", "p", "F p", "q -> F p", "G(q -> F p)", "G(q -> F p) & q"]
    assert str(replaced(formula, {parse("F p"): name("x"), name("q"): TRUE})) == "G(true -> x) & true"
    assert has_quantifier(parse("p & EF q"))
    assert not is_temporal(parse("p & EF q"))
    assert is_temporal(parse("p & F q"))
