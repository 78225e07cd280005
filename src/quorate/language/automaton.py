"""What processes and monitors share: declared fields that hold immutable values.

A handler runs on a short-lived instance. Its dictionary is empty at first, and a field is put there when it is read or
assigned: so the run knows what it has read, and a second reading is as fast as Python allows.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, ClassVar, NoReturn

from quorate.base.errors import ModelError, caller, did_you_mean
from quorate.base.places import member_location, refuse_two_meanings
from quorate.base.values import SIMPLE, BadValueError, freeze
from quorate.language.constants import is_constant
from quorate.language.declared import refuse_overrides, refuse_taken
from quorate.language.lost import refuse_lost
from quorate.language.message import bad_field


class _Missing:
    def __repr__(self) -> str:
        return "required"


MISSING: Any = _Missing()
"""The default of a field that has none: `spawn` or `connect` gives its value."""


WATCHING = "a monitor"
"""What a run is closed for if it is a monitor's: it does nothing but to change its own fields."""


class Field:
    """A field in its class: gives the default to whoever asks the class, and the value of this run to an instance.

    It has no `__set__`, so what lies in the dictionary of the instance hides it.
    """

    __slots__ = ("default", "name")

    def __init__(self, name: str, default: Any) -> None:
        self.name = name
        self.default = default

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            if self.default is MISSING:
                raise AttributeError(f"type object {owner.__name__!r} has no attribute {self.name!r}")
            return self.default
        name = self.name
        run = instance._run
        at = instance._places[name]
        run.reads[at] = None
        value = held_by(instance)[name] = run.local[at]
        return value


class _Held:
    """Where the dictionary of an instance is."""

    __slots__ = ("__dict__", "__weakref__", "_run")
    _run: Any


held_by: Callable[[Any], dict[str, Any]] = _Held.__dict__["__dict__"].__get__
"""The dictionary of an instance as it is: the fields that were read or assigned so far, and whatever else got there."""


