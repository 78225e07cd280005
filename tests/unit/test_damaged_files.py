"""`replay` takes nothing on faith: every damaged file is a clear error, and none runs code by itself."""

import copy
import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from typer.testing import CliRunner

from quorate import check
from quorate.base.errors import TargetError
from quorate.cli.main import app
from quorate.protocols.faulty_paxos import FaultyPaxos
from quorate.results.json import confirmed, saved_document

SCHEMA = Path(__file__).parents[2] / "docs/schemas/run.schema.json"

WRONG: tuple[Any, ...] = (None, True, 7, -1, 1.5, "x", [], [[]], {}, {"$": "x"})


@cache
def _written() -> str:
    trace = check(FaultyPaxos()).trace
    assert trace is not None
    return json.dumps(saved_document(trace, "faulty-paxos"), indent=1)


def good() -> dict[str, Any]:
    document: dict[str, Any] = json.loads(_written())
    return document


def replay(content: bytes | str, *arguments: str) -> tuple[int, str, str]:
    Path("run.json").write_bytes(content if isinstance(content, bytes) else content.encode())
    done = CliRunner().invoke(app, ["replay", "run.json", *arguments])
    assert "Traceback" not in done.stdout + done.stderr
    assert "Q900" not in done.stdout + done.stderr
    return done.exit_code, done.stdout, " ".join(done.stderr.split())


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))


def test_an_intact_file_is_replayed() -> None:
    assert replay(_written())[0] == 1


def changed(path: tuple[str | int, ...], value: Any) -> str:
    document = good()
    inner: Any = document
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return json.dumps(document)


def lacking(path: tuple[str | int, ...]) -> str:
    document = good()
    inner: Any = document
    for key in path[:-1]:
        inner = inner[key]
    del inner[path[-1]]
    return json.dumps(document)


# --- files that are no saved runs ------------------------------------------------------------------------------

