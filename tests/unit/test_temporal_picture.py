"""Pictures of automata: well-formed, and nothing drawn over anything else."""

import xml.etree.ElementTree as ET
from itertools import combinations
from random import Random

import pytest

from quorate.base.errors import LimitError
from quorate.properties.temporal.automaton import Automaton, Edge
from quorate.properties.temporal.parse import parse
from quorate.properties.temporal.translate import translate
from quorate.render.automata.arrows import Arrow, Line, arrows
from quorate.render.automata.picture import LETTER, picture
from temporal_words import random_formula

SVG = "{http://www.w3.org/2000/svg}"


def drawn(automaton: Automaton, title: str = "title") -> ET.Element:
    return ET.fromstring(picture(automaton, title=title, notes=["a note"]))


def labels(root: ET.Element) -> list[tuple[float, float, float]]:
    """Left, right and baseline of each condition."""
    found = []
    for text in root.iter(f"{SVG}text"):
        if text.get("class") == "label":
            left = float(text.get("x", "nan"))
            found.append((left, left + LETTER * len(text.text or ""), float(text.get("y", "nan"))))
    return found


def test_arrows() -> None:
    assert arrows(translate(parse("G(p -> F q)"))) == [
        Arrow(0, 0, (Line("!p | q", (0,)),)),
        Arrow(0, 1, (Line("p & !q", ()),)),
        Arrow(1, 0, (Line("q", (0,)),)),
        Arrow(1, 1, (Line("!q", ()),)),
    ]


def test_everything_is_there() -> None:
    root = drawn(translate(parse("G(p -> F q)")), "G(p -> F q)")
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert texts[0] == "G(p -> F q)"
    assert [text for text in texts if text in ("!p | q", "p & !q", "q", "!q")] == ["q", "p & !q", "!p | q", "!q"]
    assert sum(circle.get("class") == "state" for circle in root.iter(f"{SVG}circle")) == 2
    assert sum(circle.get("class") == "t0" for circle in root.iter(f"{SVG}circle")) == 2
    assert "a note" in texts


@pytest.mark.parametrize("dark", [None, False, True])
def test_light_and_dark(dark: bool | None) -> None:
    text = picture(translate(parse("F p")), title="F p", dark=dark)
    assert ("prefers-color-scheme" in text) == (dark is None)
    assert ("#14171f" in text) == (dark is not False)


def test_signs_that_xml_does_not_know() -> None:
    automaton = Automaton(("p",), 1, 0, (Edge(0, 1, 0, 0, 0),), 0)
    assert "a < b & \\x00" in ET.tostring(drawn(automaton, "a < b & \0"), encoding="unicode").replace(
        "&lt;", "<"
    ).replace("&amp;", "&")


def test_what_is_too_large_to_be_looked_at() -> None:
    automaton = Automaton((), 30, 0, tuple(Edge(i, 0, 0, j, 0) for i in range(30) for j in range(30)), 0)
    with pytest.raises(LimitError, match="900 arrows") as raised:
        picture(automaton, title="")
    assert raised.value.code == "Q505"


def test_no_label_is_drawn_over() -> None:
    random = Random(22)
    automata = [translate(random_formula(random, random.randint(3, 9), "abc"), "abc") for _ in range(250)]
    assert max(automaton.states for automaton in automata) > 6
    for automaton in automata:
        root = drawn(automaton)
        width, height = float(root.get("width", "0")), float(root.get("height", "0"))
        places = labels(root)
        for left, right, y in places:
            assert 0 <= left <= right <= width
            assert 0 <= y <= height
        for (left, right, y), (other_left, other_right, other_y) in combinations(places, 2):
            apart = right <= other_left or other_right <= left or abs(y - other_y) >= 15
            assert apart, automaton
        for x, top, bottom in verticals(root):
            for left, right, y in places:
                assert not (left < x < right and top < y - 4 < bottom), automaton


def verticals(root: ET.Element) -> list[tuple[float, float, float]]:
    """The stretches of lanes that go down from a state or up to one."""
    found = []
    for path in root.iter(f"{SVG}path"):
        d = path.get("d", "")
        if path.get("class") == "edge" and "V" in d:
            start, down, rest = d.replace("M", "").split("V", 1)[0], *d.split("V", 1)[1].split("Q", 1)
            x, top = map(float, start.split())
            found.append((x, top, float(down)))
            up = d.rsplit("V", 1)
            x, low = (float(number) for number in up[0].split()[-2:])
            found.append((x, float(up[1]), low))
            assert rest
    return found
