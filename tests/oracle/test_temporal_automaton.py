"""Automata against a direct evaluation of their formulas, and their sizes."""

import itertools
import os
import subprocess
import sys
from random import Random

import pytest

from quorate.base.errors import LimitError
from quorate.properties.temporal.automaton import Automaton, Edge, components
from quorate.properties.temporal.cubes import condition, covered
from quorate.properties.temporal.determinise import determinised
from quorate.properties.temporal.formula import Formula, Op, name, names, negation, nnf
from quorate.properties.temporal.parse import parse
from quorate.properties.temporal.reduce import reduced
from quorate.properties.temporal.translate import (
    _Translation,
    is_tautology,
    is_unsatisfiable,
    translate,
    translate_negation,
)
from quorate.properties.temporal.words import satisfied
from quorate.render.automata.hoa import is_deterministic
from temporal_words import accepted, random_formula, random_words

# States, edges and acceptance sets of a formula's automaton, and of its negation's.
SIZES = {
    "true": ((1, 1, 0), (1, 0, 0)),
    "p": ((2, 2, 0), (2, 2, 0)),
    "G p": ((1, 1, 0), (2, 3, 1)),
    "F p": ((2, 3, 1), (1, 1, 0)),
    "G F p": ((1, 2, 1), (2, 3, 1)),
    "F G p": ((2, 3, 1), (1, 2, 1)),
    "p U q": ((2, 3, 1), (2, 3, 0)),
    "p W q": ((2, 3, 0), (2, 3, 1)),
    "p R q": ((2, 3, 0), (2, 3, 1)),
    "G(p -> F q)": ((2, 5, 1), (2, 3, 1)),
    "G(p -> G q)": ((2, 3, 0), (3, 6, 1)),
    "G(p -> q W r)": ((2, 5, 0), (3, 8, 1)),
    "G(p -> q U r)": ((2, 5, 1), (3, 6, 1)),
    "G(p -> p U q)": ((2, 5, 1), (3, 5, 1)),
    "F p -> !p U q": ((2, 3, 0), (2, 3, 1)),
    "G F a & G F b & G F c": ((1, 4, 3), (4, 7, 1)),
    "G F a | G F b": ((1, 3, 1), (2, 3, 1)),
    "F G a & F G b": ((2, 3, 1), (1, 3, 1)),
    "G F a -> G F b": ((3, 6, 1), (2, 4, 1)),
    "G F a & G F b -> G(p -> F q)": ((6, 14, 1), (2, 5, 2)),
    "F(p & F q)": ((3, 6, 1), (2, 3, 0)),
    "G(p & F q -> r U q)": ((3, 7, 1), (4, 10, 1)),
}


@pytest.mark.parametrize("text", SIZES)
def test_sizes(text: str) -> None:
    formula = parse(text)
    found = tuple((a.states, len(a.edges), a.sets) for a in (translate(formula), translate_negation(formula)))
    assert found == SIZES[text]


def test_two_states_are_needed_where_there_are_two() -> None:
    """What every automaton with one state has, and these languages do not.

    Of an accepted word the loop alone is accepted, behind any of the word's letters; and so is the word that goes round
    all letters of two accepted words for ever, since each set is met at least as often as before.
    """
    random = Random(14)
    shown = 0
    for text, sizes in SIZES.items():
        for negated, (states, _, _) in enumerate(sizes):
            formula = negation(parse(text)) if negated else parse(text)
            refuted = any(_needs_two_states(random, formula) for _ in range(40))
            assert refuted == (states > 1), (text, negated)
            shown += states == 2
    assert shown > 15


def _needs_two_states(random: Random, formula: Formula) -> bool:
    letters, loop, everything = random_words(random, names(formula), 256)

    def false(word: list[dict[str, int]], loop_from: int) -> int:
        return everything & ~satisfied(formula, word, loop_from, everything)

    true = everything & ~false(letters, loop)
    before = [random.choice(letters) for _ in range(random.randrange(3))]
    both = [*letters, *({n: _turned(words) for n, words in letter.items()} for letter in letters)]
    return bool(true & false([*before, *letters[loop:]], len(before)) or true & _turned(true) & false(both, 0))


