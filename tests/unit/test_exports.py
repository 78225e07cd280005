"""Runs in the forms of other tools, and as tests."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from handmade import violation, witness
from models import Everything
from quorate import QuorateError, check
from quorate.protocols.faulty_paxos import FaultyPaxos
from quorate.protocols.two_phase_commit import TwoPhaseCommit
from quorate.render.exports.itf import itf
from quorate.render.exports.regression import outcome_of, regression_test
from quorate.render.exports.shiviz import events, shiviz
from quorate.render.exports.write import write
from quorate.results.json import saved_document
from quorate.results.trace import Trace
from quorate.testing import replayed
from walks import traces


def broken_paxos() -> Trace:
    trace = check(FaultyPaxos()).trace
    assert trace is not None
    return trace


# --- ITF -------------------------------------------------------------------------------------------------------


def test_itf_has_a_state_for_every_state_and_every_variable_in_each() -> None:
    document = json.loads(itf(broken_paxos()))
    assert document["#meta"]["format"] == "ITF"
    assert len(document["states"]) == 12
    for index, state in enumerate(document["states"]):
        assert state["#meta"] == {"index": index}
        assert set(state) - {"#meta"} == set(document["vars"])
    assert document["states"][0]["action"]["kind"] == "init"
    assert document["states"][-1]["action"]["transition"] == "learn"
    assert document["states"][-1]["learner1"]["learned"] == {"#set": [{"#bigint": "1"}, {"#bigint": "2"}]}
    assert document["states"][1]["proposer2"]["ballots"] == {"#tup": []}
    assert document["states"][1]["network"][0] == {
        "to": "acceptor1",
        "type": "Prepare",
        "from": "proposer2",
        "fields": {"ballot": {"#bigint": "2"}},
    }


def _expression(value: Any) -> bool:
    """An expression as Apalache's ADR 015 defines it: no plain numbers, no null, five special forms with one key."""
    if isinstance(value, list):
        return all(map(_expression, value))
    if not isinstance(value, dict):
        return isinstance(value, bool | str)
    if not any(key.startswith("#") for key in value):
        return all(map(_expression, value.values()))  # a record
    if len(value) > 1:
        return False
    ((key, item),) = value.items()
    if key == "#bigint":
        return isinstance(item, str) and re.fullmatch(r"-?[0-9]+", item) is not None
    if key == "#map":
        return all(isinstance(pair, list) and len(pair) == 2 and _expression(pair) for pair in item)
    return key in ("#tup", "#set") and isinstance(item, list) and _expression(item)


def _is_itf(document: Any) -> bool:
    names = document["vars"]
    return (
        set(document) <= {"#meta", "params", "vars", "states", "loop"}
        and len(set(names)) == len(names)
        and all(set(state) == {"#meta", *names} for state in document["states"])
        and all(_expression(state[name]) for state in document["states"] for name in names)
    )


@given(traces())
def test_itf_of_any_run_is_what_the_format_says(trace: Trace) -> None:
    assert _is_itf(json.loads(itf(trace)))


@pytest.mark.parametrize("wrong", [1, None, {"#bigint": 1}, {"#bigint": "1", "a": "b"}, {"#map": [["a"]]}, {"#x": []}])
def test_what_is_no_expression_of_the_format(wrong: Any) -> None:
    assert not _expression(wrong)


# --- ShiViz ----------------------------------------------------------------------------------------------------


def test_shiviz() -> None:
    lines = shiviz(broken_paxos()).splitlines()
    assert lines[4:6] == ["promise Prepare(ballot=1), promised: 0 → 1", 'acceptor1 {"proposer1": 1, "acceptor1": 1}']
    assert len(lines) == 2 * 11


EVENT = re.compile(r"(?P<event>.*)\n(?P<host>\S*) (?P<clock>{.*})")
"""The expression that ShiViz reads logs with unless told otherwise."""


