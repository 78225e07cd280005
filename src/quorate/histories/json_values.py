"""Values of recorded histories: equal for Python where they are equal in JSON.

Specifications compare values by Python's `==`, hold them in sets and use them as keys, and there `True` is `1`. So what
is `true` in a file is a `Truth` here, unless it is the result of an operation whose results are of type `bool`. Numbers
are equal if their values are, taken as they are written: `1.0` is `1`, `0.30` is `0.3`, and none is a text or a list.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, NoReturn

from quorate.base.values import DATACLASS, fields_kind, register
from quorate.language.maps import Map

MOST_DIGITS = 4_300
"""Of a number that is written out; as many as Python reads for an integer."""


@dataclass(frozen=True)
class Truth:
    """`true` or `false`, as something that an object holds."""

    value: bool

    def __repr__(self) -> str:
        return repr(self.value)


@dataclass(frozen=True)
class Number:
    """A number that is no integer: its digits, and how many of them are behind the point. The last one is not 0."""

    digits: int
    places: int

    def __add__(self, other: object) -> int | Number:
        if type(other) is int:
            other = Number(other, 0)
        if not isinstance(other, Number):
            return NotImplemented
        places = max(self.places, other.places)
        return _number(
            self.digits * 10 ** (places - self.places) + other.digits * 10 ** (places - other.places), places
        )

    __radd__ = __add__

    def __repr__(self) -> str:
        whole, rest = divmod(abs(self.digits), 10**self.places)
        return f"{'-' if self.digits < 0 else ''}{whole}.{rest:0{self.places}}"


for _cls, _names in ((Truth, ("value",)), (Number, ("digits", "places"))):
    register(_cls, fields_kind(_cls, _names, DATACLASS, lambda value, _: value)._replace(show=repr))


def _number(digits: int, places: int) -> int | Number:
    while places > 0 and digits % 10 == 0:
        digits, places = digits // 10, places - 1
    return Number(digits, places) if places > 0 else digits * 10**-places


class _Written(float):
    """A number with a point or an exponent."""

    exact: int | Number


def _written(text: str) -> _Written:
    number = _Written(text)
    try:
        sign, digits, exponent = Decimal(text).as_tuple()
        assert isinstance(exponent, int)
    except InvalidOperation:
        digits, sign, exponent = (), 0, MOST_DIGITS + 1
    if len(digits) + abs(exponent) > MOST_DIGITS:
        raise ValueError(f"{text if len(text) < 40 else 'a number'} has more than {MOST_DIGITS:,} digits")
    number.exact = _number((-1 if sign else 1) * int("".join(map(str, digits))), -exponent)
    return number


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for at, key in enumerate(keys) if key in keys[:at])
        raise ValueError(f"{json.dumps(twice)} comes twice in one object")
    return found


DECODER = json.JSONDecoder(parse_constant=_no_number, parse_float=_written, object_pairs_hook=_object)
"""What it reads is made a value by `value_of`."""


def value_of(read: Any, *, truths: bool = False) -> Any:
    """As a value; with `truths`, `true` and `false` are those of Python."""
    if isinstance(read, bool):
        return read if truths else Truth(read)
    if isinstance(read, _Written):
        return read.exact
    if isinstance(read, list):
        return tuple([value_of(each) for each in read])
    if isinstance(read, dict):
        return Map({key: value_of(each) for key, each in read.items()})
    return read