def _turned(words: int) -> int:
    """Each of the 256 words in the place of its neighbour."""
    return words >> 1 | (words & 1) << 255


def test_response_reads_as_one_would_draw_it() -> None:
    automaton = translate(parse("G(p -> F q)"))
    edges = [
        (e.source, condition([(e.must_be_true, e.must_be_false)], automaton.names), e.target, e.acceptance)
        for e in automaton.edges
    ]
    assert edges == [
        (0, "!p & !q", 0, 1),
        (0, "p & !q", 1, 0),
        (0, "q", 0, 1),
        (1, "!q", 1, 0),
        (1, "q", 0, 1),
    ]  # fmt: skip
    assert automaton.initial == 0


def test_many_fairness_conditions_stay_one_state() -> None:
    automaton = translate(parse(" & ".join(f"G F p{number}" for number in range(20))))
    assert (automaton.states, len(automaton.edges), automaton.sets) == (1, 21, 20)


# --- against direct evaluation -----------------------------------------------------------------------------------


def compare(random: Random, formulas: int, words: int, largest: int) -> int:
    """Draw formulas and words; how many words were compared with the automata of the formula and of its negation."""
    compared = 0
    for _ in range(formulas):
        over = "abc"[: random.randint(1, 3)]
        formula = random_formula(random, random.randint(1, largest), over)
        automaton, negation = translate(formula, over), translate_negation(formula, over)
        for _ in range(words // 64):
            letters, loop, everything = random_words(random, over, 64)
            true = satisfied(formula, letters, loop, everything)
            assert accepted(automaton, letters, loop, everything) == true, str(formula)
            assert accepted(negation, letters, loop, everything) == everything & ~true, str(formula)
            compared += 64
    return compared


def test_a_hundred_thousand_words() -> None:
    assert compare(Random(8), formulas=550, words=192, largest=9) >= 100_000


@pytest.mark.parametrize("text", [*SIZES, "G(p -> F q) & G(q -> F p)", "p U (q U r)", "(p U q) U (r W p)"])
def test_the_usual_formulas_on_all_short_words(text: str) -> None:
    formula = parse(text)
    over = names(formula)[:3]
    letters_of = list(itertools.product((0, 1), repeat=len(over)))
    for stem, loop in ((0, 1), (0, 2), (1, 1), (1, 2)):
        words = list(itertools.product(letters_of, repeat=stem + loop))
        letters = [
            {n: sum(word[place][i] << w for w, word in enumerate(words)) for i, n in enumerate(over)}
            for place in range(stem + loop)
        ]
        everything = (1 << len(words)) - 1
        true = satisfied(formula, letters, stem, everything)
        assert accepted(translate(formula), letters, stem, everything) == true
        assert accepted(translate_negation(formula), letters, stem, everything) == everything & ~true


def test_reductions_keep_the_words_of_unreduced_automata() -> None:
    random = Random(9)
    smaller = 0
    for _ in range(150):
        formula = random_formula(random, random.randint(1, 6), "ab")
        raw = _Translation(nnf(formula), ("a", "b")).automaton("")
        small = reduced(raw)
        smaller += small.states < raw.states
        letters, loop, everything = random_words(random, "ab", 128)
        assert accepted(raw, letters, loop, everything) == accepted(small, letters, loop, everything), str(formula)
    assert smaller > 40


def random_automaton(random: Random) -> Automaton:
    states, sets = random.randint(1, 6), random.randint(0, 3)
    edges = set()
    for _ in range(random.randint(1, 3 * states)):
        true = random.randrange(4)
        edges.add(
            Edge(
                random.randrange(states),
                true,
                random.randrange(4) & ~true,
                random.randrange(states),
                random.randrange(1 << sets),
            )
        )
    return Automaton(("a", "b"), states, random.randrange(states), tuple(sorted(edges)), sets)


def test_reductions_keep_the_words_of_any_automaton() -> None:
    random = Random(10)
    for _ in range(500):
        automaton = random_automaton(random)
        small = reduced(automaton)
        assert small.states <= automaton.states
        for _ in range(3):
            letters, loop, everything = random_words(random, "ab", 64)
            expected = accepted(automaton, letters, loop, everything)
            assert accepted(small, letters, loop, everything) == expected, automaton


def test_equal_input_gives_equal_output() -> None:
    program = (
        "from quorate.properties.temporal.parse import parse\n"
        "from quorate.properties.temporal.translate import translate\n"
        "print(translate(parse('G(p -> F q) & G(q -> F r) & (G F p -> G F r) | (p U q) W r')))"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(printed) == 1


# --- determinism -------------------------------------------------------------------------------------------------


def test_subsets_keep_the_words() -> None:
    random = Random(13)
    guessed = {0: 0, 1: 0}
    for _ in range(400):
        drawn = random_automaton(random)
        sets = random.randrange(2)
        edges = [edge._replace(acceptance=0) for edge in drawn.edges]
        if sets:  # one more state, which accepts everything
            ways = {random.randrange(drawn.states) for _ in range(2)}
            edges += [Edge(state, random.randrange(4), 0, drawn.states, 0) for state in ways]
            edges.append(Edge(drawn.states, 0, 0, drawn.states, 1))
        raw = reduced(Automaton(("a", "b"), drawn.states + sets, drawn.initial, tuple(edges), sets))
        found = determinised(raw)
        assert found is not None or raw.is_empty
        if found is not None:
            guessed[sets] += not is_deterministic(raw)
            assert is_deterministic(found)
            letters, loop, everything = random_words(random, "ab", 128)
            assert accepted(found, letters, loop, everything) == accepted(raw, letters, loop, everything), raw
    assert min(guessed.values()) > 20, guessed


@pytest.mark.parametrize(
    "text", ["G(p -> q W r)", "G(q & !r -> p W r)", "!p W s", "G p", "F r -> p U r", "!r W (p & !r)"]
)
def test_what_a_search_for_a_safety_violation_explores_is_deterministic(text: str) -> None:
    assert is_deterministic(translate_negation(parse(text)))


def test_what_cannot_be_deterministic() -> None:
    for text in ("F G p", "G F p -> G F q", "F(p & G q)"):
        assert determinised(translate(parse(text))) is None
    assert determinised(translate(parse("false"))) is None
    assert determinised(translate(parse(" | ".join(f"G p{n}" for n in range(9))))) is None  # too many letters


# --- runs that end -----------------------------------------------------------------------------------------------


def test_a_letter_for_ever() -> None:
    automaton = translate_negation(parse("G(waiting -> F served)"))
    assert automaton.names == ("waiting", "served")
    waiting, served = automaton.label({"waiting"}), automaton.label({"served"})
    assert (waiting, served, automaton.label(())) == (1, 2, 0)
    assert [automaton.accepts_for_ever(state, 0) for state in (0, 1)] == [False, True]
    assert [automaton.accepts_for_ever(state, waiting) for state in (0, 1)] == [True, True]
    assert [automaton.accepts_for_ever(state, served) for state in (0, 1)] == [False, False]


def test_a_letter_for_ever_is_a_word() -> None:
    random = Random(11)
    for _ in range(300):
        formula = random_formula(random, random.randint(1, 7), "ab")
        automaton = translate(formula, "ab")
        for label in range(4):
            letter = {n: label >> bit & 1 for bit, n in enumerate("ab")}
            ends = automaton.ends(label)
            for state in range(automaton.states):
                started = Automaton(automaton.names, automaton.states, state, automaton.edges, automaton.sets)
                assert ends[state] == bool(accepted(started, [letter], 0, 1))
            assert ends[automaton.initial] == bool(satisfied(formula, [letter], 0, 1))


def test_labels_with_more_bits_than_predicates() -> None:
    automaton = translate(parse("G p"))
    assert automaton.accepts_for_ever(0, 0b101)
    assert not automaton.accepts_for_ever(0, 0b100)


# --- what is trivial, and limits ---------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["true", "p | !p", "G p -> p", "F G p -> G F p", "(p U q) -> F q", "G p | F !p"])
def test_tautologies(text: str) -> None:
    assert is_tautology(parse(text))
    assert is_unsatisfiable(parse(f"!({text})"))
    assert not is_unsatisfiable(parse(text))


def test_neither() -> None:
    assert not is_tautology(parse("G(p -> F q)"))
    assert not is_unsatisfiable(parse("G(p -> F q)"))


def test_predicates_of_the_system_keep_their_numbers() -> None:
    automaton = translate(parse("F c"), ("a", "b", "c"))
    assert automaton.names == ("a", "b", "c")
    assert {e.must_be_true | e.must_be_false for e in automaton.edges} == {0, 0b100}


def test_limits() -> None:
    sixty_four = translate(parse(" & ".join(f"p{n}" for n in range(64))))
    assert sixty_four.edges[0].must_be_true == (1 << 64) - 1
    for text, what in (
        (" & ".join(f"p{n}" for n in range(65)), "65 predicates"),
        (" & ".join(f"F p{n}" for n in range(17)), "states|edges"),
        (" & ".join(f"(G F p{n} | G F q{n % 7} & F G r)" for n in range(30)), "states|edges"),
    ):
        with pytest.raises(LimitError, match=what) as raised:
            translate(parse(text))
        assert raised.value.code == "Q505"
        assert "split the property" in raised.value.hint


def test_too_many_acceptance_sets() -> None:
    edges = tuple(Edge(0, 0, 0, 0, 1 << bit) for bit in range(65))
    with pytest.raises(LimitError, match="65 acceptance sets"):
        Automaton((), 1, 0, edges, 65).within_limits()
    Automaton((), 65_536, 0, (), 64).within_limits()
    with pytest.raises(LimitError, match="65,537 states"):
        Automaton((), 65_537, 0, (), 0).within_limits()


def test_path_quantifiers_have_no_automaton() -> None:
    with pytest.raises(ValueError, match="branching"):
        translate(Formula(Op.E, (name("p"),)))


# --- small parts -------------------------------------------------------------------------------------------------


def test_covered_is_what_all_letters_say() -> None:
    random = Random(12)
    for _ in range(2000):
        cubes = []
        for _ in range(random.randint(1, 6)):
            true = random.randrange(16)
            cubes.append((true, random.randrange(16) & ~true))
        first, *rest = cubes
        letters = [set(_letters(cube)) for cube in cubes]
        assert covered(first, rest) == (letters[0] <= set().union(*letters[1:]))


def _letters(cube: tuple[int, int]) -> list[int]:
    return [letter for letter in range(16) if cube[0] & ~letter == 0 and cube[1] & letter == 0]


def test_conditions_for_people() -> None:
    assert condition([(0, 3), (1, 2), (2, 1)], "pq") == "!p | !q"
    assert condition([(0, 1), (1, 0)], "pq") == "true"
    assert condition([(1, 2), (2, 1)], "pq") == "(p & !q) | (!p & q)"


def test_components_come_after_those_they_lead_to() -> None:
    edges = [Edge(0, 0, 0, 1, 0), Edge(1, 0, 0, 2, 0), Edge(2, 0, 0, 1, 0), Edge(2, 0, 0, 3, 0), Edge(4, 0, 0, 0, 0)]
    component = components(5, edges)
    assert component[1] == component[2]
    assert len(set(component)) == 4
    assert all(component[edge.source] >= component[edge.target] for edge in edges)
