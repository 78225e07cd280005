"""Steps and deliveries are a cache: a search that throws them away again and again finds the same."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

from quorate import Message, Pid, Process, System, check, invariant, on, start
from quorate.native.model import Model
from quorate.protocols import CATALOGUE


class Item(Message):
    number: int


class Receiver(Process):
    count: int = 0

    @on(Item)
    def take(self, item: Item) -> None:
        self.count += 1


class Sender(Process):
    receiver: Pid
    items: int

    @start
    def send_all(self) -> None:
        for number in range(self.items):
            self.send(self.receiver, Item(number))


class Flood(System):
    """The receiver has as many cells as there are states."""

    items: int = 11

    def build(self) -> None:
        receiver = self.spawn(Receiver)
        self.spawn(Sender, receiver=receiver, items=self.items)

    @invariant
    def some_are_left(self) -> bool:
        return self[Receiver][0].count < self.items


@pytest.fixture(params=["kept", "thrown away"])
def cache(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    built = Model.__init__

    def build(self: Model, *args: Any, **kwargs: Any) -> None:
        built(self, *args, **kwargs)
        if request.param == "thrown away":
            self.engine.set_most_step_bytes(0)

    monkeypatch.setattr(Model, "__init__", build)
    return str(request.param)


def figures(system: System, **options: Any) -> tuple[object, ...]:
    result = check(system, **options)
    return result.verdict, result.states, result.transitions, result.depth, result.deadlocks, str(result.trace)


expected: dict[object, tuple[object, ...]] = {}


@pytest.mark.parametrize("threads", [1, 2])
def test_a_process_with_as_many_cells_as_states(cache: str, threads: int) -> None:
    found = figures(Flood(), quotient="off", dead_messages="off", symmetry="none", threads=threads)
    assert found[:2] == ("violated", 2**11 + 1)
    assert expected.setdefault("flood", found) == found


@pytest.mark.parametrize("name", ["paxos", "faulty-paxos", "regular-storage", "raft-election"])
def test_bundled_protocols(cache: str, name: str) -> None:
    module, cls = CATALOGUE[name].split(":")
    found = figures(getattr(import_module(module), cls)())
    assert expected.setdefault(name, found) == found
