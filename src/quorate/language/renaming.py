"""Values under another naming: the same value with other names in it, and what is left of one when names are veiled."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any

from quorate.language.maps import Map
from quorate.language.message import Record
from quorate.language.outcome import Crashed
from quorate.language.pid import Pid
from quorate.language.signed import Signed, signed
from quorate.language.values import SIMPLE, ContentSet, class_token, encode, freeze

Name = Pid

_PLAIN = SIMPLE - {Pid}


def names_in(value: Any) -> frozenset[Name]:
    """The names that occur in a value."""
    found: set[Name] = set()
    todo = [value]
    while todo:
        one = todo.pop()
        if type(one) is Pid:
            found.add(one)
        elif type(one) not in _PLAIN:
            todo += _parts(one)
    return frozenset(found)


def renamed(value: Any, names: Mapping[Name, Name]) -> Any:
    """The value with every name replaced that the mapping holds."""
    cls = type(value)
    if cls in _PLAIN:
        return value
    if cls is Pid:
        return names.get(value, value)
    if issubclass(cls, frozenset):
        return freeze(cls(renamed(item, names) for item in value))
    if cls is Map:
        return freeze(Map({renamed(key, names): renamed(item, names) for key, item in value.items()}))
    if cls is Crashed:
        return Crashed(renamed(item, names) for item in value)
    if cls is tuple:
        return tuple([renamed(item, names) for item in value])
    if cls is Signed:
        return signed(renamed(value.value, names), renamed(value.signer, names))
    if issubclass(cls, tuple):
        make: Any = cls
        return make(*[renamed(item, names) for item in value])
    if issubclass(cls, Enum):
        return value
    return _rebuilt(value, names)


def _rebuilt(value: Any, names: Mapping[Name, Name]) -> Any:
    """A message, an event or a frozen dataclass."""
    new = object.__new__(type(value))
    for field in _fields(value):
        object.__setattr__(new, field, renamed(getattr(value, field), names))
    if isinstance(value, Record) and "_origin" in value.__dict__:
        new.__dict__["_origin"] = renamed(value.__dict__["_origin"], names)
    return new


def veiled(value: Any, tokens: Mapping[Name, bytes]) -> bytes:
    """The canonical bytes of a value in which names are replaced by tokens, several perhaps by the same.

    A renaming that keeps the tokens keeps the bytes, so sets are written as the sorted list of what is in them.
    """
    cls = type(value)
    if cls is Pid and value in tokens:
        return tokens[value]
    if cls in SIMPLE or issubclass(cls, Enum):
        return encode(value)
    parts = [veiled(part, tokens) for part in _parts(value)]
    if issubclass(cls, frozenset):
        parts.sort()
    elif cls is Map:
        parts = sorted(a + b for a, b in zip(parts[::2], parts[1::2], strict=True))
    kind = b"set" if issubclass(cls, frozenset) else class_token(cls)
    return b"".join([b"(", kind, *(len(part).to_bytes(4, "big") + part for part in parts), b")"])


def _parts(value: Any) -> list[Any]:
    """What a value is made of; keys and values of a map in turn."""
    cls = type(value)
    if issubclass(cls, (tuple, frozenset)):
        return list(frozenset.__iter__(value) if issubclass(cls, ContentSet) else value)
    if cls is Map:
        return [part for pair in value.items() for part in pair]
    if cls is Signed:
        return [value.value, value.signer]
    if issubclass(cls, Enum):
        return []
    parts = [getattr(value, field) for field in _fields(value)]
    if isinstance(value, Record) and "_origin" in value.__dict__:
        parts.append(value.__dict__["_origin"])
    return parts


def _fields(value: Any) -> tuple[str, ...]:
    return tuple(type(value).__dataclass_fields__)
