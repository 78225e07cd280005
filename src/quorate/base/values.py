"""The values a model may hold, and their canonical encoding.

Local states and messages are compared, hashed, ordered and stored by `encode`, never by Python's `==` or `hash`: those
take `True` for `1`, and `hash` changes from run to run. The encoding is injective, type-strict, and ordered the way a
reader expects (2 before 10, a shorter tuple before a longer one), so that "order by content" is also pleasant to read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import fields
from enum import Enum, Flag
from functools import cached_property
from typing import Any, NamedTuple, Self, TypeVar, cast

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

# Tags. END is below every tag, so that a sequence sorts before its extensions.
END = b"\x01"
_NONE, _FALSE, _TRUE, _INT, _STR, _BYTES, _ENUM, PID, _TUPLE, _NAMED, _SET, MAP, DATACLASS, RECORD, CRASH, SCALAR = (
    bytes([0x10 + i]) for i in range(16)
)
RANK, SHARED, SEEN = b"\x20", b"\x21", b"\x22"


class BadValueError(Exception):
    """A value that cannot be part of a state; the caller knows in which field it was found."""

    def __init__(self, value: object, advice: str) -> None:
        super().__init__(advice)
        self.value = value
        self.advice = advice


class Kind(NamedTuple):
    """How values of one type are normalised, encoded and shown."""

    freeze: Callable[[Any], Any]
    encode: Callable[[Any], bytes]
    show: Callable[[Any], str]


_KINDS: dict[type, Kind] = {}

SIMPLE: set[type] = {type(None), bool, int, str, bytes}
"""Types whose values need no normalising: the fast path of every assignment and every send."""


def register(cls: type, kind: Kind, *, simple: bool = False) -> None:
    """Make a type of the language itself (identity, map, message) known here without importing it."""
    _KINDS[cls] = kind
    if simple:
        SIMPLE.add(cls)


def freeze(value: T) -> T:
    """The value, or an equal one whose sets iterate in content order; BadValueError if no state may hold it."""
    cls = type(value)
    if cls in SIMPLE:
        return value
    return cast(T, (_KINDS.get(cls) or _resolve(cls, value)).freeze(value))


def encode(value: object) -> bytes:
    """The canonical bytes of a value: equal bytes, equal value, whatever the hash seed."""
    cls = type(value)
    return (_KINDS.get(cls) or _resolve(cls, value)).encode(value)


def show(value: object) -> str:
    """The value as a person writes it: `{1, 2}`, `Vote(ballot=1, value=2)`, `acceptor2`."""
    kind = _KINDS.get(type(value))
    if kind is None:
        try:
            kind = _resolve(type(value), value)
        except BadValueError:
            return _repr(value)
    return kind.show(value)


def _repr(value: object) -> str:
    """What is no value of the language may hold anything, also what cannot be shown."""
    try:
        return repr(value)
    except Exception:
        return f"<{type(value).__name__}>"


def in_order(values: Iterable[T]) -> list[T]:
    """The values sorted by content."""
    return sorted(values, key=encode)


class ContentSet(frozenset[T_co]):
    """A frozenset that iterates by content, so that a handler does the same under every hash seed."""

    __slots__ = ("_encoded", "_order")
    _order: tuple[T_co, ...] | None
    _encoded: bytes | None

    def __new__(cls, items: Iterable[T_co] = ()) -> Self:
        self = super().__new__(cls, items)
        self._order = None
        self._encoded = None
        return self

    @classmethod
    def ordered(cls, items: tuple[Any, ...]) -> Self:
        """From distinct, normalised items that are in content order already."""
        self = super().__new__(cls, items)
        self._order = items
        self._encoded = None
        return self

    def __iter__(self) -> Iterator[T_co]:
        order = self._order
        if order is None:
            order = self._order = tuple(sorted(super().__iter__(), key=encode))
        return iter(order)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (tuple(self),)

    def __repr__(self) -> str:
        return f"frozenset({{{', '.join(map(repr, self))}}})" if self else "frozenset()"

    def _same_kind(self, result: Any) -> Any:
        return result if result is NotImplemented else type(self)(result)

    # The results stay content-ordered: `for p in self.peers - {self.pid}` must not depend on the hash seed either.
    def __or__(self, other: AbstractSet[Any]) -> Any:
        return self._same_kind(frozenset.__or__(self, other))

    def __ror__(self, other: AbstractSet[Any]) -> Any:
        return self._same_kind(frozenset.__or__(self, other)) if isinstance(other, frozenset) else NotImplemented

    def __and__(self, other: AbstractSet[Any]) -> Self:
        return cast(Self, self._same_kind(frozenset.__and__(self, other)))

    def __sub__(self, other: AbstractSet[Any]) -> Self:
        return cast(Self, self._same_kind(frozenset.__sub__(self, other)))

    def __xor__(self, other: AbstractSet[Any]) -> Any:
        return self._same_kind(frozenset.__xor__(self, other))

    def union(self, *others: Iterable[Any]) -> Any:
        return self._same_kind(frozenset.union(self, *others))

    def intersection(self, *others: Iterable[Any]) -> Self:
        return cast(Self, self._same_kind(frozenset.intersection(self, *others)))

    def difference(self, *others: Iterable[Any]) -> Self:
        return cast(Self, self._same_kind(frozenset.difference(self, *others)))

    def symmetric_difference(self, other: Iterable[Any]) -> Any:
        return self._same_kind(frozenset.symmetric_difference(self, other))


def class_token(cls: type) -> bytes:
    """The encoded name of a class; the plain name leads, so that content order does not follow module names."""
    name = _escape(f"{cls.__qualname__}@{cls.__module__}".encode())
    known = _TOKENS.setdefault(name, [])
    if cls not in known:
        known.append(cls)
    position = known.index(cls)
    # Two classes of one name (made by a function, or a file loaded twice) must not be taken for each other.
    return name if position == 0 else name + _encode_int(position)


_TOKENS: dict[bytes, list[type]] = {}


def _escape(text: bytes) -> bytes:
    return text.replace(b"\x00", b"\x00\xff") + b"\x00\x01"


def _encode_int(value: int) -> bytes:
    """Order-preserving: the sign and the length lead."""
    small = _SMALL.get(value)
    if small is not None:
        return small
    magnitude = abs(value)
    length = (magnitude.bit_length() + 7) // 8
    if length < 0x70:
        head = bytes([0x80 + length if value >= 0 else 0x7F - length])
    else:
        size = length.to_bytes(8, "big")
        head = b"\xff" + size if value >= 0 else b"\x00" + bytes(255 - b for b in size)
    body = (value if value >= 0 else value + (1 << 8 * length)).to_bytes(length, "big")
    return _INT + head + body


_SMALL: dict[int, bytes] = {}
_SMALL = {number: _encode_int(number) for number in range(-8, 256)}


def _encode_set(value: frozenset[Any]) -> bytes:
    cached = value._encoded if isinstance(value, ContentSet) else None
    if cached is not None:
        return cached
    return _SET + b"".join(sorted(map(encode, value))) + END


def _freeze_set(value: frozenset[Any]) -> frozenset[Any]:
    if isinstance(value, ContentSet):
        if value._encoded is not None:
            return value
        result: ContentSet[Any] = type(value)(map(freeze, frozenset.__iter__(value)))
    else:
        result = ContentSet(map(freeze, value))
    pairs = sorted((encode(item), position, item) for position, item in enumerate(frozenset.__iter__(result)))
    result._order = tuple(item for _, _, item in pairs)
    result._encoded = _SET + b"".join(code for code, _, _ in pairs) + END
    return result


def _freeze_tuple(value: tuple[Any, ...]) -> tuple[Any, ...]:
    for item in value:
        if type(item) not in SIMPLE:
            return tuple([freeze(item) for item in value])
    return value


HUGE = 10**640
"""From here on Python may refuse to write an integer in decimal, and nobody would read it."""


def _show_int(value: int) -> str:
    if -HUGE < value < HUGE:
        return repr(value)
    # Its two ends, which takes no time for an integer of any size.
    size, sign = value.bit_length(), "-" if value < 0 else ""
    return f"{sign}0x{abs(value) >> (size - 32):x}…{abs(value) & 0xFFFFFFFF:08x} ({size:,} bits)"


LONG = 2_000
"""Characters of a text that are shown: nobody reads more, and a report of millions takes minutes."""


def _show_text(value: str | bytes) -> str:
    if len(value) <= LONG:
        return repr(value)
    unit = "characters" if isinstance(value, str) else "bytes"
    return f"{value[: LONG // 2]!r}… ({len(value):,} {unit})"


def _show_set(value: frozenset[Any]) -> str:
    return "{" + ", ".join(map(show, in_order(value))) + "}"


def _show_tuple(value: tuple[Any, ...]) -> str:
    return "(" + ", ".join(map(show, value)) + ("," if len(value) == 1 else "") + ")"


def _same(value: Any) -> Any:
    return value


_SET_KIND = Kind(_freeze_set, _encode_set, _show_set)
_KINDS.update(
    {
        type(None): Kind(_same, lambda _: _NONE, repr),
        bool: Kind(_same, lambda value: _TRUE if value else _FALSE, repr),
        int: Kind(_same, _encode_int, _show_int),
        str: Kind(_same, lambda value: _STR + _escape(value.encode("utf-8", "surrogatepass")), _show_text),
        bytes: Kind(_same, lambda value: _BYTES + _escape(value), _show_text),
        tuple: Kind(_freeze_tuple, lambda value: _TUPLE + b"".join(map(encode, value)) + END, _show_tuple),
        frozenset: _SET_KIND,
        ContentSet: _SET_KIND,
    }
)


_NOTHING: dict[str, Any] = {}


def register_set(cls: type) -> None:
    """A subclass of ContentSet that adds nothing but its name: the same value as a plain set of the same elements."""
    _KINDS[cls] = _SET_KIND


_FIELDS: dict[type, tuple[str, ...]] = {}


def field_names(cls: Any) -> tuple[str, ...]:
    """The fields of a dataclass: not its ClassVars, and not what only `__init__` is given."""
    found = _FIELDS.get(cls)
    if found is None:
        found = _FIELDS[cls] = tuple(each.name for each in fields(cls))
    return found


def beyond(value: Any, names: frozenset[str]) -> list[str]:
    """The attributes of a value beside these, but for what is computed from them and what `typing` notes."""
    cls = type(value)
    slots = [name for base in cls.__mro__ for name in _slots(base) if name not in names and hasattr(value, name)]
    held = [name for name in getattr(value, "__dict__", ()) if name not in names and name != "__orig_class__"]
    return slots + [name for name in held if not isinstance(getattr(cls, name, None), cached_property)]


def _slots(cls: type) -> list[str]:
    slots = vars(cls).get("__slots__", ())
    names = [
        name for name in ((slots,) if isinstance(slots, str) else slots) if name not in ("__dict__", "__weakref__")
    ]
    return [f"_{cls.__name__.lstrip('_')}{name}" if name.startswith("__") else name for name in names]


def fields_kind(cls: type, names: tuple[str, ...], head: bytes, rebuild: Callable[[Any, list[Any]], Any]) -> Kind:
    """The kind of a class whose values are their fields.

    What else a value holds would not be compared: two values that differ there alone would be one.
    """
    prefix = head + class_token(cls)
    known = frozenset(names)
    slotted = any(name not in known for base in cls.__mro__ for name in _slots(base))

    def frozen(value: Any) -> Any:
        more = slotted or not getattr(value, "__dict__", _NOTHING).keys() <= known
        if more:
            for name in beyond(value, known):
                raise BadValueError(
                    value, f"its `{name}` is no field: declare it in {cls.__name__}, or make it a property"
                )
        old = [getattr(value, name) for name in names]
        new = [freeze(item) for item in old]
        return value if not more and all(a is b for a, b in zip(old, new, strict=True)) else rebuild(value, new)

    def encoded(value: Any) -> bytes:
        return prefix + b"".join([encode(getattr(value, name)) for name in names]) + END

    def shown(value: Any) -> str:
        return f"{cls.__name__}({', '.join(f'{name}={show(getattr(value, name))}' for name in names)})"

    return Kind(frozen, encoded, shown)


def _enum_kind(cls: type[Enum]) -> Kind:
    prefix = _ENUM + class_token(cls)
    names = list(cls._member_names_)
    if issubclass(cls, Flag):
        return Kind(_same, lambda value: prefix + encode(value.value), str)
    codes = {name: prefix + _encode_int(position) for position, name in enumerate(names)}
    return Kind(_same, lambda value: codes[value._name_], lambda value: f"{cls.__name__}.{value._name_}")


def _rebuild_dataclass(value: Any, items: list[Any]) -> Any:
    new = object.__new__(type(value))
    for name, item in zip(field_names(type(value)), items, strict=True):
        object.__setattr__(new, name, item)
    return new


def _resolve(cls: type, value: object) -> Kind:
    """The kind of a type met for the first time."""
    kind: Kind | None = None
    if issubclass(cls, Enum):
        kind = _enum_kind(cls)
    elif issubclass(cls, tuple) and hasattr(cls, "_fields"):
        make: Any = cls
        kind = fields_kind(cls, tuple(make._fields), _NAMED, lambda _, items: make(*items))
    elif "__dataclass_fields__" in cls.__dict__:
        if not cls.__dataclass_params__.frozen:  # type: ignore[attr-defined]
            raise BadValueError(value, f"make it immutable: `@dataclass(frozen=True) class {cls.__name__}`")
        kind = fields_kind(cls, field_names(cls), DATACLASS, _rebuild_dataclass)
    if kind is None:
        raise BadValueError(value, _advice(cls))
    _KINDS[cls] = kind
    return kind


_ADVICE = {
    "list": "use a tuple: `tuple(...)`, and `self.items = (*self.items, item)` to append",
    "set": "use a frozenset: `frozenset(...)`, and `self.items |= {item}` to add",
    "dict": "use quorate.Map: `Map(...)`, and `self.items = self.items | {key: value}` to set",
    "defaultdict": "use quorate.Map, and `self.items.get(key, default)` to read",
    "Counter": "use quorate.Map: `self.items = self.items | {key: count}`",
    "deque": "use a tuple: `self.items = (*self.items, item)` and `self.items[1:]`",
    "bytearray": "use bytes",
    "float": "use int: floats make equal states differ; scale the value (tenths, milliseconds) instead",
    "range": "use a tuple: `tuple(range(...))`",
    "generator": "a generator can be read only once; store `tuple(...)` of it",
    "dict_keys": "store a frozenset of the keys",
    "dict_values": "store a tuple of the values",
    "function": "store data, not code: an enum member or a str that a handler interprets",
    "type": "store an enum member or a str instead of a class",
}


def _advice(cls: type) -> str:
    for base in cls.__mro__[:-1]:
        if base in (int, str, bytes, tuple, frozenset) and base is not cls:
            return f"use a plain {base.__name__} instead of the subclass {cls.__name__}"
        if base.__name__ in _ADVICE:
            return _ADVICE[base.__name__]
    return (
        "use int, bool, str, bytes, None, an enum member, a tuple or NamedTuple, a frozenset, "
        "a frozen dataclass, a process identity, a message or quorate.Map"
    )
