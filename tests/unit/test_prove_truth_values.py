"""True is 1: what a model does with truth values among unknown integers, against the plain semantics."""

import enum
import random
from collections.abc import Callable
from typing import Any

import pytest

from quorate import Event, Map, Message, Monitor, Process, System, check, invariant, on, prove, step
from quorate.model.define import define
from quorate.proofs.encode import Encoded
from quorate.proofs.refusal import RefusedError
from quorate.proofs.truth_values import may_be_hashed
from successors import Concretely, arbitrary, by_semantics


class Thinking(Process):
    x: int = 0
    y: int = 0
    f: bool = False
    g: bool = False
    s: frozenset[int] = frozenset()
    m: Map[int, int] = Map()
    held: bool = False

    @step(when=lambda self: True)
    def think(self) -> None:
        self.held = self.thought()

    def thought(self) -> bool:
        return False

    def others(self) -> None:  # so that they are no constants
        self.x = self.y = 1
        self.f = self.g = True
        self.s, self.m = frozenset(), Map()


ROWS: dict[str, Callable[[Any], bool]] = {
    "a flag in a set of integers": lambda self: self.f in {self.x, 7},
    "a flag in a field": lambda self: self.f in self.s,
    "a comparison in a field": lambda self: (self.x < self.y) in self.s,
    "an integer in a set of flags": lambda self: self.x in {self.f, self.g},
    "as a key": lambda self: {self.x: True}.get(self.f, False),
    "as a key of a map": lambda self: self.m.get(self.f, 0) == 1,
    "in tuples": lambda self: (self.f, self.x) in {(self.y, 1)},
    "in sets of sets": lambda self: frozenset({self.f}) in {frozenset({self.x})},
    "true itself": lambda self: True in {self.x} or {True, 2} == {self.x, self.y},
    "added up": lambda self: (self.f + self.g) in {self.x, self.y},
    "subtracted": lambda self: (self.f - self.g) in {self.x, self.y},
    "negated": lambda self: -self.f in {self.x},
    "inverted": lambda self: ~self.f in {self.x, self.y},
    "shifted": lambda self: (self.f << self.g) in {self.x, self.y},
    "not the same": lambda self: (self.f ^ self.g) in {self.x, self.y},
    "summed from truth": lambda self: sum([self.f, self.g], True) in {self.x},
    "the least": lambda self: min(self.f, self.g) in {self.x},
    "how many there are": lambda self: len({self.x, self.y, self.f}) == 2,
}


def augmented(self: Any) -> bool:
    count = self.f
    count += self.g
    return count in {self.x}


ROWS["added to itself"] = augmented


@pytest.mark.parametrize("name", ROWS)
def test_truth_values_are_found_among_integers(name: str) -> None:
    cls = type("Thinker", (Thinking,), {"thought": ROWS[name], "__module__": __name__, "__annotations__": {}})

    class Thoughts(System):
        def build(self) -> None:
            self.spawn(cls)

    definition = define(Thoughts())
    encoded = Encoded(definition)
    actions, dice = Concretely(encoded), random.Random(3)
    held = set()
    for _ in range(80):
        state = arbitrary(encoded, dice)
        mine = actions.successors(state)
        assert mine == by_semantics(definition, state)
        held |= mine
    assert len(held) > 1


# --- values that are more than integers ------------------------------------------------------------------------------


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Kind(enum.Enum):
    ONE = 0
    TWO = 1


class Climbing(Process):
    level: int = 0
    high: bool = False

    @step(when=lambda self: self.level == 0)
    def climb(self) -> None:
        self.level = Level.HIGH

    @step(when=lambda self: isinstance(self.level, Level))
    def look(self) -> None:
        self.high = True


class Counting(Process):
    kind: Kind = Kind.ONE
    n: int = 0
    bad: bool = False

    @step(when=lambda self: True)
    def count(self) -> None:
        self.kind = self.choose(list(type(self.kind)))
        self.n += 1
        self.bad = self.bad or self.kind.value in {self.n}


class Keeping(Process):
    kept: frozenset[int] = frozenset()

    @step(when=lambda self: True)
    def keep(self) -> None:
        self.kept = {1, 2}  # type: ignore[assignment]


class Halving(Process):
    n: int = 0
    bad: bool = False

    @step(when=lambda self: self.n < 4)
    def halve(self) -> None:
        self.n += 1
        if 0 <= self.n < 5:
            self.bad = self.bad or self.n / 2 in {2, self.n}


class Told(Event):
    what: list[int]


class Telling(Process):
    @step(when=lambda self: True)
    def tell(self) -> None:
        self.emit(Told([1]))


