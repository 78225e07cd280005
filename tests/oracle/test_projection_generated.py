"""Generated clients of a replicated register: their runs with three servers are runs of the subsystem.

Each client has a list of rounds: a query, a store of a stamp of its own, of the highest stamp it has found, or of a
higher one. It tells when a round begins and when it ends, with what it found.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from quorate import Event, Message, Monitor, Peers, Process, System, majority, on, quorum, step
from quorate.model.define import define
from quorate.native.backend import NativeBackend, Request
from quorate.native.model import Model
from quorate.projection.answering import Servers, find_servers
from quorate.projection.rounds import Rounds
from quorate.projection.subsystem import subsystem

Stamp = tuple[int, int]


class Put(Message):
    turn: int
    stamp: Stamp


class Done(Message):
    turn: int


class Get(Message):
    turn: int


class Got(Message):
    turn: int
    stamp: Stamp


class Began(Event):
    turn: int
    stamp: Stamp


class Ended(Event):
    turn: int
    stamp: Stamp


class Cell(Process):
    stamp: Stamp = (0, 0)

    @on(Put)
    def put(self, m: Put) -> None:
        self.stamp = max(self.stamp, m.stamp)
        self.reply(Done(m.turn))

    @on(Get)
    def get(self, m: Get) -> None:
        self.reply(Got(m.turn, self.stamp))


class Client(Process):
    cells: Peers
    majority: int
    number: int
    program: tuple[str, ...]
    turn: int = 0
    busy: bool = False
    found: Stamp = (0, 0)

    @step(when=lambda self: not self.busy and self.turn < len(self.program))
    def begin(self) -> None:
        kind = self.program[self.turn]
        self.turn, self.busy = self.turn + 1, True
        stamp = {"own": (self.number, self.number), "higher": (self.found[0] + 1, self.number)}.get(kind, self.found)
        self.emit(Began(self.turn, stamp))
        self.send(self.cells, Get(self.turn) if kind == "query" else Put(self.turn, stamp))

    @quorum(Got, size="majority", when=lambda self: self.busy, where=lambda self, m: m.turn == self.turn)
    def found_out(self, answers: frozenset[Got]) -> None:
        self.busy, self.found = False, max(m.stamp for m in answers)
        self.emit(Ended(self.turn, self.found))

    @quorum(Done, size="majority", when=lambda self: self.busy, where=lambda self, m: m.turn == self.turn)
    def stored(self, answers: frozenset[Done]) -> None:
        self.busy = False
        self.emit(Ended(self.turn, self.found))


class Log(Monitor):
    seen: tuple[Any, ...] = ()

    @on(Event)
    def note(self, e: Event) -> None:
        self.seen = (*self.seen, e)


class Generated(System):
    cells: int = 3
    seed: int = 0

    def build(self) -> None:
        cells = self.spawn(Cell, self.cells)
        for number, program in enumerate(programs(self.seed), 1):
            self.spawn(Client, cells=cells, majority=majority(self.cells), number=number, program=program)
        self.watch(Log)


def programs(seed: int) -> list[tuple[str, ...]]:
    chance = random.Random(seed)
    lengths = chance.choice([(1, 1, 1), (2, 1), (1, 2), (2, 2), (3, 1)])
    kinds = ("query", "own", "found", "higher")
    return [tuple(chance.choices(kinds, weights=(4, 2, 1, 2), k=length)) for length in lengths]


def runs(system: System) -> set[str]:
    definition = define(system)
    model = Model(definition, ())
    assert NativeBackend(model).search(Request("breadth_first", False)).stop == "finished"
    (log,) = definition.monitors
    return {"; ".join(f"{e.source}: {e}" for e in local[0]) for local in model.numbered_locals[log.index]}


@pytest.mark.parametrize("seed", range(24))
def test_runs_with_three_servers_are_runs_of_the_subsystem(seed: int) -> None:
    system = Generated(seed=seed)
    parameter, server = find_servers(system)
    assert parameter == "cells"
    shape = Rounds(Servers(define(system), server))
    small = subsystem(system, parameter, server, shape, frozenset())
    stores = sum(each.kind == "store" for each in shape.rounds)
    with_three, of_subsystem = runs(system), runs(small.system)
    assert with_three <= of_subsystem
    if stores <= 1:  # three servers are one more than a quorum, which the converse needs for one store
        assert with_three == of_subsystem
