"""Values under another naming: the same value with other names in it, and what is left of one when names are veiled."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any

from quorate.base.values import SIMPLE, ContentSet, class_token, encode, field_names, freeze
from quorate.language.maps import Map
from quorate.language.message import Record
from quorate.language.pid import Pid
from quorate.language.rank import Rank
from quorate.language.scalar import Scalar
from quorate.language.shared import Shared, cell_key, cell_name, with_key
from quorate.language.signed import Signed, signed
from quorate.model.outcome import Crashed

Name = Pid | Scalar
Names = Mapping[bytes, Name]
"""New names by the encoding of the old ones. The names themselves are no keys: roles of one server refuse to be
compared with one another."""

_PLAIN = {type(None), bool, int, str, bytes}


def is_name(value: object) -> bool:
    return type(value) is Pid or isinstance(value, Scalar)


def exchanging(one: Name, two: Name) -> Names:
    return {encode(one): two, encode(two): one}


def names_in(value: Any) -> frozenset[bytes]:
    """The names that occur in a value, encoded."""
    found: set[bytes] = set()
    todo = [value]
    while todo:
        one = todo.pop()
        if is_name(one):
            found.add(encode(one))
        elif type(one) not in _PLAIN:
            todo += parts_of(one)
    return frozenset(found)


def renamed(value: Any, names: Mapping[bytes, Name | Rank]) -> Any:
    """The value with every name, or rank, replaced that the mapping holds."""
    cls = type(value)
    if cls in _PLAIN:
        return value
    if is_name(value) or cls is Rank:
        return names.get(encode(value), value)
    if issubclass(cls, frozenset):
        return freeze(cls(renamed(item, names) for item in value))
    if cls is Map:
        return freeze(Map({renamed(key, names): renamed(item, names) for key, item in value.items()}))
    if cls is Crashed:
        return Crashed(renamed(item, names) for item in value)
    if cls is tuple:
        return tuple([renamed(item, names) for item in value])
    if cls is Shared:
        return with_key(value, renamed(cell_key(value), names))
    if cls is Signed:
        return signed(renamed(value.value, names), renamed(value.signer, names))
    if issubclass(cls, tuple):
        make: Any = cls
        return make(*[renamed(item, names) for item in value])
    if issubclass(cls, Enum):
        return value
    return _rebuilt(value, names)


def _rebuilt(value: Any, names: Mapping[bytes, Name | Rank]) -> Any:
    """A message, an event or a frozen dataclass."""
    new = object.__new__(type(value))
    for field in fields_of(value):
        object.__setattr__(new, field, renamed(getattr(value, field), names))
    if isinstance(value, Record) and "_origin" in value.__dict__:
        new.__dict__["_origin"] = renamed(value.__dict__["_origin"], names)
    return new


def veiled(value: Any, tokens: Mapping[bytes, bytes]) -> bytes:
    """The canonical bytes of a value in which names are replaced by tokens, several perhaps by the same.

    A renaming that keeps the tokens keeps the bytes, so sets are written as the sorted list of what is in them.
    """
    cls = type(value)
    if is_name(value):
        code = encode(value)
        return tokens.get(code, code)
    if (cls in SIMPLE and cls is not Shared) or issubclass(cls, Enum):
        return encode(value)
    parts = [veiled(part, tokens) for part in parts_of(value)]
    if issubclass(cls, frozenset):
        parts.sort()
    elif cls is Map:
        parts = sorted(a + b for a, b in zip(parts[::2], parts[1::2], strict=True))
    kind = b"set" if issubclass(cls, frozenset) else class_token(cls)
    return b"".join([b"(", kind, *(len(part).to_bytes(4, "big") + part for part in parts), b")"])


def parts_of(value: Any) -> list[Any]:
    """What a value is made of; keys and values of a map in turn."""
    cls = type(value)
    if issubclass(cls, (tuple, frozenset)):
        return list(frozenset.__iter__(value) if issubclass(cls, ContentSet) else value)
    if cls is Map:
        return [part for pair in value.items() for part in pair]
    if cls is Shared:
        return [cell_name(value), cell_key(value)]
    if cls is Signed:
        return [value.value, value.signer]
    if issubclass(cls, Enum):
        return []
    parts = [getattr(value, field) for field in fields_of(value)]
    if isinstance(value, Record) and "_origin" in value.__dict__:
        parts.append(value.__dict__["_origin"])
    return parts


def fields_of(value: Any) -> tuple[str, ...]:
    """The names of the fields of a message, an event, a frozen dataclass or a named tuple."""
    cls = type(value)
    return field_names(cls) if hasattr(cls, "__dataclass_fields__") else tuple(getattr(cls, "_fields", ()))
