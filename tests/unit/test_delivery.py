"""A verdict arrives, whatever happens to files and to standard output, and whatever the model prints."""

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

CHATTY = """
import os, sys
print("import")
from quorate import Process, System, can, invariant, start


class A(Process):
    x: int = 0

    @start
    def begin(self) -> None:
        print("handler", self.x)
        sys.__stdout__.write("by another name")
        self.x = 1


class S(System):
    most: int = 0

    def build(self) -> None:
        print("build")
        os.system("echo of a program")
        self.spawn(A, 1)

    @invariant
    def small(self) -> bool:
        print("property")
        return all(a.x <= self.most for a in self[A])
"""


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("chatty.py").write_text(CHATTY)


def quorate(command: str, limit: int | None = None) -> subprocess.CompletedProcess[str]:
    """A line for the shell, in which `quorate` is the command; files may have `limit` bytes."""

    def limited() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    Path("bin").mkdir(exist_ok=True)
    Path("bin/quorate").write_text(f'#!/bin/sh\nexec {sys.executable} -m quorate "$@"\n')
    Path("bin/quorate").chmod(0o755)
    environment = {**os.environ, "PATH": f"{Path('bin').absolute()}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-c", command],
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        env=environment,
        check=False,
        preexec_fn=limited,
        timeout=60,
    )
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    assert "Q900" not in done.stderr
    return done


ASKED = [
    "--save nowhere/run.json",
    "--chart nowhere/run.svg",
    "--report nowhere/run.html",
    "--export nowhere/run.shiviz",
    "--pytest nowhere/test_run.py",
    "--save .",
    "--report /proc/run.html",
]


@pytest.mark.parametrize(
    ("command", "option"),
    [
        *(("check paxos -p acceptors=9 --symmetry none", option) for option in ASKED),
        *(("replay run.json", option) for option in ASKED if option.split()[0] not in ("--save", "--report")),
    ],
)
def test_a_path_is_tried_before_the_search(command: str, option: str) -> None:
    done = quorate(f"quorate {command} {option}")  # the search would take hours, and run.json is not there
    assert (done.returncode, done.stdout) == (2, "")
    assert f"error Q310: cannot write {option.split()[1]}" in done.stderr


@pytest.mark.parametrize("option", ["-o nowhere/grid.csv", "--results nowhere/known.jsonl"])
def test_so_are_those_of_a_sweep(option: str) -> None:
    done = quorate(f"quorate sweep paxos -p acceptors=9 --symmetry none {option}")
    assert (done.returncode, done.stdout) == (2, "")
    assert "error Q310" in done.stderr


FULL = [
    ("--save /dev/full", "error Q310: cannot write /dev/full: No space left on device"),
    ("--report run.html", "error Q310: cannot write run.html: File too large"),
    ("--chart run.svg", "error Q310: cannot write run.svg: File too large"),
    ("--export run.itf.json", "error Q310: cannot write run.itf.json: File too large"),
    ("--pytest test_run.py", "error Q310: cannot write test_run.py: File too large"),
    ("--save run.json", "error Q310: cannot write run.json: File too large"),
]


@pytest.mark.parametrize(("option", "says"), FULL)
def test_a_full_disk_is_told_after_the_verdict_and_keeps_its_status(option: str, says: str) -> None:
    name = option.split()[1]
    if not name.startswith("/"):
        Path(name).write_text("old")
    done = quorate(f"quorate check faulty-paxos {option} --export run.mmd", limit=4_000)
    assert done.returncode == 1
    assert done.stdout.startswith("✗ FaultyPaxos violates agreement\n")
    assert "Replay it" not in done.stdout  # there is nothing to replay
    assert says in done.stderr
    assert "wrote run.mmd" in done.stderr  # the others are written
    if not name.startswith("/"):
        assert Path(name).read_text() == "old"
    assert not list(Path().glob(".*.part"))


def test_json_stays_one_object_when_a_file_fails() -> None:
    done = quorate("quorate check faulty-paxos --json --save /dev/full")
    assert done.returncode == 1
    assert json.loads(done.stdout)["verdict"] == "violated"
    assert "error Q310" in done.stderr


def test_a_sweep_that_cannot_keep_its_results_shows_them() -> None:
    done = quorate("quorate sweep ping-pong -p rally=1..3 --jobs 1 --results known.jsonl -o grid.json", limit=1_500)
    assert done.returncode == 0
    assert done.stdout.count("holds") == 3
    assert "error Q310: cannot write known.jsonl" in done.stderr
    again = quorate("quorate sweep ping-pong -p rally=1..3 --jobs 1 --results known.jsonl -o grid.json")
    assert again.returncode == 0
    rows = [
        json.loads(line)["row"]["parameters"]
        for line in Path("known.jsonl").read_text().splitlines()
        if "row" in line and line.endswith("}")
    ]
    assert sorted(row["rally"] for row in rows) == [1, 2, 3]
    assert len(json.loads(Path("grid.json").read_text())["rows"]) == 3


@pytest.mark.parametrize("sink", ["| true", "| head -c 1", ">&-", ">&- 2>&-"])
@pytest.mark.parametrize("form", ["", "--json", "--trace json"])
def test_where_nobody_reads_the_files_are_still_written(sink: str, form: str) -> None:
    done = quorate(
        f"quorate check faulty-paxos {form} --report run.html --save run.json {sink}; echo ${{PIPESTATUS[0]}}"
    )
    assert done.stdout.splitlines()[-1].endswith("1")
    assert Path("run.html").read_text().rstrip().endswith("</html>")
    assert json.loads(Path("run.json").read_text())["format"] == "quorate-trace"


@pytest.mark.parametrize(
    ("command", "status"), [("check faulty-paxos", 1), ("check ping-pong", 2), ("list", 2), ("sweep ping-pong", 2)]
)
def test_standard_output_on_a_full_disk(command: str, status: int) -> None:
    done = quorate(f"quorate {command} > /dev/full")
    assert done.returncode == status  # a violation stays one; 0 would say that all is well
    assert "error Q310: cannot write to standard output: No space left on device" in done.stderr


@pytest.mark.parametrize("command", ["check nothing", "check faulty-paxos", "sweep ping-pong -p rally=1..3", "list"])
def test_no_stream_at_all(command: str) -> None:
    assert quorate(f"quorate {command} 2>&1 | true; [ ${{PIPESTATUS[0]}} -lt 3 ]").returncode == 0
    assert quorate(f"quorate {command} <&- >&- 2>&-; [ $? -lt 3 ]").returncode == 0


@pytest.mark.parametrize(
    "command",
    [
        "check chatty.py --json",
        "check chatty.py --trace json",
        "check chatty.py -p most=1 --json",
        "plan chatty.py --json",
        "sweep chatty.py -p most=0..1 --json",
        "sweep chatty.py -p most=0..1 --json --jobs 1",
        "replay run.json --json --target chatty.py",
    ],
)
def test_what_a_model_prints_goes_to_standard_error(command: str) -> None:
    assert quorate("quorate check chatty.py --save run.json").stdout.startswith("✗ S(most=0) violates small\n")
    done = quorate(f"quorate {command}")
    assert isinstance(json.loads(done.stdout), dict)
    assert "import" in done.stderr
    if "plan" not in command:
        assert "handler 0" in done.stderr
        assert "of a program" in done.stderr


def test_python_dash_m() -> None:
    done = subprocess.run([sys.executable, "-m", "quorate", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("quorate ")
