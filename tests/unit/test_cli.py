"""The command line, in-process where that is enough."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from quorate.cli.main import app

BROKEN = """
from quorate import Process, System, can, invariant, step

class Counter(Process):
    count: int = 0

    @step(when=lambda self: self.count < 3)
    def up(self) -> None:
        self.count += 1

class Counting(System):
    most: int = 2

    def build(self) -> None:
        self.require(self.most >= 0, "most must not be negative")
        self.spawn(Counter)

    @invariant
    def small(self) -> bool:
        return all(counter.count <= self.most for counter in self[Counter])

    @can
    def two(self) -> bool:
        return any(counter.count == 2 for counter in self[Counter])
"""


class Ran:
    def __init__(self, *arguments: str) -> None:
        done = CliRunner().invoke(app, list(arguments))
        self.status = done.exit_code
        self.out = done.stdout
        self.err = done.stderr
        assert "Traceback" not in self.out + self.err


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "counting", raising=False)
    Path("counting.py").write_text(BROKEN)


def quorate(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from quorate.cli.main import run; run()", *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **environment}, encoding="utf-8", check=False
    )


# --- check -----------------------------------------------------------------------------------------------------


def test_a_protocol_that_holds() -> None:
    ran = Ran("check", "paxos")
    assert ran.status == 0
    assert ran.out.startswith("✓ Paxos(proposers=2, acceptors=3, learners=1")
    assert "  states         266" in ran.out
    assert ran.err == ""


def test_a_protocol_that_does_not() -> None:
    ran = Ran("check", "faulty-paxos")
    assert ran.status == 1
    assert ran.out.startswith("✗ FaultyPaxos violates agreement\n")
    assert "The shortest run that breaks agreement: " in ran.out


def test_json_is_one_object_and_nothing_else() -> None:
    ran = Ran("check", "counting.py", "--json")
    assert ran.status == 1
    document = json.loads(ran.out)
    assert document["verdict"] == "violated"
    assert document["property"] == "small"
    assert document["target"] == "counting.py"
    assert [step["transition"] for step in document["trace"]["steps"]] == ["up", "up", "up"]
    assert ran.err == ""


def test_json_without_the_trace() -> None:
    assert json.loads(Ran("check", "counting.py", "--json", "--trace", "none").out)["trace"] is None


def test_trace_json_is_alone_on_standard_output() -> None:
    ran = Ran("check", "counting.py", "--trace", "json")
    assert json.loads(ran.out)["property"] == "small"
    assert ran.err.startswith("✗ Counting(most=2) violates small")


def test_trace_none_leaves_the_run_out() -> None:
    ran = Ran("check", "counting.py", "--trace", "none")
    assert ran.status == 1
    assert "shortest run" not in ran.out


def test_parameters_and_properties() -> None:
    assert Ran("check", "counting.py", "-p", "most=3").status == 0
    assert Ran("check", "counting.py", "--property", "two").status == 0
    assert "The shortest run that reaches two: 2 steps" in Ran("check", "counting.py", "--property", "two").out


def test_a_limit_ends_with_status_3_and_a_truthful_answer() -> None:
    ran = Ran("check", "paxos", "--max-states", "100", "--symmetry", "none")
    assert ran.status == 3
    assert "is not decided\n" in ran.out
    assert "the limit on states was reached: nothing was violated in " in ran.out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["check", "paxoss"], "error Q301: there is no bundled protocol 'paxoss'\n  hint: did you mean `paxos`?"),
        (["check", "missing.py"], "error Q302: there is no file missing.py"),
        (["check", "paxos", "-p", "acceptor=3"], "error Q201: Paxos has no parameter `acceptor`\n  hint: did you mean"),
        (["check", "paxos", "-p", "acceptors=many"], "error Q202: acceptors=many is not of type int"),
        (["check", "counting.py", "-p", "most=-1"], "error Q203: most must not be negative"),
        (["check", "counting.py", "--property", "smal"], "error Q401: Counting has no property `smal`"),
        (["check", "paxos", "--max-depth", "5"], "error Q600: max_depth=5 with por='none'"),
        (["check", "paxos", "--max-memory", "lots"], "'lots' is not understood here"),
        (["check", "paxos", "--por", "magic"], "magic"),
        (["check"], "TARGET"),
        (["replay", "missing.json"], "error Q310: cannot read missing.json"),
        (["new", "3 little pigs"], "error Q313: '3 little pigs' cannot be the name of a protocol"),
    ],
)
def test_a_wrong_request_is_explained_with_status_2(arguments: list[str], says: str) -> None:
    ran = Ran(*arguments)
    assert ran.status == 2
    assert says in ran.err
    assert ran.out == ""


def test_an_error_shows_the_line_of_the_model() -> None:
    Path("wrong.py").write_text("from quorate import System\n\nclass Empty(System):\n    x = 1 / 0\n")
    ran = Ran("check", "wrong.py")
    assert ran.status == 2
    assert ran.err.splitlines()[0] == "error Q303: wrong.py cannot be imported: ZeroDivisionError: division by zero"
    assert "wrong.py:4" in ran.err
    assert "      x = 1 / 0" in ran.err


def test_an_error_is_an_object_under_json() -> None:
    ran = Ran("check", "paxoss", "--json")
    assert ran.status == 2
    error = json.loads(ran.out)["error"]
    assert (error["code"], error["message"]) == ("Q301", "there is no bundled protocol 'paxoss'")
    assert ran.err == ""


def test_a_system_without_processes() -> None:
    Path("empty.py").write_text("from quorate import System\nclass Empty(System):\n    def build(self) -> None: ...\n")
    ran = Ran("check", "empty.py")
    assert ran.status == 2
    assert "Empty" in ran.err


def test_a_property_that_raises_is_an_error_of_that_property_with_the_run_to_it() -> None:
    Path("raises.py").write_text(BROKEN.replace("counter.count <= self.most", "1 // (2 - counter.count) >= 0"))
    ran = Ran("check", "raises.py")
    assert ran.status == 2
    assert "the property `small` raised" in ran.err
    assert "The shortest run to a state in which small raises an error: 2 steps" in ran.err
    assert "counter1  up" in ran.err
    assert "✗ small raises an error here\n        counter1.count = 2" in ran.err
    assert "breaks" not in ran.err


def test_a_message_that_nobody_takes_is_a_warning() -> None:
    Path("deaf.py").write_text(
        BROKEN.replace("import Process", "import Message, Process")
        .replace("class Counter", "class Ping(Message): ...\n\nclass Counter")
        .replace("self.count += 1", "self.count += 1\n        self.send(self.pid, Ping())")
    )
    ran = Ran("check", "deaf.py", "-p", "most=3")
    assert ran.status == 0
    assert "warning: Ping" in " ".join(ran.out.split())


# --- replay ----------------------------------------------------------------------------------------------------


def test_a_run_is_saved_and_replayed() -> None:
    ran = Ran("check", "counting.py", "--save", "run.json")
    assert ran.out.rstrip().endswith("Replay it: quorate replay run.json --trust")
    again = Ran("replay", "run.json", "--trust")
    assert again.status == 1
    assert again.out.startswith("✗ Counting(most=2) still violates small\n")
    assert "┃ 3 up\n" in again.out
    assert "  3. counter1  up\n       count: 2 → 3\n" in Ran("replay", "run.json", "--trust", "--trace", "text").out
    assert Ran("replay", "run.json", "--trust", "--trace", "none").out == "✗ Counting(most=2) still violates small\n"
    assert json.loads(Ran("replay", "run.json", "--trust", "--json").out)["property"] == "small"


def test_a_run_of_a_bundled_protocol_is_replayed() -> None:
    Ran("check", "faulty-paxos", "--save", "run.json")
    assert Ran("replay", "run.json").status == 1


def test_a_run_of_a_model_that_changed_is_refused() -> None:
    Ran("check", "counting.py", "--save", "run.json")
    Path("changed.py").write_text(BROKEN.replace("self.count += 1", "self.count += 3"))
    ran = Ran("replay", "run.json", "--target", "changed.py")
    assert ran.status == 2
    assert "step 1 of the run, counter1 up: it has another effect now" in " ".join(ran.err.split())


def test_a_run_moves_together_with_its_model() -> None:
    Ran("check", "counting.py", "--save", "run.json")
    Path("moved").mkdir()
    Path("run.json").rename("moved/run.json")
    Path("counting.py").rename("moved/counting.py")
    assert Ran("replay", "moved/run.json", "--trust").status == 1


def test_nothing_is_saved_when_nothing_is_violated() -> None:
    assert Ran("check", "counting.py", "-p", "most=3", "--save", "run.json").status == 0
    assert not Path("run.json").exists()


# --- sweep -----------------------------------------------------------------------------------------------------


def test_a_sweep_has_a_row_for_every_instance() -> None:
    ran = Ran("sweep", "counting.py", "-p", "most=1..3")
    assert ran.status == 1
    header, *rows = ran.out.splitlines()
    assert header.split()[:3] == ["most", "verdict", "states"]
    assert [row.split()[:2] for row in rows] == [["1", "violated"], ["2", "violated"], ["3", "holds"]]


def test_a_sweep_as_csv() -> None:
    ran = Ran("sweep", "paxos", "-p", "acceptors=2,3", "--csv")
    assert ran.status == 0
    header, *rows = ran.out.splitlines()
    assert header.startswith("acceptors,verdict,property,states,transitions,depth,seconds,")
    assert rows[1].startswith("3,holds,,266,")
    assert {row.count(",") for row in rows} == {header.count(",")}


def test_a_sweep_has_one_form() -> None:
    ran = Ran("sweep", "paxos", "--csv", "--json")
    assert ran.status == 2
    assert json.loads(ran.out)["error"]["code"] == "Q206"


def test_a_sweep_as_json_keeps_going_after_an_instance_that_is_refused() -> None:
    ran = Ran("sweep", "counting.py", "-p", "most=-1,3", "--json")
    assert ran.status == 2
    refused, fine = json.loads(ran.out)["rows"]
    assert refused["parameters"] == {"most": -1}
    assert refused["error"]["code"] == "Q203"
    assert fine["verdict"] == "holds"


# --- list, new, help -------------------------------------------------------------------------------------------


def test_list_names_parameters_and_properties() -> None:
    ran = Ran("list")
    assert ran.status == 0
    assert "\nfaulty-paxos  " in ran.out
    assert "  parameters  proposers=2 acceptors=3" in ran.out
    assert "  properties  agreement, validity" in ran.out


def test_list_one_and_as_json() -> None:
    assert "source" in Ran("list", "paxos").out
    document = json.loads(Ran("list", "--json").out)
    assert document["protocols"]["paxos"]["parameters"]["acceptors"] == {"type": "int", "default": 3, "required": False}
    assert document["protocols"]["paxos"]["properties"]["agreement"]["kind"] == "invariant"


def test_new_writes_a_protocol_that_checks_green_and_never_overwrites() -> None:
    ran = Ran("new", "my-protocol")
    assert ran.status == 0
    assert "quorate check my_protocol.py" in ran.out
    text = Path("my_protocol.py").read_text()
    assert "class MyProtocol(System):" in text
    assert Ran("check", "my_protocol.py").status == 0
    assert Ran("check", "my_protocol.py", "-p", "servers=5").status == 0
    again = Ran("new", "my-protocol")
    assert again.status == 2
    assert "error Q312: my_protocol.py exists already" in again.err
    assert Path("my_protocol.py").read_text() == text


def test_what_new_suggests_to_try_breaks_it() -> None:
    Ran("new", "tried")
    text = Path("tried.py").read_text()
    Path("tried.py").write_text(text.replace("size=lambda self: majority(self.servers)", "size=1"))
    assert Ran("check", "tried.py", "--property", "durable").status == 1


@pytest.mark.parametrize("command", [[], ["check"], ["list"], ["sweep"], ["replay"], ["new"]])
def test_help_teaches(command: list[str]) -> None:
    ran = Ran(*command, "--help")
    assert ran.status == 0
    assert ("quorate " + " ".join(command)).strip() in ran.out


def test_help_breaks_lines_where_the_terminal_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """They broke where the source does: "the report says", and the rest on a line of its own."""
    monkeypatch.setenv("COLUMNS", "400")
    told = [" ".join(line.split()) for line in CliRunner().invoke(app, ["simulate", "--help"]).stdout.splitlines()]
    assert any("That nothing is found proves nothing; the report says how much was seen." in line for line in told)
    assert any(line.startswith("Exit status: 0 nothing") and line.endswith("--fail-under asks for.") for line in told)
    assert "quorate simulate faulty-paxos --strategy pct --depth 40 --save run.json" in told


def test_no_file_is_read_as_the_locale_likes() -> None:
    done = quorate("check", "faulty-paxos", PYTHONWARNDEFAULTENCODING="1", PYTHONWARNINGS="error::EncodingWarning")
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.parametrize(
    ("said", "widest"),
    {"1": 40, "20": 40, "0": 80, "-5": 80, "": 80, "\u00b2": 80, "77777777": 1000, "9" * 5000: 80, "wide": 80}.items(),
)
def test_columns_are_taken_within_reason(said: str, widest: int) -> None:
    """Lines are filled up to the width: 77777777 columns took 3 GB, and a superscript two was a traceback."""
    for words in (["check", "ping-pong"], ["--help"]):
        done = quorate(*words, COLUMNS=said)
        assert (done.returncode, done.stderr) == (0, "")
        assert max(map(len, done.stdout.splitlines())) <= widest


def test_version() -> None:
    assert Ran("--version").out.startswith("quorate 0.")


# --- as a process of its own -----------------------------------------------------------------------------------


def test_the_same_answer_under_every_hash_seed() -> None:
    outputs = set()
    for seed in ("0", "1", "2"):
        document = json.loads(quorate("check", "faulty-paxos", "--json", PYTHONHASHSEED=seed).stdout)
        for volatile in ("seconds", "setup_seconds", "setup", "peak_memory_bytes", "bytes_per_state"):
            del document[volatile]
        outputs.add(json.dumps(document))
    assert len(outputs) == 1


def test_colours_only_where_they_are_wanted() -> None:
    assert "\x1b[" not in quorate("check", "paxos").stdout
    forced = quorate("check", "paxos", FORCE_COLOR="1").stdout
    assert "\x1b[1;32m✓ Paxos" in forced
    assert "\x1b[" not in quorate("check", "paxos", FORCE_COLOR="1", NO_COLOR="1").stdout


def test_a_terminal_without_unicode_gets_plain_signs() -> None:
    ran = quorate("check", "counting.py", PYTHONIOENCODING="ascii")
    assert ran.returncode == 1
    assert ran.stdout.isascii()
    assert "x Counting(most=2) violates small" in ran.stdout
    assert "count: 2 -> 3" in ran.stdout


def test_a_reader_that_stops_reading_is_no_error() -> None:
    command = f"{sys.executable} -c 'from quorate.cli.main import run; run()' check faulty-paxos | head -1"
    ran = subprocess.run(command, shell=True, capture_output=True, text=True, encoding="utf-8", check=False)
    assert ran.stdout == "✗ FaultyPaxos violates agreement\n"
    assert ran.stderr == ""


INTERRUPTED = """
import os, signal
from quorate.search import limits

class Watcher(limits.Watcher):
    def __call__(self, states, *rest):
        if self.phase == "search" and states > 0 and self.reason is None:
            os.kill(os.getpid(), signal.SIGINT)  # as soon as the search has something to report
        return super().__call__(states, *rest)

limits.Watcher = Watcher
from quorate.cli.main import run
run()
"""


def test_ctrl_c_reports_what_was_covered() -> None:
    command = [sys.executable, "-c", INTERRUPTED, "check", "paxos", "-p", "acceptors=7"]
    command += ["--quotient", "off", "--dead-messages", "off", "--symmetry", "none", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 3, done.stderr
    document = json.loads(done.stdout)
    assert (document["verdict"], document["stopped_by"]) == ("incomplete", "interrupt")
    assert document["states"] > 0
    assert document["seconds"] < 30  # the whole instance takes minutes


def test_no_value_is_shown_beside_a_flag() -> None:
    for command in ("check", "simulate", "sweep", "plan", "replay", "explore"):
        assert "<bool>" not in CliRunner().invoke(app, [command, "--help"]).stdout
