"""Finite domains of message fields: what an attacker may put into them.

Booleans, enums, literals, identities and their combinations are finite by themselves. For other types the field says
what it may hold, in a way that costs nothing where nobody attacks:

    class Prepare(Message):
        ballot: Annotated[int, Among(1, 2)]

Signed values are different: an attacker can use those that it was shown, and those that it signs itself.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum, Flag
from itertools import combinations, product
from typing import Any, NamedTuple, TypeVar

from quorate.base.errors import LimitError, Location, ModelError
from quorate.base.failures import blame
from quorate.base.values import encode, field_names, freeze, in_order
from quorate.language.message import Message, origin, stamped
from quorate.language.pid import Peers, Pid
from quorate.language.signed import Signed, signed

Evidence = frozenset[Any]
"""Signed values and received messages: what others have vouched for."""

T = TypeVar("T")

MOST_ELEMENTS = 10
MOST_VALUES = 100_000


class Among:
    """The values that a field may hold: `Among(0, 1)`, or `Among(lambda system: range(system.voters))`."""

    def __init__(self, *values: Any) -> None:
        self._given = values

    def values(self, system: Any) -> list[Any]:
        if len(self._given) == 1 and isinstance(self._given[0], types.FunctionType):
            given = self._given[0]
            return [freeze(value) for value in _asked("Among", lambda: list(given(system)))]
        return [freeze(value) for value in self._given]


class Sized:
    """How many elements a set may have: `Sized(3)`, or `Sized(lambda system: system.quorum)`."""

    def __init__(self, size: int | Callable[[Any], int]) -> None:
        self._size = size

    def number(self, system: Any) -> int:
        size = self._size
        return size if isinstance(size, int) else _asked("Sized", lambda: size(system))


def _asked(what: str, function: Callable[[], T]) -> T:
    """What a function of the parameters gives; what it raises is the model's fault."""
    try:
        return function()
    except BaseException as error:
        raise blame(f"the function of {what}(...)", error, None, "it is asked with the system's parameters") from error


class World(NamedTuple):
    """What the values of a domain may refer to."""

    system: Any
    pids: tuple[Pid, ...]
    attackers: tuple[Pid, ...]


