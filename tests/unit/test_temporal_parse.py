"""Reading formulas. Every row about formulas in the design's table of bad input is here, with its column."""

from random import Random

import pytest

from quorate.base.errors import LimitError, PropertyError
from quorate.properties.temporal.errors import FormulaError
from quorate.properties.temporal.formula import Formula
from quorate.properties.temporal.parse import DEEPEST, parse, parse_ctl, parse_ltl


@pytest.mark.parametrize(
    ("short", "full"),
    [
        ("p & q | r & s", "(p & q) | (r & s)"),
        ("p | q -> r & s", "(p | q) -> (r & s)"),
        ("p -> q -> r", "p -> (q -> r)"),
        ("p <-> q <-> r", "p <-> (q <-> r)"),
        ("p & q U r", "p & (q U r)"),
        ("G p U q", "(G p) U q"),
        ("!p U q", "(!p) U q"),
        ("! G p & q", "(!(G p)) & q"),
        ("F G p -> G F q", "(F (G p)) -> (G (F q))"),
        ("GF p", "G (F p)"),
        ("AGEF p", "A (G (E (F p)))"),
        ("E[p U q] & r", "(E (p U q)) & r"),
        ("p U !q", "p U (!q)"),
        ("p U G q", "p U (G q)"),
        ("[ ] p", "G p"),
        ("E[[]p]", "E(G p)"),
        ("p U E F q", "p U (E (F q))"),
    ],
)
def test_precedence(short: str, full: str) -> None:
    assert parse(short) is parse(full)


def test_any_white_space() -> None:
    assert parse("\n  G(\tp\n -> F q )\n") is parse("G(p -> F q)")


def test_names_are_identifiers() -> None:
    assert str(parse_ltl("G _größe2", ["_größe2"])) == "G _größe2"
    assert parse("ﬁ", ["fi"]).name == "fi"  # Python reads this identifier as fi, too
    assert parse("AF & x", ["AF", "x"]).parts[0].name == "AF"
    assert parse("Gp").name == "Gp"


# --- bad input ---------------------------------------------------------------------------------------------------


def wrong(text: str, *known: str) -> FormulaError:
    with pytest.raises(FormulaError) as raised:
        parse_ltl(text, known or None)
    error = raised.value
    assert isinstance(error, PropertyError)
    assert error.message.splitlines()[0] == f"column {error.column}: {error.problem}"
    caret = error.message.splitlines()[2]
    assert caret == " " * (error.column + 1) + "^"
    return error


@pytest.mark.parametrize(
    ("text", "column"), [("G(waiting -> X b)", 14), ("X p", 1), ("G next p", 3), ("AX p", 2), ("p X q", 3), ("GX p", 2)]
)
def test_next_is_refused_with_the_reason(text: str, column: int) -> None:
    error = wrong(text)
    assert error.code == "Q406"
    assert error.column == column
    assert error.operator == "X"
    assert error.problem == "X (next) is not supported: no property may count steps"
    assert "reductions" in error.hint


def test_an_unknown_name() -> None:
    error = wrong("G(waitin -> F b)", "waiting", "b")
    assert (error.code, error.column) == ("Q405", 3)
    assert error.problem == "no predicate is called waitin"
    assert error.hint == "did you mean `waiting`?"
    assert wrong("p", "waiting", "inside").hint == "there is: inside, waiting"
    assert wrong("G until", "waiting").hint == "if you mean the operator, write U"


