"""Whatever the model's code does, the command line ends in time, and says what is true."""

import json
import os
import resource
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import jsonschema
import pytest

from quorate.base import watchdog
from quorate.base.whereabouts import running_in
from test_explore_hangs import all_gone, descendants
from test_schemas import schema_of

MODEL = """
import itertools, re, select, sys
from quorate import Process, System, invariant, step

if "import" in sys.argv: sum(range(10**15))  # import
if "case=exit at import" in sys.argv: __import__("os")._exit(0)
if "case=no streams" in sys.argv: sys.stdout = sys.stderr = None

def explained(case):
    if case == "explanation in C" and sys.gettrace():  # only an explanation looks at what is run
        sum(range(10**15))
    if case == "exit in explanation" and sys.gettrace(): __import__("os")._exit(0)
    return False

class A(Process):
    case: str
    n: int = 0

    @step(when=lambda self: self.n < 2)
    def go(self) -> None:
        case = self.case if self.n == 1 else ""
        if case == "loop": exec("while True: pass")  # loop
        if case == "sum": sum(range(10**15))  # sum
        if case == "expression": re.match(r"(a+)+$", "a" * 60 + "b")  # expression
        if case == "sleep": select.select([], [], [], 1000)  # sleep
        while case == "catches":
            try: exec("while True: pass")  # catches
            except BaseException: continue
        if case == "memory": [b"x" * 1000 for _ in itertools.count()]  # memory
        if case == "list": list(itertools.count())  # list
        if case == "found": sum(range(10**15))  # found
        if case == "killed": __import__("os").kill(__import__("os").getpid(), 9)
        if case == "crash": __import__("os").kill(__import__("os").getpid(), 11)  # crash
        if case == "alarm": __import__("os").kill(__import__("os").getpid(), 14)
        if case == "exit": __import__("os")._exit(0)
        if case == "exec": __import__("os").execv(sys.executable, [sys.executable, "-c", ""])
        self.n += 1

class S(System):
    case: str = ""
    processes: int = 1

    def build(self) -> None:
        if self.case == "build": sum(range(10**15))  # build
        if self.case == "told": open("there", "w").close(); sum(range(10**15))  # told
        if self.case == "thread": __import__("threading").Thread(target=select.select, args=([], [], [], 1000)).start()
        if self.case == "fork": __import__("os").fork()
        if self.case == "exit at exit": __import__("atexit").register(__import__("os")._exit, 0)
        self.spawn(A, self.processes, case=self.case)

    @invariant
    def ok(self) -> bool:
        if self.case == "property": sum(range(10**15))  # property
        if self.case == "found": return all(a.n < 1 for a in self[A])
        if self.case == "exit at exit": return all(a.n < 1 for a in self[A])
        if "explanation" in self.case:
            return all(a.n < 1 for a in self[A]) or explained(self.case)
        return True
"""
QUICK = """
from quorate.cli import supervisor
supervisor.GRACE, supervisor.SHOWING, supervisor.SLOW = 1.5, 4, GRACE_SLOW
from quorate.properties import explanation as explain
explain.PATIENCE = 1
from quorate.cli.start import run
run()
"""


class Ran(NamedTuple):
    status: int
    out: str
    err: str
    seconds: float


def started(folder: Path, *arguments: str, slow: float = 60, command: str = "check") -> "subprocess.Popen[str]":
    (folder / "model.py").write_text(MODEL)
    return subprocess.Popen(
        [sys.executable, "-c", QUICK.replace("GRACE_SLOW", str(slow)), command, "model.py", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
    )


def quorate(folder: Path, *arguments: str, slow: float = 60, command: str = "check") -> Ran:
    began = time.monotonic()
    process = started(folder, *arguments, slow=slow, command=command)
    try:
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    return Ran(process.returncode, out, err, time.monotonic() - began)


@pytest.mark.parametrize("case", ["sum", "catches"])
@pytest.mark.parametrize(
    ("command", "limit"),
    [("simulate", "--time"), ("plan", "--timeout"), ("ablate", "--timeout"), ("sweep", "--timeout")],
)
def test_other_commands_keep_their_time(command: str, limit: str, case: str, tmp_path: Path) -> None:
    """Whether a call of the model comes back to Python or not, and whatever it makes of being stopped."""
    words = {"sweep": ["-j", "1"], "ablate": ["-j", "1", "--each", "1"]}.get(command, [])
    ran = quorate(tmp_path, "-p", f"case={case}", "--json", limit, "1", *words, command=command)
    assert "Traceback" not in ran.err
    document = json.loads(ran.out)
    assert ran.status == 3, ran
    if command == "sweep":
        assert [(row["verdict"], row["stopped_by"]) for row in document["rows"]] == [("incomplete", "time")]
        return
    assert document["error"]["code"] in ("Q506", "Q507")
    assert f"model.py:{line_of(case)}" in document["error"]["message"]


@pytest.mark.parametrize("command", ["profile", "flows", "simulate", "prove", "project"])
def test_other_commands_end_at_ctrl_c(command: str, tmp_path: Path) -> None:
    """Also in a call of C code; and what was promised with --json is there."""
    process = started(tmp_path, "-p", "case=told", "--json", command=command)
    while not (tmp_path / "there").exists():
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, json.loads(out)["error"]["code"]) == (3, "Q506")
    assert f"quorate: stopped in build, {tmp_path / 'model.py'}:{line_of('told')}" in " ".join(err.split())