class Domain:
    """The values of one type, given what was vouched for; every type is read once."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._hints: dict[type, dict[str, Any]] = {}
        # What was made once is not made again when an attacker learns something: most of it is the same then.
        self._sets_made: dict[tuple[bytes, ...], frozenset[Any]] = {}
        self._messages_made: dict[tuple[type, bytes], Any] = {}

    def messages(self, cls: type[Message], known: Evidence, inside: tuple[type, ...] = ()) -> list[Any]:
        """Every message of a class, not yet sent by anyone."""
        if cls in inside:
            raise _no_domain(
                cls, "", f"{cls.__name__} holds messages of its own class", "declare its values: Among(...)"
            )
        return [self._message(cls, values) for values in self._fields(cls, known, (*inside, cls))]

    def _message(self, cls: type[Message], values: tuple[tuple[Any, bytes], ...]) -> Any:
        key = cls, b"".join([code for _, code in values])
        made = self._messages_made.get(key)
        if made is None:
            made = self._messages_made[key] = freeze(cls(*(value for value, _ in values)))
        return made

    def evidence_types(self, cls: type[Message]) -> set[type]:
        """The types of signed values in a message class: Signed, and the classes of messages that are handed on."""
        found: set[type] = set()
        todo, seen = [cls], set[type]()
        while todo:
            record = todo.pop()
            if record in seen:
                continue
            seen.add(record)
            for hint in self._fields_of(record).values():
                for part in _parts(hint):
                    if part is Signed:
                        found.add(part)
                    elif isinstance(part, type) and issubclass(part, Message):
                        found.add(part)
                        todo.append(part)
                    elif _is_record(part):
                        todo.append(part)
        return found

    def _fields(self, cls: type, known: Evidence, inside: tuple[type, ...]) -> Iterator[tuple[tuple[Any, bytes], ...]]:
        """Every combination of values of the fields, each with its encoding."""
        domains = [self._values(hint, known, inside, cls, name) for name, hint in self._fields_of(cls).items()]
        count = 1
        for domain in domains:
            count *= len(domain)
        if count > MOST_VALUES:
            sizes = ", ".join(f"{name}: {len(one):,}" for name, one in zip(self._fields_of(cls), domains, strict=True))
            raise LimitError(
                f"a Byzantine process could send {count:,} different {cls.__name__} ({sizes})",
                hint="declare smaller domains: Annotated[..., Among(...)], or Sized(...) for a set",
                code="Q503",
            )
        return product(*domains)

    def _fields_of(self, cls: Any) -> dict[str, Any]:
        found = self._hints.get(cls)
        if found is None:
            try:
                hints = typing.get_type_hints(cls, include_extras=True)
            except Exception as error:
                raise _no_domain(
                    cls, "", f"its annotations cannot be read: {error}", "define it at the top of the module"
                ) from None
            names = cls._names if issubclass(cls, Message) else [name for name in hints if name in _record_fields(cls)]
            found = self._hints[cls] = {name: hints[name] for name in names}
        return found

    def _values(
        self, hint: Any, known: Evidence, inside: tuple[type, ...], cls: type, name: str
    ) -> list[tuple[Any, bytes]]:
        found = self._listed(hint, known, inside, cls, name)
        return [(value, code) for code, value in {encode(value): value for value in found}.items()]

    def _listed(self, hint: Any, known: Evidence, inside: tuple[type, ...], cls: type, name: str) -> Iterable[Any]:
        def pairs(part: Any) -> list[tuple[Any, bytes]]:
            return self._values(part, known, inside, cls, name)

        def again(part: Any) -> list[Any]:
            return [value for value, _ in pairs(part)]

        origin_of, arguments = typing.get_origin(hint), typing.get_args(hint)
        if origin_of is typing.Annotated:
            for note in arguments[1:]:
                if isinstance(note, Among):
                    return note.values(self._world.system)
                if isinstance(note, Sized):
                    size = note.number(self._world.system)
                    return self._sets(pairs(_element(arguments[0], cls, name)), range(size, size + 1))
            return again(arguments[0])
        if origin_of in (typing.Union, types.UnionType):
            return [value for part in arguments for value in again(part)]
        if origin_of is typing.Literal:
            return arguments
        if hint is None or hint is type(None):
            return (None,)
        if hint is bool:
            return (False, True)
        if hint is Pid:
            return self._world.pids
        if isinstance(hint, type) and issubclass(hint, Enum) and not issubclass(hint, Flag):
            return list(hint)
        if origin_of is Signed:
            own = [signed(value, pid) for pid in self._world.attackers for value in again(arguments[0])]
            return own + [one for one in in_order(known) if isinstance(one, Signed) and fits(one.value, arguments[0])]
        if isinstance(hint, type) and issubclass(hint, Message):
            made = self.messages(hint, known, inside)
            own_messages = [stamped(message, pid) for pid in self._world.attackers for message in made]
            return own_messages + [one for one in in_order(known) if isinstance(one, hint)]
        if _is_record(hint):
            return [hint(*(value for value, _ in values)) for values in self._fields(hint, known, inside)]
        if origin_of is tuple and Ellipsis not in arguments:
            return product(*(again(part) for part in arguments))
        if hint is Peers or origin_of is frozenset:
            elements = pairs(_element(hint, cls, name))
            if len(elements) > MOST_ELEMENTS:
                raise _no_domain(
                    cls,
                    name,
                    f"it may be any set of {len(elements)} elements",
                    f"say how large it is, `{name}: Annotated[{_written(hint)}, Sized(3)]`, or list them: Among(...)",
                )
            return self._sets(elements, range(len(elements) + 1))
        raise _no_domain(
            cls,
            name,
            f"{_written(hint)} has no finite domain",
            f"say what it may hold: `{name}: Annotated[{_written(hint)}, Among(0, 1)]`, "
            "with Annotated from typing and Among from quorate",
        )

    def _sets(self, elements: list[tuple[Any, bytes]], sizes: range) -> Iterator[frozenset[Any]]:
        for size in sizes:
            for chosen in combinations(elements, size):
                key = tuple([code for _, code in chosen])
                made = self._sets_made.get(key)
                if made is None:
                    made = self._sets_made[key] = freeze(frozenset(value for value, _ in chosen))
                yield made


def fits(value: Any, hint: Any) -> bool:
    """Whether a value is of a type, as far as what was signed must be for a receiver to read it as that."""
    origin_of, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin_of is typing.Annotated:
        return fits(value, arguments[0])
    if origin_of in (typing.Union, types.UnionType):
        return any(fits(value, part) for part in arguments)
    if origin_of is typing.Literal:
        return any(encode(value) == encode(option) for option in arguments)
    if hint is None:
        return value is None
    if origin_of is Signed:
        return isinstance(value, Signed) and fits(value.value, arguments[0])
    if origin_of is tuple and Ellipsis not in arguments:
        alike = isinstance(value, tuple) and len(value) == len(arguments)
        return alike and all(fits(item, part) for item, part in zip(value, arguments, strict=True))
    if origin_of in (tuple, frozenset):
        return isinstance(value, origin_of) and all(fits(item, arguments[0]) for item in value)
    if hint is int:
        return type(value) is int
    wanted = origin_of or hint
    return isinstance(value, wanted) if isinstance(wanted, type) else True


def evidence(value: Any) -> Iterator[Any]:
    """The signed values and received messages inside of a value, itself included."""
    if isinstance(value, Message):
        if origin(value) is not None:
            yield value
        for name in type(value)._names:
            yield from evidence(getattr(value, name))
    elif isinstance(value, Signed):
        yield value
        yield from evidence(value.value)
    elif isinstance(value, tuple | frozenset):
        for item in value:
            yield from evidence(item)
    elif isinstance(value, Mapping):
        for item in value.items():
            yield from evidence(item)
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from evidence(getattr(value, field.name))


def _parts(hint: Any) -> Iterator[Any]:
    yield typing.get_origin(hint) if typing.get_origin(hint) is Signed else hint
    if typing.get_origin(hint) is not typing.Literal:
        for part in typing.get_args(hint):
            yield from _parts(part)


def _is_record(hint: Any) -> bool:
    """A NamedTuple or a frozen dataclass of the user's."""
    if not isinstance(hint, type) or issubclass(hint, Message) or hint is Signed:
        return False
    return bool(_record_fields(hint))


