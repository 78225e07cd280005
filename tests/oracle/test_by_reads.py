"""What a transition does is known from what it has read elsewhere: the same states, steps and verdicts as by running.

Each model has a way of reading, or of not reading, that a careless record gets wrong (docs/soundness.md, rule 39).
"""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from agreement import PLAIN, agree
from quorate import Message, Peers, Pid, Process, System, _core, check, invariant, on, quorum, start, step
from quorate.base.errors import ModelError
from quorate.model.touched import Record
from quorate.native.model import Model


class Go(Message):
    number: int


class Counting(Process):
    """Changes a field that the other transitions do not read."""

    ticks: int = 0

    @step(when=lambda self: self.ticks < 6)
    def tick(self) -> None:
        self.ticks += 1


class Sender(Process):
    to: Pid

    @start
    def begin(self) -> None:
        for number in range(3):
            self.send(self.to, Go(number))


class Plain(Counting):
    total: int = 0

    @on(Go, when=lambda self, m: self.total < 9)
    def go(self, m: Go) -> None:
        self.total += 3 * m.number + 1


class ByDictionary(Counting):
    total: int = 0

    @on(Go)
    def go(self, m: Go) -> None:
        self.total = sum(value for value in vars(self).values() if type(value) is int)


class ByName(Counting):
    total: int = 0

    @on(Go)
    def go(self, m: Go) -> None:
        self.total = object.__getattribute__(self, "ticks" if m.number else "total")


class OnSomeWays(Counting):
    """One way assigns what the other leaves alone: where they do the same, they are told as one."""

    flag: bool = False

    @on(Go)
    def go(self, m: Go) -> None:
        if self.choose((True, False)):
            self.flag = True


class OnTheWay(Counting):
    """Reads a field after another one has a certain value."""

    seen: tuple[int, ...] = ()

    @on(Go)
    def go(self, m: Go) -> None:
        if len(self.seen) != 1 or self.ticks > 2:
            self.seen = (*self.seen, m.number)


class Assigned(Counting):
    """Assigns without reading, the value that is there already or another one."""

    last: int = 0
    bound: int = 2

    def within(self) -> bool:
        return self.last <= self.bound or self.ticks < 4

    @on(Go)
    def go(self, m: Go) -> None:
        self.last = m.number
        self.bound = 1


class Sized(Counting):
    peers: Peers = Peers()
    total: int = 0

    @quorum(Go, size=lambda self: 1 + self.ticks % 2, where=lambda self, m: m.number != self.total)
    def go(self, messages: frozenset[Go]) -> None:
        self.total += max(each.number for each in messages)


class Reading(System):
    def __init_subclass__(cls, reader: type[Process], **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.reader = reader

    reader: ClassVar[type[Process]] = Plain

    def build(self) -> None:
        reader = self.spawn(self.reader)
        for _ in range(2):
            self.spawn(Sender, to=reader)

    @invariant
    def early(self) -> bool:
        return all(each.ticks < 5 for each in self[Counting])


def reading(reader: type[Process]) -> System:
    made: type[System] = type(f"Reads{reader.__name__}", (Reading,), {"__module__": __name__}, reader=reader)
    return made()


READERS = [Plain, ByDictionary, ByName, OnSomeWays, OnTheWay, Assigned, Sized]


@pytest.mark.parametrize("reader", READERS)
def test_the_same_as_by_running_every_handler(reader: type[Process]) -> None:
    agree(reading(reader))


def figures(system: System) -> tuple[object, ...]:
    found = check(system, property="assertions", **PLAIN)
    return found.states, found.transitions, found.depth, found.deadlocks


def test_handlers_are_run_once_for_what_they_read(monkeypatch: pytest.MonkeyPatch) -> None:
    system = reading(Plain)
    recalled = check(system, **PLAIN)
    monkeypatch.setattr(Model, "recalls", property(lambda _: False, lambda *_: None), raising=False)
    asked = check(system, **PLAIN)
    assert (recalled.states, recalled.transitions) == (asked.states, asked.transitions)
    assert recalled.python_calls < 0.6 * asked.python_calls


def test_without_counting_what_some_ways_assign_a_state_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    right = figures(reading(OnSomeWays))

    def careless(self: Record) -> tuple[list[int], list[int]]:
        return list(self.reads), []

    monkeypatch.setattr(Record, "close", careless)
    monkeypatch.setattr(Model, "_learn", _unchecked)
    assert figures(reading(OnSomeWays)) != right


def _unchecked(self: Model, column: Any, transition: Any, local: int, kind: Any, subject: int, *read: Any) -> None:
    """As `Model._learn`, but takes no notice if another answer is there already."""
    fields = dict(zip(("read", "assigned"), read, strict=False))
    about = _core.Record(kind=kind, transition=transition.index, subject=subject, **fields)
    self.engine.learn(column.index, local, about)


class PastTheRecord(Counting):
    total: int = 0

    @on(Go)
    def go(self, m: Go) -> None:
        self.total = self._run.local[0]


def test_what_is_read_past_the_record_is_noticed() -> None:
    """Asked again now and then, a handler that does something else where nothing differs that it read is refused."""
    with pytest.raises(ModelError, match="agree on every field it has read") as caught:
        check(reading(PastTheRecord), **PLAIN)
    assert caught.value.code == "Q104"


def test_a_field_of_the_class_has_its_default() -> None:
    assert Plain.total == 0
    assert not hasattr(Sender, "to")
