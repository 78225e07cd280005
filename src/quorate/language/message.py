"""Messages and events: annotate a subclass and it is a frozen dataclass.

    class Promise(Message):
        ballot: int
        vote: Vote | None = None

A message that was received knows its `sender`, an event its `source`. Who sent it is part of what a message is once it
has been sent: two acceptors' equal promises are two messages.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn, dataclass_transform
from weakref import WeakKeyDictionary

from quorate.base.errors import ModelError, caller
from quorate.base.places import class_location, location_of, member_location, refuse_two_meanings
from quorate.base.values import (
    END,
    RECORD,
    SIMPLE,
    BadValueError,
    Kind,
    beyond,
    class_token,
    encode,
    field_names,
    freeze,
    register,
    show,
)
from quorate.language.declared import refuse_taken
from quorate.language.pid import Pid

_RESERVED = {"sender", "source"}


def _kind(cls: Any) -> Kind:
    """How records of a class are normalised, encoded and shown. The encoding of one that was sent is kept on it."""
    names = cls._names
    prefix = RECORD + class_token(cls)

    def frozen(value: Any) -> Any:
        if "_encoded" in value.__dict__:
            return value
        if len(value.__dict__) != len(names):
            _refuse_more(value)
        new = object.__new__(cls)
        fields: dict[str, Any] = new.__dict__
        for name in names:
            fields[name] = freeze(getattr(value, name))
        if "_origin" in value.__dict__:
            fields["_origin"] = value.__dict__["_origin"]
        fields["_encoded"] = encoded(new)
        return new

    def encoded(value: Any) -> bytes:
        fields = value.__dict__
        code: bytes | None = fields.get("_encoded")
        if code is None:
            sender: Pid | None = fields.get("_origin")
            body = b"".join([encode(getattr(value, name)) for name in names])
            code = prefix + body + END + (sender._encoded if sender is not None else b"")
            if sender is not None:
                fields["_encoded"] = code
        return code

    def shown(value: Any) -> str:
        return f"{cls.__name__}({', '.join(f'{name}={show(getattr(value, name))}' for name in names)})"

    return Kind(frozen, encoded, shown)


class Record:
    """What messages and events share: named fields, an origin, identity by content."""

    _names: ClassVar[tuple[str, ...]] = ()
    _kind_of: ClassVar[str] = "a record"

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for base in cls.__mro__:
            if base.__module__ == "builtins" and base is not object:
                raise ModelError(
                    f"{cls.__name__} is {cls._kind_of} and {base.__name__} at once",
                    hint="give it a field that holds the value",
                    code="Q106",
                    location=class_location(cls),
                )
        if "__slots__" in vars(cls):
            raise ModelError(
                f"{cls.__name__} declares __slots__: {cls._kind_of} keeps more than its fields",
                hint="leave __slots__ out",
                code="Q106",
                location=member_location(cls, "__slots__"),
            )
        if cls.__doc__ is None:
            cls.__doc__ = cls.__name__  # else dataclass works out a signature, which takes longer than all the rest
        try:
            dataclass(frozen=True, eq=False, repr=False)(cls)
        except (TypeError, ValueError) as error:  # a mutable default, or a field without one behind one that has
            raise ModelError(
                f"{cls.__name__}: {error}",
                hint="fields without a default come first; a default is an immutable value",
                code="Q106",
                location=class_location(cls),
            ) from None
        refuse_taken(cls, field_names(cls), ("_origin", "_encoded"))
        for name in ("__eq__", "__hash__"):
            if name in vars(cls):
                raise ModelError(
                    f"{cls.__name__} defines {name}: {cls._kind_of} is compared by its fields",
                    hint="compare with a method of another name",
                    code="Q106",
                    location=location_of(vars(cls)[name]) or class_location(cls),
                )
        cls.__setattr__ = Record.__setattr__  # type: ignore[method-assign]
        cls.__delattr__ = Record.__delattr__  # type: ignore[method-assign]
        cls._names = field_names(cls)
        refuse_two_meanings(cls, cls._names, "field")
        for name in _RESERVED.intersection(cls._names):
            raise ModelError(
                f"{cls.__name__}.{name}: {cls._kind_of} already records where it comes from",
                hint="leave the field out, or give it another name",
                code="Q106",
                location=member_location(cls, name),
            )
        register(cls, _kind(cls))

    def __setattr__(self, name: str, value: object) -> None:
        if name == "__orig_class__":  # what `typing` notes of G[int](...)
            return
        raise ModelError(
            f"{type(self).__name__}.{name} was assigned: {self._kind_of} cannot be changed once it is made",
            hint=f"make a new one: `{type(self).__name__}(...)`, or dataclasses.replace(m, {name}=...)",
            code="Q103",
            location=caller(),
        )

    def __delattr__(self, name: str) -> NoReturn:
        raise ModelError(
            f"{type(self).__name__}.{name} was deleted: {self._kind_of} cannot be changed once it is made",
            hint=f"make a new one: `{type(self).__name__}(...)`",
            code="Q103",
            location=caller(),
        )

    def __eq__(self, other: object) -> bool:
        return self is other or (type(self) is type(other) and encode(self) == encode(other))

    def __hash__(self) -> int:
        # Not Python's salted hash: sets of messages that a handler makes are to iterate the same in every run.
        return hash(int.from_bytes(encode(self), "big"))

    def __repr__(self) -> str:
        return show(self)


@dataclass_transform(frozen_default=True)
class Message(Record):
    """Something one process sends to another. `m.sender` is the identity of the process that sent it."""

    _kind_of = "a message"

    @property
    def sender(self) -> Pid:
        """Who sent it."""
        return _origin(self, "sender", "received")


class Crash(Message):
    """What a perfect failure detector reports: the process that sent it has crashed. Only `crashes(...)` makes it."""


@dataclass_transform(frozen_default=True)
class Event(Record):
    """Something a handler tells the monitors: `self.emit(ReadBegan())`. `e.source` is the process that emitted it."""

    _kind_of = "an event"

    @property
    def source(self) -> Pid:
        """Who emitted it."""
        return _origin(self, "source", "emitted")


VIEWS: WeakKeyDictionary[type[Any], type[Any]] = WeakKeyDictionary()
"""The views that proofs make of classes of messages, with these. No mark in the class: a model might have it too."""


def derived(cls: type[Any]) -> list[type[Any]]:
    """The classes that a model derives from one; not the views that proofs make of it."""
    return [each for each in cls.__subclasses__() if each not in VIEWS]


def origin(record: Record) -> Pid | None:
    """The sender or source, None before it was sent or emitted."""
    return record.__dict__.get("_origin")


def _origin(record: Record, name: str, how: str) -> Pid:
    found: Pid | None = record.__dict__.get("_origin")
    if found is None:
        raise ModelError(
            f"{type(record).__name__}.{name}: it has a {name} only once it was {how}",
            hint="in a handler `self.pid` is the identity of the process itself",
            code="Q108",
            location=caller(),
        )
    return found


def stamped(record: Any, pid: Pid) -> Any:
    """A normalised copy that bears its origin. Being a copy, it cannot be changed through the handler's reference."""
    cls = type(record)
    source = record.__dict__
    if len(source) != len(cls._names):
        _refuse_more(record)
    new: Record = object.__new__(cls)
    fields = new.__dict__
    for name in cls._names:
        try:
            value = source[name]
        except KeyError:  # `__init__` leaves the default of field(init=False) in the class
            value = getattr(record, name)
        if type(value) not in SIMPLE:
            try:
                value = freeze(value)
            except BadValueError as bad:
                raise bad_field(cls, name, bad) from None
        fields[name] = value
    fields["_origin"] = pid
    return new


def _refuse_more(record: Record) -> None:
    """Refuse what is not declared: it would not be compared, and not be sent."""
    cls = type(record)
    for name in beyond(record, frozenset((*cls._names, "_origin", "_encoded"))):
        raise ModelError(
            f"{cls.__name__}.{name} was assigned, but {cls.__name__} declares no field `{name}`",
            hint=f"declare it, `{name}: <type> = field(init=False)`, or compute it in a @property",
            code="Q102",
            location=caller(),
        )


def bad_field(cls: type, name: str, bad: BadValueError) -> ModelError:
    """The error for a value that may not be part of a state, found in a field."""
    return ModelError(
        f"{cls.__name__}.{name} holds {_brief(bad.value)} of type {type(bad.value).__name__}, "
        "which cannot be part of a state",
        hint=bad.advice,
        code="Q101",
        location=caller(),
    )


def _brief(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
