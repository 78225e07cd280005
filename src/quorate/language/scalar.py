"""Scalarsets: values that are only compared for equality, so that one can stand for another.

    class Value(Scalar):
        pass

    values = self.scalars(Value, 3)        # in `build`: value1, value2, value3

Identities of processes are such values by themselves. Declaring others tells the checker that a run with two of them
exchanged is a run as well; it believes that only after a check, like everything about symmetry.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from quorate.base.errors import IdentityError, ModelError, caller
from quorate.base.values import SCALAR, Kind, class_token, register


class Scalar:
    """An opaque value: it can be compared with ==, stored, sent and used as a key, but not ordered or computed with."""

    __slots__ = ("_encoded", "_index", "_name")
    _index: int
    _name: str
    _encoded: bytes

    def __init__(self, *_: Any, **__: Any) -> None:
        name = type(self).__name__
        raise ModelError(
            f"{name}(...) was called: scalars are made by their system",
            hint=f"in `build`, write self.scalars({name}, 3), and give them to processes",
            code="Q108",
            location=caller(),
        )

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        register(cls, Kind(lambda value: value, lambda value: value._encoded, str), simple=True)

    def __eq__(self, other: object) -> bool:
        return self is other or (type(self) is type(other) and self._encoded == other._encoded)

    def __hash__(self) -> int:
        return self._index

    def __str__(self) -> str:
        return self._name

    __repr__ = __str__

    def _refuse(self, *_: Any) -> NoReturn:
        raise IdentityError(
            f"{self._name} is one of a scalarset, not a number: it cannot be ordered or used in arithmetic",
            hint="compare with == only; use int if the order matters",
            location=caller(),
        )

    if not TYPE_CHECKING:  # to a type checker there are no such operations, so that it refuses them too
        __lt__ = __le__ = __gt__ = __ge__ = _refuse
        __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __mod__ = __rmod__ = _refuse
        __floordiv__ = __xor__ = __and__ = __or__ = __neg__ = _refuse
        __int__ = __index__ = __float__ = _refuse


def scalar(cls: Any, index: int) -> Any:
    """One of a scalarset; for the language, not for models."""
    made = object.__new__(cls)
    made._index = index
    made._name = f"{cls.__name__.lower()}{index + 1}"
    made._encoded = SCALAR + class_token(cls) + index.to_bytes(4, "big")
    return made
