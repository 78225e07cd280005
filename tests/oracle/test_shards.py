"""Workers against one thread: the same states, transitions, depth, verdict, counterexample and figures of reductions.

All of them are in one process here, which is the same code without Ray. `tests/unit/test_cluster.py` has Ray.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

import corpus
import shards
from generator import Protocol
from quorate import (
    Constant,
    Event,
    Message,
    Monitor,
    Peers,
    Process,
    QuorateError,
    System,
    _core,
    check,
    invariant,
    on,
    resume,
    step,
)
from quorate.cluster import kept
from quorate.cluster.backend import MOST_LOSSES
from quorate.cluster.crew import LocalCrew
from quorate.cluster.errors import KeptError, LostError
from quorate.cluster.worker import Parcel
from quorate.model.define import define
from quorate.model.target import load
from shards import same_answer
from small_instances import SMALL, small

PLAIN: dict[str, Any] = {"quotient": "off", "dead_messages": "off", "symmetry": "none"}
# A closure that has not ended by then goes on beside the search of one thread, and not beside that of workers.
FEW: dict[str, Any] = {"max_behaviours": 4_000}
WAYS: list[dict[str, Any]] = [
    {},
    PLAIN,
    {"all": True},
    {"por": "lpor"},
    {"por": "lpor-net", "split": "combined"},
    {"por": "lpor", "symmetry": "none"},
    {"quotient": "off"},
    {"dead_messages": "off", "symmetry": "naive"},
]


@pytest.fixture(autouse=True)
def here() -> Iterator[None]:
    with shards.in_one_process():
        yield


@corpus.each(corpus.sized, 36)
def test_generated_protocols(protocol: Protocol, dice: Random) -> None:
    for options in dice.sample(WAYS, k=2):
        same_answer(corpus.built(protocol), dice.choice([1, 2, 3, 5]), **options, **FEW)


@corpus.each(corpus.few_states, 30, first=60)
def test_steps_that_are_forgotten_and_asked_for_again(protocol: Protocol, dice: Random) -> None:
    """With little room for everything that has a limit."""
    before = _core.thresholds.portion, _core.thresholds.most_waiting, _core.thresholds.few_states
    _core.thresholds.portion, _core.thresholds.most_waiting, _core.thresholds.few_states = 2, 3, 10
    try:
        with shards.in_one_process(batch_bytes=1, sent_states=dice.choice([0, 1])):
            same_answer(corpus.built(protocol), dice.choice([2, 3]), **dice.choice(WAYS), **FEW)
    finally:
        _core.thresholds.portion, _core.thresholds.most_waiting, _core.thresholds.few_states = before


def test_partial_orders_are_given_up_at_the_same_level(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many of their sets are of one state alone: how many were worked out differs between workers."""
    monkeypatch.setattr(_core.thresholds, "few_states", 10)
    system = corpus.built(corpus.drawn(200_008))
    options: dict[str, Any] = {"por": "lpor", "crashes": 1}
    for workers in (1, 2, 3, 5):
        same_answer(system, workers, **options)
    one = shards.answer(check(system, **options))
    assert shards.answer(check(system, threads=3, **options)) == {**one, "threads": 3}
    for states in (12, 40, 100):
        check(system, checkpoint=str(tmp_path / f"{states}"), checkpoint_every=1e-9, max_states=states, **options)
        resumed = resume(tmp_path / f"{states}", system, threads=2, max_states=10**6)
        for name in ("verdict", "states", "transitions", "depth"):
            assert shards.answer(resumed)[name] == one[name]


class Idle(Process):
    @step(when=lambda self: True)
    def nothing(self) -> None:
        pass


class Idling(System):
    def build(self) -> None:
        self.spawn(Idle, 2)


def test_partial_orders_are_not_given_up_where_nothing_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_core.thresholds, "few_states", 1)
    found = same_answer(Idling, 2, por="lpor")
    assert "given_up_at_depth" not in found.reductions["por"]


