import itertools
from functools import partial
from random import Random

import pytest

from quorate.properties.temporal.formula import Formula, Op
from quorate.properties.temporal.parse import parse
from quorate.properties.temporal.words import holds, satisfied
from temporal_words import random_formula, random_words


@pytest.mark.parametrize(
    ("formula", "stem", "loop", "expected"),
    [
        ("G p", [], ["p"], True),
        ("G p", [""], ["p"], False),
        ("F p", ["", "p"], [""], True),
        ("F p", ["", ""], [""], False),
        ("G F p", ["p"], ["", "p"], True),
        ("G F p", ["p", "p"], [""], False),
        ("F G p", [""], ["p"], True),
        ("F G p", ["p"], ["p", ""], False),
        ("p U q", ["p", "p"], ["q"], True),
        ("p U q", ["p", ""], ["q"], False),
        ("p U q", [], ["p"], False),
        ("p U q", ["q"], [""], True),
        ("p U q", ["p"], ["p", "pq"], True),
        ("p W q", [], ["p"], True),
        ("p W q", ["p", ""], ["q"], False),
        ("p R q", [], ["q"], True),
        ("p R q", ["q", "pq"], [""], True),
        ("p R q", ["q", "p"], [""], False),
        ("p R q", ["p"], ["q"], False),
        ("G(p -> F q)", ["p", "q"], ["p", "q"], True),
        ("G(p -> F q)", ["p", "q", "p"], [""], False),
        ("p <-> q", ["pq"], [""], True),
        ("p -> q", ["p"], [""], False),
        ("!p | true", ["p"], [""], True),
    ],
)
def test_small_words(formula: str, stem: list[str], loop: list[str], expected: bool) -> None:
    assert holds(parse(formula), stem, loop) is expected


def naive(formula: Formula, word: list[str], at: int, far: int) -> bool:
    """The definition on a long enough piece of the word, written out."""
    inner = [partial(_at, part, word, far) for part in formula.parts]
    later = range(at, at + far)
    match formula.op:
        case Op.TRUE | Op.FALSE:
            return formula.op is Op.TRUE
        case Op.NAME:
            return formula.name in word[at]
        case Op.NOT:
            return not inner[0](at)
        case Op.AND:
            return all(part(at) for part in inner)
        case Op.OR:
            return any(part(at) for part in inner)
        case Op.IMPLIES:
            return not inner[0](at) or inner[1](at)
        case Op.IFF:
            return bool(inner[0](at) == inner[1](at))
        case Op.G:
            return all(inner[0](i) for i in later)
        case Op.F:
            return any(inner[0](i) for i in later)
        case Op.U:
            return any(inner[1](j) and all(inner[0](i) for i in range(at, j)) for j in later)
        case Op.W:
            return naive(parse_or(formula), word, at, far)
        case Op.R:
            return all(inner[1](j) or any(inner[0](i) for i in range(at, j)) for j in later)
    raise AssertionError


def _at(part: Formula, word: list[str], far: int, place: int) -> bool:
    return naive(part, word, place, far)


def parse_or(formula: Formula) -> Formula:
    left, right = formula.parts
    return Formula(Op.OR, (Formula(Op.U, (left, right)), Formula(Op.G, (left,))))


def test_against_the_definition_on_all_short_words() -> None:
    random = Random(3)
    formulas = [random_formula(random, random.randint(1, 3), "pq") for _ in range(40)]
    for stem_length, loop_length in ((0, 1), (1, 1), (0, 2), (1, 2)):
        for letters in itertools.product(["", "p", "q", "pq"], repeat=stem_length + loop_length):
            stem, loop = list(letters[:stem_length]), list(letters[stem_length:])
            far = stem_length + 2 * loop_length  # twice round the loop: whatever comes has come by then
            word = stem + loop * 20
            for formula in formulas:
                assert holds(formula, stem, loop) == naive(formula, word, 0, far), (str(formula), stem, loop)


def test_many_words_at_once_are_words_one_by_one() -> None:
    random = Random(4)
    for _ in range(50):
        formula = random_formula(random, 6, "ab")
        letters, loop, everything = random_words(random, "ab", 32)
        together = satisfied(formula, letters, loop, everything)
        for bit in range(32):
            word = [[n for n, words in letter.items() if words >> bit & 1] for letter in letters]
            assert holds(formula, word[:loop], word[loop:]) == bool(together >> bit & 1)


def test_what_is_no_word() -> None:
    with pytest.raises(ValueError, match="at least one letter"):
        holds(parse("p"), ["p"], [])
    with pytest.raises(ValueError, match="no branches"):
        holds(parse("EF p"), [], ["p"])
