"""The patterns on the page: each formula against what its pattern and its scope mean, spelled out over positions."""

import re
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from quorate.properties.temporal.parse import parse
from quorate.properties.temporal.translate import is_tautology, is_unsatisfiable, translate, translate_negation
from quorate.properties.temporal.words import satisfied
from temporal_words import random_words

PAGE = (Path(__file__).parents[2] / "docs/temporal.md").read_text(encoding="utf-8")


def cells(line: str) -> list[str]:
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def tables() -> Iterator[tuple[str, str, str]]:
    """Pattern, scope and formula of each cell."""
    lines = PAGE.splitlines()
    for number, line in enumerate(lines):
        if line.startswith("| | *"):
            patterns = [re.findall(r"\*(\w+):\*", cell)[0] for cell in cells(line)[1:]]
            for row in lines[number + 2 : number + 7]:
                scope, *formulas = cells(row)
                for pattern, formula in zip(patterns, formulas, strict=True):
                    yield pattern, scope.replace("`", ""), formula.strip("`")


PATTERNS = list(tables())
Word = list[dict[str, bool]]


def intervals(scope: str, word: Word, starts: int) -> Iterator[range]:
    """The stretches of positions that a scope is about; the word is long enough to stand for the infinite one."""
    end = len(word)

    def next_r(after: int) -> int | None:
        return next((i for i in range(after, end) if word[i]["r"]), None)

    if scope == "whole run":
        yield range(end)
    elif scope == "before r":
        first = next_r(0)
        if first is not None:
            yield range(first)
    elif scope == "after q":
        opened = next((i for i in range(end) if word[i]["q"]), None)
        if opened is not None:
            yield range(opened, end)
    else:
        for start in range(starts):
            if word[start]["q"] and not word[start]["r"]:
                closing = next_r(start)
                if closing is not None or scope == "after q until r":
                    yield range(start, end if closing is None else closing)


def fulfilled(pattern: str, word: Word, stretch: range, starts: int) -> bool:
    p = [i for i in stretch if word[i]["p"]]
    s = [i for i in stretch if word[i]["s"]]
    match pattern:
        case "absence":
            return not p
        case "universality":
            return len(p) == len(stretch)
        case "existence":
            return bool(p)
        case "precedence":
            return not p or (bool(s) and s[0] <= p[0])
        case "response":
            # Near the end of the piece of word an answer may still come; every p has an equal one further ahead.
            return all(any(later >= i for later in s) for i in p if i < starts or stretch.stop < len(word))
    raise AssertionError(pattern)


def test_all_patterns_are_there() -> None:
    assert len(PATTERNS) == len({(pattern, scope) for pattern, scope, _ in PATTERNS}) == 25


@pytest.mark.parametrize(("pattern", "scope", "formula"), PATTERNS)
def test_patterns_mean_what_they_say(pattern: str, scope: str, formula: str) -> None:
    random = Random(f"{pattern} {scope}")
    seen = {True: 0, False: 0}
    for _ in range(40):
        letters, loop, everything = random_words(random, "pqrs", 16)
        found = satisfied(parse(formula), letters, loop, everything)
        round_trip = len(letters) - loop
        for bit in range(16):
            once = [{n: bool(value >> bit & 1) for n, value in letter.items()} for letter in letters]
            starts = len(letters) + round_trip
            word = once + once[loop:] * (3 + 8 // round_trip)
            expected = all(fulfilled(pattern, word, part, starts) for part in intervals(scope, word, starts))
            assert bool(found >> bit & 1) == expected, (once, loop)
            seen[expected] += 1
    assert min(seen.values()) >= 10


@pytest.mark.parametrize(("pattern", "scope", "formula"), PATTERNS)
def test_patterns_have_small_automata(pattern: str, scope: str, formula: str) -> None:
    for automaton in (translate(parse(formula)), translate_negation(parse(formula))):
        assert automaton.states <= (5 if scope == "between q and r" or pattern == "response" else 4)
        assert automaton.sets <= 1


def test_every_formula_on_the_page_is_one() -> None:
    found = 0
    part = PAGE.split("In the words of protocols:")[1].split("##")[0]
    for line in part.splitlines():
        if line.startswith("| ") and "`" in line:
            formula = parse(cells(line)[1].strip("`"))
            found += 1
            if "EF" not in str(formula):
                assert not is_tautology(formula)
                assert not is_unsatisfiable(formula)
    assert found == 10