class Hearing(Monitor):
    heard: int = 0

    @on(Told)
    def hear(self, told: Told) -> None:
        self.heard = 1


def one(cls: type[Process], test: Callable[[Any], bool], *, watched: bool = False) -> type[System]:
    class One(System):
        def build(self) -> None:
            self.spawn(cls)
            if watched:
                self.watch(Hearing)

        @invariant
        def fine(self) -> bool:
            return all(test(each) for each in self[cls])

    return One


@pytest.mark.parametrize(
    ("system", "words"),
    [
        (one(Climbing, lambda self: not self.high), "Climbing.level is given"),
        (one(Keeping, lambda self: True), "Keeping.kept is given {1, 2}"),
        (one(Halving, lambda self: not self.bad), "beside floats"),
        (one(Telling, lambda self: True, watched=True), "Told.what holds [1]"),
    ],
    ids=["a member of an enum", "a set", "a float", "a list in an event"],
)
def test_what_is_no_plain_integer_is_refused(system: type[System], words: str) -> None:
    with pytest.raises(RefusedError) as refused:
        prove(system, timeout=20)
    assert words in str(refused.value)
    assert refused.value.location is not None


class Note(Message):
    pass


class InFlight(System):
    """What is pending is read in an invariant."""

    def build(self) -> None:
        self.spawn(Thinking)

    @invariant
    def quiet(self) -> bool:
        return not self.pending(Note)


def test_the_value_of_an_enum_is_found_among_integers() -> None:
    system = one(Counting, lambda self: not self.bad)
    assert check(system(), max_states=100).verdict == "violated"
    assert prove(system(), discover=False, timeout=20).verdict == "refuted"


def test_messages_in_flight_are_refused_in_invariants() -> None:
    with pytest.raises(RefusedError, match="in flight"):
        prove(InFlight)


class Holding(Process):
    n: int = 0
    o: int | None = None
    f: bool = False


class Plain(Process):
    LIMIT = True
    m: int = 0


class Held(System):
    def build(self) -> None:
        self.spawn(Holding, 2)
        self.spawn(Plain)

    @invariant
    def plain(self) -> bool:
        return {h.n for h in self[Holding]} | {None, 3} <= {h.o for h in self[Holding]}

    @invariant
    def summed(self) -> bool:
        return len({h.n + 1 for h in self[Holding] if h.n > 2}) <= 1

    @invariant
    def of_a_flag(self) -> bool:
        return len({h.f for h in self[Holding]}) == 1

    @invariant
    def of_a_comparison(self) -> bool:
        return len({h.n > 1 for h in self[Holding]}) == 1

    @invariant
    def of_truth(self) -> bool:
        return True in {h.n for h in self[Holding]}

    @invariant
    def of_a_constant(self) -> bool:
        return self[Plain][0].LIMIT in {h.n for h in self[Holding]}

    @invariant
    def of_any(self) -> bool:
        return any(h.n > 1 for h in self[Holding]) in {h.n for h in self[Holding]}

    @invariant
    def kept(self) -> bool:
        known = self[Plain][0].m < 2
        return known in {h.n for h in self[Holding]}

    @invariant
    def one_of_two(self) -> bool:
        return (self[Plain][0].m < 2 and self[Holding][0].n) in {h.n for h in self[Holding]}


def test_a_property_without_truth_values_in_sets_is_known() -> None:
    definition = define(Held())
    without = {each.name for each in definition.invariants if not may_be_hashed(definition, each.function)}
    assert without == {"plain", "summed"}


class Zeros(Process):
    x: int = 0
    y: int = 0
    zeros: frozenset[int] = frozenset({0, 5})
    held: frozenset[int] = frozenset()

    @step(when=lambda self: len(self.held) < 2)
    def hold(self) -> None:
        self.held = self.held | {0, self.x}

    @step(when=lambda self: len(self.held & self.zeros) > 0)
    def drop(self) -> None:
        self.held = self.held - {1, self.y}

    @step(when=lambda self: True)
    def count(self) -> None:
        self.x = self.y = self.x + 1


class Zeroing(System):
    def build(self) -> None:
        self.spawn(Zeros)


def test_known_zeros_are_found_where_truth_values_do_not_matter() -> None:
    definition = define(Zeroing())
    encoded = Encoded(definition)
    actions, dice = Concretely(encoded), random.Random(5)
    for _ in range(60):
        state = arbitrary(encoded, dice)
        mine, theirs = actions.successors(state), by_semantics(definition, state)
        assert mine - {("overflow", b"")} <= theirs
        assert mine == theirs or ("overflow", b"") in mine
