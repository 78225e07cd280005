"""The subsystem that stands for any number of servers, held against real numbers of servers.

A monitor writes down all that clients emit. What it comes to hold in a search are the runs as far as operations can be
seen: those of the subsystem have to be those of the full system.
"""

from __future__ import annotations

from typing import Any

import pytest

from quorate import (
    Event,
    Message,
    Monitor,
    Peers,
    Process,
    System,
    check,
    invariant,
    majority,
    on,
    quorum,
    start,
    step,
)
from quorate.base.values import show
from quorate.model.define import define
from quorate.native import model as native
from quorate.native.backend import NativeBackend, Request
from quorate.projection.answering import Servers, find_servers
from quorate.projection.project import project
from quorate.projection.rounds import Rounds
from quorate.projection.subsystem import subsystem
from quorate.protocols.atomic_storage import AtomicStorage
from quorate.protocols.multi_writer_storage import MultiWriterStorage
from quorate.protocols.regular_storage import RegularStorage


class Log(Monitor):
    seen: tuple[Any, ...] = ()

    @on(Event)
    def note(self, e: Event) -> None:
        self.seen = (*self.seen, (str(e.source), show(e)))


class LoggedRegular(RegularStorage):
    def build(self) -> None:
        super().build()
        self.watch(Log)


class LoggedAtomic(AtomicStorage):
    def build(self) -> None:
        super().build()
        self.watch(Log)


class LoggedMultiWriter(MultiWriterStorage):
    def build(self) -> None:
        super().build()
        self.watch(Log)


def runs(system: System) -> set[Any]:
    """Every sequence of events that a run begins with."""
    definition = define(system)
    model = native.Model(definition, ())
    assert NativeBackend(model).search(Request("breadth_first", False)).stop == "finished"
    (log,) = [column for column in definition.monitors if column.cls is Log]
    return {local[0] for local in model.numbered_locals[log.index]}


def projected(system: System, without: frozenset[int] = frozenset()) -> System:
    parameter, server = find_servers(system)
    return subsystem(system, parameter, server, Rounds(Servers(define(system), server)), without).system


@pytest.mark.parametrize("bases", [3, 4, 5])
def test_one_write_and_one_read_have_the_runs_of_any_number_of_servers(bases: int) -> None:
    assert runs(projected(LoggedRegular())) == runs(LoggedRegular(bases=bases))


@pytest.mark.parametrize(
    "system",
    [
        LoggedRegular(writes=2),
        LoggedRegular(writes=1, readers=2),
        LoggedAtomic(readers=1, writes=2),
        LoggedAtomic(readers=2, writes=1, write_back=False),
    ],
    ids=str,
)
def test_the_runs_of_the_subsystem_are_those_of_three_servers(system: System) -> None:
    """One writer: of its stores only one is under way at a time, so three servers have all runs already."""
    found = runs(projected(system))
    assert found == runs(system)
    assert len(found) > 30


def test_runs_with_many_writers_are_among_those_of_the_subsystem() -> None:
    system = LoggedMultiWriter(writers=2, readers=0)
    assert runs(system) <= runs(projected(system))


def test_a_left_out_server_adds_runs() -> None:
    system = LoggedRegular()
    whole, less = runs(projected(system)), runs(projected(system, frozenset({0})))
    assert less - whole


class Put(Message):
    time: int


class Done(Message): ...


class Get(Message):
    turn: int


class Got(Message):
    turn: int
    time: int


class Cell(Process):
    time: int = 0

    @on(Put)
    def put(self, m: Put) -> None:
        self.time = max(self.time, m.time)
        self.reply(Done())

    @on(Get)
    def get(self, m: Get) -> None:
        self.reply(Got(m.turn, self.time))


class Putter(Process):
    cells: Peers
    time: int

    @start
    def begin(self) -> None:
        self.send(self.cells, Put(self.time))


class Getter(Process):
    cells: Peers
    majority: int
    found: tuple[int, ...] = ()
    turn: int = 0
    busy: bool = False

    @step(when=lambda self: not self.busy and self.turn < 3)
    def ask(self) -> None:
        self.turn, self.busy = self.turn + 1, True
        self.send(self.cells, Get(self.turn))

    @quorum(Got, size="majority", when=lambda self: self.busy, where=lambda self, m: m.turn == self.turn)
    def answered(self, answers: frozenset[Got]) -> None:
        self.busy, self.found = False, (*self.found, max(m.time for m in answers))


class TwoUnderWay(System):
    """Two stores that never end, and three queries: one sees the second, one the first, and then one sees nothing."""

    cells: int = 3

    def build(self) -> None:
        cells = self.spawn(Cell, self.cells)
        for time in (1, 2):
            self.spawn(Putter, cells=cells, time=time)
        self.spawn(Getter, cells=cells, majority=majority(self.cells))

    @invariant
    def not_forgotten(self) -> bool:
        return all(getter.found != (2, 1, 0) for getter in self[Getter])


def test_a_run_of_the_subsystem_needs_as_many_servers_more_as_there_are_stores() -> None:
    """With n servers and quorums of q, the subsystem has the runs of the full system if n - q >= 2, the stores."""
    assert check(TwoUnderWay(cells=3)).verdict == "holds"
    assert check(TwoUnderWay(cells=4)).verdict == "holds"
    found = project(TwoUnderWay())
    assert (found.verdict, found.stores, found.result.verdict) == ("violated", 2, "violated")
    assert found.shown is not None
    assert found.shown.parameters == {"cells": 5}
    assert found.shown.trace is not None


@pytest.mark.parametrize(
    "system",
    [
        RegularStorage(writes=2),
        AtomicStorage(readers=2),
        AtomicStorage(readers=2, write_back=False),
        MultiWriterStorage(writers=2, readers=1),
        MultiWriterStorage(writers=2, tell_apart=False),
    ],
    ids=str,
)
def test_the_verdict_is_that_of_three_and_four_servers(system: System) -> None:
    found = project(system).verdict
    for bases in (3, 4):
        full = type(system)(**{**system.parameters, "bases": bases})
        limited = check(full, symmetry="auto", max_states=400_000, trace=False).verdict
        assert limited in (found, "incomplete")


@pytest.mark.parametrize("system", [RegularStorage(writes=2), AtomicStorage(readers=2, writes=2)], ids=str)
def test_every_server_is_needed(system: System) -> None:
    found = project(system, needed=True)
    assert found.verdict == "holds"
    assert found.needed is not None
    assert len(found.needed) == len(found.pairs) >= 2
    assert None not in found.needed


def test_operations_end_where_a_quorum_stays_up() -> None:
    found = project(RegularStorage(), ltl="F all_served")
    assert found.verdict == "holds"
    assert [each.name for each in found.result.properties] == ["F all_served"]
