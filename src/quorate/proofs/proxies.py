"""Integers and conditions that are not known: what handlers, guards and properties compute with in place of numbers.

Asking a condition for its truth decides it, on the path that is being taken (paths.py). Only integers are unknown; all
structure around them is ordinary Python.

Sets find their elements by hash first. All unknown integers have the same hash, so that a set compares them; but a
plain integer has its own, and would never be compared with an unknown one that may be equal to it. So no plain integer
may get into a model's hands while unknown ones are hashed: lifting.py sees to that. Truth values cannot be kept out of
them, and in Python `True in {1}`: an integer is asked whether it is 0 or 1 before it is hashed, and hashes like that.
"""

from __future__ import annotations

import dataclasses
import operator
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from enum import Enum
from numbers import Number
from typing import TYPE_CHECKING, Any, NoReturn

from quorate.base import values as plain_values
from quorate.base.errors import is_library_file
from quorate.base.values import ContentSet, field_names
from quorate.language import maps, message
from quorate.language.maps import Map
from quorate.language.message import VIEWS, Record
from quorate.language.pid import Pid
from quorate.proofs.paths import Path
from quorate.proofs.refusal import Doubt, RefusedError, running
from quorate.proofs.terms import (
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

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return bool

    @property
    def _as_int(self) -> SymInt:
        return SymInt(ite(self.term, number(1), number(0)))

    def __bool__(self) -> bool:
        return decide(self.term)

    def __and__(self, other: Any) -> Any:
        term = condition_of(other)
        return self._as_int & other if term is None else truth(conjunction([self.term, term]))

    def __or__(self, other: Any) -> Any:
        term = condition_of(other)
        return self._as_int | other if term is None else truth(disjunction([self.term, term]))

    def __xor__(self, other: Any) -> Any:
        term = condition_of(other)
        return self._as_int ^ other if term is None else truth(negation(equal(self.term, term)))

    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__

    def __eq__(self, other: object) -> Any:
        term = condition_of(other)
        return self._as_int == other if term is None else truth(equal(self.term, term))

    def __ne__(self, other: object) -> Any:
        term = condition_of(other)
        return self._as_int != other if term is None else truth(negation(equal(self.term, term)))

    def __hash__(self) -> int:
        return hash(bool(self))

    def __index__(self) -> int:
        return int(bool(self))

    __int__ = __index__

    def __str__(self) -> str:
        return str(bool(self)) if running.path is not None else f"<{self.term}>"

    __repr__ = __str__

    def __format__(self, spec: str) -> str:
        return format(bool(self), spec)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._as_int, name)


def truth(term: Term) -> Any:
    """The condition, as a plain bool if it is one."""
    return term is TRUE if term.op == "bool" else SymBool(term)


def condition_of(value: object) -> Term | None:
    if type(value) is SymBool:
        return value.term
    return boolean(value) if type(value) is bool else None


def term_of(value: object) -> Term | None:
    """The integer term of a value, if it is an integer."""
    if type(value) is SymInt:
        return value.term
    if type(value) is SymBool:
        return ite(value.term, number(1), number(0))
    return number(int(value)) if issubclass(type(value), int) else None  # type: ignore[call-overload]


class _IntType(type):
    """Makes `Int` look like `int` to a model: both kinds of integers are its instances."""

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, int)

    def __subclasscheck__(cls, other: type) -> bool:
        return issubclass(other, int)

    def __call__(cls, value: Any = 0, *more: Any, **options: Any) -> Any:
        if type(value) is SymInt and not more and not options:
            return value
        if type(value) is SymBool:
            return value._as_int
        return lifted(int(value, *more, **options))

    def __eq__(cls, other: object) -> bool:
        return other is cls or other is int

    def __hash__(cls) -> int:
        return hash(int)

    def __getattribute__(cls, name: str) -> Any:
        if running.path is not None and name in _METHODS:
            raise RefusedError(f"calls `int.{name}`", "use an operator, or a method of the integer")
        return super().__getattribute__(name)


_METHODS = {name for name in dir(int) if callable(getattr(int, name))} - {"__class__", "__subclasshook__"}
"""What `int` computes only with what is one."""


