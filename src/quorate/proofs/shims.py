"""What built-ins are to a model that runs on unknown integers, and what its expressions become (recompiling.py)."""

from __future__ import annotations

import builtins
import itertools
import operator
import sys
from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from typing import Any

from quorate.language.pid import Pid
from quorate.proofs.catching import caught
from quorate.proofs.proxies import (
    Int,
    Opaque,
    SymBool,
    SymInt,
    Unseen,
    condition_of,
    current,
    decide,
    lifted,
    plain_class,
    term_of,
    truth,
)
from quorate.proofs.refusal import RefusedError, running
from quorate.proofs.terms import TRUE, add, conjunction, equal, ge, modulo, number


def _len(of: Any) -> SymInt:
    return SymInt(number(builtins.len(of)))


def _sum(of: Iterable[Any], start: Any = 0) -> Any:
    total = lifted(start)
    for each in of:
        total = lifted(total + each)
    return total


class _Range:
    """`range`: an unknown integer is in it or not by two comparisons, however long it is."""

    def __init__(self, *bounds: Any) -> None:
        self._plain = builtins.range(*map(operator.index, bounds))

    def __iter__(self) -> Iterator[SymInt]:
        return map(lifted, self._plain)

    def __reversed__(self) -> Iterator[SymInt]:
        return map(lifted, reversed(self._plain))

    def __len__(self) -> int:
        return len(self._plain)

    def __getitem__(self, at: Any) -> Any:
        found = self._plain[at]
        return _Range(found.start, found.stop, found.step) if isinstance(found, builtins.range) else lifted(found)

    def __contains__(self, wanted: Any) -> bool:
        term = term_of(wanted)
        if term is None or not self._plain:
            return any(wanted == each for each in self) if term is None else False
        least, most = sorted((self._plain[0], self._plain[-1]))
        beyond = add(term, number(least), -1)
        step = abs(self._plain.step)
        stride = equal(modulo(beyond, step), number(0)) if step > 1 else TRUE
        return decide(conjunction([ge(term, number(least)), ge(number(most), term), stride]))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Range) and self._plain == other._plain

    def __hash__(self) -> int:
        raise RefusedError("puts a range into a set", "use a tuple")

    def __str__(self) -> str:
        return str(self._plain)

    __repr__ = __str__

    def __getattr__(self, name: str) -> Any:
        if name in ("start", "stop", "step"):
            return lifted(getattr(self._plain, name))
        raise RefusedError(f"asks for `.{name}` of a range", "compare with < and <=")


def _chain() -> Any:
    raise RefusedError("compares with `is` in a chain", "write two comparisons with `and`")


def _enumerate(of: Iterable[Any], start: Any = 0) -> Iterator[tuple[SymInt, Any]]:
    for at, each in builtins.enumerate(of, int(start)):
        yield lifted(at), each


def _isinstance(value: Any, kinds: Any) -> bool:
    if isinstance(value, Unseen) and not isinstance(value, Opaque):
        raise RefusedError("asks for the type of what depends on how many processes there are", "leave that out")
    return isinstance(value, kinds)


class _TypeType(type):
    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, type)

    def __subclasscheck__(cls, other: type) -> bool:
        return issubclass(other, type)

    def __call__(cls, *given: Any, **options: Any) -> Any:
        if len(given) != 1:
            return type(*given, **options)
        (value,) = given
        _isinstance(value, object)
        kind = type(value) if isinstance(value, type) else value.__class__
        return Int if kind is int else kind


class _Type(metaclass=_TypeType):
    """What `type` is to a model: views and unknown integers have the types of what they stand for."""


def _id(value: Any) -> Any:
    if isinstance(value, (Unseen, int)) or plain_class(value) is not type(value):
        raise RefusedError("asks for the address of something", "compare with ==")
    return lifted(builtins.id(value))


def _hash(value: Any) -> Any:
    if sys._getframe(1).f_code.co_name == "__hash__" and sys._getframe(1).f_code.co_filename == "<string>":
        return builtins.hash(value)  # that of a dataclass, for whoever puts it into a set
    if not (value is None or isinstance(value, (str, bytes, Enum)) or type(value) is Pid):
        raise RefusedError("computes with a hash", "compare with ==, or use a set")
    return lifted(builtins.hash(value))