def line_of(case: str) -> int:
    return next(n for n, line in enumerate(MODEL.splitlines(), 1) if line.endswith(f"# {case}"))


@pytest.mark.parametrize(
    ("case", "by"),
    [
        ("loop", "time"),
        ("sum", "time"),
        ("expression", "time"),
        ("sleep", "time"),
        ("catches", "time"),
        ("build", "time"),
        ("property", "time"),
        ("memory", "memory"),
        ("list", "memory"),
    ],
)
def test_a_model_that_keeps_no_limit(case: str, by: str, tmp_path: Path) -> None:
    limits = ["--timeout", "1"] if by == "time" else ["--timeout", "40", "--max-memory", "300MB"]
    ran = quorate(tmp_path, "-p", f"case={case}", "--json", *limits)
    assert ran.status == 3, ran
    assert ran.seconds < 20  # on a machine that has other things to do
    document = json.loads(ran.out)
    jsonschema.validate(document, schema_of("result"))
    assert (document["verdict"], document["stopped_by"]) == ("incomplete", by)
    assert document["system"] == "S"
    assert document["parameters"] == {"case": case, "processes": 1}
    assert document["running"]["line"] == line_of(case)
    assert document["running"]["file"] == str(tmp_path / "model.py")
    # What is asked for is known as soon as the system is built.
    note = "the search stopped before it was decided"
    undecided = {"name": "ok", "kind": "invariant", "verdict": "incomplete", "note": note}
    assert document["properties"] == ([] if case == "build" else [undecided])


def test_in_words_with_the_figures_of_the_search(tmp_path: Path) -> None:
    options = ["--quotient", "off", "--dead-messages", "off", "--symmetry", "none", "--search", "dfs"]
    ran = quorate(tmp_path, "-p", "case=sum", "--timeout", "1", *options, slow=0.5)
    assert ran.status == 3
    assert ran.out.startswith("? S(case='sum', processes=1) is not decided\n  the time was up: ")
    said = " ".join(ran.out.split())
    assert f"go was running, in {tmp_path}/model.py:{line_of('sum')}" in said
    assert "has been running for" in ran.err
    assert f"model.py:{line_of('sum')}; Ctrl-C stops it" in ran.err


