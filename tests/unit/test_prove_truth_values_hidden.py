"""Truth values that get among unknown integers by code of the model that a handler does not show."""

import random
from typing import Any, NamedTuple

import pytest
from benchmarks.protocols.unbounded_paxos import UnboundedPaxos

from quorate import Map, Message, Process, System, invariant, on, prove, step
from quorate.model.define import define
from quorate.model.definition import Definition
from quorate.proofs.encode import Encoded
from quorate.proofs.truth_values import may_be_hashed
from successors import Concretely, arbitrary, by_semantics

FLAG = True


class Moving(Process):
    x: int = 0
    y: int = 0
    bad: int = 0

    @step(when=lambda self: self.x < 1)
    def move(self) -> None:
        self.x = self.y = 1


class AProperty(Moving):
    @property
    def to(self) -> bool:
        return self.x > 0

    @step(when=lambda self: self.to in {self.x, 5})
    def go(self) -> None:
        self.bad = 1


class AnAttribute(Moving):
    values = True

    @step(when=lambda self: self.values in {self.x, 5})
    def go(self) -> None:
        self.bad = 1


class Operators(Moving):
    def __contains__(self, value: int) -> bool:
        return (self.x > 0) in {value, 9}

    def __lt__(self, value: int) -> bool:
        return (self.x > 0) in {value, 9}

    def __getitem__(self, at: int) -> bool:
        return self.x > 0

    @step(when=lambda self: self.x in self)
    def go(self) -> None:
        self.bad = 1

    @step(when=lambda self: self < self.x)
    def stay(self) -> None:
        self.bad = 2

    @step(when=lambda self: self[0] in {self.x, 3})
    def come(self) -> None:
        self.bad = 3


class Pair(NamedTuple):
    a: int = 0
    b: int = 0

    def __lt__(self, other: tuple[int, ...]) -> bool:
        return (self.a > 0) in {other[1], 7}

    @property
    def x(self) -> bool:
        return self.a > 0


class OperatorsOfAPair(Moving):
    pair: Pair | None = None

    @step(when=lambda self: True)
    def put(self) -> None:
        self.pair = Pair(self.x, self.y)

    @step(when=lambda self: self.pair is not None and self.pair < self.pair)
    def go(self) -> None:
        self.bad = 1


class APropertyOfAPair(Moving):
    pair: Pair | None = None

    @step(when=lambda self: True)
    def put(self) -> None:
        self.pair = Pair(self.x, self.y)

    @step(when=lambda self: self.pair is not None and self.pair.x in {self.x, 5})
    def go(self) -> None:
        self.bad = 1


class Note(Message):
    v: int

    @property
    def x(self) -> bool:
        return self.v > 0


class APropertyOfAMessage(Moving):
    @step(when=lambda self: True)
    def tell(self) -> None:
        self.send(self.pid, Note(self.x))

    @on(Note)
    def go(self, m: Note) -> None:
        if m.x in {m.v, 5}:
            self.bad = 1


class Assigning(Moving):
    @property
    def put(self) -> int:
        return 0

    @put.setter
    def put(self, value: int) -> None:
        if (self.x > 0) in {value}:
            self.bad = 1

    @step(when=lambda self: True)
    def go(self) -> None:
        self.put = self.x


class AGlobal(Moving):
    m: Map[int, int] = Map()

    @step(when=lambda self: True)
    def keep(self) -> None:
        self.m = Map({self.x: self.y})

    @step(when=lambda self: len(self.m) > 0 and self.m[FLAG] == 1)
    def go(self) -> None:
        self.bad = 1


class AConstant(Moving):
    z: int = True

    @step(when=lambda self: self.z in {self.x, 4})
    def go(self) -> None:
        self.bad = 1


HIDDEN = [
    AConstant,
    AProperty,
    AnAttribute,
    Operators,
    OperatorsOfAPair,
    APropertyOfAPair,
    APropertyOfAMessage,
    Assigning,
    AGlobal,
]


def alone(cls: type[Process]) -> Definition:
    class Alone(System):
        def build(self) -> None:
            self.spawn(cls)

    return define(Alone())


@pytest.mark.parametrize("cls", HIDDEN, ids=lambda cls: cls.__name__)
def test_other_code_of_the_model_counts(cls: type[Process]) -> None:
    definition = alone(cls)
    (spec,) = [column.spec for column in definition.columns]
    goes = [each for each in spec.transitions if each.name in ("go", "stay", "come")]
    for each in goes:
        code = [each.function, each.declaration.when]
        assert any(may_be_hashed(definition, one, [Note]) for one in code if one is not None)
    encoded = Encoded(definition)
    actions, dice = Concretely(encoded), random.Random(3)
    for _ in range(40):
        state = arbitrary(encoded, dice)
        assert actions.successors(state) == by_semantics(definition, state)


def test_ordinary_handlers_are_known_to_have_none() -> None:
    definition = alone(Moving)
    (move,) = definition.columns[0].spec.transitions
    assert not may_be_hashed(definition, move.function)
    assert not may_be_hashed(definition, move.declaration.when)


def test_paxos_needs_no_cases_for_zero_and_one() -> None:
    assert len(Encoded(define(UnboundedPaxos())).actions) == 95


class Flag(Process):
    up: bool = False

    @step(when=lambda self: not self.up)
    def raise_it(self) -> None:
        self.up = True


class AmongConstants(System):
    """All integers are known, and a truth value is looked for among them."""

    def build(self) -> None:
        self.spawn(Flag)

    @invariant
    def never(self) -> bool:
        return not any(each.up in {len(self[Flag]), 4} for each in self[Flag])

    @invariant
    def always(self) -> bool:
        return all(each.up in {0, len(self[Flag])} for each in self[Flag])


def test_truth_values_among_known_integers() -> None:
    def verdict(name: str) -> Any:
        return prove(AmongConstants, property=name, timeout=20).verdict

    assert verdict("never") == "refuted"
    assert verdict("always") == "proved"