class Automaton(_Held):
    """Fields, and the refusal of anything that is not a field."""

    __slots__ = ()
    _places: ClassVar[dict[str, int]] = {}
    """Where each field stands in a local state."""
    _fields: ClassVar[dict[str, Any]] = {}
    _own_fields: ClassVar[dict[str, Any]] = {}
    """Those that the class itself declares or gives another default. What several bases say of a field is decided by
    the order in which Python looks attributes up: an inherited default does not hide one that was given."""
    _constants: ClassVar[frozenset[str]] = frozenset()
    """The fields that nobody assigns. What the last class says that declares a field, counts."""
    _byzantine: ClassVar[bool] = False
    """Whether properties leave its processes out unless they ask for this very class."""
    _reserved: ClassVar[frozenset[str]] = frozenset({"pid", "send", "reply", "choose", "emit", "within"})
    """Names that no field can have."""

    def __init__(self, *_: Any, **__: Any) -> None:
        name = type(self).__name__
        raise ModelError(
            f"{name}(...) was called: processes and monitors are made by their system",
            hint=f"in `build`, write self.spawn({name}, ...) for a process, self.watch({name}) for a monitor",
            code="Q108",
            location=caller(),
        )

    def __init_subclass__(cls, *, view: bool = False, byzantine: bool | None = None, **options: Any) -> None:
        if not view:
            refuse_taken(cls, own_annotations(cls))  # before anything is kept there
        super().__init_subclass__(**options)
        if view:  # a property's view of the class: the same fields, read in another way
            return
        if byzantine is not None:
            cls._byzantine = byzantine
        refuse_lost(cls, (Automaton,))
        refuse_overrides(cls)
        fields: dict[str, Any] = {}
        for base in reversed(cls.__mro__[1:]):
            fields.update(base.__dict__.get("_own_fields", {}))
        for name in own_annotations(cls):
            if name in cls._reserved:
                raise ModelError(
                    f"{cls.__name__}.{name}: the name is reserved by the language",
                    hint="give the field another name",
                    code="Q106",
                    location=member_location(cls, name),
                )
            fields[name] = MISSING
        refuse_two_meanings(cls, fields, "field")
        given = {*vars(cls)}
        for name in fields:
            if name in given:
                try:
                    fields[name] = freeze(vars(cls)[name])
                except BadValueError as bad:
                    error = bad_field(cls, name, bad)
                    error.location = member_location(cls, name)
                    raise error from None
                setattr(cls, name, Field(name, fields[name]))
            elif not hasattr(cls, name):
                setattr(cls, name, Field(name, MISSING))
        cls._fields = fields
        cls._places = {name: at for at, name in enumerate(fields)}
        own = {*own_annotations(cls), *given}
        kinds: dict[str, Any] = {}
        for base in reversed(cls.__mro__):
            if issubclass(base, Automaton):
                kinds.update(own_annotations(base))
        cls._constants = frozenset(name for name in fields if is_constant(kinds[name]))
        cls._own_fields = {name: default for name, default in fields.items() if name in own}

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._fields:
            raise self._undeclared(name)
        closed = self._run.closed
        if closed and closed != WATCHING:
            raise ModelError(
                f"{type(self).__name__}.{name} was assigned in {closed}",
                hint="it only reads: assign in the body of a handler",
                code="Q108",
                location=caller(),
            )
        if name in self._constants:
            raise ModelError(
                f"{type(self).__name__}.{name} was assigned, and is a constant",
                hint=f"what changes is a field: declare it without `Constant[...]`, `{name}: <type>`",
                code="Q102",
                location=caller(),
            )
        if type(value) not in SIMPLE:
            try:
                value = freeze(value)
            except BadValueError as bad:
                raise bad_field(type(self), name, bad) from None
        held_by(self)[name] = value

    @property
    def __dict__(self) -> dict[str, Any]:  # type: ignore[override]
        """All fields, in their order. Whoever looks here may have read any of them."""
        held, run = held_by(self), self._run
        if not getattr(run, "opened", True):  # a property's view has none: its fields are never here
            run.opened = True
            beyond = [name for name in held if name not in self._fields]
            values = {name: held[name] if name in held else getattr(self, name) for name in (*self._fields, *beyond)}
            held.clear()
            held.update(values)
        return held

    def __reduce_ex__(self, *_: object) -> NoReturn:
        """`copy` and `pickle` would look past the property above."""
        raise ModelError(
            f"a {type(self).__name__} was copied or pickled",
            hint="use the values of its fields, which never change",
            code="Q108",
            location=caller(),
        )

    __getstate__ = __reduce_ex__

    def __delattr__(self, name: str) -> NoReturn:
        raise ModelError(
            f"{type(self).__name__}.{name} was deleted: a state always has all its fields",
            hint=f"use a value that means 'nothing': self.{name} = None",
            code="Q102",
            location=caller(),
        )

    def _rearranged(self) -> ModelError:
        return ModelError(
            f"fields of {type(self).__name__} were deleted or reordered through __dict__",
            hint="assign to fields: self.field = value",
            code="Q102",
            location=caller(),
        )

    def _undeclared(self, name: str) -> ModelError:
        cls = type(self)
        if name == "pid":
            return ModelError(
                f"{cls.__name__}.pid was assigned: a process keeps its identity", code="Q102", location=caller()
            )
        if name in cls._reserved:
            hint = f"`{name}` is part of the language: give the field another name"
        elif hasattr(cls, name) and not callable(getattr(cls, name)):
            hint = f"a constant of the class is no field: annotate it to make it one, `{name}: <type> = ...`"
        else:
            close = did_you_mean(name, cls._fields)
            hint = close if close.startswith("did") else f"declare it in the class: `{name}: <type> = <initial value>`"
        return ModelError(
            f"{cls.__name__}.{name} was assigned, but {cls.__name__} declares no field `{name}`",
            hint=hint,
            code="Q102",
            location=caller(),
        )


attach = _Held.__dict__["_run"].__set__
"""Give an instance its run, past the refusal of undeclared fields."""


def own_annotations(cls: type) -> dict[str, Any]:
    """The class's own annotations, unevaluated where that is possible, without the ClassVars."""
    if sys.version_info >= (3, 14):
        import annotationlib

        found = annotationlib.get_annotations(cls, format=annotationlib.Format.FORWARDREF)
    else:
        found = vars(cls).get("__annotations__")
    if not isinstance(found, dict):  # none, or somebody has put something else there
        return {}
    return {
        name: kind for name, kind in found.items() if "ClassVar" not in (kind if isinstance(kind, str) else repr(kind))
    }
