"""The report as a file: complete, self-contained, safe whatever the values are. test_browser.py clicks through it."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from handmade import violation
from models import Everything
from quorate import Process, QuorateError, System, check, invariant
from quorate.protocols.faulty_paxos import FaultyPaxos
from quorate.protocols.two_phase_commit import TwoPhaseCommit
from quorate.render.html.document import document, plain, write
from quorate.render.html.elements import Markup, element, text
from quorate.render.report import bounded, unfinished


class Page(HTMLParser):
    """What a browser sees: every element in order, and that all of them are closed."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.words: list[str] = []
        self.feed(source)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "link", "br", "hr", "input"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("script", "style"):
            self.words.append(data)

    def all(self, tag: str, name: str | None = None) -> list[dict[str, str | None]]:
        return [a for t, a in self.tags if t == tag and (name is None or name in (a.get("class") or "").split())]


@pytest.fixture(scope="module")
def source() -> str:
    return document(check(FaultyPaxos(), target="faulty-paxos"))


def test_everything_is_there(source: str) -> None:
    page = Page(source)
    words = " ".join("".join(page.words).split())
    for expected in (
        "✗ FaultyPaxos violates agreement",
        "proposers=2 acceptors=3 learners=1 ballots=1",
        "The shortest run that breaks agreement: 11 steps",
        "len({v for learner in self[Learner] for v in learner.learned}) <= 1",
        "quotient",
        "22 of 31 local states",
        "breadth-first",
        "quorate check faulty-paxos -p proposers=2 -p acceptors=3 -p learners=1 -p ballots=1",
        "quorate replay run.json",
    ):
        assert expected in words, expected
    assert [step["data-step"] for step in page.all("li", "step")] == [str(n) for n in range(1, 12)]
    assert [step["data-step"] for step in page.all("g", "step")] == [str(n) for n in range(1, 12)]


def test_nothing_is_loaded_from_anywhere(source: str) -> None:
    assert "http://" not in source.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in source
    page = Page(source)
    assert not page.all("link")
    assert not any("src" in attributes for _, attributes in page.tags)
    assert all((a["href"] or "").startswith("data:application/json") for a in page.all("a"))
    assert not any("style" in attributes or "onclick" in attributes for _, attributes in page.tags)
    (policy,) = [meta["content"] for meta in page.all("meta") if meta.get("http-equiv") == "Content-Security-Policy"]
    assert policy is not None
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy


def test_the_run_can_be_taken_out_and_replayed(source: str, tmp_path: Path) -> None:
    import base64

    from quorate.results.json import load

    link = next(a["href"] for a in Page(source).all("a"))
    assert link is not None
    (tmp_path / "run.json").write_bytes(base64.b64decode(link.partition(",")[2]))
    assert load(tmp_path / "run.json")["target"] == "faulty-paxos"


def test_states_are_there_for_every_step(source: str) -> None:
    match = re.search(r'<script type="application/json" id="data">(.*?)</script>', source)
    assert match is not None
    (run,) = json.loads(match[1])
    assert len(run["states"]) == 12
    learner = next(p for p in run["states"][11]["processes"] if p["name"] == "learner1")
    assert learner["fields"][-1] == ["learned", "{1, 2}", True]


def test_a_result_that_holds_shows_its_witnesses() -> None:
    page = Page(document(check(TwoPhaseCommit())))
    assert len(page.all("section", "run")) == 1
    assert "The shortest run that reaches commit" in "".join(page.words)


def test_what_was_not_searched_is_said_as_in_text() -> None:
    from handmade import result

    for each in (result(bounds=("Server.within",)), check(TwoPhaseCommit(), max_states=5)):
        words = "".join(Page(document(each)).words)
        lines = [*unfinished(each), *bounded(each)]
        assert lines
        assert all(plain(line) in words for line in lines)


def test_covered_source_begins_above_the_first_handler() -> None:
    words = Page(document(check(TwoPhaseCommit(), coverage=True))).words
    first = next(at for at, word in enumerate(words) if word == "two_phase_commit.py") + 1
    assert words[first].lstrip(" 0123456789").startswith("@")


def test_it_says_how_to_check_again_with_the_same_faults() -> None:
    result = check(TwoPhaseCommit(), byzantine={"Coordinator": 1}, search="dfs", target="two-phase-commit")
    words = "".join(Page(document(result)).words)
    assert (
        "quorate check two-phase-commit -p participants=3 -p crashes=0 --search dfs --byzantine Coordinator=1" in words
    )


def test_a_failure_names_its_line() -> None:
    from handmade import result

    words = "".join(Page(document(result(violation(Everything(), "assertion")))).words)
    assert "fails: an answer was 2" in words
    assert "models.py:" in words


class Evil(Process):
    text: str = "</script><script>alert(1)</script><img src=x onerror=alert(1)>"


class Hostile(System):
    def build(self) -> None:
        self.spawn(Evil)

    @invariant
    def fine(self) -> bool:
        """<b>bold</b>"""
        return self[Evil][0].text == ""


def test_values_cannot_break_out() -> None:
    page = Page(document(check(Hostile())))
    assert not page.all("img")
    assert not page.all("b")
    assert len(page.all("script")) == 2  # the data and the page's own


def test_elements_escape_what_is_not_markup() -> None:
    assert element("p", "1 < 2", [Markup("<b>x</b>"), None], class_="a", data_step=3, hidden=True, title=None) == (
        '<p class="a" data-step="3" hidden>1 &lt; 2<b>x</b></p>'
    )
    assert element("meta", charset='"') == '<meta charset="&quot;">'
    assert text("&", ["<"]) == "&amp;&lt;"


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(QuorateError, match="cannot write"):
        write(check(TwoPhaseCommit()), tmp_path / "nowhere" / "report.html")
