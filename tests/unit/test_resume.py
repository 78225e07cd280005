"""`quorate resume`: the same model or an error that says what changed; whose code is run; what is refused."""

from __future__ import annotations

import inspect
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from quorate import QuorateError, System, _core, check, resume
from quorate.model.target import load
from quorate.native import answers, judging, numbers
from quorate.native.model import Model
from quorate.protocols.paxos import Paxos

PLAIN: dict[str, Any] = {"symmetry": "none", "quotient": "off", "dead_messages": "off"}
MODEL = """
from quorate import Event, Message, Monitor, Peers, Process, System, can, crashes, invariant, on, start


class Part(Message):
    pass


class Item(Part):
    number: int


class Noticed(Event):
    pass


class Got(Noticed):
    pass


class Sink(Process):
    durable = ("got",)
    got: frozenset[int] = frozenset()

    @on(Item)
    def take(self, m: Item) -> None:
        self.got |= {m.number}
        self.emit(Got())

    @on(Part, when=lambda self, m: False)
    def leave(self, m: Part) -> None:
        pass


class Counter(Monitor):
    count: int = 0

    @on(Noticed)
    def counted(self, e: Noticed) -> None:
        self.count = 1


class Source(Process):
    sinks: Peers
    sent: bool = False

    @start
    def send_all(self) -> None:
        for number in range(4):
            self.send(self.sinks, Item(number))


class Copies(System):
    sinks: int = 2
    faults = crashes(1, of=Sink, recover=True)

    def build(self) -> None:
        self.spawn(Source, sinks=self.spawn(Sink, self.sinks))
        self.watch(Counter)

    @invariant
    def few(self) -> bool:
        return all(len(sink.got) <= 4 for sink in self[Sink])

    @invariant
    def small(self) -> bool:
        return max(len(sink.got) for sink in self[Sink]) <= 40
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
    "what a property reads": ("<= 4 for", "< 1 for", "properties read something else of sink"),
    "the name of a property": ("def few", "def not_many", "properties without few (invariant) and with not_many"),
    "the kind of a property": (
        "@invariant\n    def few",
        "@can\n    def few",
        "properties without few (invariant) and with few (can)",
    ),
    "keep": ("@on(Item)", "@on(Item, keep=True)", "transitions without take (on Item) and with take (on Item, keep)"),
    "the class of a message": (
        "class Item(Part)",
        "class Item(Message)",
        "another transition of sink1 takes a message",
    ),
    "the class of an event": ("class Got(Noticed)", "class Got(Event)", "the transition `take` of sink"),
    "how a property folds": ("max(", "sum(", "the property `small` says or reads something else of the same state"),
    "what recovers": ('durable = ("got",)', "durable = ()", "durable without got"),
    "who crashes": ("of=Sink", "of=Source", "may crash was True, and is False"),
    "the network": ("sinks: int = 2", "sinks: int = 2\n    network = __import__('quorate').multiset()", "network was"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_model_that_changed(change: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = CHANGES[change][2]
    changed = saved_and_changed(change, tmp_path, monkeypatch)
    if told is None:
        assert resume(tmp_path / "saved", changed).states == check(changed, **{**OPTIONS, "max_states": None}).states
        return
    with pytest.raises(QuorateError) as caught:
        resume(tmp_path / "saved", changed)
    assert caught.value.code == "Q343"
    assert told in caught.value.message


def saved_and_changed(change: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> type[System]:
    """Save a part of a check of the model; the one that changed is to be gone on with."""
    old, new, _ = CHANGES[change]
    assert old in MODEL
    for name, text in (("before", MODEL), ("after", MODEL.replace(old, new))):
        (folder / name).mkdir()
        (folder / name / "model.py").write_text(text)
    system = load(str(folder / "before" / "model.py"))
    assert check(system, checkpoint=folder / "saved", **OPTIONS).verdict == "incomplete"
    monkeypatch.delitem(sys.modules, system.__module__)  # as in another process, which has not seen the first
    monkeypatch.setattr("quorate.base.values._TOKENS", {})
    return load(str(folder / "after" / "model.py"))


@pytest.mark.parametrize(
    "change", ["the kind of a property", "keep", "what recovers", "who crashes", "the network", "an initial value"]
)
def test_what_the_core_is_told_is_compared(change: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the names of a definition leave out."""
    monkeypatch.setattr("quorate.search.checkpoint.structure", lambda *_: {})
    changed = saved_and_changed(change, tmp_path, monkeypatch)
    with pytest.raises(QuorateError) as caught:
        resume(tmp_path / "saved", changed)
    assert caught.value.code == "Q343"


