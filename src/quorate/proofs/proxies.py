"""Integers and conditions that are not known: what handlers, guards and properties compute with in place of numbers.

Asking a condition for its truth decides it, on the path that is being taken (paths.py). Only integers are unknown; all
structure around them is ordinary Python.

Sets find their elements by hash first. All unknown integers have the same hash, so that a set compares them; but a
plain integer has its own, and would never be compared with an unknown one that may be equal to it. So no plain integer
may get into a model's hands while unknown ones are hashed: lifting.py sees to that.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import Enum
from typing import Any, NoReturn

from quorate.base import values as plain_values
from quorate.base.values import ContentSet
from quorate.language import maps, message
from quorate.language.maps import Map
from quorate.language.message import VIEWS, Record
from quorate.language.pid import Pid
from quorate.proofs.paths import Path
from quorate.proofs.refusal import RefusedError
from quorate.proofs.terms import (
    FALSE,
    TRUE,
    Term,
    add,
    boolean,
    conjunction,
    disjunction,
    equal,
    floor_div,
    ge,
    ite,
    lt,
    modulo,
    negation,
    number,
    times,
    value_of,
)

HASH = 0x5EED
MOST_INDEX = 16
"""Where Python needs a number itself, each number below this is a case of its own."""


class _Running:
    path: Path | None = None
    hashed: bool = False


running = _Running()


@contextmanager
def taking(path: Path) -> Iterator[None]:
    """Decide conditions on this path."""
    before, running.path = running.path, path
    path.outer = before
    try:
        yield
    finally:
        running.path = before


def current() -> Path:
    """The path that is being taken."""
    if running.path is None:
        raise RuntimeError("unknown integers were read outside of a path")
    return running.path


def decide(condition: Term) -> bool:
    if condition.op == "bool":
        return condition is TRUE
    return current().decide(condition)


class SymBool:
    """A condition that is not known until it is asked for."""

    __slots__ = ("term",)

    def __init__(self, term: Term) -> None:
        self.term = term

    def __bool__(self) -> bool:
        return decide(self.term)

    def __and__(self, other: Any) -> Any:
        term = condition_of(other)
        return NotImplemented if term is None else truth(conjunction([self.term, term]))

    def __or__(self, other: Any) -> Any:
        term = condition_of(other)
        return NotImplemented if term is None else truth(disjunction([self.term, term]))

    def __xor__(self, other: Any) -> Any:
        term = condition_of(other)
        return NotImplemented if term is None else truth(negation(equal(self.term, term)))

    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__

    def __eq__(self, other: object) -> Any:
        term = condition_of(other)
        return bool(self) == other if term is None else truth(equal(self.term, term))

    def __ne__(self, other: object) -> Any:
        return truth(negation(condition_of(self == other) or FALSE))

    def __hash__(self) -> int:
        return hash(bool(self))

    def __index__(self) -> int:
        return int(bool(self))

    __int__ = __index__

    def __add__(self, other: Any) -> Any:
        return SymInt(ite(self.term, number(1), number(0))) + other

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return SymInt(ite(self.term, number(1), number(0))) - other

    def __repr__(self) -> str:
        return f"<{self.term}>"


def truth(term: Term) -> Any:
    """The condition, as a plain bool if it is one."""
    return term is TRUE if term.op == "bool" else SymBool(term)


def condition_of(value: object) -> Term | None:
    if isinstance(value, SymBool):
        return value.term
    return boolean(value) if type(value) is bool else None


def term_of(value: object) -> Term | None:
    """The integer term of a value, if it is an integer."""
    if isinstance(value, SymInt):
        return value.term
    if isinstance(value, SymBool):
        return ite(value.term, number(1), number(0))
    return number(int(value)) if isinstance(value, int) else None


class SymInt:
    """An integer that need not be known."""

    __slots__ = ("term",)

    def __init__(self, term: Term) -> None:
        self.term = term

    @property
    def known(self) -> int | None:
        return value_of(self.term)

    def __add__(self, other: Any) -> Any:
        term = term_of(other)
        return NotImplemented if term is None else SymInt(add(self.term, term))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        term = term_of(other)
        return NotImplemented if term is None else SymInt(add(self.term, term, -1))

    def __rsub__(self, other: Any) -> Any:
        term = term_of(other)
        return NotImplemented if term is None else SymInt(add(term, self.term, -1))

    def __mul__(self, other: Any) -> Any:
        term = term_of(other)
        if term is None:
            return other * self.exactly("repeats a sequence") if hasattr(other, "__len__") else NotImplemented
        one, two = value_of(self.term), value_of(term)
        if one is None and two is None:
            raise RefusedError("multiplies two integers that have no bound", "multiply by a constant, or use addition")
        return SymInt(times(one, term) if one is not None else times(two or 0, self.term))

    __rmul__ = __mul__

    def _divided(self, other: Any, how: Any, what: str) -> Any:
        term = term_of(other)
        if term is None:
            return NotImplemented
        divisor = value_of(term)
        if divisor is None:
            raise RefusedError(f"{what} by an integer that has no bound", "use a constant")
        if divisor == 0:
            raise ZeroDivisionError("integer division or modulo by zero")
        if divisor < 0:
            raise RefusedError(f"{what} by a negative number", "use a positive one")
        return SymInt(how(self.term, divisor))

    def __floordiv__(self, other: Any) -> Any:
        return self._divided(other, floor_div, "divides")

    def __mod__(self, other: Any) -> Any:
        return self._divided(other, modulo, "takes the remainder")

    def __rfloordiv__(self, other: Any) -> Any:
        return lifted(other) // self

    def __rmod__(self, other: Any) -> Any:
        return lifted(other) % self

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __truediv__(self, other: Any) -> Any:
        return self.exactly("divides by /") / other

    def __pow__(self, other: Any) -> Any:
        return lifted(self.exactly("takes a power") ** int(other))

    def __rpow__(self, other: Any) -> Any:
        return lifted(int(other) ** self.exactly("takes a power"))

    def __neg__(self) -> SymInt:
        return SymInt(times(-1, self.term))

    def __pos__(self) -> SymInt:
        return self

    def __abs__(self) -> SymInt:
        return self if decide(ge(self.term, number(0))) else -self

    def _bits(self, *_: Any) -> NoReturn:
        raise RefusedError(
            "computes with the bits of an integer that has no bound", "use a frozenset, or a bool for each"
        )

    __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = _bits
    __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = __invert__ = _bits

    def __eq__(self, other: object) -> Any:
        term = term_of(other)
        return False if term is None else truth(equal(self.term, term))

    def __ne__(self, other: object) -> Any:
        term = term_of(other)
        return True if term is None else truth(negation(equal(self.term, term)))

    def __lt__(self, other: Any) -> Any:
        term = term_of(other)
        return NotImplemented if term is None else truth(lt(self.term, term))

    def __le__(self, other: Any) -> Any:
        term = term_of(other)
        return NotImplemented if term is None else truth(ge(term, self.term))

    def __gt__(self, other: Any) -> Any:
        term = term_of(other)
        return NotImplemented if term is None else truth(lt(term, self.term))

    def __ge__(self, other: Any) -> Any:
        term = term_of(other)
        return NotImplemented if term is None else truth(ge(self.term, term))

    def __bool__(self) -> bool:
        return decide(negation(equal(self.term, number(0))))

    def __hash__(self) -> int:
        if self.known is None:
            running.hashed = True
        return HASH

    def exactly(self, what: str) -> int:
        """The number itself, where Python needs one."""
        known = self.known
        if known is not None:
            return known
        for small in range(MOST_INDEX):
            if decide(equal(self.term, number(small))):
                return small
        raise RefusedError(f"{what} with an integer that has no bound", f"a number below {MOST_INDEX} is needed there")

    def __index__(self) -> int:
        return self.exactly("counts or indexes")

    def __int__(self) -> int:
        return self.exactly("converts")

    def __float__(self) -> float:
        return float(self.exactly("converts to a float"))

    def bit_length(self) -> NoReturn:
        self._bits()

    def __repr__(self) -> str:
        known = self.known
        return repr(known) if known is not None else f"<{self.term}>"

    def __format__(self, spec: str) -> str:
        return format(self.known, spec) if self.known is not None else repr(self)


def lifted(value: Any) -> Any:
    """The value with every plain integer in it made one that hashes like the unknown ones."""
    kind = type(value)
    if kind is int:
        return SymInt(number(value))
    if kind in (bool, str, bytes, type(None), Pid, SymInt, SymBool):
        return value
    if isinstance(value, Enum):
        return value
    if isinstance(value, ContentSet):
        made = kind(lifted(each) for each in value)
        made._order = None
        return made
    if kind in (tuple, list, set, frozenset):
        return kind(lifted(each) for each in value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return kind(*(lifted(each) for each in value))
    if isinstance(value, Map):
        return with_items(lifted(dict(value._items)))
    if kind is dict:
        return {lifted(key): lifted(each) for key, each in value.items()}
    if isinstance(value, Record):
        new = object.__new__(kind)
        new.__dict__.update({name: lifted(value.__dict__[name]) for name in kind._names})
        if "_origin" in value.__dict__:
            new.__dict__["_origin"] = value.__dict__["_origin"]
        return new
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        new = object.__new__(kind)
        for field in dataclasses.fields(value):
            object.__setattr__(new, field.name, lifted(getattr(value, field.name)))
        return new
    return value


def with_items(items: dict[Any, Any]) -> Map[Any, Any]:
    """A map of these items in this order, which is known to be that of their keys."""
    made: Map[Any, Any] = object.__new__(Map)
    object.__setattr__(made, "_items", items)
    object.__setattr__(made, "_encoded", None)
    return made


# --- order and equality by content -----------------------------------------------------------------------------


class Key:
    """Stands for the encoding of a value: compared as encodings are, integers by their terms."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Key) and same(self.value, other.value)

    def __lt__(self, other: Key) -> bool:
        return _compare(self.value, other.value) < 0

    def __hash__(self) -> int:
        return HASH