@pytest.mark.parametrize(
    ("text", "column", "operator", "problem"),
    [
        ("G(a -> ", 5, "->", "-> has nothing to its right; expected a formula"),
        ("G a b", 5, "", "b cannot follow a; expected an operator or the end"),
        ("p @ q", 3, "", "@ cannot follow p; expected an operator or the end"),
        ("@ q", 1, "@", "@ has no meaning in a formula; expected a formula"),
        ("", 1, "", "there is no formula; expected a formula"),
        ("  ", 3, "", "there is no formula; expected a formula"),
        ("G", 1, "G", "G has nothing to its right; expected a formula"),
        ("(G) p", 2, "G", "G has nothing to its right; expected a formula"),
        ("p &", 3, "&", "& has nothing to its right; expected a formula"),
        ("(p U ) q", 6, "U", "U has nothing to its right; expected a formula"),
        ("U p", 1, "U", "U has nothing to its left; expected a formula"),
        ("p & -> q", 5, "->", "-> has nothing to its left; expected a formula"),
        ("(p", 3, "", "the ( at column 1 is never closed; expected an operator or )"),
        ("G(p q)", 5, "", "q cannot follow p; expected an operator or )"),
        ("p)", 2, "", "this ) closes nothing; expected an operator or the end"),
        ("G()", 3, "", "nothing stands between ( and ); expected a formula"),
        ("[p]", 1, "", "[ is for A[...] and E[...] only; expected a formula"),
        ("p U q U r", 7, "U", "U and U follow each other without parentheses; expected parentheses"),
        ("p W q R r", 7, "R", "W and R follow each other without parentheses; expected parentheses"),
        ("p -> q <-> r", 8, "<->", "-> and <-> follow each other without parentheses; expected parentheses"),
        ("A p U q", 5, "U", "A before U without parentheses can be meant in two ways; expected parentheses"),
        ("AG !E p U q", 9, "U", "A before U without parentheses can be meant in two ways; expected parentheses"),
        ("p => q", 3, "=>", "=> has no meaning in a formula; expected ->"),
        ("p and q", 3, "and", "and has no meaning in a formula; expected &"),
        ("not p", 1, "not", "not has no meaning in a formula; expected !"),
        ("G 1", 3, "1", "1 has no meaning in a formula; expected true"),
        ("class", 1, "", "class is a word of Python and cannot be a predicate; expected a formula"),
        ("p until q", 3, "until", "until has no meaning in a formula; expected U"),
        ("p\0q", 2, "", "\\x00 cannot follow p; expected an operator or the end"),
    ],
)
def test_column_operator_and_what_was_expected(text: str, column: int, operator: str, problem: str) -> None:
    error = wrong(text)
    assert (error.column, error.operator, error.problem) == (column, operator, problem)
    assert error.code == "Q404"
    assert error.problem.endswith(f"expected {error.expected}")


def test_the_message_shows_the_place() -> None:
    error = wrong("G(waitin\t-> F b)", "waiting", "b")
    assert str(error) == (
        "[Q405] column 3: no predicate is called waitin\n  G(waitin -> F b)\n    ^\n  hint: did you mean `waiting`?"
    )


def test_quantifiers_have_no_place_in_ltl() -> None:
    error = wrong("G(p -> EF q)")
    assert (error.code, error.column, error.operator) == ("Q407", 8, "E")
    assert 'ctl("...")' in error.hint


@pytest.mark.parametrize(
    ("text", "column", "operator"), [("G p", 1, "G"), ("AG p & F q", 8, "F"), ("p & ((EF q) U r)", 13, "U")]
)
def test_a_branching_formula_is_about_states(text: str, column: int, operator: str) -> None:
    with pytest.raises(FormulaError) as raised:
        parse_ctl(text)
    error = raised.value
    assert (error.code, error.column, error.operator, error.expected) == ("Q407", column, operator, "A or E")
    assert parse_ctl(f"A({text})") is parse(f"A({text})")


def test_a_formula_that_is_too_deep_is_a_limit() -> None:
    assert str(parse("!" * 99 + "p")).count("!") == 99
    for text in ("!" * (DEEPEST + 1) + "p", "(" * (DEEPEST + 1) + "p" + ")" * (DEEPEST + 1), "(" * 100_000):
        with pytest.raises(LimitError, match="more than 100 levels") as raised:
            parse(text)
        assert raised.value.code == "Q505"
    assert len(parse(" & ".join(f"p{i}" for i in range(5000))).parts) == 5000


TOKENS = [
    *"GFURWXAEpq()[]!&|@~^=1 \t\0é\u202e",
    "[]",
    "<>",
    "->",
    "<->",
    "&&",
    "||",
    "true",
    "next",
    "and",
    "AG",
    "=>",
    "/\\",
]


def test_any_text_is_a_formula_or_an_error_with_a_column() -> None:
    random = Random(50)
    read = 0
    for _ in range(4000):
        text = "".join(random.choice(TOKENS) + random.choice(("", " ")) for _ in range(random.randint(0, 9)))
        found: Formula | FormulaError
        try:
            found = parse(text, random.choice((None, ["p", "q"])))
        except FormulaError as error:
            found = error
        if isinstance(found, FormulaError):
            assert 1 <= found.column <= len(text) + 1
            assert found.problem
            assert found.code in ("Q404", "Q405", "Q406")
        else:
            read += 1
            assert parse(str(found)) is found
    assert read > 50