@pytest.mark.parametrize("kind", [_core.Network, _core.Transition, _core.Message])
def test_what_the_core_is_told_can_be_read(kind: type) -> None:
    """A parameter that is added has to be readable, or `Told` does not note it."""
    signature = str(vars(kind)["__init__"].__doc__)
    parameters = re.findall(r"[(, ](\w+):", signature)
    assert parameters
    assert {*parameters} == {name for name in dir(kind) if not name.startswith("_")}


# What the core is told beside the answers to its questions, once it asks.
NOTED = {"add_local", "set_crash", "set_recovery", "add_message", "allow", "put_group", "put_behaviour", "put_request"}
# In what cannot be saved: ranks, shared cells, messages in flight, and answers that are recalled.
REFUSED = {"put_local_ranks", "put_message_ranks", "set_reads", "add_view", "set_written", "learn", "set_fields"}
# What a journal judges by what is read, what follows from a local state, and what tells the core nothing.
OTHERS = {"add_answer", "add_weight", "observe", "start_over", "inbox", "reduced", "inexact_ranks"}


def test_all_that_the_core_is_told_is_known() -> None:
    """A new call has to be noted in the journal: where a model describes itself it is, elsewhere somebody has to."""
    source = "".join(
        [*(inspect.getsource(each) for each in (numbers, answers, judging)), inspect.getsource(Model.reduced)]
    )
    assert {*re.findall(r"engine\.(\w+)", source)} == NOTED | REFUSED | OTHERS


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
        {"store": "fingerprint"},
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


@pytest.mark.parametrize("name", ["ticket-lock", "peterson"])
def test_shared_cells_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(QuorateError, match="shared cells") as caught:
        check(load(name), property="mutual_exclusion", checkpoint=tmp_path / "saved")
    assert caught.value.code == "Q345"


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


def test_a_model_that_has_moved_and_has_another_name(tmp_path: Path) -> None:
    """The bytes of values name the module, so it is imported under the name that it had."""
    (tmp_path / "model.py").write_text(MODEL)
    first = ("check", "model.py", "--checkpoint", "saved", "--max-states", "40", "--symmetry", "none")
    assert quorate(*first, cwd=tmp_path).returncode == 3
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "model.py").rename(tmp_path / "elsewhere" / "moved.py")
    for most, verdict in (("60", "incomplete"), ("100000", "holds")):
        words = ("resume", "saved", "--target", "elsewhere/moved.py", "--max-states", most, "--json")
        told = json.loads(quorate(*words, cwd=tmp_path).stdout)
        assert (told["verdict"], told["target"]) == (verdict, "elsewhere/moved.py")


def test_another_directory_for_states(tmp_path: Path) -> None:
    for name in ("one", "another"):
        (tmp_path / name).mkdir()
    check(Paxos(), checkpoint=tmp_path / "saved", spill=str(tmp_path / "one"), max_states=50)
    (tmp_path / "one").rmdir()
    with pytest.raises(QuorateError, match="spill="):
        resume(tmp_path / "saved", Paxos())
    found = quorate("resume", "saved", "--trust", "--spill", "another", "--json", cwd=tmp_path)
    told = json.loads(found.stdout)
    assert (told["verdict"], told["states"]) == ("holds", check(Paxos(), checkpoint=tmp_path / "whole").states)


def test_a_system_of_another_module(tmp_path: Path) -> None:
    for name in ("one", "another"):
        (tmp_path / f"{name}.py").write_text(MODEL)
    check(load(str(tmp_path / "one.py")), checkpoint=tmp_path / "saved", **OPTIONS)
    with pytest.raises(QuorateError, match="module was one, and is another"):
        resume(tmp_path / "saved", load(str(tmp_path / "another.py")))


@pytest.mark.parametrize("at", ["asking", "taking back"])
def test_a_check_that_is_stopped_before_it_can_go_on(at: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It does not say what was found in states that it has not looked at, and the next one goes on from the same."""
    system, place = Paxos(acceptors=4), tmp_path / "saved"
    limit: dict[str, Any] = {}
    check(system, checkpoint=place, max_states=20_000, **PLAIN)
    if at == "asking":
        stop = _core.StoppedError("interrupted")
        monkeypatch.setattr(Model, "fill", lambda *_: (_ for _ in ()).throw(stop))
    else:
        limit = {"max_memory": 1 << 20}
    found = resume(place, system, **limit)
    assert (found.verdict, found.states, found.transitions) == ("incomplete", 0, 0)
    assert any("stopped before it could go on" in each for each in found.warnings)
    monkeypatch.undo()
    whole = resume(place, system)
    assert whole.checkpoint is not None
    assert whole.checkpoint["resumed_from"] >= 20_000
    assert (whole.verdict, whole.states) == ("holds", 43_681)


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