@given(traces())
def test_shiviz_reads_every_line_of_any_log(trace: Trace) -> None:
    log = shiviz(trace)
    assert EVENT.sub("", log).strip() == ""
    found = [(match["event"], match["host"], json.loads(match["clock"])) for match in EVENT.finditer(log)]
    assert [host for _, host, _ in found] == [host for _, host, _ in events(trace)]
    assert all(event and clock[host] >= 1 for event, host, clock in found)


@given(traces())
def test_clocks_say_what_happened_before(trace: Trace) -> None:
    """The clock of a host counts its events, and a message carries its sender's knowledge along."""
    own: dict[str, int] = {}
    known: dict[str, dict[str, int]] = {}
    for _, host, clock in events(trace):
        own[host] = own.get(host, 0) + 1
        assert clock[host] == own[host]
        assert all(clock.get(other, 0) >= time for other, time in known.get(host, {}).items())
        assert all(time <= own[other] for other, time in clock.items())
        known[host] = clock


# --- files -----------------------------------------------------------------------------------------------------


def test_the_name_says_the_form(tmp_path: Path) -> None:
    for name, start in (("a.itf.json", "{"), ("a.shiviz", "prepare"), ("a.mmd", "---")):
        write(broken_paxos(), tmp_path / name)
        assert (tmp_path / name).read_text(encoding="utf-8").startswith(start)
    with pytest.raises(QuorateError, match="has no file extension that names a format"):
        write(broken_paxos(), tmp_path / "a.json")


# --- tests -----------------------------------------------------------------------------------------------------

MODEL = """
from quorate import Process, System, invariant, step

class Counter(Process):
    count: int = 0

    @step(when=lambda self: self.count < 3)
    def up(self) -> None:
        self.count += 1

class Counting(System):
    def build(self) -> None:
        self.spawn(Counter)

    @invariant
    def small(self) -> bool:
        return all(counter.count < 3 for counter in self[Counter])
"""


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, capture_output=True, text=True, encoding="utf-8", check=False
    )


def test_a_regression_test_replays_the_run_and_fails_once_it_is_repaired(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "tests").mkdir()
    model = tmp_path / "models/counting.py"
    model.write_text(MODEL)
    command = "from quorate.cli.main import run; run()"
    made = run(tmp_path, "-c", command, "check", "models/counting.py", "--pytest", "tests/test_counting.py")
    assert made.returncode == 1
    assert "wrote tests/test_counting.py" in made.stderr
    text = (tmp_path / "tests/test_counting.py").read_text()
    assert '"target": "../models/counting.py"' in text
    assert 'def test_counting_violates_small() -> None:\n    assert replayed(RUN, __file__) == "violates small"' in text

    passed = run(tmp_path, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests")
    assert passed.returncode == 0, passed.stdout
    model.write_text(MODEL.replace("self.count < 3)\n    def", "self.count < 2)\n    def"))
    failed = run(tmp_path, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests")
    assert failed.returncode == 1
    assert "cannot be replayed: step 3 of the run, counter1 up: it is not possible there" in failed.stdout


@pytest.mark.parametrize(
    ("trace", "outcome"),
    [
        (violation(Everything(), "one_busy"), "violates one_busy"),
        (violation(Everything(), "assertion"), "fails in asker1.complain"),
        (witness(Everything(), "served"), "reaches served"),
    ],
)
def test_every_outcome_has_its_words(trace: Trace, outcome: str) -> None:
    assert outcome_of(trace) == outcome
    saved = json.loads(json.dumps(saved_document(trace, "models:Everything")))
    assert replayed(saved) == outcome


def test_a_deadlock_has_its_words_too() -> None:
    trace = violation(TwoPhaseCommit(crashes=1), "deadlock")
    assert replayed(saved_document(trace, "two-phase-commit")) == outcome_of(trace) == "deadlocks"


def test_the_text_of_a_test_is_python_with_the_run_in_it() -> None:
    scope: dict[str, Any] = {"__file__": __file__}
    exec(compile(regression_test(broken_paxos(), "test_it.py", "faulty-paxos"), "test_it.py", "exec"), scope)
    assert len(scope["RUN"]["trace"]["steps"]) == 11
    scope["test_faultypaxos_violates_agreement"]()
