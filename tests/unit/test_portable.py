"""Values on their way to another process: what is read is what was written, and reading runs no code of the model."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, Flag
from random import Random
from typing import Any, NamedTuple

import pytest

import corpus
from generator import Protocol
from quorate import Map, Message, Process, System, step
from quorate.base.values import encode, freeze, show
from quorate.model.define import define
from quorate.model.outcome import Crashed
from quorate.native.portable import PortableError, Reader, dump
from quorate.semantics.state import initial_states
from quorate.semantics.steps import steps


class Colour(Enum):
    RED = 1
    GREEN = "g"


class Rights(Flag):
    READ = 1
    WRITE = 2


class Point(NamedTuple):
    x: int
    y: Any


@dataclass(frozen=True)
class Held:
    what: Any

    def __post_init__(self) -> None:
        raise AssertionError("made by reading")


class Note(Message):
    text: Any = None


class Member(Process):
    held: Any = None

    @step(when=lambda self: False)
    def nothing(self) -> None: ...


class Members(System):
    def build(self) -> None:
        self.spawn(Member)
        self.spawn(Member)


def held(what: Any) -> Held:
    made = object.__new__(Held)
    object.__setattr__(made, "what", what)
    return made


DEFINITION = define(Members())
PIDS = [column.pid for column in DEFINITION.columns]

VALUES = [
    None, True, False, 0, 1, -1, 127, 128, -128, -129, 255, 2**64, -(2**200), "", "né\x00\ud800", b"", b"\x00\x01",
    (), (1, (2, "x")), frozenset(), frozenset({1, 2, "a"}), Map({1: 2, "k": (3,)}), Colour.RED, Colour.GREEN,
    Rights.READ, Rights.READ | Rights.WRITE, Rights(0), Point(1, None), held((1, frozenset({2}))), *PIDS,
    (Note(text=1), PIDS[0]), Note(text=held(None)), Crashed((1, "x")),
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=show)
def test_what_is_read_is_what_was_written(value: Any) -> None:
    value = value if isinstance(value, Crashed) else freeze(value)
    read = Reader(DEFINITION).load(dump(value))
    assert type(read) is type(value)
    assert encode(read) == encode(value)


@corpus.each(corpus.few_states, 30)
def test_states_of_generated_protocols(protocol: Protocol, dice: Random) -> None:
    definition = define(corpus.built(protocol))
    reader = Reader(definition)
    state = initial_states(definition)[0]
    for _ in range(12):
        for value in (*state.locals, *(each for inbox in state.pending for each in inbox)):
            assert encode(reader.load(dump(value))) == encode(value)
        following = [each.next for each in steps(definition, state) if each.next is not None]
        if not following:
            return
        state = dice.choice(following)


@pytest.mark.parametrize("written", [b"", b"?", b"p\x63", b"t\x05N", b"r\x03a@b\x00\x00", dump(PIDS[0])[:1]])
def test_what_means_nothing_is_an_error_with_a_code(written: bytes) -> None:
    with pytest.raises(PortableError) as caught:
        Reader(DEFINITION).load(written)
    assert caught.value.code == "Q511"