class Int(int, metaclass=_IntType):
    """What `int` is to a model: what it makes hashes like the unknown integers. It has no instances of its own."""


Int.__name__ = Int.__qualname__ = "int"
Int.__module__ = "builtins"

_UNBOUNDED = "an integer that has no bound"


def _computed(how: Callable[[Term, Term], Any], plain: Callable[[Any, Any], Any]) -> Any:
    """An operation with another number: by terms with an integer, with any other number by cases."""

    def method(self: SymInt, other: Any) -> Any:
        term = term_of(other)
        if term is not None:
            return how(self.term, term)
        if isinstance(other, Number):
            return plain(self.exactly("mixes a number that is no integer"), other)
        return NotImplemented

    return method


def _swapped(how: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda a, b: how(b, a)


def _multiplied(one: Term, two: Term) -> SymInt:
    a, b = value_of(one), value_of(two)
    if a is None and b is None:
        raise RefusedError("multiplies two integers that have no bound", "multiply by a constant, or use addition")
    return SymInt(times(a, two) if a is not None else times(b or 0, one))


def _divided(what: str, how: Callable[[Term, int], Term]) -> Callable[[Term, Term], SymInt]:
    def divide(one: Term, two: Term) -> SymInt:
        divisor = value_of(two)
        if divisor is None:
            raise RefusedError(f"{what} by {_UNBOUNDED}", "use a constant")
        if divisor == 0:
            raise ZeroDivisionError("integer division or modulo by zero")
        if divisor < 0:
            raise RefusedError(f"{what} by a negative number", "use a positive one")
        return SymInt(how(one, divisor))

    return divide


def _by_cases(what: str, how: Callable[[Any, Any], Any]) -> Callable[[Term, Term], Any]:
    """Where the solver has no operation: for each small number by itself."""

    def compute(one: Term, two: Term) -> Any:
        found = how(SymInt(one).exactly(what), SymInt(two).exactly(what))
        if isinstance(found, float):
            current().floats = True
            _apart()
        return lifted(found)

    return compute


def _of_bits(how: Callable[[Any, Any], int]) -> Callable[[Term, Term], SymInt]:
    def compute(one: Term, two: Term) -> SymInt:
        a, b = value_of(one), value_of(two)
        if a is None or b is None:
            raise _no_bits()
        return SymInt(number(how(a, b)))

    return compute


def _no_bits() -> RefusedError:
    return RefusedError(f"computes with the bits of {_UNBOUNDED}", "use a frozenset, or a bool for each")


def _compared(how: Callable[[Term, Term], Term]) -> Callable[[Term, Term], Any]:
    return lambda one, two: truth(how(one, two))


_OPERATIONS: dict[str, tuple[Callable[[Term, Term], Any], Callable[[Any, Any], Any]]] = {
    "add": (lambda a, b: SymInt(add(a, b)), operator.add),
    "sub": (lambda a, b: SymInt(add(a, b, -1)), operator.sub),
    "floordiv": (_divided("divides", floor_div), operator.floordiv),
    "mod": (_divided("takes the remainder", modulo), operator.mod),
    "truediv": (_by_cases("divides by /", operator.truediv), operator.truediv),
    "pow": (_by_cases("takes a power", operator.pow), operator.pow),
    "divmod": (lambda a, b: (SymInt(a) // SymInt(b), SymInt(a) % SymInt(b)), divmod),
    "and": (_of_bits(operator.and_), operator.and_),
    "or": (_of_bits(operator.or_), operator.or_),
    "xor": (_of_bits(operator.xor), operator.xor),
    "lshift": (_of_bits(operator.lshift), operator.lshift),
    "rshift": (_of_bits(operator.rshift), operator.rshift),
}
_COMPARISONS: dict[str, tuple[Callable[[Term, Term], Any], Callable[[Any, Any], Any]]] = {
    "eq": (_compared(equal), operator.eq),
    "ne": (_compared(lambda a, b: negation(equal(a, b))), operator.ne),
    "lt": (_compared(lt), operator.lt),
    "le": (_compared(lambda a, b: ge(b, a)), operator.le),
    "gt": (_compared(lambda a, b: lt(b, a)), operator.gt),
    "ge": (_compared(ge), operator.ge),
}


class SymInt:
    """An integer that need not be known.

    It has every special method that `int` has: each is exact, or refused. What a model's code finds out about it in
    another way (its hash, its text, its address) is not that of the integer: a `Doubt`, or refused.
    """

    __slots__ = ("term",)

    def __init__(self, term: Term) -> None:
        self.term = term

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return Int

    @property
    def known(self) -> int | None:
        return value_of(self.term)

    if TYPE_CHECKING:  # made below, from the tables

        def __add__(self, other: Any) -> Any: ...
        def __radd__(self, other: Any) -> Any: ...
        def __sub__(self, other: Any) -> Any: ...
        def __and__(self, other: Any) -> Any: ...
        def __or__(self, other: Any) -> Any: ...
        def __xor__(self, other: Any) -> Any: ...
        def __floordiv__(self, other: Any) -> Any: ...
        def __mod__(self, other: Any) -> Any: ...
        def __lt__(self, other: Any) -> Any: ...
        def __gt__(self, other: Any) -> Any: ...
        def __ge__(self, other: Any) -> Any: ...
        def __eq__(self, other: object) -> Any: ...

    def __mul__(self, other: Any) -> Any:
        term = term_of(other)
        if term is not None:
            return _multiplied(self.term, term)
        if isinstance(other, Number):
            return operator.mul(self.exactly("mixes a number that is no integer"), other)
        return other * self.exactly("repeats a sequence") if hasattr(other, "__len__") else NotImplemented

    __rmul__ = __mul__

    def __pow__(self, other: Any, modulus: Any = None) -> Any:
        if modulus is None:
            return _power(self, other)
        return lifted(pow(*(_exactly(each, "takes a power") for each in (self, other, modulus))))

    def __neg__(self) -> SymInt:
        return SymInt(times(-1, self.term))

    def __pos__(self) -> SymInt:
        return self

    __trunc__ = __floor__ = __ceil__ = __copy__ = __pos__

    def __deepcopy__(self, _: Any) -> SymInt:
        return self

    def __round__(self, digits: Any = None) -> Any:
        if digits is None:
            return self
        return lifted(round(self.exactly("rounds"), _exactly(digits, "rounds")))

    def __abs__(self) -> SymInt:
        return self if decide(ge(self.term, number(0))) else -self

    def __invert__(self) -> SymInt:
        return -self - 1  # type: ignore[no-any-return]

    def __bool__(self) -> bool:
        return decide(negation(equal(self.term, number(0))))

    def __hash__(self) -> int:
        if running.path is not None:
            _hashed()
        return self._like_a_truth_value() if self._may_be_one() else HASH

    def _may_be_one(self) -> bool:
        known = self.known
        if running.path is None or (known is not None and known not in (0, 1)):
            return known in (0, 1)
        running.tried |= running.alike
        return not running.alike and decide(conjunction([ge(self.term, number(0)), ge(number(1), self.term)]))

    def _like_a_truth_value(self) -> int:
        return int(decide(equal(self.term, number(1))))

    def exactly(self, what: str) -> int:
        """The number itself, where Python needs one."""
        known = self.known
        if known is not None:
            return known
        for small in range(MOST_INDEX):
            if decide(equal(self.term, number(small))):
                return small
        raise RefusedError(f"{what} with {_UNBOUNDED}", f"a number below {MOST_INDEX} is needed there")

    def __index__(self) -> int:
        return self.exactly("counts or indexes")

    def __int__(self) -> int:
        return self.exactly("converts")

    def __float__(self) -> float:
        return float(self.exactly("converts to a float"))

    def __str__(self) -> str:
        known = self.known
        return repr(known) if known is not None else worded(f"<{self.term}>", _UNBOUNDED)

    __repr__ = __str__

    def __format__(self, spec: str) -> str:
        return format(self.known, spec) if self.known is not None else str(self)

    def __getattr__(self, name: str) -> Any:
        if name in ("real", "numerator"):
            return self
        if name in ("imag", "denominator"):
            return SymInt(number(int(name == "denominator")))
        if name == "conjugate":
            return lambda: self
        if name == "is_integer" and hasattr(int, name):
            return lambda: True
        if hasattr(int, name):
            if self.known is not None and not name.startswith("__"):
                return lambda *given, **named: lifted(getattr(self.known, name)(*given, **named))
            if name.startswith("bit_"):
                raise _no_bits()
            raise RefusedError(f"asks for `.{name}` of {_UNBOUNDED}", "compute it with + - * // % and comparisons")
        raise AttributeError(f"'int' object has no attribute {name!r}")

    def _no_state(self, *_: Any) -> NoReturn:
        raise RefusedError(f"takes {_UNBOUNDED} apart", "compute with it")

    __reduce__ = __reduce_ex__ = __getnewargs__ = __sizeof__ = _no_state


for _name, (_how, _plain) in {**_OPERATIONS, **_COMPARISONS}.items():
    if _name != "pow":
        setattr(SymInt, f"__{_name}__", _computed(_how, _plain))
    if _name in _OPERATIONS:
        setattr(SymInt, f"__r{_name}__", _computed(_swapped(_how), _swapped(_plain)))
_power = _computed(*_OPERATIONS["pow"])


def _through_int(name: str) -> Any:
    return lambda self, *given: getattr(SymInt, name)(self._as_int, *given)


for _name in set(dir(SymInt)) & set(dir(int)) - set(vars(SymBool)):
    # What a truth value does as a number.
    if _name not in dir(object) or _name[2:-2] in _COMPARISONS:
        setattr(SymBool, _name, _through_int(_name))


def _exactly(value: Any, what: str) -> int:
    return value.exactly(what) if type(value) is SymInt else operator.index(value)


def _hashed() -> None:
    """A set or map looks for a lifted integer. It finds it among lifted ones alone."""
    frame = sys._getframe(2)
    if is_library_file(frame.f_code.co_filename):
        raise RefusedError(
            f"looks up an integer in a table of {frame.f_globals.get('__name__', 'a library')}, where it would not be "
            "found",
            "compare with == instead",
        )
    current().hashes = True
    _apart()
    if running.doubtful is not None:
        what, place = running.doubtful
        Doubt(
            f"integers without a bound are put into a set, and {what} may put others there that Python would not "
            "compare with them",
            "compute it in `build` and keep it in a field, or compare with == instead of sets",
            place,
        )


def _apart() -> None:
    """A float hashes like the integer that it is equal to, but unknown ones do not."""
    path: Path | None = current()
    floats = hashes = False
    while path is not None:
        floats, hashes, path = floats or path.floats, hashes or path.hashes, path.outer
    if floats and hashes:
        Doubt(
            "integers without a bound are put into a set beside floats, which Python would not compare with them",
            "divide with //, or compare with == instead of sets",
        )


def worded(text: str, what: str) -> str:
    """A text of what is not known. Where it matters, it is refused."""
    if running.path is not None:
        Doubt(f"makes a text of {what}", "compare the value itself; texts in exceptions are no matter")
    return text


class Unseen:
    """What stands for something whose attributes and text are not known: any that are asked for are refused."""

    __slots__ = ()

    def __str__(self) -> str:
        return worded(self._shown(), "what may be any number of processes")

    __repr__ = __str__

    def _shown(self) -> str:
        return f"<{type(self).__name__}>"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise RefusedError(
            f"asks for `.{name}` of what depends on how many processes there are", "compare processes with =="
        )


class Opaque(Unseen):
    """A value of which nothing is known but what it is equal to: a process among any number of them."""

    __slots__ = ()

    def equals(self, other: object) -> Term:
        raise NotImplementedError


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
    if isinstance(a, Opaque) or isinstance(b, Opaque):
        raise RefusedError("orders processes of which there may be any number", "compare them with == alone")
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
    if isinstance(a, Opaque) or isinstance(b, Opaque):
        return decide(a.equals(b) if isinstance(a, Opaque) else b.equals(a))
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
        return [getattr(value, name) for name in field_names(type(value))]
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
