"""Operations: what clients do, as intervals that begin and end.

    class Write(Operation, result=None):
        value: int

    self.invoke(Write(3))       # in a handler: it begins
    self.returns()              # in a later one: it ends, with a result if it has one

Both are events, so monitors see them in the same indivisible step. A process has one operation under way at a time, or
several that have identities: `self.invoke(Write(3), identity=7)`, `self.returns(identity=7)`.
"""

from __future__ import annotations

from typing import Any, dataclass_transform

from quorate.base.errors import Location, ModelError
from quorate.base.places import class_location
from quorate.language.message import Event, Record

ANY: Any = object()
"""The result of an operation that does not declare one."""


@dataclass_transform(frozen_default=True)
class Operation(Record):
    """Something a client asks of a shared object. `class Read(Operation, result=int)` says what its results are."""

    _kind_of = "an operation"
    _result = ANY  # without an annotation: it is no field

    def __init_subclass__(cls, *, result: Any = ANY, **options: Any) -> None:
        super().__init_subclass__(**options)
        if result is not ANY:
            cls._result = type(None) if result is None else result
            try:
                isinstance(None, cls._result)
            except TypeError:
                raise ModelError(
                    f"{cls.__name__}: result={result!r} is not a type",
                    hint="give a class or a union of classes: `class Read(Operation, result=int | None)`",
                    code="Q106",
                    location=class_location(cls),
                ) from None

    @classmethod
    def gives(cls, value: object) -> bool:
        """Whether a value is of the type that results of this operation have."""
        return cls._result is ANY or isinstance(value, cls._result)


class Invoked(Event):
    """An operation begins."""

    operation: Operation
    identity: Any = None


class Returned(Event):
    """The operation under way, or the one of that identity, ends."""

    value: Any = None
    identity: Any = None


def place_of(event: Event) -> Location | None:
    """The line of the model that has emitted the event, if it is known. No part of what the event is."""
    return event.__dict__.get("_place")
