"""Shared cells and reductions: a small system for each condition, which gets a wrong answer without it."""

from __future__ import annotations

import pytest

from agreement import PLAIN
from quorate import Constant, Message, Pid, Process, Shared, System, check, invariant, on, start, step


class Go(Message): ...


class Writer(Process):
    cell: Constant[Shared[int]]
    wrote: bool = False

    @start
    def write(self) -> None:
        self.cell.value = 1
        self.wrote = True


class Mover(Process):
    moved: bool = False

    @start
    def move(self) -> None:
        self.moved = True


class Bounded(Mover):
    """Its only step is cut."""

    def within(self) -> bool:
        return not self.moved


class Looker(Process):
    cell: Constant[Shared[int]]
    saw: int = -1
    won: bool = False

    @step(when=lambda self: self.saw == -1)
    def look(self) -> None:
        self.saw = self.cell.value

    @step(when=lambda self: self.saw == 1)
    def win(self) -> None:
        self.won = True


class Hearer(Process):
    deaf: bool = False
    won: bool = False

    @start
    def turn_away(self) -> None:
        self.deaf = True

    @on(Go, when=lambda self, m: not self.deaf)
    def hear(self, m: Go) -> None:
        self.won = True


class Caller(Writer):
    other: Constant[Pid]

    @start
    def write(self) -> None:
        self.cell.value = 1
        self.send(self.other, Go())


class Chooser(Process):
    one: Constant[Shared[int]]
    two: Constant[Shared[int]]
    which: int = 0
    won: bool = False

    @step(when=lambda self: self.which == 0)
    def pick(self) -> None:
        self.which = self.choose([1, 2])

    @step(when=lambda self: self.which > 0 and not self.won)
    def win(self) -> None:
        if (self.one if self.which == 1 else self.two).value == 1:
            self.won = True


class Sees(System):
    def build(self) -> None:
        self.spawn(Writer, cell=self.share("cell", 0))
        self.spawn(Mover)

    @invariant
    def never(self) -> bool:
        return not self[Writer][0].wrote or self[Mover][0].moved


class Cut(System):
    def build(self) -> None:
        self.spawn(Writer, cell=self.share("cell", 0))
        self.spawn(Bounded)

    @invariant
    def never(self) -> bool:
        return not self[Writer][0].wrote


class Looks(System):
    def build(self) -> None:
        cell = self.share("cell", 0)
        self.spawn(Writer, cell=cell)
        self.spawn(Looker, cell=cell)

    @invariant
    def never(self) -> bool:
        return not self[Looker][0].won


class Hears(System):
    def build(self) -> None:
        self.spawn(Caller, cell=self.share("cell", 0), other=self.spawn(Hearer))

    @invariant
    def never(self) -> bool:
        return not self[Hearer][0].won


class Late(Process):
    """Writes after two messages, of which only one comes; the closure does not count them."""

    cell: Constant[Shared[int]]
    heard: int = 0

    @on(Go, when=lambda self, m: self.heard < 2)
    def hear(self, m: Go) -> None:
        self.heard += 1

    @step(when=lambda self: self.heard == 2)
    def write(self) -> None:
        self.heard = 3
        self.cell.value = 1


class Which(System):
    """Two local states that do the same with what they read, and read different cells with the same values."""

    second: bool = False

    def build(self) -> None:
        one, two = self.share("one", 0), self.share("two", 0)
        written, other = (two, one) if self.second else (one, two)
        self.spawn(Caller, cell=written, other=self.spawn(Late, cell=other))
        self.spawn(Chooser, one=one, two=two)

    @invariant
    def never(self) -> bool:
        return not self[Chooser][0].won


@pytest.mark.parametrize("system", [Sees(), Cut(), Looks(), Hears(), Which(), Which(second=True)], ids=str)
def test_a_violation_is_not_missed(system: System) -> None:
    for options in (PLAIN, {}, {"por": "lpor"}, {"por": "lpor-net", **PLAIN}):
        found = check(system, **options)
        assert (found.verdict, found.property) == ("violated", "never"), options
        if "por" in options:
            assert found.reductions["por"]["ran"]