TEXTS: dict[str, tuple[bytes | str, str]] = {
    "empty": ("", "Q311: run.json is not JSON"),
    "blank": (" \n", "Q311: run.json is not JSON"),
    "binary": (bytes(range(256)) * 8, "Q311: run.json is not JSON"),
    "a picture": (b"\x89PNG\r\n\x1a\n\0\0\0", "Q311: run.json is not JSON"),
    "another encoding": (json.dumps(good()).encode("utf-16"), "Q311: run.json is not JSON"),
    "a byte order mark": (b"\xef\xbb\xbf{}", "Q311: run.json is not JSON"),
    "python": ("{'format': 'quorate-trace'}", "Q311: run.json is not JSON"),
    "two objects": ("{}{}", "Q311: run.json is not JSON"),
    "a list": ("[]", "Q311: run.json is not a saved run"),
    "null": ("null", "Q311: run.json is not a saved run"),
    "a number": ("1", "Q311: run.json is not a saved run"),
    "not a number": ("NaN", "Q311: run.json is not a saved run"),
    "another object": ("{}", "Q311: run.json is not a saved run"),
    "a result": ('{"schema": 1, "verdict": "holds"}', "Q311: run.json is not a saved run"),
    "another format": (changed(("format",), "other"), "Q311: run.json is not a saved run"),
    "deep": ("[" * 100_000, "Q311: run.json is not a saved run: it is nested too deeply"),
    "deep inside": (
        changed(("trace", "steps"), "HERE").replace('"HERE"', '{"$": "tuple", "items": [' * 400 + "]}" * 400),
        "Q311",
    ),
    "a deep value": (
        changed(("parameters",), "HERE").replace(
            '"HERE"', '{"a":' + '{"$": "tuple", "items": [' * 450 + "]}" * 450 + "}"
        ),
        "Q311: run.json is not a saved run: it is nested too deeply",
    ),
    "digits": (changed(("trace", "version"), 0).replace('"version": 0', '"version": ' + "9" * 5_000), "Q311"),
    "infinite": (changed(("trace", "steps", 0, "number"), float("inf")), "Q311"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_what_is_no_saved_run(name: str) -> None:
    content, says = TEXTS[name]
    status, out, err = replay(content)
    assert (status, out) == (2, "")
    assert f"error {says}" in err


@pytest.mark.parametrize("share", [number / 16 for number in range(1, 16)])
def test_a_truncated_file(share: float) -> None:
    status, out, err = replay(_written()[: int(len(_written()) * share)])
    assert (status, out) == (2, "")
    assert "error Q311: run.json is not JSON" in err


def test_a_folder_and_a_device() -> None:
    for name, says in ((".", "Is a directory"), ("missing", "No such file"), ("/dev/zero", "more than"), ("a\0", "")):
        done = CliRunner().invoke(app, ["replay", name])
        assert done.exit_code == 2
        assert says in " ".join(done.stderr.split())
        assert "Q900" not in done.stderr


# --- keys that are missing or wrong ----------------------------------------------------------------------------

NEEDED: list[tuple[str | int, ...]] = [
    ("version",),
    ("target",),
    ("parameters",),
    ("trace",),
    *(("trace", key) for key in ("version", "kind", "property", "shortest", "initial", "steps")),
    *(("trace", "initial", key) for key in ("processes", "in_flight", "budget")),
    *(
        ("trace", "steps", 2, key)
        for key in ("kind", "process", "transition", "consumed", "choices", "changes", "sent", "events", "failure")
    ),
    *(("trace", "steps", 2, "consumed", 0, key) for key in ("type", "fields", "sender")),
    *(("trace", "steps", 2, "sent", 0, key) for key in ("to", "message")),
]
OPTIONAL: list[tuple[str | int, ...]] = [
    ("system",),
    ("environment",),
    ("trace", "reason"),
    ("trace", "byzantine"),
    ("trace", "shortened_from"),
    ("trace", "steps", 2, "number"),
    ("trace", "steps", 2, "in_flight"),
]


def shown(path: tuple[str | int, ...]) -> str:
    text = ""
    for key in path:
        text += f"[{key}]" if isinstance(key, int) else f".{key}"
    return text.lstrip(".")


@pytest.mark.parametrize("path", NEEDED, ids=shown)
def test_a_missing_key_is_named(path: tuple[str | int, ...]) -> None:
    status, out, err = replay(lacking(path))
    assert (status, out) == (2, "")
    where = shown(path[:-1]) or "it"
    assert f"error Q311: run.json is not a run that can be replayed: {where} has no `{path[-1]}`" in err


@pytest.mark.parametrize("path", OPTIONAL, ids=shown)
def test_what_a_replay_does_not_need_may_be_missing(path: tuple[str | int, ...]) -> None:
    assert replay(lacking(path))[0] == 1


def wrong_values() -> Iterator[tuple[tuple[str | int, ...], Any, dict[str, Any]]]:
    """Every key with values of every type, as far as the schema does not allow them: where, what, the whole."""
    allowed = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text()))
    document = good()
    del document["trace"]["steps"][3:]  # what comes after is of the same shape
    assert allowed.is_valid(document)
    for path in [*NEEDED, *OPTIONAL]:
        for value in WRONG:
            spoiled = copy.deepcopy(document)
            inner: Any = spoiled
            for key in path[:-1]:
                inner = inner[key]
            inner[path[-1]] = value
            if not allowed.is_valid(spoiled):
                yield path, value, spoiled


def test_a_value_of_the_wrong_type_is_named() -> None:
    tried = 0
    for path, value, document in wrong_values():
        with pytest.raises(TargetError) as caught:
            confirmed(document, "run.json")
        assert caught.value.code == "Q311"
        assert shown(path) in caught.value.message or "version" in path, (path, value, caught.value.message)
        tried += 1
    assert tried > 200