_RANKS: tuple[tuple[type, int], ...] = (
    (type(None), 0),
    (bool, 1),
    (SymBool, 1),
    (int, 3),
    (SymInt, 3),
    (str, 4),
    (bytes, 5),
    (Enum, 6),
    (Pid, 7),
)


def _rank(value: Any) -> int:
    for kind, rank in _RANKS:
        if isinstance(value, kind):
            return rank
    if isinstance(value, tuple):
        return 9 if hasattr(value, "_fields") else 8
    if isinstance(value, frozenset):
        return 10
    if isinstance(value, Map):
        return 11
    if isinstance(value, Record):
        return 13
    return 12


def _compare(a: Any, b: Any) -> int:
    """As the encodings of the values compare: -1, 0 or 1."""
    if a is b:
        return 0
    one, two = _rank(a), _rank(b)
    if one != two:
        return -1 if one < two else 1
    if one == 0:
        return 0
    if one == 3:
        x, y = term_of(a), term_of(b)
        assert x is not None
        assert y is not None
        return 0 if decide(equal(x, y)) else -1 if decide(lt(x, y)) else 1
    if one == 1:
        return int(bool(a)) - int(bool(b))
    if one in (4, 5, 6, 7):
        return _order(plain_encode(a), plain_encode(b))
    if one in (9, 12, 13) and type(a) is not type(b):
        found = _order(plain_values.class_token(plain_class(a)), plain_values.class_token(plain_class(b)))
        if found:
            return found
    return _sequences(_items(a, one), _items(b, one))


