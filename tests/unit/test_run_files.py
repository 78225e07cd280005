"""What the command line makes of a run besides printing it."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from quorate.cli.main import app


class Ran:
    def __init__(self, *arguments: str) -> None:
        done = CliRunner().invoke(app, list(arguments))
        self.status, self.out, self.err = done.exit_code, done.stdout, done.stderr
        assert "Traceback" not in self.out + self.err


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_short_run_is_drawn_and_a_long_one_written_out(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "├─ Prepare(ballot=1) ────▶┃ 3 promise" in Ran("check", "faulty-paxos").out
    assert "  3. acceptor1  promise  ← Prepare(ballot=1)" in Ran("check", "faulty-paxos", "--trace", "text").out
    narrow = Ran("check", "faulty-paxos", "-p", "acceptors=5", "-p", "learners=3")
    assert "◀─" not in narrow.out  # ten lifelines do not fit into 80 columns
    assert "◀─" in Ran("check", "faulty-paxos", "-p", "acceptors=5", "-p", "learners=3", "--trace", "chart").out
    monkeypatch.setattr("quorate.render.chart.terminal.LONGEST", 10)
    assert "  3. acceptor1  promise  ← Prepare(ballot=1)" in Ran("check", "faulty-paxos").out


def test_files_of_every_form() -> None:
    wanted = ["a.svg", "b.mmd", "c.txt", "d.itf.json", "e.shiviz", "f.html", "test_g.py"]
    charts = [word for name in wanted[:3] for word in ("--chart", name)]
    exports = [word for name in wanted[3:5] for word in ("--export", name)]
    ran = Ran("check", "faulty-paxos", *charts, *exports, "--report", "f.html", "--pytest", "test_g.py")
    assert ran.status == 1
    assert ran.err.splitlines() == [
        f"wrote {name}" for name in ["a.svg", "b.mmd", "c.txt", *wanted[3:5], "test_g.py"]
    ] + ["wrote f.html"]
    assert all(Path(name).stat().st_size > 500 for name in wanted)
    assert json.loads(Path("d.itf.json").read_text())["#meta"]["format"] == "ITF"


def test_what_is_on_standard_output_can_still_be_piped() -> None:
    ran = Ran("check", "faulty-paxos", "--json", "--chart", "a.svg", "--report", "a.html")
    assert json.loads(ran.out)["verdict"] == "violated"


def test_the_name_of_a_file_is_looked_at_first() -> None:
    for option, name in (("--chart", "run.gif"), ("--export", "run.json")):
        ran = Ran("check", "faulty-paxos", option, name)
        assert ran.status == 2
        assert ran.out == ""
        assert "error Q314" in ran.err


def test_where_there_is_no_run_nothing_is_written_and_it_says_so() -> None:
    ran = Ran("check", "paxos", "--chart", "a.svg", "--pytest", "test_a.py")
    assert ran.status == 0
    assert ran.err.splitlines() == [
        "there is no run to show, so a.svg was not written",
        "there is no run to show, so test_a.py was not written",
    ]
    assert not Path("a.svg").exists()
    assert (
        Ran("check", "paxos", "--report", "a.html").err == "wrote a.html\n"
    )  # a report there is, whatever the verdict


def test_a_witness_is_drawn_where_nothing_is_violated() -> None:
    Ran("check", "two-phase-commit", "--property", "commit", "--chart", "a.svg")
    assert "commit is reached" in Path("a.svg").read_text()


AT_ONCE = """
from quorate import Process, System, can, invariant

class P(Process):
    n: int = 0

class S(System):
    def build(self):
        self.spawn(P)

    @invariant
    def never(self):
        return self[P][0].n > 0

    @can
    def always(self):
        return self[P][0].n == 0
"""


def test_a_run_without_steps_is_drawn_as_well() -> None:
    Path("at_once.py").write_text(AT_ONCE)
    ran = Ran("check", "at_once.py", "--chart", "a.svg", "--chart", "a.txt", "--chart", "a.mmd")
    assert (ran.status, ran.err) == (1, "wrote a.svg\nwrote a.txt\nwrote a.mmd\n")
    assert "never" in Path("a.svg").read_text()


def test_the_verdict_is_printed_even_if_a_file_cannot_be_written() -> None:
    ran = Ran("check", "faulty-paxos", "--trace", "none", "--save", "/dev/full")
    assert ran.status == 1
    assert ran.out.startswith("✗ FaultyPaxos violates agreement\n")
    assert "  learner1.learned = {1, 2}\n" in ran.out
    assert "error Q310: cannot write /dev/full" in ran.err


def test_a_run_can_be_shortened_and_left_as_it_was_found() -> None:
    ran = Ran("check", "faulty-paxos", "--search", "dfs", "--shorten", "--trace", "text")
    assert "The shortest run that breaks agreement: 11 steps, shortened from 13\n" in ran.out
    found, shown = (
        json.loads(Ran("check", "faulty-paxos", "--json", "--regroup", how).out)["trace"]["steps"]
        for how in ("off", "on")
    )
    assert [step["process"] for step in found] != [step["process"] for step in shown]
    assert sorted(step["process"] for step in found) == sorted(step["process"] for step in shown)


def test_a_saved_run_takes_the_same_options() -> None:
    Ran("check", "faulty-paxos", "--save", "run.json", "--trace", "none")
    ran = Ran("replay", "run.json", "--chart", "a.svg", "--export", "a.shiviz", "--pytest", "test_a.py")
    assert ran.status == 1
    assert ran.err.splitlines() == ["wrote a.svg", "wrote a.shiviz", "wrote test_a.py"]
    assert '"target": "faulty-paxos"' in Path("test_a.py").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["faulty-paxos", "--at", "0.99"], "error Q700: after 0 steps there is no step 99"),
        (["faulty-paxos", "--at", "x"], "error Q700: a path is numbers and dots: 0.3.1"),
        (["faulty-paxos", "--goal", "1 +"], "error Q208: --goal '1 +' is not a Python expression"),
        (["no-such"], "error Q301"),
    ],
)
def test_an_exploration_that_cannot_begin_is_refused_with_status_2(arguments: list[str], message: str) -> None:
    ran = Ran("explore", *arguments, "--no-browser")
    assert ran.status == 2
    assert message in ran.err
