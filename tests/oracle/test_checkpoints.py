"""A check that goes on from a checkpoint says what an undisturbed one says: to the last state, on any threads."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import pytest

from corpus import built, each, sized
from generator import Protocol
from kills import facts, killed
from quorate import (
    Constant,
    Event,
    Message,
    Monitor,
    Peers,
    Pid,
    Process,
    System,
    check,
    crashes,
    invariant,
    on,
    resume,
    start,
    step,
)
from quorate.model.target import load
from quorate.search.folder import Folder

PLAIN = {"symmetry": "none", "quotient": "off", "dead_messages": "off"}
ROWS: dict[str, tuple[str, dict[str, Any]]] = {
    "reduced": ("paxos", {}),
    "plain": ("paxos", PLAIN),
    "violated": ("faulty-paxos", PLAIN),
    "violated, all of them": ("faulty-paxos", {**PLAIN, "all": True}),
    "coverage": ("faulty-paxos", {"coverage": True}),
    "partial orders": ("three-phase-commit", {"por": "lpor"}),
    "partial orders, split": ("paxos-commit", {"por": "lpor-net", "split": "combined"}),
    "no closure": ("three-phase-commit", {"max_behaviours": 5}),
    "no closure, partial orders": ("two-phase-commit", {"max_behaviours": 5, "por": "lpor"}),
    "crashes and recovery": ("two-phase-commit-recovery", {}),
    "a search that starts over": ("three-phase-commit", {}),
    "an attacker": ("echo-multicast", {}),
    "channels": ("alternating-bit", {"property": ["in_order"]}),
    "a monitor that grows": ("chain-replication", {"max_behaviours": 5}),
    "linearizability": ("atomic-storage", {}),
}
KILLED: list[tuple[str, dict[str, Any]]] = [
    ("three-phase-commit", PLAIN),
    ("two-phase-commit-recovery", PLAIN),
    ("paxos-commit", {"por": "lpor"}),
    ("faulty-paxos", {**PLAIN, "all": True}),
]


@pytest.mark.parametrize("row", ROWS)
def test_a_check_that_is_stopped_again_and_again(row: str, tmp_path: Path) -> None:
    target, options = ROWS[row]
    assert stopped(load(target), options, tmp_path, 4) >= 2


BESIDE = {
    "the closure ends first": {"FIRST_BEHAVIOURS": 40, "TRANSITIONS_PER_BEHAVIOUR": 5, "EXPECTED": 1},
    "the search ends first": {"FIRST_BEHAVIOURS": 40, "TRANSITIONS_PER_BEHAVIOUR": 100_000},
    "a universe from the search": {
        "FIRST_BEHAVIOURS": 40,
        "TRANSITIONS_PER_BEHAVIOUR": 100_000,
        "FIRST_STATES": 60,
        "WORTH_DROPPING": 0,
        "LITTLE": 0,
    },
}


@pytest.mark.parametrize("options", [{}, {"por": "lpor"}], ids=["", "por"])
@pytest.mark.parametrize("target", ["three-phase-commit", "paxos"])
@pytest.mark.parametrize("row", BESIDE)
def test_a_closure_beside_the_search(
    row: str, target: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name, value in BESIDE[row].items():
        for module in (
            "quorate.reduce.optimistic",
            "quorate.reduce.reductions",
            "quorate.reduce.share",
            "quorate.search.safety",
        ):
            monkeypatch.setattr(f"{module}.{name}", value, raising=False)
    stopped(load(target), options, tmp_path, 3)


class Ping(Message):
    pass


class Heard(Event):
    by: Pid


class Hearing(Monitor):
    @on(Heard)
    def told(self, e: Heard) -> None: ...


class Caller(Process):
    others: Peers
    called: Pid | None = None

    @start
    def call(self) -> None:
        self.called = self.choose(list(self.others))
        self.send(self.called, Ping())


class Callee(Process):
    caller: Pid | None = None

    @on(Ping)
    def hear(self, m: Ping) -> None:
        self.caller = m.sender
        self.emit(Heard(m.sender))


class Both(Caller, Callee):
    pass


class Calls(System):
    def build(self) -> None:
        both = self.spawn(Both, 2)
        self.connect(both, others=frozenset(both))
        self.watch(Hearing)


def test_a_universe_that_is_taken_differently(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What a search looked at before it was saved is not known after it was gone on with, and is in the universe."""
    monkeypatch.setattr("quorate.search.safety.FIRST_BEHAVIOURS", 15)
    monkeypatch.setattr("quorate.search.safety.FIRST_STATES", 6)
    monkeypatch.setattr("quorate.reduce.optimistic.WALKS", 2)
    result, few = check(Calls(), checkpoint=tmp_path, max_states=3), 3
    warnings: list[str] = []
    while result.stopped_by == "states":
        few += max(few, result.states)
        result = resume(tmp_path, Calls(), max_states=few)
        warnings += result.warnings
    assert result.verdict == check(Calls()).verdict == "holds"
    assert [each for each in warnings if each.endswith("was taken differently this time: it began again")]


