"""Sweeps: grids and what follows from them, processes, results that are kept, files that are written."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

from quorate.cli.main import app
from quorate.protocols.paxos import Paxos
from quorate.protocols.ping_pong import PingPong
from quorate.sweep.grid import grids, smallest_safe
from quorate.sweep.picture import picture
from quorate.sweep.pool import Pool
from quorate.sweep.results import fingerprint
from quorate.sweep.row import Row

SLOW = """
from quorate import Process, System, invariant, step

class Counter(Process):
    count: int = 0

    @step(when=lambda self: self.count < 400)
    def up(self) -> None:
        self.count += 1

class Slow(System):
    counters: int = 1
    unused: int = 0

    def build(self) -> None:
        self.spawn(Counter, self.counters)

    @invariant
    def fine(self) -> bool:
        return True
"""


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))


def sweep(*arguments: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, ["sweep", *arguments])
    assert "Traceback" not in done.stdout + done.stderr
    return done.exit_code, done.stdout, done.stderr


# --- the grid --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("verdicts", "smallest"),
    [
        ({1: "violated", 2: "holds", 3: "holds"}, (2, True)),
        ({1: "violated", 2: "holds", 3: "refused"}, (2, True)),
        ({1: "holds", 2: "violated", 3: "holds"}, (3, True)),
        ({1: "holds", 2: "holds"}, (1, True)),
        ({1: "violated", 2: "violated"}, (None, True)),
        ({1: "incomplete", 2: "holds"}, (2, False)),
        ({1: "violated", 2: "incomplete"}, (None, False)),
        ({1: "refused"}, (None, False)),
    ],
)
def test_the_smallest_safe_value(verdicts: dict[int, str], smallest: tuple[int | None, bool]) -> None:
    assert smallest_safe(verdicts) == smallest


def row(verdict: str, **point: int) -> Row:
    if verdict == "refused":
        return Row(point, {"error": {"code": "Q203", "message": "no"}})
    return Row(point, {"verdict": verdict, "states": 1234})


def known(size: int) -> list[Row]:
    """The truth about quorums of n: two of them must have a member in common."""
    return [
        row("refused" if q > n else "holds" if 2 * q > n else "violated", n=n, q=q)
        for n in range(1, size + 1)
        for q in range(1, size + 1)
    ]


def test_what_follows_from_a_grid() -> None:
    (grid,) = grids(known(5), {"q": "n"})
    assert (grid.down, grid.across, grid.rows, grid.columns) == ("n", "q", (1, 2, 3, 4, 5), (1, 2, 3, 4, 5))
    assert [each.smallest for each in grid.summaries] == [1, 2, 2, 3, 3]
    assert [each.tolerated for each in grid.summaries] == [0, 0, 1, 1, 2]
    assert [each.tolerated for each in grids(known(3), {})[0].summaries] == [None] * 3


def test_nothing_follows_from_a_row_that_was_interrupted() -> None:
    (grid,) = grids(known(5)[:-2], {"q": "n"})  # of n=5 the quorums of 4 and 5 are missing
    assert [each.value for each in grid.summaries] == [1, 2, 3, 4]


def test_a_grid_for_every_combination_of_the_others() -> None:
    rows = [row("holds", a=a, b=b, c=c, d=7) for a in (1, 2) for b in (1, 2) for c in (1, 2)]
    assert [grid.fixed for grid in grids(rows, {})] == [{"a": 1, "d": 7}, {"a": 2, "d": 7}]
    assert grids([row("holds", a=1, b=2), row("holds", a=1, b=3)], {}) == []
    assert grids([], {}) == []


def test_the_picture_is_well_formed_and_says_it_without_colours() -> None:
    document = picture("a < b & c", grids(known(4), {"q": "n"}))
    root = ElementTree.fromstring(document)
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert texts[0] == "a < b & c"
    assert texts.count("✓") == 6
    assert texts.count("✗") == 4
    assert texts.count("1.2k") == 10
    assert "smallest safe: q 3" in texts
    assert "so 1 crash can be tolerated" in texts
    assert texts[-1] == "with the number of states (a dot: refused by the system)"
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    for element in root.iter("{http://www.w3.org/2000/svg}rect"):
        assert float(element.get("x", 0)) + float(element.attrib["width"]) <= width
        assert float(element.get("y", 0)) + float(element.attrib["height"]) <= height


# --- quorum conditions of Paxos --------------------------------------------------------------------------------


def test_quorum_conditions_of_paxos() -> None:
    status, out, _ = sweep("paxos", "-p", "proposers=2", "-p", "acceptors=2..4", "-p", "majority=1..4")
    assert status == 1  # some majorities are too small
    assert out.split("\n\n")[1].rstrip().splitlines() == [
        "proposers=2",
        "           majority",
        "acceptors    1  2  3  4",
        "        2    ✗  ✓  ·  ·   smallest safe majority 2, so no crash tolerated",
        "        3    ✗  ✓  ✓  ·   smallest safe majority 2, so 1 crash tolerated",
        "        4    ✗  ✗  ✓  ✓   smallest safe majority 3, so 1 crash tolerated",
        "           ✓ holds   ✗ violated   · refused by the system",
    ]
    assert "refused" not in out.split("\n\n")[0]


def test_files_are_written() -> None:
    written = ["-o", "grid.csv", "-o", "grid.json", "-o", "grid.svg"]
    assert sweep("paxos", "-p", "acceptors=1..2", "-p", "majority=1..2", *written)[0] == 1
    assert Path("grid.csv").read_text().splitlines()[1].startswith("1,1,holds,,")
    document = json.loads(Path("grid.json").read_text())
    assert [each["verdict"] for each in document["rows"] if "verdict" in each] == ["holds", "violated", "holds"]
    (grid,) = document["grids"]
    assert grid["summary"][1] == {"acceptors": 2, "smallest_safe_majority": 2, "exact": True, "tolerated_crashes": 0}
    ElementTree.parse("grid.svg")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["paxos", "-o", "grid.png"], "Q209"),
        (["ping-pong", "-p", "rally=1..2", "-o", "grid.svg"], "Q209"),
        (["ping-pong", "-p", "rally=1..2", "-o", "no/such/grid.csv"], "Q310"),
        (["ping-pong", "--results", "no/such/file"], "Q310"),
    ],
)
def test_files_that_cannot_be_written(arguments: list[str], code: str) -> None:
    status, _, err = sweep(*arguments)
    assert status == 2
    assert f"error {code}" in err


# --- processes -------------------------------------------------------------------------------------------------


def answers(out: str) -> list[list[str]]:
    return [line.split(",")[:6] for line in out.splitlines()]


def test_the_rows_are_the_same_for_any_number_of_jobs() -> None:
    arguments = ("paxos", "-p", "acceptors=1..3", "-p", "majority=1..3", "--csv")
    alone, several = sweep(*arguments, "-j", "1"), sweep(*arguments, "-j", "3")
    assert answers(alone[1]) == answers(several[1])
    assert alone[0] == several[0] == 1


def test_a_process_that_dies_is_a_row_like_any_other() -> None:
    Path("dies.py").write_text(SLOW.replace("self.spawn(", "__import__('os').kill(__import__('os').getpid(), 9)\n#"))
    status, out, _ = sweep("dies.py", "-p", "counters=1..2", "-j", "2")
    assert status == 2
    assert out.count("the check ended by signal 9") == 2


def test_what_a_model_prints_does_no_harm() -> None:
    Path("prints.py").write_text(SLOW.replace("self.spawn(", "print('hello'); self.spawn("))
    status, out, _ = sweep("prints.py", "-p", "counters=1,1", "-j", "2")
    assert status == 0
    assert out.count("holds") == 2


def test_a_pool_tells_what_is_under_way() -> None:
    seen: list[tuple[int, int]] = []
    pool = Pool("ping-pong", {}, 2, lambda done, running: seen.append((done, len(running))))
    points: list[tuple[dict[str, Any], dict[str, Any]]] = [({"rally": n}, {"rally": n}) for n in (1, 2, 3)]
    ended: list[Row] = []
    rows = list(pool.run(points, ended.append))
    assert [each.document["states"] for each in rows] == [2, 3, 4]
    assert sorted(each.point["rally"] for each in ended) == [1, 2, 3]
    assert max(running for _, running in seen) <= 2
    assert seen[-1] == (3, 0)


# --- results that are kept -------------------------------------------------------------------------------------


def test_what_is_known_is_not_checked_again() -> None:
    sweep("ping-pong", "-p", "rally=1..2", "--results", "kept.jsonl")
    lines = Path("kept.jsonl").read_text().splitlines()
    assert len(lines) == 2
    # Somebody else's answer, to see that it is used; and a line that was never finished.
    changed = [line.replace('"states": 2', '"states": 77') for line in lines]
    Path("kept.jsonl").write_text("\n".join([*changed, lines[0][:40]]) + "\n")
    _, out, _ = sweep("ping-pong", "-p", "rally=1..3", "--results", "kept.jsonl", "--csv")
    assert [line.split(",")[3] for line in out.splitlines()[1:]] == ["77", "3", "4"]
    # Other options are another question.
    _, out, _ = sweep("ping-pong", "-p", "rally=1", "--results", "kept.jsonl", "--csv", "--search", "dfs")
    assert [line.split(",")[3] for line in out.splitlines()[1:]] == ["2"]


def test_the_key_is_all_that_an_answer_depends_on() -> None:
    Path("slow.py").write_text(SLOW)
    from quorate.model.target import load

    options: dict[str, Any] = {"property": None, "threads": 1}
    before = fingerprint(load("slow.py"), options)
    assert fingerprint(load("slow.py"), {**options, "threads": 2}) == before
    assert fingerprint(load("slow.py"), {**options, "property": ["fine"]}) != before
    Path("slow.py").write_text(SLOW + "\n# changed\n")
    assert fingerprint(load("slow.py"), options) != before
    assert fingerprint(Paxos, options) != fingerprint(PingPong, options)


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_an_interrupted_sweep_goes_on_where_it_was(jobs: str) -> None:
    Path("slow.py").write_text(SLOW)
    # The first instance is quick, the second takes far longer than this test waits.
    rest = ["-p", "unused=0", "--results", "kept.jsonl", "--symmetry", "none"]
    arguments = ["sweep", "slow.py", "-p", "counters=1,4", *rest, "-j", jobs]
    command = [sys.executable, "-c", "from quorate.cli.main import run; run()", *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (os.path.exists("kept.jsonl") and Path("kept.jsonl").stat().st_size):
        time.sleep(0.05)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert "1  " in out
    assert "interrupted: 1 of 2 instances were not checked; the same command goes on from kept.jsonl" in err
    assert process.returncode in (0, 3)
    assert len(Path("kept.jsonl").read_text().splitlines()) == 1
    Path("slow.py").write_text(SLOW)
    _, out, _ = sweep("slow.py", "-p", "counters=1", *rest)
    assert out.count("holds") == 1
    assert len(Path("kept.jsonl").read_text().splitlines()) == 1
