"""Ctrl-C and SIGTERM in every phase of every command: no traceback, a truthful answer, the right status."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from quorate.cli import interrupts

HERE = Path(__file__).parents[1] / "interrupts"
MODEL = """
from quorate import Process, System, invariant, start

class A(Process):
    x: int = 0

    @start
    def begin(self) -> None:
        self.x = self.choose((1, 2))

class S(System):
    n: int = 2

    def build(self) -> None:
        self.spawn(A, self.n)

    @invariant
    def ok(self) -> bool:
        return all(a.x < BOUND for a in self[A])
"""

Run = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def interrupted() -> Iterator[Run]:
    """Run a command, and send it a signal where it calls one function after the other."""
    with subprocess.Popen(
        [sys.executable, str(HERE / "driver.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        requests, answers = process.stdin, process.stdout

        def run(folder: Path, words: list[str], *places: str, name: str = "SIGINT") -> dict[str, Any]:
            case = {"words": words, "folder": str(folder), "name": name, "places": places}
            requests.write(json.dumps(case) + "\n")
            requests.flush()
            found: dict[str, Any] = json.loads(answers.readline())
            assert found["err"].count("(interrupted here)") == len(places), found
            assert "Traceback" not in found["err"]
            return found

        yield run
        requests.close()


@pytest.fixture
def models(tmp_path: Path) -> Path:
    (tmp_path / "bad.py").write_text(MODEL.replace("BOUND", "2"))
    (tmp_path / "good.py").write_text(MODEL.replace("BOUND", "3"))
    return tmp_path


SIGNALS = pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])

# Before there is a verdict. Some of these are so soon over that the verdict is there all the same.
BEFORE = {
    "begin": "quorate.cli.main:run",
    "parse": "quorate.cli.main:main",
    "load": "quorate.model.target:load",
    "import": "bad:<module>",
    "parameters": "quorate.model.given:instance",
    "options": "quorate.search.limits:Watcher.__init__",
    "build": "bad:S.build",
    "define": "quorate.model.define:define",
    "closure": "quorate.reduce.reductions:Reductions.analyse",
    "handler": "bad:A.begin",
    "property": "bad:S.ok",
    "symmetry": "quorate.reduce.families:proposed",
    "search": "quorate.search.safety:Safety._search",
}
AFTER = {
    "replay": "quorate.search.rebuild:rebuild",
    "explanation": "quorate.properties.explanation:explain",
    "again": "quorate.properties.purity:Purity.require",
    "end of search": "quorate.base.interruptible:Interruptible.__exit__",
    "saving": "quorate.results.json:save",
    "writing": "quorate.base.files:write",
    "showing": "quorate.cli.check:show_result",
    "other files": "quorate.cli.run_files:Files.write",
    "drawing": "quorate.render.chart.svg:svg",
    "telling": "quorate.cli.run_files:tell",
    "test": "quorate.render.exports.regression:write",
    "comparing": "quorate.search.factors:factors",
    "report": "quorate.render.html.document:write",
    "trouble": "quorate.cli.run_files:Files.complain",
    "closing": "quorate.cli.output:Patient.flush",
}
FILES = ["--save", "run.json", "--chart", "run.svg", "--pytest", "test_run.py", "--report", "run.html"]


def answer(found: dict[str, Any]) -> dict[str, Any]:
    """The one object on standard output, which agrees with the status."""
    document: dict[str, Any] = json.loads(found["out"])
    if "error" in document:
        assert (document["error"]["code"], found["status"]) == ("Q506", 3)
    else:
        assert found["status"] == {"holds": 0, "violated": 1, "incomplete": 3}[document["verdict"]]
        assert (document["stopped_by"] == "interrupt") == (document["verdict"] == "incomplete")
    return document


def whole_or_absent(folder: Path, found: dict[str, Any]) -> None:
    """No file is there in part, and one that is missing is named."""
    ends = {"run.json": "}", "run.svg": "</svg>", "test_run.py": "", "run.html": "</html>"}
    for file, end in ends.items():
        if (folder / file).exists():
            assert (folder / file).read_text().rstrip().endswith(end)
        else:
            assert f"interrupted: {file} was not written" in found["err"]
    assert not list(folder.glob(".quorate-*"))


@SIGNALS
@pytest.mark.parametrize("phase", BEFORE)
def test_a_check_before_its_verdict(interrupted: Run, models: Path, phase: str, name: str) -> None:
    found = interrupted(models, ["check", "bad.py", "--json", *FILES], BEFORE[phase], name=name)
    document = answer(found)
    if phase in ("begin", "parse", "load", "import", "parameters"):
        assert document["error"]["message"] == "interrupted before there was an answer"
        assert "quorate: interrupted before there was an answer" in found["err"]
        assert not (models / "run.json").exists()


@SIGNALS
@pytest.mark.parametrize("phase", AFTER)
def test_a_check_after_its_verdict(interrupted: Run, models: Path, phase: str, name: str) -> None:
    found = interrupted(models, ["check", "bad.py", "--json", *FILES], AFTER[phase], name=name)
    assert answer(found)["verdict"] == "violated"
    whole_or_absent(models, found)


@pytest.mark.parametrize("phase", ["showing", "drawing", "report", "closing"])
def test_the_report_of_a_check_is_whole(interrupted: Run, models: Path, phase: str) -> None:
    found = interrupted(models, ["check", "bad.py", *FILES], AFTER[phase])
    assert found["status"] == 1
    assert found["out"].startswith("✗ S(n=2) violates ok")
    assert found["out"].rstrip().endswith("quorate replay run.json --trust")


def test_a_search_answers_with_what_it_covered(interrupted: Run, models: Path) -> None:
    words = ["check", "good.py", "-p", "n=30", "--symmetry", "none", "--json"]
    found = interrupted(models, words, "quorate.search.limits:Watcher.__call__", name="SIGTERM")
    document = answer(found)
    assert (document["verdict"], document["stopped_by"]) == ("incomplete", "interrupt")


TEMPORAL = ["LivenessCheck._graph", "LivenessCheck._decide", "LivenessCheck._trace", "LivenessCheck._confirm"]


@SIGNALS
@pytest.mark.parametrize("phase", TEMPORAL)
def test_a_temporal_property(interrupted: Run, models: Path, phase: str, name: str) -> None:
    words = ["check", "bad.py", "--ltl", "G ok", "--json", "--save", "run.json"]
    found = interrupted(models, words, f"quorate.search.liveness:{phase}", name=name)
    document = answer(found)
    if phase in ("LivenessCheck._trace", "LivenessCheck._confirm"):  # then there is a run that shows it
        assert document["verdict"] == "violated"


@SIGNALS
def test_a_temporal_property_of_many_states(interrupted: Run, models: Path, name: str) -> None:
    words = ["check", "good.py", "-p", "n=30", "--symmetry", "none", "--ltl", "G ok", "--json"]
    found = interrupted(models, words, "quorate.native.temporal:TemporalGraph.explore", name=name)
    document = answer(found)
    assert (document["verdict"], document["stopped_by"]) == ("incomplete", "interrupt")


def test_a_second_signal_ends_it_at_once(interrupted: Run, models: Path) -> None:
    found = interrupted(
        models, ["check", "bad.py", "--chart", "run.svg"], AFTER["showing"], "quorate.cli.run_files:form"
    )
    assert (found["status"], "interrupted again" in found["err"]) == (3, True)
    words = ["check", "good.py", "-p", "n=30", "--symmetry", "none", "--json"]
    watch = "quorate.search.limits:Watcher.__call__"
    found = interrupted(models, words, "quorate.reduce.reductions:Reductions.analyse", watch)
    assert answer(found)["error"]["code"] == "Q506"


PLAN = {
    "load": "quorate.model.target:load",
    "build": "bad:S.build",
    "closure": "quorate.reduce.reductions:Reductions.analyse",
    "facts": "quorate.reduce.facts:Facts.__init__",
    "telling": "quorate.search.plan:Plan.to_json",
}


@SIGNALS
@pytest.mark.parametrize("phase", PLAN)
def test_a_plan(interrupted: Run, models: Path, phase: str, name: str) -> None:
    found = interrupted(models, ["plan", "bad.py", "--json"], PLAN[phase], name=name)
    document = json.loads(found["out"])
    assert found["status"] == (3 if "error" in document else 0)
    if phase == "load":
        assert document["error"]["code"] == "Q506"
    if phase == "telling":
        assert document["closed"] is True


SWEEP = {
    "load": "quorate.model.target:load",
    "grid": "quorate.model.given:grid",
    "row": "quorate.sweep.worker:run_one",
    "build": "bad:S.build",
    "search": "quorate.search.safety:Safety._search",
    "kept": "quorate.sweep.results:Results.add",
    "pool": "quorate.sweep.pool:Pool._start",
    "event": "quorate.sweep.pool:Pool._next_event",
    "telling": "quorate.cli.sweep:_document",
    "writing": "quorate.cli.sweep:_write",
}


@SIGNALS
@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("phase", SWEEP)
def test_a_sweep(interrupted: Run, models: Path, phase: str, jobs: str, name: str) -> None:
    if phase in (("pool", "event") if jobs == "1" else ("row", "build", "search")):
        return  # there is no such phase
    words = ["sweep", "bad.py", "-p", "n=1..3", "-j", jobs, "--json", "-o", "all.csv", "--results", "kept.json"]
    found = interrupted(models, words, SWEEP[phase], name=name)
    document = json.loads(found["out"])
    if phase in ("load", "grid"):
        assert (document["error"]["code"], found["status"]) == ("Q506", 3)
        return
    done = [row for row in document["rows"] if row["verdict"] != "incomplete"]
    assert all(row["verdict"] == "violated" for row in done)
    assert found["status"] == (1 if done else 3)
    missing = 3 - len(done)
    assert (f"interrupted: {missing} of 3 instances were not checked" in found["err"]) == (missing > 0)
    assert (models / "all.csv").exists() or "interrupted: all.csv was not written" in found["err"]
    assert not list(models.glob(".quorate-*"))


def test_a_sweep_of_which_a_part_holds_has_not_held(interrupted: Run, models: Path) -> None:
    words = ["sweep", "good.py", "-p", "n=1..3", "-j", "1", "--json"]
    found = interrupted(models, words, SWEEP["kept"])
    assert [row["verdict"] for row in json.loads(found["out"])["rows"]] == ["holds"]
    assert (found["status"], "interrupted: 2 of 3" in found["err"]) == (3, True)


REPLAY = {
    "load": "quorate.model.target:load",
    "reading": "quorate.results.json:load",
    "build": "bad:S.build",
    "following": "quorate.results.replay:replay",
    "again": "quorate.properties.purity:Purity.require",
    "telling": "quorate.results.trace:Trace.to_json",
    "drawing": "quorate.render.chart.svg:svg",
}


@SIGNALS
@pytest.mark.parametrize("phase", REPLAY)
def test_a_replay(interrupted: Run, models: Path, phase: str, name: str) -> None:
    assert interrupted(models, ["check", "bad.py", "--save", "run.json"])["status"] == 1
    words = ["replay", "run.json", "--trust", "--json", "--chart", "run.svg"]
    found = interrupted(models, words, REPLAY[phase], name=name)
    document = json.loads(found["out"])
    if phase in ("telling", "drawing"):
        assert (document["kind"], found["status"]) == ("violation", 1)
        assert "interrupted: run.svg was not written" in found["err"]
    else:
        assert (document["error"]["code"], found["status"]) == ("Q506", 3)
    assert not (models / "run.svg").exists()


EXPLORE = {
    "load": ("quorate.model.target:load", 3),
    "build": ("bad:S.build", 3),
    "first position": ("quorate.explore.session:Session.at", 3),
    "starting the search": ("quorate.explore.worker:Worker.__init__", 3),
    "listening": ("quorate.explore.server:Server.__init__", 3),
    "serving": ("socketserver:BaseServer.serve_forever", 0),
}


@SIGNALS
@pytest.mark.parametrize("phase", EXPLORE)
def test_the_explorer(interrupted: Run, models: Path, phase: str, name: str) -> None:
    place, status = EXPLORE[phase]
    found = interrupted(models, ["explore", "bad.py", "--no-browser"], place, name=name)
    assert found["status"] == status


@SIGNALS
def test_lists_and_help(interrupted: Run, models: Path, name: str) -> None:
    found = interrupted(models, ["list", "--json"], "quorate.cli.list:_describe", name=name)
    assert (found["status"], json.loads(found["out"])["error"]["code"]) == (3, "Q506")
    assert interrupted(models, ["new", "mine"], "quorate.cli.new:_path", name=name)["status"] == 3
    assert not (models / "mine.py").exists()


# --- before the command's own code -----------------------------------------------------------------------------

STARTS = {
    "module": [sys.executable, "-m", "quorate"],
    "script": [str(Path(sys.executable).with_name("quorate"))],
}
IMPORTS = ["quorate.cli.main", "typer", "quorate.cli.check", "quorate.base.errors", "quorate._core"]


@SIGNALS
@pytest.mark.parametrize("module", IMPORTS)
@pytest.mark.parametrize("start", STARTS)
def test_while_it_starts(start: str, module: str, name: str) -> None:
    found = subprocess.run(
        [*STARTS[start], "check", "paxos", "--json"],
        env={**os.environ, "QUORATE_TEST_INTERRUPT": f"{name}@{module}", "PYTHONPATH": str(HERE)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.stderr == "quorate: interrupted before there was an answer\n"
    assert json.loads(found.stdout)["error"]["code"] == "Q506"
    assert found.returncode == 3


def test_a_job_in_the_background_is_not_interrupted_from_the_terminal(tmp_path: Path) -> None:
    """`command &` in a script ignores Ctrl-C, which is for what runs in front."""
    found = subprocess.run(
        [*STARTS["module"], "list"],
        env={**os.environ, "QUORATE_TEST_INTERRUPT": "SIGINT@typer", "PYTHONPATH": str(HERE)},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (found.returncode, found.stderr) == (0, "")


def test_sigterm_ends_a_job_in_the_background_as_it_should() -> None:
    """Where Ctrl-C is ignored, SIGTERM is not: the explorer closes its door, and ends with status 0."""
    with subprocess.Popen(
        [*STARTS["module"], "explore", "ping-pong", "--no-browser"],
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as started:
        assert started.stdout is not None
        assert "is at http" in started.stdout.readline()
        started.terminate()
        _, err = started.communicate(timeout=60)
    assert (started.returncode, "interrupted" in err) == (0, False)


def test_the_status_of_a_module_that_was_interrupted_in_code_of_a_text(tmp_path: Path) -> None:
    """As dataclasses are made: `python -m` then ended by SIGINT, whatever status the program had chosen."""
    text = "__import__('os').kill(__import__('os').getpid(), 2); __import__('time').sleep(9)"
    (tmp_path / "model.py").write_text(f"exec({text!r})\n")
    for one in ("", "1"):
        done = subprocess.run(
            [sys.executable, "-m", "quorate", "check", "model.py"],
            cwd=tmp_path,
            env={**os.environ, "QUORATE_ONE_PROCESS": one},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert (done.returncode, done.stderr) == (3, "quorate: interrupted before there was an answer\n")


def test_an_interrupt_that_falls_into_a_finalizer_comes_again(capsys: pytest.CaptureFixture[str]) -> None:
    """Nobody can catch what is raised there; Python prints a traceback, and the command went on."""

    class Finalized:
        def __del__(self) -> None:
            signal.raise_signal(signal.SIGINT)

    def works() -> None:
        with interrupts.working():
            str(Finalized())
            while True:
                pass

    with interrupts.command(), pytest.raises(KeyboardInterrupt):
        works()
    assert capsys.readouterr().err == ""


# --- the other commands ------------------------------------------------------------------------------------------

PHASES = {
    "load": "quorate.model.target:load",
    "import": "{model}:<module>",
    "build": "{model}:S.build",
    "handler": "{model}:A.begin",
    "property": "{model}:S.ok",
    "watch": "quorate.base.watchdog:Watch.begin",
    "stand down": "quorate.base.watchdog:Watch.stand_down",
    "end of watch": "quorate.base.watchdog:Watch.end",
    "closing": "quorate.cli.output:Patient.flush",
}
OTHERS = {
    "simulate": ("good.py --runs 200", set[str]()),
    "prove": ("good.py --timeout 20", set[str]()),
    "ablate": ("good.py -j 1 --each 5", set[str]()),
    "profile": ("good.py --sample 100", {"property", "watch", "stand down", "end of watch"}),
    "flows": ("good.py", {"property", "watch", "stand down", "end of watch"}),
    "project": ("good.py", {"handler", "property", "watch", "stand down", "end of watch"}),
}
"""Words, and phases that are not met."""


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("command", OTHERS)
def test_other_commands(interrupted: Run, models: Path, command: str, phase: str) -> None:
    words, unmet = OTHERS[command]
    if phase in unmet:
        return
    found = interrupted(models, [command, *words.split(), "--json"], PHASES[phase].format(model="good"))
    document = json.loads(found["out"])
    if "error" in document and document["error"]["code"] != "Q603":  # not to be projected
        assert (document["error"]["code"], found["status"]) == ("Q506", 3)
    if phase in ("load", "import"):
        assert document["error"]["code"] == "Q506"
    elif "error" not in document:
        assert found["status"] in ((0, 3) if command != "prove" else (0, 1, 3))
        if found["status"] == 0:  # then it has come to its end all the same
            assert document.get("stopped_by") is None
            assert document.get("stopped") is None
            assert document.get("verdict") in (None, "nothing found", "proved")


def test_going_on_with_a_search(interrupted: Run, models: Path) -> None:
    begun = ["check", "good.py", "-p", "n=30", "--symmetry", "none", "--checkpoint", "saved", "--json"]
    found = interrupted(models, begun, "quorate.search.limits:Watcher.__call__")
    assert answer(found)["stopped_by"] == "interrupt"
    for phase in ("quorate.model.target:load", "good:S.build"):
        found = interrupted(models, ["resume", "saved", "--trust", "--json"], phase)
        answer(found)
    found = interrupted(models, ["resume", "saved", "--trust", "--json"], "quorate.search.limits:Watcher.__call__")
    assert answer(found)["stopped_by"] == "interrupt"


def test_a_search_that_is_interrupted_each_time_it_goes_on_loses_nothing(interrupted: Run, models: Path) -> None:
    """Its beginning ends at a limit, so that there is something to go on with wherever the signal falls."""
    plain = ["--symmetry", "none", "--por", "none", "--quotient", "off"]
    words = ["check", "good.py", "-p", "n=13", *plain, "--max-states", "50000", "--checkpoint", "saved", "--json"]
    document = json.loads(interrupted(models, words)["out"])
    assert document["stopped_by"] == "states"
    before = document["states"]
    assert before >= 50_000
    resume = ["resume", "saved", "--trust", "--json", "--max-states"]
    for name, further in (("SIGINT", "300000"), ("SIGTERM", "3M")):
        place = "quorate.search.limits:Watcher.__call__"  # first met while what was saved is made ready
        document = answer(interrupted(models, [*resume, "3M"], place, name=name))
        assert document["stopped_by"] == "interrupt"
        assert document["checkpoint"]["resumed_from"] == before
        assert document["checkpoint"]["states"] >= before
        before = document["checkpoint"]["states"]
        document = json.loads(interrupted(models, [*resume, further])["out"])
        assert document["checkpoint"]["resumed_from"] == before > 0
        assert document["states"] > before
        before = document["states"]
    assert (document["verdict"], document["states"], document["transitions"]) == ("holds", 3**13, 13 * 2 * 3**12)


def test_other_files(interrupted: Run, models: Path) -> None:
    (models / "history.jsonl").write_text('{"process": "a", "invoke": "enqueue", "value": 1}\n')
    for words, place in (
        (["linearize", "history.jsonl", "--spec", "queue"], "quorate.histories.order:find_misplaced"),
        (["automaton", "G p"], "quorate.properties.temporal.translate:translate"),
    ):
        found = interrupted(models, [*words, "--json"], place)
        assert (found["status"], json.loads(found["out"])["error"]["code"]) == (3, "Q506")
    found = interrupted(models, ["automaton", "G p", "--svg", "a.svg", "--json"], "quorate.base.files:write")
    assert not (models / "a.svg").exists()
    assert found["status"] in (2, 3)
