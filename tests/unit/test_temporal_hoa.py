"""The Hanoi format, read back by a reader of its own: what is written means the same automaton."""

import re
from random import Random

import pytest

from quorate.properties.temporal.automaton import Automaton, Edge
from quorate.properties.temporal.parse import parse
from quorate.properties.temporal.translate import translate
from quorate.render.automata.hoa import hoa, is_complete, is_deterministic
from temporal_words import random_formula


def read(text: str) -> Automaton:
    """As much of the format as is written here."""
    head, body = text.split("--BODY--\n")
    assert body.endswith("--END--\n")
    headers = dict(line.split(": ", 1) for line in head.splitlines())
    assert headers["HOA"] == "v1"
    count, *_ = headers["AP"].split(" ")
    names = tuple(re.findall(r'"((?:[^"\\]|\\.)*)"', headers["AP"]))
    assert len(names) == int(count)
    sets, condition = headers["Acceptance"].split(" ")
    assert condition == ("&".join(f"Inf({n})" for n in range(int(sets))) or "t")
    edges: list[Edge] = []
    state = -1
    for line in body.splitlines()[:-1]:
        if line.startswith("State: "):
            state = int(line.removeprefix("State: "))
            continue
        match = re.fullmatch(r"\[(t|!?\d+(?:&!?\d+)*)\] (\d+)(?: \{(\d+(?: \d+)*)\})?", line)
        assert match is not None, line
        true = false = 0
        for literal in match[1].split("&") if match[1] != "t" else []:
            bit = 1 << int(literal.removeprefix("!"))
            true, false = (true, false | bit) if literal.startswith("!") else (true | bit, false)
        marks = sum(1 << int(mark) for mark in (match[3] or "").split())
        edges.append(Edge(state, true, false, int(match[2]), marks))
    return Automaton(names, int(headers["States"]), int(headers["Start"]), tuple(edges), int(sets))


def test_response() -> None:
    lines = hoa(translate(parse("G(p -> F q)"))).splitlines()
    assert lines[:2] == ["HOA: v1", 'name: "G(p -> F q)"']
    assert lines[3:] == [
        "States: 2",
        "Start: 0",
        'AP: 2 "p" "q"',
        "acc-name: Buchi",
        "Acceptance: 1 Inf(0)",
        "properties: trans-labels explicit-labels trans-acc stutter-invariant deterministic complete",
        "--BODY--",
        "State: 0",
        "[!0&!1] 0 {0}",
        "[0&!1] 1",
        "[1] 0 {0}",
        "State: 1",
        "[!1] 1",
        "[1] 0 {0}",
        "--END--",
    ]


@pytest.mark.parametrize(
    ("formula", "acceptance"),
    [
        ("G p", ["acc-name: all", "Acceptance: 0 t"]),
        ("G F p & G F q", ["acc-name: generalized-Buchi 2", "Acceptance: 2 Inf(0)&Inf(1)"]),
    ],
)
def test_acceptance(formula: str, acceptance: list[str]) -> None:
    assert [line for line in hoa(translate(parse(formula))).splitlines() if line[:3].lower() == "acc"] == acceptance


def test_no_predicates() -> None:
    assert "AP: 0\n" in hoa(translate(parse("true")))


def test_quotes_are_escaped() -> None:
    automaton = Automaton(('a"\\',), 1, 0, (), 0, formula='"')
    assert 'AP: 1 "a\\"\\\\"\n' in hoa(automaton)
    assert 'name: "\\""\n' in hoa(automaton)


def test_what_is_written_is_read_back() -> None:
    random = Random(20)
    for _ in range(200):
        automaton = translate(random_formula(random, random.randint(1, 8), "abc"), "abc")
        assert read(hoa(automaton)) == Automaton(
            automaton.names, automaton.states, automaton.initial, automaton.edges, automaton.sets
        )


def test_deterministic_and_complete_mean_what_all_letters_say() -> None:
    random = Random(21)
    seen = set()
    for _ in range(300):
        automaton = translate(random_formula(random, random.randint(1, 6), "ab"), "ab")
        counts = [
            sum(edge.allows(letter) for edge in edges) for edges in automaton.outgoing for letter in range(4)
        ]  # fmt: skip
        assert is_deterministic(automaton) == (max(counts) <= 1)
        assert is_complete(automaton) == (min(counts) >= 1)
        seen.add((max(counts) <= 1, min(counts) >= 1))
    assert len(seen) == 4
