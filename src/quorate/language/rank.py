"""Ranks: numbers that are only compared, such as time stamps, ballots and terms, without a bound.

    class Prepare(Message):
        ballot: Rank

    self.ballot = max(self.ballot, m.ballot).later()

`Rank()` is the first one. There are order, equality, `max`, `min` and `later()`, and nothing else. So a run with other
numbers in the same order is a run as well, and a search needs to know the order alone (docs/ranks.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from quorate.base.errors import ModelError, caller
from quorate.base.values import RANK, Kind, register

MOST = 8
"""So many ranks beside the first may occur in one state of a search."""


class RankError(ModelError, TypeError):
    """A rank was used as more than a place in an order."""

    default_code = "Q124"


class Evaluation(NamedTuple):
    """The run of a handler that is under way, and whether ranks are places in the order of a whole state."""

    run: Any
    places: bool


class _Running:
    """Which handler runs. Models run one at a time."""

    now: Evaluation | None = None


RUNNING = _Running()


class Rank:
    """A number that is only compared; `Rank()` is the first one."""

    __slots__ = ("_value",)
    _value: int

    def __init__(self) -> None:
        self._value = 0

    def later(self) -> Rank:
        """A later one: the next number. Where others are later already, a search takes it for any later number."""
        now = RUNNING.now
        if now is None or now.run.closed:
            raise ModelError(
                "later() was called outside of the body of a transition",
                hint="a guard, a property or `build` only compares; Rank() is the first rank",
                code="Q108",
                location=caller(),
            )
        if now.run.later:
            raise ModelError(
                "later() was called twice in one step",
                hint="take a step for each new rank, or use the one that was made",
                code="Q125",
                location=caller(),
            )
        now.run.later = True
        if not now.places:
            return rank(self._value + 1)
        chosen: Rank = now.run.choices.pick("Rank.later", [rank(each) for each in range(self._value + 1, 2 * MOST + 2)])
        return chosen

    def _compared(self, other: object) -> int:
        if type(other) is not Rank:
            raise RankError(
                f"a rank was compared with {other!r}, of type {type(other).__name__}",
                hint="a rank is compared with ranks alone; Rank() is the first one",
                location=caller(),
            )
        return other._value

    def __eq__(self, other: object) -> bool:
        if type(other) in (int, float):
            self._compared(other)
        return type(other) is Rank and self._value == other._value

    def __lt__(self, other: Rank) -> bool:
        return self._value < self._compared(other)

    def __le__(self, other: Rank) -> bool:
        return self._value <= self._compared(other)

    def __gt__(self, other: Rank) -> bool:
        return self._value > self._compared(other)

    def __ge__(self, other: Rank) -> bool:
        return self._value >= self._compared(other)

    def __hash__(self) -> int:
        return 0x52616E6B  # the same for all: a hash would be a number to compute with

    def __repr__(self) -> str:
        return f"rank {self._value}"

    def _refuse(self, *_: Any) -> NoReturn:
        raise RankError(
            "a rank is no number to compute with: only its place among other ranks counts",
            hint="compare it with <, ==, max or min; later() gives a later one; use int if the number matters",
            location=caller(),
        )

    if not TYPE_CHECKING:  # to a type checker there are no such operations, so that it refuses them too
        __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __mod__ = __rmod__ = _refuse
        __floordiv__ = __rfloordiv__ = __truediv__ = __pow__ = __xor__ = __and__ = __or__ = __neg__ = _refuse
        __int__ = __index__ = __float__ = __bool__ = __str__ = __format__ = _refuse


def rank(value: int) -> Rank:
    """The rank of that number; for the language, not for models."""
    made = object.__new__(Rank)
    made._value = value
    return made


def number_of(value: Rank) -> int:
    return value._value


register(
    Rank,
    Kind(lambda value: value, lambda value: RANK + value._value.to_bytes(8, "big"), lambda value: repr(value)),
    simple=True,
)