def _record_fields(cls: type) -> tuple[str, ...]:
    if issubclass(cls, tuple):
        return tuple(getattr(cls, "_fields", ()))
    return field_names(cls) if "__dataclass_fields__" in cls.__dict__ else ()


def _element(hint: Any, cls: type, name: str) -> Any:
    if hint is Peers:
        return Pid
    if typing.get_origin(hint) is frozenset:
        return typing.get_args(hint)[0]
    raise _no_domain(cls, name, f"Sized(...) is about sets, not about {_written(hint)}", "use Among(...) there")


def _written(hint: Any) -> str:
    if isinstance(hint, type) and not typing.get_args(hint):
        return hint.__name__
    return str(hint).replace("typing.", "")


def _no_domain(cls: type, name: str, what: str, hint: str) -> ModelError:
    place = f"{cls.__name__}.{name}" if name else cls.__name__
    return ModelError(
        f"{place}: {what}, so a Byzantine process cannot try all of its values",
        hint=hint,
        code="Q116",
        location=_place(cls, name),
    )


def _place(cls: type, name: str) -> Location | None:
    """The line of a field, or of its class, as far as the source can be found."""
    import inspect

    try:
        lines, first = inspect.getsourcelines(cls)
        file = inspect.getsourcefile(cls)
    except (OSError, TypeError):
        return None
    at = next((number for number, line in enumerate(lines) if name and line.strip().startswith(f"{name}:")), 0)
    return Location(file, first + at) if file is not None else None
