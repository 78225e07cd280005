"""What a process sees of a cell is a view of its local state: no part of a state, and not all that it may see."""

from __future__ import annotations

from typing import Any

import pytest

from agreement import PLAIN
from quorate import Constant, Message, Pid, Process, Shared, System, can, check, fifo, final, on, start, step, unordered


class Go(Message): ...


class Extra(Message): ...


class Ping(Message): ...


class Chooser(Process):
    """Takes the Ping in one way whatever the cell holds, and in the other while it holds nothing."""

    cell: Constant[Shared[int]]
    way: Constant[int]
    server: Constant[Pid]
    hidden: int = 2
    done: int = 0

    @step(when=lambda self: self.hidden == 2)
    def begin(self) -> None:
        self.hidden = self.choose((0, self.way))
        self.send(self.server, Go())

    @on(Ping, when=lambda self, m: self.hidden == self.way or (self.hidden == 0 and self.cell.value == 0))
    def take(self, m: Ping) -> None:
        self.hidden, self.done = 5, 1

    @on(Extra, when=lambda self, m: self.hidden == 5)
    def late(self, m: Extra) -> None:
        self.done = 2


class Flipper(Process):
    cell: Constant[Shared[int]]
    to: Constant[Pid]
    said: bool = False
    flipped: bool = False

    @on(Go)
    def say(self, m: Go) -> None:
        self.said = True
        self.send(self.to, Extra())

    @step(when=lambda self: self.said and not self.flipped)
    def flip(self) -> None:
        self.flipped = True
        self.cell.value = 1
        self.send(self.to, Ping())


class Losing(System):
    """The Extra blocks the Ping until it is lost. That leaves the chooser where it is, not where it seems to be."""

    way: int = 10
    network = fifo(losses=1)

    def build(self) -> None:
        cell = self.share("cell", 0)
        chooser = self.spawn(Chooser, cell=cell, way=self.way)
        flipper = self.spawn(Flipper, cell=cell, to=chooser)
        self.connect(chooser, server=flipper)

    @can
    def taken(self) -> bool:
        return any(chooser.done == 1 for chooser in self[Chooser])


@pytest.mark.parametrize("way", range(10, 18))
@pytest.mark.parametrize("options", [PLAIN, {}])
def test_no_view_stands_for_a_local_state(way: int, options: dict[str, Any]) -> None:
    # Which of two equal local states stands for both is decided by a hash: of several ways, some would get a view.
    assert check(Losing(way=way), **options).verdict == "holds"


class Waiter(Process):
    cell: Constant[Shared[int]]
    done: int = 0

    @on(Extra, when=lambda self, m: self.done == 0)
    def end(self, m: Extra) -> None:
        self.done = 2

    @on(Ping, when=lambda self, m: self.done == 0 and self.cell.value == 1)
    def take(self, m: Ping) -> None:
        self.done = 1


class Speaker(Process):
    cell: Constant[Shared[int]]
    to: Constant[Pid]

    @start
    def say(self) -> None:
        self.send(self.to, Extra())
        self.send(self.to, Ping())

    @start
    def flip(self) -> None:
        self.cell.value = 1


class Seeing(System):
    """While the cell holds nothing the Ping is dead for what the waiter sees; not for the waiter."""

    network = unordered(losses=1)

    def build(self) -> None:
        cell = self.share("cell", 0)
        waiter = self.spawn(Waiter, cell=cell)
        self.spawn(Speaker, cell=cell, to=waiter)

    @final
    def done(self) -> bool:
        return all(waiter.done for waiter in self[Waiter])

    @can
    def taken(self) -> bool:
        return any(waiter.done == 1 for waiter in self[Waiter])


@pytest.mark.parametrize("options", [PLAIN, {}, {"quotient": "off"}, {"por": "lpor-net"}])
def test_a_message_is_not_dead_for_what_is_seen_now(options: dict[str, Any]) -> None:
    assert check(Seeing, **options).verdict == "holds"