def identical(one: Any, two: Any) -> Any:
    """`is`. Whether two equal integers are one object is nothing that a model may depend on."""
    if type(one) is SymBool or type(two) is SymBool:
        a, b = condition_of(one), condition_of(two)
        return False if a is None or b is None else truth(equal(a, b))
    for a, b in ((one, two), (two, one)):
        if type(a) is SymInt and isinstance(b, int):
            raise RefusedError("compares integers with `is`", "use ==")
    return (int if one is Int else one) is (int if two is Int else two)


def settled(value: Any) -> Any:
    """What `match` is about: its conditions are decided, since `case True` asks for the very object."""
    if type(value) is SymBool:
        return bool(value)
    if isinstance(value, Unseen) and not isinstance(value, Opaque):
        raise RefusedError("matches what depends on how many processes there are", "compare with == or `in`")
    if type(value) in (tuple, list):
        return type(value)(settled(each) for each in value)
    return value


def item(of: Any, at: Any) -> Any:
    """`of[at]`: of a sequence, a place is one of as many as it has."""
    if type(at) is not SymInt or at.known is not None or type(of) not in (tuple, list):
        return of[at]
    size = builtins.len(of)
    for place in (*builtins.range(size), *builtins.range(-size, 0)):
        if decide(equal(at.term, number(place))):
            return of[place]
    raise IndexError(f"{type(of).__name__} index out of range")


class _Set(set[Any]):
    """A set that comes in a certain order."""

    order: tuple[Any, ...] = ()

    def __iter__(self) -> Iterator[Any]:
        if len(self.order) != len(self) or not all(map(self.__contains__, self.order)):
            raise RefusedError("lets a function of a library change a set of integers", "change it in the model")
        return iter(self.order)


class _FrozenSet(frozenset[Any]):
    order: tuple[Any, ...] = ()

    def __iter__(self) -> Iterator[Any]:
        return iter(self.order)


MOST_ORDERED = 4
"""Of a set of more elements, there are too many orders to take each."""


def ordered(value: Any) -> Any:
    """What is gone through: a set of unknown integers in every order, since Python's depends on the numbers."""
    if not is_loose(value):
        return value
    if len(value) > MOST_ORDERED:
        raise RefusedError(f"goes through a set of {len(value)} integers, in Python's order", "use sorted(...)")
    made = _Set(value) if type(value) is set else _FrozenSet(value)
    made.order = current().pick(list(itertools.permutations(value)))
    return made


def popped(value: Any) -> Any:
    """`value.pop()`."""
    if not is_loose(value):
        return value.pop()
    found = current().pick(list(value))
    value.remove(found)
    return found


def is_loose(value: Any) -> bool:
    """Whether it is a set whose order in Python is not that of here."""
    if running.path is None or type(value) not in (set, frozenset) or len(value) < 2:
        return False
    return any(map(_has_own_hash, value))


def _has_own_hash(value: Any) -> bool:
    """Whether its hash here is another than it would be."""
    if isinstance(value, (tuple, frozenset)):
        return any(map(_has_own_hash, frozenset.__iter__(value) if isinstance(value, frozenset) else value))
    return not (value is None or isinstance(value, (str, bytes, Pid, Enum, type)) or type(value) is bool)


def whole(value: Any) -> Any:
    """What was computed: of truth values it may be a plain integer."""
    return SymInt(number(value)) if type(value) is int else value


def _number_of(value: Any) -> Any:
    """What is added to something."""
    return SymInt(number(int(value))) if type(value) is bool else ordered(whole(value))


def _getattr(*given: Any) -> Any:
    """`getattr`: what is read by a name that the code does not show is lifted here."""
    return lifted(getattr(*given))


def _shim(name: str) -> Callable[..., Any]:
    plain = getattr(builtins, name)
    return lambda *given: lifted(plain(*map(lifted, given)))


SHIMS: dict[str, Any] = {
    "len": _len,
    "sum": _sum,
    "range": _Range,
    "enumerate": _enumerate,
    "int": Int,
    "isinstance": _isinstance,
    "type": _Type,
    "id": _id,
    "hash": _hash,
    "__same__": identical,
    "__chain__": _chain,
    "__settled__": settled,
    "__caught__": caught,
    "__item__": item,
    "__ordered__": ordered,
    "__pop__": popped,
    "getattr": _getattr,
    "__lifted__": whole,
    "__number__": _number_of,
    **{name: _shim(name) for name in ("abs", "divmod", "pow", "round", "ord")},
}


def lifted_majority(of: Any) -> Any:
    return (of if isinstance(of, SymInt) else _len(of)) // 2 + 1