def _order(one: bytes, two: bytes) -> int:
    return (one > two) - (one < two)


def same(a: Any, b: Any) -> bool:
    """Whether the encodings of the values are equal. Which one is less is not decided: that would be one path more."""
    if a is b:
        return True
    rank = _rank(a)
    if rank != _rank(b):
        return False
    if rank == 3:
        x, y = term_of(a), term_of(b)
        assert x is not None
        assert y is not None
        return decide(equal(x, y))
    if rank in (9, 12, 13) and plain_class(a) is not plain_class(b):
        return False
    if rank < 8:
        return _compare(a, b) == 0
    one, two = _items(a, rank), _items(b, rank)
    return len(one) == len(two) and all(same(x, y) for x, y in zip(one, two, strict=True))


def plain_class(value: Any) -> type:
    """The class that a model's author wrote, of a value that may be a view of it."""
    cls: type = type(value)
    return VIEWS.get(cls, cls)


def _items(value: Any, rank: int) -> list[Any]:
    if rank == 10:
        return sorted(frozenset.__iter__(value), key=Key)
    if rank == 11:
        return [part for key in sorted(value, key=Key) for part in (key, value[key])]
    if rank == 12:
        return [getattr(value, name) for name in type(value).__dataclass_fields__]
    if rank == 13:
        sender = value.__dict__.get("_origin")
        return [getattr(value, name) for name in type(value)._names] + ([sender] if sender is not None else [])
    return list(value)


def _sequences(a: list[Any], b: list[Any]) -> int:
    for x, y in zip(a, b, strict=False):
        found = _compare(x, y)
        if found:
            return found
    return (len(a) > len(b)) - (len(a) < len(b))


plain_encode = plain_values.encode


@contextmanager
def comparing() -> Iterator[None]:
    """While it lasts, messages, maps and sets are compared and ordered by `Key`, not by bytes."""
    modules: list[Any] = [plain_values, maps, message]
    kept = [module.encode for module in modules]
    records, tables = _methods(Record), _methods(Map)
    for module in modules:
        module.encode = Key
    _give(Record, {"__hash__": _hash, "__eq__": _same_record})
    _give(Map, {"__hash__": _hash})
    try:
        yield
    finally:
        for module, function in zip(modules, kept, strict=True):
            module.encode = function
        _give(Record, records)
        _give(Map, tables)


def _methods(cls: type) -> dict[str, Any]:
    return {name: cls.__dict__[name] for name in ("__hash__", "__eq__")}


def _give(cls: type, methods: Mapping[str, Any]) -> None:
    for name, method in methods.items():
        setattr(cls, name, method)


def _hash(_: Any) -> int:
    return HASH


def _same_record(one: Any, two: object) -> bool:
    """By content: two messages are equal where their unknown fields are."""
    if one is two or not isinstance(two, Record):
        return one is two
    return one.__dict__.get("_origin") == two.__dict__.get("_origin") and same(one, two)
