"""The report and the explorer in a real browser: clicking through a counterexample, and what is then on the page.

They need Chromium (Debian's package; `make test` installs it where it may). Where there is none they are skipped, and
`make test` says so.
"""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from quorate import Message, Process, System, check, on, start
from quorate.histories import Read, Register, Write, linearizable
from quorate.protocols.faulty_paxos import FaultyPaxos
from quorate.protocols.lock import Locking
from quorate.render.chart.layout import laid_out
from quorate.render.chart.model import chart
from quorate.render.chart.svg import svg
from quorate.render.html.document import write
from test_chart_layout import big

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = [
    "--headless",
    "--no-sandbox",  # the machines that run tests are root in a container, where it cannot have one
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed, so the pages were not tried in a browser"),
    pytest.mark.xdist_group("browser"),  # one browser is enough
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    api = pytest.importorskip("playwright.sync_api")
    with api.sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield launched
        launched.close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A page that fails the test if anything is loaded from elsewhere, or if a script or its policy complains."""
    context = browser.new_context(viewport={"width": 1500, "height": 1000})
    opened = context.new_page()
    opened.set_default_timeout(10_000)
    complaints: list[str] = []
    opened.on("console", lambda message: complaints.append(message.text) if _is_complaint(message) else None)
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on(
        "request",
        lambda request: (
            None if re.match(r"(file://|http://127\.0\.0\.1:|data:)", request.url) else complaints.append(request.url)
        ),
    )
    yield opened
    assert complaints == []
    context.close()


def _is_complaint(message: Any) -> bool:
    """An address that leads nowhere is answered with 400, which the browser notes; that is no fault of the page."""
    return message.type == "error" and "status of 400" not in message.text


def texts(page: Any, selector: str) -> list[str]:
    return [" ".join(text.split()) for text in page.locator(selector).all_inner_texts()]


def chosen(page: Any) -> tuple[list[str], list[str]]:
    """The step that is highlighted in the list, and in the chart."""
    numbers = "nodes => nodes.map(node => node.dataset.step)"
    return page.eval_on_selector_all("li.step.chosen", numbers), page.eval_on_selector_all("g.step.chosen", numbers)


# --- the report ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("report") / "report.html"
    write(check(FaultyPaxos(), target="faulty-paxos"), path)
    return path.as_uri()


def test_the_chart_of_the_report(page: Any, report: str) -> None:
    page.goto(report)
    assert page.title() == "FaultyPaxos violates agreement"
    heads = page.eval_on_selector_all(".heads text.strong", "nodes => nodes.map(node => node.textContent)")
    assert heads == ["proposer1", "proposer2", "acceptor1", "acceptor2", "acceptor3", "learner1"]
    # Top to bottom on the screen is the order of the steps.
    tops = page.eval_on_selector_all("g.step .bar", "nodes => nodes.map(node => node.getBoundingClientRect().top)")
    assert tops == sorted(tops)
    labels = page.eval_on_selector_all(
        "g.step", "nodes => nodes.map(node => [...node.querySelectorAll('text')].map(text => text.textContent))"
    )
    assert labels[10] == ["Accepted(Vote(1, 1))", "Accepted(Vote(2, 2))", "11 learn", "learned: {} → {1, 2}"]


def test_no_label_of_the_report_lies_on_another(page: Any, report: str) -> None:
    """With the fonts that the browser has, not with those that the layout reckons with."""
    page.goto(report)
    assert_apart(page, "g.step text", 30)


class _Asked(Message): ...


class _Client(Process):
    first: bool

    @start
    def begin(self) -> None:
        self.invoke(Write(1) if self.first else Read())
        if self.first:
            self.send(self.pid, _Asked())
        else:
            self.returns(2)

    @on(_Asked)
    def ended(self, m: _Asked) -> None:
        self.returns()


class _Wrong(System):
    atomic = linearizable(Register(0))

    def build(self) -> None:
        self.spawn(_Client, first=True)
        self.spawn(_Client, first=False)


def test_the_history_of_the_report_is_drawn_as_it_is_in_text(page: Any, tmp_path: Path) -> None:
    """White space was lost, and with it when operations begin."""
    found = check(_Wrong())
    assert found.trace is not None
    write(found, tmp_path / "report.html")
    page.goto((tmp_path / "report.html").as_uri())
    bars = page.locator(".why li li code")
    assert [line.rstrip() for line in bars.all_inner_texts()][-1].strip() == "▲ no place"
    boxes = page.eval_on_selector_all(".why li li code", "nodes => nodes.map(n => n.getBoundingClientRect().width)")
    lengths = [len(text) for text in bars.all_text_contents()]
    assert boxes[-1] / boxes[0] == pytest.approx(lengths[-1] / lengths[0], rel=0.1)


def test_no_label_lies_on_another_with_twelve_processes_and_sixty_steps(page: Any, tmp_path: Path) -> None:
    (tmp_path / "big.svg").write_text(svg(laid_out(chart(big(60)))), encoding="utf-8")
    page.goto((tmp_path / "big.svg").as_uri())
    assert page.locator("g.step").count() == 60
    assert_apart(page, "g.step text, .heads text, .reminders text", 220)


def assert_apart(page: Any, selector: str, least: int) -> None:
    boxes = page.eval_on_selector_all(
        selector, "nodes => nodes.map(n => n.getBoundingClientRect()).map(b => [b.left, b.top, b.right, b.bottom])"
    )
    assert len(boxes) > least
    for number, (left, top, right, bottom) in enumerate(boxes):
        for other in boxes[number + 1 :]:
            assert left >= other[2] or other[0] >= right or top >= other[3] - 4 or other[1] >= bottom - 4


def test_clicking_through_a_counterexample(page: Any, report: str) -> None:
    page.goto(report)
    assert chosen(page) == ([], [])
    page.locator("li.step").nth(3).click()
    assert chosen(page) == (["4"], ["4"])
    assert page.locator(".state").is_visible()
    assert "promised 2" in texts(page, ".state .changed")
    highlighted = page.eval_on_selector_all(".flying.chosen", "nodes => nodes.map(node => node.dataset.ended)")
    assert sorted(highlighted) == ["4", "7"]  # the message that came in, and the answer that went out
    page.locator('g.step[data-step="7"] text').first.click()
    assert chosen(page) == (["7"], ["7"])
    page.locator("li.step").nth(6).click()  # again: nothing is chosen any more
    assert chosen(page) == ([], [])


def test_the_keyboard(page: Any, report: str) -> None:
    page.goto(report)
    for key, step in (
        ("j", "1"),
        ("j", "2"),
        ("ArrowDown", "3"),
        ("k", "2"),
        ("End", "11"),
        ("j", "11"),
        ("Home", "1"),
    ):
        page.keyboard.press(key)
        assert chosen(page) == ([step], [step]), key
    page.keyboard.press("Escape")
    assert chosen(page) == ([], [])


def test_light_and_dark(page: Any, report: str) -> None:
    page.goto(report)
    colour = "getComputedStyle(document.documentElement).backgroundColor"
    assert page.evaluate(colour) == "rgb(255, 255, 255)"
    page.keyboard.press("t")
    dark = page.evaluate(colour)
    assert dark != "rgb(255, 255, 255)"
    page.reload()
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(colour) == dark
    page.emulate_media(media="print")
    assert page.evaluate(colour) == "rgb(255, 255, 255)"  # paper is white


def test_a_lasso_in_the_report(page: Any, tmp_path: Path) -> None:
    write(check(Locking(queue=False), property="waiting", target="lock"), tmp_path / "lasso.html")
    page.goto((tmp_path / "lasso.html").as_uri())
    assert page.locator("li.step").count() == 7
    assert texts(page, "li.loop") == ["from here on, again and again"]
    # The bracket of the chart is beside the steps of the loop, from the third to the last.
    bracket = page.locator("path.again").bounding_box()
    assert bracket is not None
    inside = page.eval_on_selector_all(
        "g.step .bar",
        """(nodes, [top, bottom]) => nodes.map(node => node.getBoundingClientRect())
            .map(box => box.top >= top && box.bottom <= bottom)""",
        [bracket["y"], bracket["y"] + bracket["height"]],
    )
    assert inside == [False] * 2 + [True] * 5
    page.locator("li.step").last.click()
    assert chosen(page) == (["7"], ["7"])


# --- the explorer ----------------------------------------------------------------------------------------------


class Explorer:
    def __init__(self, *arguments: str) -> None:
        command = [
            sys.executable,
            "-c",
            "from quorate.cli.main import run; run()",
            "explore",
            *arguments,
            "--no-browser",
        ]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, encoding="utf-8"
        )
        assert self.process.stdout is not None
        match = re.search(r"http\S+", self.process.stdout.readline())
        assert match is not None
        self.address = match[0].partition("#")[0]

    def stop(self) -> None:
        self.process.terminate()
        self.process.communicate(timeout=10)


@pytest.fixture(scope="module")
def paxos() -> Iterator[str]:
    explorer = Explorer("faulty-paxos", "--goal", "any(learner.learned for learner in self[Learner])")
    yield explorer.address
    explorer.stop()


@pytest.fixture(scope="module")
def commit() -> Iterator[str]:
    explorer = Explorer("two-phase-commit", "-p", "participants=2", "-p", "crashes=1")
    yield explorer.address
    explorer.stop()


def at(page: Any, path: str) -> None:
    page.wait_for_selector(f'body[data-path="{path}"]')


def test_stepping_forward_and_back(page: Any, commit: str) -> None:
    page.goto(commit)
    at(page, "0")
    assert texts(page, "#system") == ["TwoPhaseCommit"]
    assert texts(page, "#steps li .name")[:2] == ["prepare", "crashes"]
    page.locator("#steps li").first.click()
    at(page, "0.0")
    assert page.url.endswith("#0.0")
    assert texts(page, '[data-process="participant1"] .pending') == ["Prepare() from coordinator1"]
    page.keyboard.press("Enter")
    at(page, "0.0.0")
    assert texts(page, '[data-process="participant1"] .changed') == ["True"]
    page.wait_for_selector('#chart g.step[data-step="2"]')
    assert texts(page, "#way li") == ["start", "1 coordinator1 prepare", "2 participant1 vote"]
    page.go_back()
    at(page, "0.0")
    page.locator("#back").click()
    at(page, "0")
    assert page.locator("#back").is_disabled()


def test_a_link_restores_a_position(page: Any, commit: str) -> None:
    page.goto(f"{commit}#0.0.0")
    at(page, "0.0.0")
    assert texts(page, "#way li")[-1] == "2 participant1 vote"
    page.goto(f"{commit}#0.99")
    page.wait_for_selector("#where .bad")
    assert "there is no step 99" in texts(page, "#where")[0]


def test_jumping_along_a_counterexample(page: Any, paxos: str) -> None:
    page.goto(paxos)
    page.wait_for_selector('#finds [data-kind="violation"][data-status="found"]', timeout=30_000)
    page.wait_for_selector("#steps li.next")
    for depth in range(1, 4):
        page.keyboard.press("n")
        page.wait_for_selector(f'body[data-depth="{depth}"]')
    page.keyboard.press("p")
    page.wait_for_selector('body[data-depth="2"]')
    page.locator('#finds [data-kind="violation"] a').click()
    page.wait_for_selector("#verdicts .is-bad")
    assert texts(page, "#verdicts .is-bad") == ["✗ agreement"]
    assert texts(page, '[data-process="learner1"] .changed') == ["{1, 2}"]
    page.wait_for_selector('#chart g.step[data-step="11"]')


def test_walking_round_a_lasso(page: Any) -> None:
    explorer = Explorer("lock", "-p", "queue=false")
    try:
        page.goto(explorer.address)
        page.wait_for_selector('#finds [data-kind="violation"][data-status="found"]', timeout=30_000)
        assert "from step 3 on again and again" in texts(page, "#finds")[0]
        page.locator('#finds [data-kind="violation"] a').click()
        page.wait_for_selector('body[data-depth="7"]')
        assert texts(page, "#way li")[3:] == [
            "from here on, again and again 3 lock1 grant",
            "4 client2 enter",
            "5 client2 leave",
            "6 lock1 free",
            "7 client2 ask",
        ]
        page.wait_for_selector('#chart g.step[data-step="7"]')
        assert page.locator("#chart path.again").count() > 0
        page.locator("#back").click()  # off its end it is no loop yet
        page.wait_for_selector('body[data-depth="6"]')
        page.wait_for_selector('#chart g.step[data-step="6"]')
        assert page.locator("#chart path.again").count() == 0
    finally:
        explorer.stop()


def test_what_the_reductions_would_take(page: Any, paxos: str) -> None:
    page.goto(f"{paxos}#0.0.1.1")
    page.wait_for_selector('#reductions[data-status="known"]', timeout=30_000)
    names = page.eval_on_selector_all("#reductions div", "nodes => nodes.map(node => node.dataset.reduction)")
    assert names == ["quotient", "dead-messages", "symmetry", "por"]
    assert texts(page, '#reductions [data-reduction="por"] span') == ["takes 1 of 3"]
    assert page.locator('#steps .skipped[data-reduction="por"]').count() == 2
    assert texts(page, "#steps li:nth-child(3) .skipped") == []
    page.locator("#steps li").nth(2).click()
    at(page, "0.0.1.1.2")
    page.wait_for_selector('#reductions[data-status="known"]')


def test_going_where_something_holds(page: Any, paxos: str) -> None:
    page.goto(paxos)
    page.wait_for_selector('#finds [data-kind="goal"][data-status="found"]', timeout=30_000)
    page.locator('#finds [data-kind="goal"] a').click()
    page.wait_for_selector('[data-process="learner1"] .changed')
    assert texts(page, '[data-process="learner1"] .changed') in (["{1}"], ["{2}"])
    assert texts(page, "#verdicts .is-bad") == []


def test_choosing_an_initial_state(page: Any) -> None:
    explorer = Explorer(f"{Path(__file__).parents[1] / 'support' / 'models.py'}:Starts")
    try:
        page.goto(explorer.address)
        at(page, "0")
        page.wait_for_selector("#where a.initial")
        assert texts(page, "#where p")[-1] == "initial state 1 of 2 next"
        page.locator("#where a.initial").click()
        at(page, "1")
        assert texts(page, "#verdicts .is-bad") == ["✗ idle"]
    finally:
        explorer.stop()


def test_the_map(page: Any, commit: str, paxos: str) -> None:
    page.goto(f"{commit}#0.0")
    page.wait_for_selector("#map circle.here", timeout=30_000)
    assert page.locator("#map circle.way").count() == 2
    assert page.locator("#map circle.bad").count() > 0
    page.locator("#map circle").first.click()
    at(page, "0")
    assert texts(page, "#extent") == [f"All {page.locator('#map circle').count()} states"]
    page.goto(paxos)
    page.wait_for_selector("#map circle.here", timeout=30_000)
    assert texts(page, "#extent") == ["A sample of the states: at most 24 of each level"]


def test_no_key_is_lost_however_fast_it_is_typed(page: Any, paxos: str) -> None:
    """All of them at once, before the first answer is there; each counts from where the ones before have led."""
    keys = ["Enter", "k", "Enter", "Enter", "ArrowLeft", "j", "Enter"]
    page.goto(paxos)
    page.wait_for_selector('#finds [data-status]:not([data-status="searching"])', timeout=30_000)
    for key, depth in zip(keys, [1, 1, 2, 3, 2, 2, 3], strict=True):
        page.keyboard.press(key)
        page.wait_for_selector(f'body[data-depth="{depth}"]')
    slowly = page.evaluate("document.body.dataset.path")
    page.keyboard.press("Home")
    at(page, "0")
    page.evaluate(
        """keys => keys.forEach(
            key => document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true })))""",
        keys,
    )
    at(page, slowly)


def test_why_a_property_fails(page: Any, paxos: str) -> None:
    page.goto(paxos)
    page.wait_for_selector('#finds [data-kind="violation"][data-status="found"]', timeout=30_000)
    assert page.locator("#why pre").count() == 0
    page.locator('#finds [data-kind="violation"] a').click()
    page.wait_for_selector('#why pre[data-property="agreement"]')
    assert "learned" in page.locator("#why pre").inner_text()


def test_filters_for_steps_and_fields(page: Any, paxos: str) -> None:
    page.goto(f"{paxos}#0.0")
    at(page, "0.0")
    page.keyboard.press("/")
    page.keyboard.type("acceptor2")
    shown = page.locator("#steps li:visible")
    assert shown.count() == 1
    assert page.locator("#steps li.chosen:visible").count() == 1
    page.keyboard.press("Enter")  # leaves the filter
    page.keyboard.press("Enter")
    page.wait_for_selector('body[data-depth="2"]')
    assert "acceptor2" in texts(page, "#way li")[-1]
    page.locator("#filter-steps").fill("nothing of the kind")
    assert page.locator("#steps li:visible").count() == 0
    assert "no step has that" in page.evaluate("getComputedStyle(document.querySelector('#steps'), '::after').content")
    page.locator("#filter-fields").fill("promised")
    assert set(texts(page, "#state dt:visible")) == {"promised"}


def test_goals_by_name_and_constants(page: Any, paxos: str) -> None:
    page.goto(paxos)
    page.wait_for_selector("#offers button", timeout=30_000)
    assert texts(page, "#offers button") == ["not agreement", "not validity", "learned", "others_up"]
    page.locator("#offers button").first.click()
    page.wait_for_selector('#finds [data-kind="goal"]:has-text("not agreement") .along', timeout=30_000)
    assert texts(page, "#offers button")[0] == "not validity"
    card = page.locator('[data-process="proposer1"]')
    assert card.locator("details dt").first.is_hidden()
    card.locator("summary").click()
    assert "acceptors" in texts(page, '[data-process="proposer1"] details dt')


def test_the_printed_page_is_complete(page: Any, report: str) -> None:
    page.goto(report)
    page.keyboard.press("j")
    page.emulate_media(media="print")
    assert page.locator("#theme").is_hidden()
    assert page.locator("footer").is_hidden()
    width = page.evaluate("document.documentElement.clientWidth")
    assert all(page.locator("li.step").nth(at).is_visible() for at in range(11))
    picture = page.locator(".picture svg").bounding_box()
    assert picture["width"] <= width  # scaled to the paper, not cut
    faded = "nodes => nodes.filter(node => getComputedStyle(node).opacity !== '1').length"
    assert page.eval_on_selector_all("g.step", faded) == 0  # what was chosen on the screen is not on paper
    assert page.locator("details li").first.is_hidden()
    assert len(re.findall(rb"/Type /Page\b", page.pdf(format="A4"))) >= 2
    assert page.locator("details li").first.is_visible()  # printing has opened it: on paper nobody can


def test_a_wide_chart_is_printed_across(page: Any, tmp_path: Path) -> None:
    write(check(FaultyPaxos(acceptors=7), target="faulty-paxos"), tmp_path / "wide.html")
    page.goto((tmp_path / "wide.html").as_uri())
    assert page.locator(".picture.wide").count() == 1
    sizes = {
        tuple(map(float, found)) for found in re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", page.pdf(format="A4"))
    }
    assert {width > height for width, height in sizes} == {True, False}
