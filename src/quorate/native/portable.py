"""Values of a model as bytes that another process reads back: local states and messages on their way between workers.

Not a pickle: reading makes values of the classes that the reader's own model has, and runs no code of theirs. What
`encode` gives is canonical, but cannot be read back, since it leaves out what the place says (`base/values.py`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from enum import Enum, Flag
from typing import Any

from quorate.base.errors import QuorateError
from quorate.base.values import ContentSet, field_names, freeze
from quorate.language.maps import Map
from quorate.language.message import Record, origin, stamped
from quorate.language.pid import Peers, Pid, column_of
from quorate.language.scalar import Scalar
from quorate.model.definition import Definition
from quorate.model.outcome import Crashed
from quorate.results.restore import classes_of


class PortableError(QuorateError):
    """What another process sent means nothing to this one."""

    default_code = "Q511"


def dump(value: object) -> bytes:
    """The value as bytes."""
    out = bytearray()
    _write(out, value)
    return bytes(out)


def _number(out: bytearray, number: int) -> None:
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)


def _text(out: bytearray, tag: bytes, body: bytes) -> None:
    out += tag
    _number(out, len(body))
    out += body


def _named(out: bytearray, tag: bytes, cls: type) -> None:
    _text(out, tag, f"{cls.__qualname__}@{cls.__module__}".encode())


def _all(out: bytearray, values: Any) -> None:
    _number(out, len(values))
    for value in values:
        _write(out, value)


def _write(out: bytearray, value: Any) -> None:
    cls = type(value)
    if value is None:
        out += b"N"
    elif cls is bool:
        out += b"T" if value else b"F"
    elif cls is int:
        _text(out, b"i", value.to_bytes((value.bit_length() + 8) // 8, "little", signed=True))
    elif cls is str:
        _text(out, b"s", value.encode("utf-8", "surrogatepass"))
    elif cls is bytes:
        _text(out, b"b", value)
    elif cls is Pid:
        out += b"p"
        _number(out, column_of(value))
    elif cls is tuple or cls is Crashed:
        out += b"t" if cls is tuple else b"c"
        _all(out, value)
    elif isinstance(value, frozenset):
        out += b"P" if cls is Peers else b"f"
        _all(out, value)
    elif cls is Map:
        out += b"m"
        _all(out, [each for pair in value.items() for each in pair])
    elif isinstance(value, Flag):
        _named(out, b"g", cls)
        _write(out, value.value)
    elif isinstance(value, Enum):
        _named(out, b"e", cls)
        _text(out, b"", value.name.encode())
    elif isinstance(value, Scalar):
        _named(out, b"S", cls)
        _number(out, value._index)
    elif isinstance(value, Record):
        _named(out, b"r", cls)
        sender = origin(value)
        _number(out, 0 if sender is None else column_of(sender) + 1)
        _all(out, [value.__dict__[name] for name in cls._names])
    elif isinstance(value, tuple):
        _named(out, b"n", cls)
        _all(out, tuple(value))
    else:
        _named(out, b"d", cls)
        _all(out, [getattr(value, name) for name in field_names(cls)])


class Reader:
    """Reads what a process with the same model has written."""

    def __init__(self, definition: Definition) -> None:
        self.pids = {column.index: column.pid for column in definition.columns if column.pid is not None}
        self.scalars = {
            (_name(type(each)), each._index): each for values in definition.scalars.values() for each in values
        }
        self.classes: dict[str, Any] = {_name(cls): cls for cls in classes_of(definition)}
        self._bytes = b""
        self._at = 0

    def load(self, written: bytes) -> Any:
        """The value; what belongs into a state is frozen, as handlers leave it."""
        self._bytes, self._at = written, 0
        try:
            value = self._value()
        except (LookupError, ValueError, TypeError, AttributeError) as error:
            raise PortableError(
                f"a worker sent a value that this one cannot read: {type(error).__name__}: {error}",
                hint="do all machines have the same files of the model, and the same version of Quorate?",
            ) from None
        return value

    def _number(self) -> int:
        number, shift = 0, 0
        while True:
            byte = self._bytes[self._at]
            self._at += 1
            number |= (byte & 0x7F) << shift
            if byte < 0x80:
                return number
            shift += 7

    def _text(self) -> bytes:
        size = self._number()
        self._at += size
        return self._bytes[self._at - size : self._at]

    def _values(self) -> list[Any]:
        return [self._value() for _ in range(self._number())]

    def _class(self) -> Any:
        name = self._text().decode()
        if name not in self.classes:
            qualified, _, module = name.partition("@")
            found: Any = sys.modules[module]
            for part in qualified.split("."):
                found = getattr(found, part)
            self.classes[name] = found
        return self.classes[name]

    def _value(self) -> Any:
        tag = self._bytes[self._at : self._at + 1]
        self._at += 1
        return self._READ[tag](self)

    def _enum(self) -> Any:
        cls = self._class()
        return cls[self._text().decode()]

    def _scalar(self) -> Any:
        name = self._text().decode()
        return self.scalars[name, self._number()]

    def _record(self) -> Any:
        cls, sender, values = self._class(), self._number(), None
        values = self._values()
        made = object.__new__(cls)
        for name, value in zip(cls._names, values, strict=True):
            made.__dict__[name] = value
        return freeze(made if sender == 0 else stamped(made, self.pids[sender - 1]))

    def _dataclass(self) -> Any:
        cls = self._class()
        made = object.__new__(cls)
        for name, value in zip(field_names(cls), self._values(), strict=True):
            object.__setattr__(made, name, value)
        return made

    def _map(self) -> Any:
        items = self._values()
        return freeze(Map(zip(items[::2], items[1::2], strict=True)))

    _READ: dict[bytes, Callable[[Reader], Any]] = {
        b"N": lambda self: None,
        b"T": lambda self: True,
        b"F": lambda self: False,
        b"i": lambda self: int.from_bytes(self._text(), "little", signed=True),
        b"s": lambda self: self._text().decode("utf-8", "surrogatepass"),
        b"b": lambda self: self._text(),
        b"p": lambda self: self.pids[self._number()],
        b"t": lambda self: tuple(self._values()),
        b"c": lambda self: Crashed(self._values()),
        b"f": lambda self: freeze(ContentSet(self._values())),
        b"P": lambda self: freeze(Peers(self._values())),
        b"m": _map,
        b"e": _enum,
        b"g": lambda self: self._class()(self._value()),
        b"S": _scalar,
        b"r": _record,
        b"n": lambda self: self._class()._make(self._values()),
        b"d": _dataclass,
    }


def _name(cls: type) -> str:
    return f"{cls.__qualname__}@{cls.__module__}"