@pytest.mark.parametrize("path", [*NEEDED, *OPTIONAL], ids=shown)
def test_whatever_is_in_a_key_the_answer_is_clear(path: tuple[str | int, ...]) -> None:
    for value in (*WRONG, 10**30, {"a": 1}, [1, "x"]):
        if path == ("target",) and isinstance(value, str):
            continue  # another model, which is asked about
        status, out, err = replay(changed(path, value), "--trace", "none")
        assert status == 2 or (status == 1 and "still violates agreement" in out), (path, value, out, err)


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        (("trace", "kind"), "x", 'trace.kind is "x", not "violation" or "witness"'),
        (("trace", "kind"), "error", 'trace.kind is "error"'),
        (("trace", "kind"), "witness", "but agreement does not hold at its end"),
        (("trace", "property"), "deadlock", "does not end in a deadlock"),
        (("trace", "property"), "a\x1b[2J", "a\\x1b[2J, which the model no longer has"),
        (("version",), 2, "a run of another version: version is 2, not 1"),
        (("version",), True, "a run of another version: version is true, not 1"),
        (("version",), 1.0, "a run of another version: version is 1.0, not 1"),
        (("version",), 10**100, "version is a huge number, not 1"),
        (("trace", "version"), 2, "trace.version is 2, not 1"),
        (("environment",), {"meteors": 1}, 'environment has a key "meteors"'),
        (("environment",), {"crashes": -1}, "environment.crashes is -1"),
        (("environment",), {"byzantine": {"acceptor": 10**9}}, "error Q207"),
        (("parameters",), {"acceptor": 3}, "error Q201"),
        (("parameters",), {"acceptors": "many"}, "error Q202"),
        (("parameters",), {"acceptors": {"$": "tuple", "items": []}}, "error Q202"),
        (("parameters",), {"acceptors": 1_000}, "initial state of the model"),
        (("trace", "steps", 0, "kind"), "sleep", 'trace.steps[0].kind is "sleep"'),
        (("trace", "steps", 0, "process"), "nobody", "step 1 of the run, nobody prepare"),
        (("trace", "initial", "budget"), [0, 0], "trace.initial.budget has 2 items, not 3"),
        (("trace", "steps"), [], "agreement holds at its end"),
    ],
)
def test_what_does_not_fit(path: tuple[str | int, ...], value: Any, says: str) -> None:
    status, out, err = replay(changed(path, value))
    assert (status, out) == (2, "")
    assert says in err


@pytest.mark.parametrize(
    "spoil",
    [
        lambda run: run.update(kind="witness"),
        lambda run: run.update(property="small"),
        lambda run: run.update(property="deadlock"),
    ],
)
def test_a_failure_cannot_be_passed_off_as_something_else(spoil: Callable[[dict[str, Any]], None]) -> None:
    Path("failing.py").write_text(FAILING)
    assert CliRunner().invoke(app, ["check", "failing.py", "--save", "run.json"]).exit_code == 1
    document = json.loads(Path("run.json").read_text())
    assert replay(json.dumps(document), "--trust")[0] == 1
    spoiled = copy.deepcopy(document)
    spoil(spoiled["trace"])
    status, out, err = replay(json.dumps(spoiled), "--trust")
    assert (status, out) == (2, "")
    assert "but ends with a step that fails" in err


FAILING = """
from quorate import Process, System, invariant, start

class A(Process):
    @start
    def begin(self) -> None:
        assert False, "no"

class S(System):
    def build(self) -> None:
        self.spawn(A)

    @invariant
    def small(self) -> bool:
        return True
"""


# --- code that a file names ------------------------------------------------------------------------------------

EVIL = 'open("ran", "w").close()\n'


@pytest.mark.parametrize("target", ["evil.py", "evil.py:S", "./evil.py:S", "evil:S", "os:S"])
def test_a_file_does_not_run_code_by_itself(target: str) -> None:
    Path("evil.py").write_text(EVIL)
    status, out, err = replay(changed(("target",), target))
    assert (status, out) == (2, "")
    assert f"error Q321: run.json names the model {target}, whose code would be run" in err
    assert not Path("ran").exists()


def test_it_does_where_the_user_says_so() -> None:
    Path("failing.py").write_text(FAILING)
    CliRunner().invoke(app, ["check", "failing.py", "--save", "run.json"])
    content = Path("run.json").read_text()
    assert replay(content)[0] == 2
    assert replay(content, "--trust")[0] == 1
    assert replay(content, "--target", "failing.py")[0] == 1


@pytest.mark.parametrize(("answer", "status"), [("y\n", 1), ("yes\n", 1), ("n\n", 2), ("\n", 2), ("\x04", 2)])
def test_on_a_terminal_it_asks(answer: str, status: int) -> None:
    Path("failing.py").write_text(FAILING)
    CliRunner().invoke(app, ["check", "failing.py", "--save", "run.json"])
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "quorate", "replay", "run.json"], stdin=theirs, stderr=theirs, stdout=subprocess.DEVNULL
    )
    os.close(theirs)
    said = b""
    while b"[y/N] " not in said:
        said += os.read(ours, 1000)
    os.write(ours, answer.encode())
    assert process.wait(30) == status
    os.close(ours)
    assert b"run.json names the model failing.py. To replay it, its code is run." in said
