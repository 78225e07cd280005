"""An immutable mapping, for local state that is a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar

from quorate.base.errors import ModelError, caller
from quorate.base.values import END, MAP, Kind, encode, freeze, register, show

K = TypeVar("K")
V = TypeVar("V")


class Map(Mapping[K, V], Generic[K, V]):
    """`m | {key: value}` is a new map; iteration is in content order; usable as a key and inside other values."""

    __slots__ = ("_encoded", "_items")
    _items: dict[K, V]
    _encoded: bytes | None

    def __init__(self, items: Mapping[K, V] | Iterable[tuple[K, V]] = ()) -> None:
        pairs = dict(items)
        object.__setattr__(self, "_items", {key: pairs[key] for key in sorted(pairs, key=encode)})
        object.__setattr__(self, "_encoded", None)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a Map is immutable: write `m = m | {key: value}`")

    if not TYPE_CHECKING:  # type checkers know that there is nothing of the kind

        def __setitem__(self, key: K, value: V) -> NoReturn:
            raise _refused(f"m[{show(key)}] = {show(value)}", f"m = m | {{{show(key)}: {show(value)}}}")

        def __delitem__(self, key: K) -> NoReturn:
            raise _refused(f"del m[{show(key)}]", f"m = m.without({show(key)})")

        def update(self, *args: Any, **kwargs: Any) -> NoReturn:
            raise _refused("m.update(...)", "m = m | {key: value}")

        def setdefault(self, key: K, default: V | None = None) -> NoReturn:
            raise _refused(f"m.setdefault({show(key)}, ...)", f"m = {{{show(key)}: ...}} | m")

        def pop(self, key: K, *default: V) -> NoReturn:
            raise _refused(f"m.pop({show(key)})", f"value = m[{show(key)}], and m = m.without({show(key)})")

        def clear(self) -> NoReturn:
            raise _refused("m.clear()", "m = Map()")

        def __getattr__(self, name: str) -> NoReturn:
            """Other libraries have `set`, `assoc`, `remove` and the like for what is written otherwise here."""
            if name.startswith("_"):
                raise AttributeError(name)
            raise _NoMethodError(
                f"m.{name}: a Map has no such method",
                hint="m = m | {key: value} adds or changes an entry, m = m.without(key) takes one out",
                code="Q103",
                location=caller(),
            )

    def __getitem__(self, key: K) -> V:
        return self._items[key]

    def __iter__(self) -> Iterator[K]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __or__(self, other: Mapping[K, V]) -> Map[K, V]:
        if not isinstance(other, Mapping):
            return NotImplemented
        return Map({**self._items, **other})

    def __ror__(self, other: Mapping[K, V]) -> Map[K, V]:
        if not isinstance(other, Mapping):
            return NotImplemented
        return Map({**other, **self._items})

    def without(self, *keys: K) -> Map[K, V]:
        """The map less some keys; a key that is not there is no error."""
        return Map({key: value for key, value in self._items.items() if key not in keys})

    def __eq__(self, other: object) -> bool:
        return self._items == other._items if isinstance(other, Map) else NotImplemented

    def __hash__(self) -> int:
        # By content, not by Python's salted hashes: a set of maps is to iterate the same in every run.
        return hash(int.from_bytes(encode(self), "big"))

    def __repr__(self) -> str:
        return f"Map({self._items!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Map, (self._items,)


class _NoMethodError(ModelError, AttributeError):
    """For `hasattr` it is what Python expects."""


def _refused(what: str, instead: str) -> ModelError:
    return ModelError(
        f"{what}: a Map cannot be changed once it is made",
        hint=f"make a new one: {instead}",
        code="Q103",
        location=caller(),
    )


def _freeze(value: Map[Any, Any]) -> Map[Any, Any]:
    if value._encoded is not None:
        return value
    new: Map[Any, Any] = Map({freeze(key): freeze(item) for key, item in value._items.items()})
    object.__setattr__(new, "_encoded", _encode(new))
    return new


def _encode(value: Map[Any, Any]) -> bytes:
    if value._encoded is not None:
        return value._encoded
    return MAP + b"".join([encode(key) + encode(item) for key, item in value._items.items()]) + END


def _show(value: Map[Any, Any]) -> str:
    return "{" + ", ".join(f"{show(key)}: {show(item)}" for key, item in value._items.items()) + "}"


register(Map, Kind(_freeze, _encode, _show))
