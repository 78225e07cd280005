"""A process taken apart (core: model/hubs.hpp): the same states, steps, verdicts and runs as with whole cells."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import pytest

from quorate import (
    Message,
    Peers,
    Pid,
    Process,
    System,
    _core,
    can,
    check,
    crashes,
    invariant,
    on,
    quorum,
    start,
    step,
    unordered,
)
from quorate.protocols import CATALOGUE

THRESHOLDS: Any = _core.thresholds
PLAIN = {"symmetry": "none", "quotient": "off", "dead_messages": "off"}
REDUCED = {"symmetry": "none"}


@contextmanager
def taken_apart(at_once: bool) -> Iterator[None]:
    """Take every process apart from the beginning, or none ever."""
    before = THRESHOLDS.most_cells, THRESHOLDS.hub_gain
    THRESHOLDS.most_cells, THRESHOLDS.hub_gain = (1, 0) if at_once else (2**40, 2)
    try:
        yield
    finally:
        THRESHOLDS.most_cells, THRESHOLDS.hub_gain = before


def figures(system: System, **options: Any) -> tuple[object, ...]:
    result = check(system, **options)
    told = result.to_json()
    # Not how often handlers ran: what is recalled depends on which questions are asked together (rule 39).
    kept = ["verdict", "property", "states", "transitions", "depth", "deadlocks", "messages"]
    kept += ["properties", "violations", "bounds", "trace", "witnesses", "stopped_by"]
    return tuple((name, told.get(name)) for name in kept)


def cells(system: System, **options: Any) -> int:
    return check(system, **options).cells


def compare(system: System, **options: Any) -> None:
    with taken_apart(at_once=False):
        whole = figures(system, **options)
    with taken_apart(at_once=True):
        assert figures(system, **options) == whole


class Vote(Message):
    round: int


class Yes(Vote): ...


class No(Vote): ...


class Ask(Message):
    tag: int


class Reset(Message): ...


class Noise(Message):
    tag: int


class Done(Message): ...


class Member(Process):
    hub: Pid
    number: int
    sent: int = 0
    done: bool = False

    @step(when=lambda self: self.sent < 2)
    def vote(self) -> None:
        self.sent += 1
        self.send(self.hub, self.choose([Yes(self.sent), No(self.sent)]))

    @step(when=lambda self: self.sent == 1)
    def ask(self) -> None:
        self.sent = 2
        self.send(self.hub, Ask(self.number))
        self.send(self.hub, Noise(self.number))

    @on(Done)
    def finish(self, m: Done) -> None:
        self.done = True


class Centre(Process):
    """Takes single messages and quorums over two types, sends to itself, and stops listening to votes."""

    members: Peers = Peers()
    open: bool = True
    asked: frozenset[int] = frozenset()

    @start
    def begin(self) -> None:
        self.send(self.pid, Reset())

    @on(Reset)
    def reset(self, m: Reset) -> None:
        if self.asked and self.open:
            self.asked = frozenset()
            self.send(self.pid, Ask(9))

    @quorum(Vote, size=2, same=lambda m: m.round, where=lambda self, m: self.open)
    def agree(self, votes: frozenset[Vote]) -> None:
        self.open = any(isinstance(each, No) for each in votes)
        self.send(self.members, Done())

    @on(No, when=lambda self, m: m.round == 2 and self.open)
    def refuse(self, m: No) -> None:
        self.send(self.pid, Reset())

    @on(Ask)
    def hear(self, m: Ask) -> None:
        self.asked |= {m.tag}


class Meeting(System):
    members: int = 3
    most: int = 4

    def build(self) -> None:
        centre = self.spawn(Centre)
        members = [self.spawn(Member, hub=centre, number=i) for i in range(self.members)]
        self.connect(centre, members=Peers(members))

    @invariant
    def few_ask(self) -> bool:
        return len(self[Centre][0].asked) < self.most

    @can
    def closes(self) -> bool:
        return not self[Centre][0].open


class Lossy(Meeting):
    network = unordered(losses=1)


class LossyAnyway(Meeting):
    network = unordered(losses="any")


class Copied(Meeting):
    network = unordered(duplicates="any")


class Crashing(Meeting):
    faults = crashes(1, of=Centre, cut_short=False, recover=True)


class CutShort(Meeting):
    """A part of what a step sends depends on all that can be done: there processes stay whole."""

    faults = crashes(1, cut_short=True)


class Counted(Meeting):
    """What the network copies is pending twice: there processes stay whole."""

    network = unordered(duplicates=1)


@pytest.mark.parametrize("options", [PLAIN, REDUCED], ids=["plain", "reduced"])
@pytest.mark.parametrize("kind", [Meeting, Lossy, LossyAnyway, Copied, Counted])
def test_the_same_as_with_whole_cells(kind: type[Meeting], options: dict[str, Any]) -> None:
    compare(kind(members=2), **options)


@pytest.mark.parametrize("options", [PLAIN, REDUCED], ids=["plain", "reduced"])
def test_the_same_run_to_a_violation_for_any_number_of_threads(options: dict[str, Any]) -> None:
    for threads in (1, 2):
        compare(Meeting(most=2), threads=threads, **options)
        compare(Meeting(most=1), threads=threads, all=True, **options)


@pytest.mark.parametrize("kind", [Crashing, CutShort])
def test_crashes(kind: type[Meeting]) -> None:
    compare(kind(members=2), **PLAIN)
    compare(kind(members=2), **REDUCED)


def test_what_is_taken_apart_needs_fewer_numbers() -> None:
    with taken_apart(at_once=False):
        whole = cells(Meeting(), **PLAIN)
    with taken_apart(at_once=True):
        apart = cells(Meeting(), **PLAIN)
    assert apart * 3 < whole


def test_while_it_runs_a_search_takes_apart_what_has_too_many_cells() -> None:
    """Then all states so far become others."""
    with taken_apart(at_once=False):
        whole, count = figures(Meeting(), **PLAIN), cells(Meeting(), **PLAIN)
    before = THRESHOLDS.most_cells, THRESHOLDS.hub_gain
    try:
        for THRESHOLDS.most_cells in (10, 100, 500):
            THRESHOLDS.hub_gain = 2
            for threads in (1, 2):
                assert figures(Meeting(), threads=threads, **PLAIN) == whole
            assert cells(Meeting(), **PLAIN) < count
    finally:
        THRESHOLDS.most_cells, THRESHOLDS.hub_gain = before


@pytest.mark.parametrize(
    "name", ["paxos", "faulty-paxos", "regular-storage", "lock", "chang-roberts", "two-phase-commit"]
)
@pytest.mark.parametrize("options", [PLAIN, REDUCED], ids=["plain", "reduced"])
def test_bundled_protocols(name: str, options: dict[str, Any]) -> None:
    module, cls = CATALOGUE[name].split(":")
    compare(getattr(import_module(module), cls)(), **options)


class First(Process):
    done: bool = False

    @start
    def go(self) -> None:
        self.done = True


class Second(Process):
    done: bool = False

    @start
    def go(self) -> None:
        self.done = True


class ReadsLater(System):
    """The property reads the second process only once the first is done, when steps of both are known already."""

    def build(self) -> None:
        self.spawn(First, 1)
        self.spawn(Second, 1)

    @can
    def both(self) -> bool:
        return all(each.done for each in self[First]) and all(each.done for each in self[Second])


@pytest.mark.parametrize("options", [PLAIN, REDUCED, {"symmetry": "none", "quotient": "off"}])
def test_what_a_property_reads_later_is_seen(options: dict[str, Any]) -> None:
    compare(ReadsLater(), **options)