@pytest.mark.usefixtures("taken_to_be_pure")
@pytest.mark.parametrize("name", SMALL)
def test_bundled_protocols(name: str) -> None:
    dice = Random(name)
    system: System = small(name)
    if define(system).cells:
        with pytest.raises(QuorateError, match="has shared cells"):
            same_answer(system, 2)
        return
    for workers, options in zip((1, 2, 3, 5), ({}, PLAIN, *dice.sample(WAYS[2:], k=2)), strict=True):
        same_answer(system, workers, **options, **FEW, max_states=60_000)


@pytest.mark.usefixtures("taken_to_be_pure")
@pytest.mark.parametrize("options", [{}, PLAIN, {"all": True}, {"por": "lpor"}], ids=str)
@pytest.mark.parametrize("name", ["paxos", "faulty-paxos", "atomic-storage", "raft-election"])
def test_workers_that_are_lost_in_the_midst_of_a_level(name: str, options: dict[str, Any], tmp_path: Path) -> None:
    with shards.in_one_process(crew=shards.LosingCrew) as crews:
        found = same_answer(small(name), 3, checkpoint=str(tmp_path / "kept"), checkpoint_every=1e-9, **options)
    assert found.workers is not None
    assert found.workers["recovered"] == sum(crew.lost for crew in crews if isinstance(crew, shards.LosingCrew)) > 0
    assert list((tmp_path / "kept").iterdir()) == []


@pytest.mark.usefixtures("taken_to_be_pure")
@pytest.mark.parametrize(
    "at", ["prepare", "share_numbers", "begin", "finish_level", "save", "step_back", "load", "end"]
)
def test_a_worker_that_is_lost_while_it_is_asked(at: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards.FragileCrew, "at", ("finish_level", at) if at == "load" else (at,))
    with shards.in_one_process(crew=shards.FragileCrew) as crews:
        found = same_answer(load("faulty-paxos"), 2, checkpoint=str(tmp_path), checkpoint_every=1e-9)
    assert found.workers is not None
    assert found.workers["recovered"] == sum(crew.lost for crew in crews if isinstance(crew, shards.FragileCrew)) > 0


def test_a_worker_that_is_lost_again_and_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Always at the same place: a model that ends its own process, for example."""
    monkeypatch.setattr(shards.FragileCrew, "times", 1_000)
    with (
        shards.in_one_process(crew=shards.FragileCrew) as crews,
        pytest.raises(LostError, match="lost again and again") as caught,
    ):
        check(small("paxos"), workers=2, checkpoint=str(tmp_path), checkpoint_every=1e-9)
    assert "end its own process" in caught.value.hint
    assert isinstance(crews[0], shards.FragileCrew)
    assert crews[0].lost == MOST_LOSSES + 1


@pytest.mark.parametrize("written", [0, 7])
def test_a_full_disk_warns_and_the_search_goes_on(
    written: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From what was kept before, if a worker is lost later."""
    room = written

    def replace(given: Path, new: Path) -> None:
        nonlocal room
        room -= 1
        if room < 0:
            raise OSError(28, "No space left on device")
        given.rename(new)

    monkeypatch.setattr(kept, "os", SimpleNamespace(**{**vars(os), "replace": replace}))
    crew = shards.LosingCrew if written else LocalCrew
    with shards.in_one_process(crew=crew):
        many = check(small("paxos"), workers=2, checkpoint=str(tmp_path), checkpoint_every=1e-9, **PLAIN)
    one = check(small("paxos"), **PLAIN)
    assert (many.verdict, many.states, many.transitions) == (one.verdict, one.states, one.transitions)
    told = [each for each in many.warnings if "No space left on device" in each]
    assert told
    assert told[0].endswith("nothing is kept" if not written else "what was found up to depth 2 is kept")


def test_a_worker_that_is_lost_without_a_checkpoint() -> None:
    with shards.in_one_process(crew=shards.LosingCrew), pytest.raises(LostError) as caught:
        check(small("paxos"), workers=2)
    assert caught.value.code == "Q512"


