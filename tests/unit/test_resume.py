"""`quorate resume`: the same model or an error that says what changed; whose code is run; what is refused."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from quorate import QuorateError, check, resume
from quorate.model.target import load
from quorate.protocols.paxos import Paxos

MODEL = """
from quorate import Message, Peers, Process, System, invariant, on, start


class Item(Message):
    number: int


class Sink(Process):
    got: frozenset[int] = frozenset()

    @on(Item)
    def take(self, m: Item) -> None:
        self.got |= {m.number}


class Source(Process):
    sinks: Peers
    sent: bool = False

    @start
    def send_all(self) -> None:
        for number in range(4):
            self.send(self.sinks, Item(number))


class Copies(System):
    sinks: int = 2

    def build(self) -> None:
        self.spawn(Source, sinks=self.spawn(Sink, self.sinks))

    @invariant
    def few(self) -> bool:
        return all(len(sink.got) <= 4 for sink in self[Sink])
"""
OPTIONS: dict[str, Any] = {"symmetry": "none", "quotient": "off", "dead_messages": "off", "max_states": 40}

CHANGES = {
    "a comment": ("self.got |= {m.number}", "self.got |= {m.number}  # again", None),
    "code that behaves alike": ("self.got |= {m.number}", "self.got = self.got | {m.number}", None),
    "a transition": ("self.got |= {m.number}", "self.got |= {m.number % 3}", "the transition `take` of sink"),
    "what is sent": ("range(4)", "range(3)", "the transition `send_all` of source1 does something else"),
    "its name": ("def take", "def receive", "processes, sink1, transitions without take"),
    "a field": ("sent: bool = False", "sent: bool = False\n    more: int = 0", "fields with more"),
    "an initial value": ("sent: bool = False", "sent: bool = True", "the initial states are others"),
    "a message": ("number: int", "number: int\n    more: int = 0", "messages, Item with more"),
    "a property": ("<= 4", "<= 5", None),  # it says the same of all that was met
    "what a property reads": ("<= 4 for", "< 3 for", "properties read something else of sink"),
    "the name of a property": ("def few", "def not_many", "properties without few and with not_many"),
    "the network": ("sinks: int = 2", "sinks: int = 2\n    network = __import__('quorate').multiset()", "network was"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_model_that_changed(change: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old, new, told = CHANGES[change]
    assert old in MODEL
    for folder, text in (("before", MODEL), ("after", MODEL.replace(old, new))):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "model.py").write_text(text)
    system = load(str(tmp_path / "before" / "model.py"))
    assert check(system, checkpoint=tmp_path / "saved", **OPTIONS).verdict == "incomplete"
    monkeypatch.delitem(sys.modules, system.__module__)  # as in another process, which has not seen the first
    monkeypatch.setattr("quorate.base.values._TOKENS", {})
    changed = load(str(tmp_path / "after" / "model.py"))
    if told is None:
        assert resume(tmp_path / "saved", changed).states == check(changed, **{**OPTIONS, "max_states": None}).states
        return
    with pytest.raises(QuorateError) as caught:
        resume(tmp_path / "saved", changed)
    assert caught.value.code == "Q343"
    assert told in caught.value.message


def test_other_parameters(tmp_path: Path) -> None:
    check(Paxos(), checkpoint=tmp_path, max_states=50)
    with pytest.raises(QuorateError, match="parameters, acceptors was 3, and is 4"):
        resume(tmp_path, Paxos(acceptors=4))


@pytest.mark.parametrize(
    "options",
    [
        {"search": "dfs"},
        {"stateless": True},
        {"store": "bitstate"},
        {"por": "dpor"},
        {"self_check": True},
        {"vacuity": True},
        {"ltl": "G validity"},
    ],
)
def test_what_cannot_be_saved_is_refused(options: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(QuorateError) as caught:
        check(Paxos(), checkpoint=tmp_path / "saved", **options)
    assert caught.value.code == "Q345"
    assert not (tmp_path / "saved" / "checkpoint-000002.json").exists()


def quorate(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    given = [sys.executable, "-m", "quorate", *words]
    return subprocess.run(given, cwd=cwd, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)


def test_whose_code_is_run(tmp_path: Path) -> None:
    """As for a replay: a folder that somebody sent must not decide which code is run."""
    (tmp_path / "model.py").write_text(MODEL)
    saved = quorate(
        "check", "model.py", "--checkpoint", "saved", "--max-states", "40", "--symmetry", "none", cwd=tmp_path
    )
    assert saved.returncode == 3
    assert "to go on: quorate resume saved" in saved.stdout
    marker = tmp_path / "ran"
    (tmp_path / "model.py").write_text(f"open({str(marker)!r}, 'w').close()\n" + MODEL)
    refused = quorate("resume", "saved", cwd=tmp_path)
    assert refused.returncode == 2
    assert "Q321" in refused.stderr
    assert not marker.exists()
    for allowed in (["--trust"], ["--target", "model.py"]):
        found = quorate("resume", "saved", *allowed, "--json", cwd=tmp_path)
        assert found.returncode == 0, found.stderr
        told = json.loads(found.stdout)
        assert told["verdict"] == "holds"
        assert told["checkpoint"]["resumed_from"] >= 40
    assert marker.exists()


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_and_sigterm_save(sent: signal.Signals, tmp_path: Path) -> None:
    words = "check paxos -p proposers=3 -p acceptors=5 --symmetry none --quotient off --checkpoint saved --json"
    running = subprocess.Popen(
        [sys.executable, "-m", "quorate", *words.split()], cwd=tmp_path, stdout=subprocess.PIPE, text=True
    )
    until = time.monotonic() + 60
    while not (tmp_path / "saved" / "checkpoint-000001.json").exists() and time.monotonic() < until:
        time.sleep(0.05)
    time.sleep(1.0)
    os.kill(running.pid, sent)
    out, _ = running.communicate(timeout=60)
    assert running.returncode == 3
    first = json.loads(out)
    assert first["stopped_by"] == "interrupt"
    if first["states"]:  # otherwise it was still in its analysis
        assert first["checkpoint"]["states"] == first["states"]
        found = quorate("resume", "saved", "--max-states", str(first["states"] + 1000), "--json", cwd=tmp_path)
        second = json.loads(found.stdout)
        assert second["checkpoint"]["resumed_from"] == first["states"]
        assert second["checkpoint"]["states"] == second["states"] > first["states"]
        assert second["seconds"] > second["checkpoint"]["seconds_before"] > 0
