"""Ranks: numbers that are only compared, such as time stamps, ballots and terms, without a bound.

    class Prepare(Message):
        ballot: Rank

    self.ballot = max(self.ballot, m.ballot).later()

`Rank()` is the first one. There are order, equality, `max`, `min` and `later()`, and nothing else. So a run with other
numbers in the same order is a run as well, and a search needs to know the order alone (docs/ranks.md).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, NoReturn

from quorate.base.errors import ModelError, caller, is_own_file
from quorate.base.values import RANK, Kind, register
from quorate.base.watchdog import supervised

MOST = 8
"""So many ranks beside the first may occur in one state of a search."""


class RankError(ModelError, TypeError):
    """A rank was used as more than a place in an order."""

    default_code = "Q124"


Ranks = Literal["numbers", "places", "any places"]
"""Numbers, of which `later` is the next one; or places in the order of a whole state, where the ranks are even. There
`later` is the next rank, or a place before it; or any later place, to see whether a handler can tell."""


class Evaluation(NamedTuple):
    """The run of a handler that is under way, and what ranks are there."""

    run: Any
    ranks: Ranks


class _Running:
    """Which handler runs. Models run one at a time."""

    now: Evaluation | None = None


RUNNING = _Running()


class Rank:
    """A number that is only compared; `Rank()` is the first one."""

    __slots__ = ("_value",)

    def __init__(self) -> None:
        _assign(self, 0)

    def later(self) -> Rank:
        """The next number. A search takes it for the next rank that there is, and for one between the two."""
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
        if now.ranks == "numbers":
            return rank(_number(self) + 1)
        end = 2 * MOST + 2 if now.ranks == "any places" else min(_number(self) + 3, 2 * MOST + 2)
        chosen: Rank = now.run.choices.pick("Rank.later", [rank(each) for each in range(_number(self) + 1, end)])
        return chosen

    def _compared(self, other: object) -> int:
        if type(other) is not Rank:
            raise RankError(
                f"a rank was compared with {other!r}, of type {type(other).__name__}",
                hint="a rank is compared with ranks alone; Rank() is the first one",
                location=caller(),
            )
        return _number(other)

    def __eq__(self, other: object) -> bool:
        if type(other) in (int, float):
            self._compared(other)
        return type(other) is Rank and _number(self) == _number(other)

    def __lt__(self, other: Rank) -> bool:
        return _number(self) < self._compared(other)

    def __le__(self, other: Rank) -> bool:
        return _number(self) <= self._compared(other)

    def __gt__(self, other: Rank) -> bool:
        return _number(self) > self._compared(other)

    def __ge__(self, other: Rank) -> bool:
        return _number(self) >= self._compared(other)

    def __hash__(self) -> int:
        return 0x52616E6B  # the same for all: a hash would be a number to compute with

    def __repr__(self) -> str:
        return _shown(self)

    def __reduce_ex__(self, protocol: Any) -> Any:
        if _asked_by_model():
            self._refuse()
        return rank, (_number(self),)

    def __copy__(self) -> Rank:
        return self

    def __deepcopy__(self, _: object) -> Rank:
        return self

    def _refuse(self, *_: Any) -> NoReturn:
        raise RankError(
            "a rank is no number to compute with: only its place among other ranks counts",
            hint="compare it with <, ==, max or min; later() gives a later one; use int if the number matters",
            location=caller(),
        )

    if not TYPE_CHECKING:  # to a type checker there are no such operations, so that it refuses them too
        __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __mod__ = __rmod__ = _refuse
        __floordiv__ = __rfloordiv__ = __truediv__ = __pow__ = __xor__ = __and__ = __or__ = __neg__ = _refuse
        __abs__ = __pos__ = __invert__ = __round__ = __trunc__ = __floor__ = __ceil__ = __divmod__ = __rdivmod__ = (
            _refuse
        )
        __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = __matmul__ = __rmatmul__ = __rpow__ = _refuse
        __rtruediv__ = __rand__ = __ror__ = __rxor__ = _refuse
        __int__ = __index__ = __float__ = __bool__ = __str__ = __format__ = _refuse


_slot: Any = vars(Rank)["_value"]
_number: Callable[[Rank], int] = _slot.__get__
_assign: Callable[[Rank, int], None] = _slot.__set__
del Rank._value  # type: ignore[attr-defined]  # no attribute of a rank tells its number


def _shown(value: Rank) -> str:
    if _asked_by_model():
        value._refuse()
    return f"rank {_number(value)}"


def _asked_by_model() -> bool:
    """Whether a handler, a guard or a property wants to know, and not Quorate for a message to people."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and is_own_file(frame.f_code.co_filename) and _shows(frame.f_code.co_name):
        frame = frame.f_back
    if frame is None or is_own_file(frame.f_code.co_filename):
        return False
    while frame is not None:
        if frame.f_code is supervised.__code__:
            return True
        frame = frame.f_back
    return False


def _shows(name: str) -> bool:
    """Whether a function of ours shows what it is given, whoever asks."""
    return "repr" in name or "show" in name or "reduce" in name or name in ("__str__", "__format__") or name[0] == "<"


def rank(value: int) -> Rank:
    """The rank of that number; for the language, not for models."""
    made = object.__new__(Rank)
    _assign(made, value)
    return made


def number_of(value: Rank) -> int:
    return _number(value)


register(
    Rank,
    Kind(lambda value: value, lambda value: RANK + _number(value).to_bytes(8, "big"), _shown),
    simple=True,
)