def test_a_file_that_does_not_come_back_when_it_is_imported(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(MODEL)
    command = [sys.executable, "-c", QUICK.replace("GRACE_SLOW", "60"), "check", "model.py", "--timeout", "1", "--json"]
    done = subprocess.run(
        [*command, "--property", "import"], capture_output=True, text=True, cwd=tmp_path, timeout=60, check=False
    )
    assert done.returncode == 3
    document = json.loads(done.stdout)
    assert (document["system"], document["stopped_by"]) == ("model.py", "time")
    assert document["running"]["line"] == line_of("import")


def test_what_is_known_is_said_where_an_explanation_has_no_end(tmp_path: Path) -> None:
    for arguments in ([], ["--json"]):
        ran = quorate(tmp_path, "-p", "case=explanation in C", "--timeout", "1", *arguments)
        assert ran.status == 1
        if arguments:
            document = json.loads(ran.out)
            assert (document["verdict"], document["property"]) == ("violated", "ok")
        else:
            assert ran.out.startswith("S: violated, ok")
            assert "while the run was shown" in ran.err


def test_thousands_of_processes_keep_the_time(tmp_path: Path) -> None:
    ran = quorate(tmp_path, "-p", "processes=5000", "--timeout", "1", "--json")
    assert ran.status == 3
    assert json.loads(ran.out)["stopped_by"] == "time"
    assert ran.seconds < 20


def test_a_check_that_the_system_ends(tmp_path: Path) -> None:
    """What the kernel does where memory runs out."""
    ran = quorate(tmp_path, "-p", "case=killed", "--json")
    assert (ran.status, json.loads(ran.out)["stopped_by"]) == (3, "memory")
    assert "the system ended the check" in ran.err
    ran = quorate(tmp_path, "-p", "case=alarm", "--json")
    assert (ran.status, json.loads(ran.out)["stopped_by"]) == (3, "interrupt")
    assert "SIGALRM ended the check" in ran.err


def test_a_limit_of_the_system_on_processor_time_is_no_lack_of_memory(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(MODEL)
    limited = ["bash", "-c", 'ulimit -t 1; exec "$@"', "", sys.executable, "-m", "quorate"]
    done = subprocess.run(
        [*limited, "check", "model.py", "-p", "case=loop", "--json"],
        capture_output=True, text=True, cwd=tmp_path, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, json.loads(done.stdout)["stopped_by"]) == (3, "time"), done.stderr
    assert "limit on processor time" in done.stderr


@pytest.mark.parametrize("case", ["crash", "exit", "exec", "exit in explanation", "exit at import", "exit at exit"])
def test_a_model_that_ends_the_process(case: str, tmp_path: Path) -> None:
    """Its status would be taken for a verdict: 0 would mean that everything holds."""
    ran = quorate(tmp_path, "-p", f"case={case}", "--json")
    document = json.loads(ran.out)
    if case == "exit in explanation":  # by then it is known
        assert (ran.status, document["verdict"], document["property"]) == (1, "violated", "ok")
        assert "the model ended the check, by an exit with status 0 while the run was shown" in ran.err
    elif case == "exit at exit":
        assert (ran.status, document["verdict"]) == (1, "violated")
    else:
        line = line_of(case) if case == "crash" else None  # of an exit nothing is left that could be asked
        assert (ran.status, document["error"]["code"], document["error"]["line"]) == (2, "Q119", line)


def test_what_a_model_leaves_running_does_not_keep_the_command(tmp_path: Path) -> None:
    ran = quorate(tmp_path, "-p", "case=thread")
    assert (ran.status, ran.out.splitlines()[0]) == (0, "✓ S(case='thread', processes=1) holds")
    assert "ended, with what was still running in its process" in ran.err
    assert ran.seconds < 30


@pytest.mark.parametrize("case", ["no streams", "fork"])
def test_an_answer_is_given_once_whatever_becomes_of_the_process(case: str, tmp_path: Path) -> None:
    ran = quorate(tmp_path, "-p", f"case={case}", "--json")
    assert (ran.status, json.loads(ran.out)["verdict"]) == (0, "holds"), ran


def test_asserts_that_python_leaves_out_are_not_taken_to_hold(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(MODEL)
    for program in (["-m", "quorate", "check", "model.py", "--json"], ["-c", "import model; model.S()"]):
        done = subprocess.run(
            [sys.executable, "-O", *program], capture_output=True, text=True, cwd=tmp_path, timeout=60, check=False
        )
        assert done.returncode in (1, 2)
        assert "Q127" in done.stdout + done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is always full is Linux's")
@pytest.mark.parametrize("words", [["--help"], ["nonsense"]])
def test_what_fails_outside_of_a_command_never_has_the_status_of_a_verdict(words: list[str]) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "quorate", *words], stdout=full, stderr=full, timeout=60, check=False
        )
    assert done.returncode == 2


@pytest.mark.parametrize("files", [5, 6, 7, 8, 12])
def test_few_files_give_an_answer_or_the_reason(files: int) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "quorate", "check", "ping-pong", "--json"],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files)),
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    if "Fatal Python error" in done.stderr or "shared libraries" in done.stderr:
        pytest.skip("too few for Python")
    assert done.returncode in (0, 2)
    assert json.loads(done.stdout) if done.stdout else "Too many open files" in done.stderr


@pytest.mark.parametrize("megabytes", [40, 50, 60, 80])
def test_threads_that_the_system_refuses_are_no_defect_of_quorate(megabytes: int) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "quorate", "check", "ping-pong", "--threads", "8", "--json"],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (megabytes << 20, megabytes << 20)),
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode in (0, 2, 3), done.stderr
    document = json.loads(done.stdout)
    assert document.get("verdict") in ("holds", "incomplete") or document["error"]["code"] in ("Q310", "Q506"), document