CHOICES: list[dict[str, Any]] = [{}, PLAIN, {"por": "lpor"}, {"por": "lpor-net"}, {"all": True}, {"max_behaviours": 3}]


@each(sized, 25)
def test_generated_protocols(protocol: Protocol, dice: Random) -> None:
    with TemporaryDirectory() as folder:
        stopped(built(protocol), dice.choice(CHOICES), Path(folder), dice.choice((2, 3)))


def stopped(system: System | type[System], options: dict[str, Any], folder: Path, parts: int) -> int:
    """Stop a check again and again, and compare what comes of it in the end; how often that was."""
    whole = check(system, **options, checkpoint=folder / "undisturbed")
    assert check(system, **options).verdict == whole.verdict
    folder = folder / "stopped"
    step = max(1, whole.states // parts)
    threads = cycle((1, 3, 2))
    result = check(system, **options, checkpoint=folder, max_states=step, threads=next(threads))
    times = 0
    while result.stopped_by is not None:
        assert result.checkpoint is not None
        times += 1
        limit = max(result.states, result.checkpoint["states"]) + step
        result = resume(folder, system, max_states=limit, threads=next(threads))
        assert result.checkpoint is not None
        assert result.checkpoint["runs"] == times + 1
    # A violation is an answer, although a limit may have kept the search from finishing its level.
    assert facts(resume(folder, system)) == facts(whole)
    return times


@contextmanager
def copied(to: Path) -> Iterator[list[Path]]:
    """Every checkpoint, as it was when it was written."""
    copies: list[Path] = []
    write = Folder.commit

    def commit(self: Folder, manifest: dict[str, Any]) -> None:
        write(self, manifest)
        if manifest["search"]:
            copies.append(Path(shutil.copytree(self.path, to / str(len(copies)))))

    with patch.object(Folder, "commit", commit):
        yield copies


def from_every_checkpoint(system: System | type[System], options: dict[str, Any], folder: Path, most: int) -> None:
    with copied(folder) as copies:
        whole = facts(check(system, **options, checkpoint=folder / "saved", checkpoint_every=1e-9))
    threads = cycle((1, 3, 2))
    for copy in copies[:: max(1, len(copies) // most)]:
        assert facts(resume(copy, system, threads=next(threads))) == whole


@each(sized, 12, first=300)
def test_from_every_checkpoint_of_generated_protocols(protocol: Protocol, dice: Random) -> None:
    with TemporaryDirectory() as folder:
        from_every_checkpoint(built(protocol), dice.choice(CHOICES), Path(folder), 4)


class Fragile(Process):
    ready: bool = True

    @step(when=lambda self: not self.ready)
    def wait(self) -> None:
        pass


class Counter(Process):
    name: Constant[int]
    count: int = 0

    @step(when=lambda self: self.count < 3)
    def more(self) -> None:
        self.count += 1


class Counting(System):
    """Runs of one length violate it, some with crashes and some without: one without any is shown."""

    faults = crashes(2, of=Fragile)
    first: int = 0

    def build(self) -> None:
        self.spawn(Fragile, 3)
        for name in range(4):
            self.spawn(Counter, name=self.first + name)

    @invariant
    def few(self) -> bool:
        return sum(each.count for each in self[Counter]) + sum(each.crashed for each in self[Fragile]) < 5


@pytest.mark.parametrize("first", [0, 100, 200])
def test_a_run_with_fewer_faults_is_preferred_to_one_that_was_saved(first: int, tmp_path: Path) -> None:
    from_every_checkpoint(Counting(first=first), PLAIN, tmp_path, 20)


@pytest.mark.parametrize("row", range(len(KILLED)))
def test_kill_9_at_any_moment(row: int, tmp_path: Path) -> None:
    """Fifty times in all; tests/interrupts/kill_nine.py does more of this."""
    target, options = KILLED[row]
    assert killed(target, options, tmp_path, times=13, seed=row).times == 13