@pytest.mark.parametrize("harm", [lambda content: content[:-1], lambda content: content[:40] + b"?" + content[41:]])
def test_a_damaged_share_is_refused(harm: Callable[[bytes], bytes], tmp_path: Path) -> None:
    kept.write(str(tmp_path), 0, 0, [Parcel(0, b"states" * 9, [(0, 1, b"N")], [], 0)])
    assert list(kept.read(str(tmp_path), 0, 0)) == [Parcel(0, b"states" * 9, [(0, 1, b"N")], [], 0)]
    [path] = tmp_path.iterdir()
    path.write_bytes(harm(path.read_bytes()))
    with pytest.raises(KeptError, match="is damaged"):
        list(kept.read(str(tmp_path), 0, 0))


@pytest.mark.parametrize(
    "options",
    [
        {"search": "dfs"}, {"store": "bitstate"}, {"stateless": True}, {"por": "dpor"}, {"threads": 2},
        {"coverage": True}, {"self_check": True}, {"workers": 5_000},
    ],
    ids=str,
)  # fmt: skip
def test_what_workers_cannot_do_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(QuorateError) as caught:
        check(small("paxos"), **{"workers": 2, **options})
    assert caught.value.code == "Q600"


class Told(Event):
    number: int


class Last(Monitor):
    number: int = 0
    told: int = 0

    @on(Told)
    def hears(self, e: Told) -> None:
        self.number, self.told = e.number, self.told + 1


class Teller(Process):
    count: int = 0

    @step(when=lambda self: self.count < 3)
    def more(self) -> None:
        self.count += 1
        self.emit(Told(self.count))


class Telling(System):
    def build(self) -> None:
        self.spawn(Teller, 3)
        self.watch(Last)

    @invariant
    def few(self) -> bool:
        return self[Last].told < 8 or self[Last].number == 3


@pytest.mark.parametrize("reactions", [1, 4_000])
@pytest.mark.parametrize("options", [{}, {"por": "lpor"}, {"all": True}], ids=["", "por", "all"])
def test_a_monitor_that_grows_under_symmetry(
    reactions: int, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the analysis has seen of it has the same numbers everywhere, and is told all the same."""
    monkeypatch.setattr(_core.thresholds, "most_reactions", reactions)
    for workers in (1, 2, 3):
        assert same_answer(Telling, workers, **options).reductions["symmetry"]["ran"]


class Note(Message):
    number: int


MEMORY: list[int] = []


class Forgetful(Process):
    """Depends on something else than its fields and messages, in a way that one of the systems below chooses."""

    way: Constant[str]
    others: Peers = Peers()
    count: int = 0

    @step(when=lambda self: self.count < 3)
    def more(self) -> None:
        self.count += 1
        self.send(self.others, Note(self.count))

    @on(Note)
    def take(self, m: Note) -> None:
        if self.way == "changes":
            object.__setattr__(m, "number", 7)
        elif self.way == "remembers":
            MEMORY.append(m.number)
        elif self.way == "reads":
            self.count = min(4, self.count + len(MEMORY) % 2)
            MEMORY.append(m.number)


class Cheating(System):
    way: str = "none"

    def build(self) -> None:
        pids = self.spawn(Forgetful, 2, way=self.way)
        self.connect(pids, others=pids)


@pytest.mark.parametrize("way", ["changes", "remembers", "reads"])
@pytest.mark.parametrize("options", [{}, PLAIN], ids=["", "plain"])
def test_workers_see_whether_a_model_is_a_function(way: str, options: dict[str, Any]) -> None:
    """Each of them what it has asked: the process that was started has asked next to nothing."""
    with pytest.raises(QuorateError) as caught:
        check(Cheating(way=way), workers=3, **options)
    assert caught.value.code in ("Q103", "Q104")
    assert check(Cheating(), workers=3, **options).verdict == "holds"


def test_a_limit_on_states_is_kept() -> None:
    found = check(small("paxos"), workers=3, max_states=20, **PLAIN)
    assert (found.verdict, found.stopped_by) == ("incomplete", "states")
    assert found.states >= 20