def descendants_in(process: "subprocess.Popen[str]", case: str) -> set[int]:
    """All processes of a check, once its supervisor has said that the model is where it does not come back from."""
    assert process.stderr is not None
    if not select.select([process.stderr], [], [], 120)[0]:
        process.kill()
        raise AssertionError("nothing was said")
    said = process.stderr.readline()
    assert f"model.py:{line_of(case)}; Ctrl-C stops it" in said
    return descendants(process.pid)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("to", ["parent", "both"])
@pytest.mark.parametrize("case", ["loop", "sum"])
def test_ctrl_c(case: str, to: str, number: signal.Signals, tmp_path: Path) -> None:
    process = started(tmp_path, "-p", f"case={case}", "--json", slow=0.5)
    every = descendants_in(process, case)
    began = time.monotonic()
    for each in every if to == "both" else [process.pid]:  # as `timeout` does, and a terminal
        os.kill(each, number)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 3, err
    document = json.loads(out)
    assert (document["stopped_by"], document["running"]["line"]) == ("interrupt", line_of(case))
    assert time.monotonic() - began < 15
    assert all_gone(every)


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGKILL])
def test_a_check_ends_with_its_supervisor(number: int, tmp_path: Path) -> None:
    process = started(tmp_path, "-p", "case=sum", slow=0.5)
    every = descendants_in(process, "sum")
    assert len(every) >= 2  # with twins (properties/twin.py), since the model sleeps in another case
    os.kill(process.pid, number)
    process.communicate(timeout=30)
    assert process.returncode == -number
    assert all_gone(every)


def test_a_finite_handler_has_one_answer_whatever_the_machine_does(tmp_path: Path) -> None:
    (tmp_path / "busy.py").write_text(
        "from quorate import Process, System, invariant, start\n"
        "class A(Process):\n"
        "    x: int = 0\n"
        "    @start\n"
        "    def begin(self) -> None:\n"
        "        for i in range(6_000_000): pass\n"
        "        self.x = 1\n"
        "class S(System):\n"
        "    def build(self) -> None: self.spawn(A)\n"
        "    @invariant\n"
        "    def ok(self) -> bool: return True\n"
    )
    load = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    try:
        done = subprocess.run(
            [sys.executable, "-m", "quorate", "check", "busy.py", "--json"],
            capture_output=True, text=True, cwd=tmp_path, timeout=120, check=False,
        )  # fmt: skip
    finally:
        for each in load:
            each.kill()
            each.wait()
    assert (done.returncode, json.loads(done.stdout)["states"]) == (0, 2)


def test_where_a_traceback_is() -> None:
    def dump(*frames: tuple[str, int, str]) -> str:
        return "Stack (most recent call first):\n" + "".join(f'  File "{f}", line {n} in {w}\n' for f, n, w in frames)

    below = (watchdog.__file__, 1, "supervised")
    library = (json.__file__, 7, "loads")
    assert running_in(dump(library, ("/m.py", 5, "helper"), ("/m.py", 9, "go"), below)) == ("go", "/m.py", 5)
    assert running_in(dump((r"/caf\xe9.py", 5, "go"), below)) == ("go", "/café.py", 5)
    assert running_in(dump(library, below)) is None
    assert running_in(dump(("/m.py", 5, "go"))) is None  # a program that uses Quorate, not a model
    assert running_in("") is None


def test_sweeps_end_what_keeps_no_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from quorate.sweep import pool

    (tmp_path / "model.py").write_text(MODEL)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(pool, "GRACE", 4.0)
    options: dict[str, Any] = {"timeout": 1.0}
    rows = list(
        pool.Pool("model.py", options, 2).run(
            [({"case": each}, {"case": each}) for each in ("", "sum")], lambda _: None
        )
    )
    assert [row.document["verdict"] for row in rows] == ["holds", "incomplete"]
    assert rows[1].document["stopped_by"] == "time"
    assert rows[1].document["parameters"] == {"case": "sum"}


def test_a_violation_that_was_met_is_told_whatever_comes_then(tmp_path: Path) -> None:
    options = ["--quotient", "off", "--dead-messages", "off", "--symmetry", "none", "--all", "--timeout", "1"]
    ran = quorate(tmp_path, "-p", "case=found", *options)
    assert ran.status == 3, ran
    assert "nothing was violated" not in ran.out
    assert "the time was up: a violation of ok was met in 2 states" in " ".join(ran.out.split())
