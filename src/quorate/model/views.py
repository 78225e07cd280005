"""Read-only views of processes and monitors that record which fields a property reads.

What was read is what the property can depend on: two states that agree on it make the property read and answer the
same. Later layers build visibility and the caching of evaluations on that, so nothing may be read past the record.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

from quorate.base.errors import ModelError, caller
from quorate.language.automaton import Automaton, attach
from quorate.language.monitor import Monitor
from quorate.language.pid import Pid
from quorate.language.system import System
from quorate.model.definition import Column, Definition
from quorate.model.outcome import Local, is_crashed

_new = object.__new__
CRASH_FLAG = -1
"""The field index that stands for "is this process crashed?"."""


class Panel:
    """The state that a property is asked about, and the record of what is read of it.

    Every evaluation has views of its own, and a system of its own. So whatever a property keeps in these objects, or
    keeps by them (`cached_property`, `functools.cache` with a process as argument), is not there the next time.
    """

    def __init__(self, definition: Definition) -> None:
        self.locals: Sequence[Local] | Mapping[int, Local] = ()
        self.reads: dict[Any, None] = {}
        self.serial = 0
        self._columns = definition.columns
        self._system = definition.system
        classes = {column.cls: _view_class(column) for column in definition.columns}
        self._kinds = [(classes[column.cls], _Reading(self, column)) for column in definition.columns]
        self._of: dict[Any, tuple[int, ...]] = {}
        self._views: dict[int, Any] = {}
        self._shown: dict[Any, Any] = {}

    def show(self, locals: tuple[Local, ...]) -> System:
        """The system in a state, for one evaluation."""
        self.locals = locals
        self.reads = {}
        self.serial += 1 << 30
        self._views = {}
        self._shown = {}
        bound = _new(type(self._system))
        held = bound.__dict__
        held.update(self._system.__dict__)
        held["_views"] = self
        return bound

    def alone(self, column: int, local: Local) -> Any:
        """A process by itself, for one evaluation."""
        self.locals = {column: local}
        self.reads = {}
        self.serial += 1 << 30
        self._views = {}
        return self.view(column)

    def of(self, cls: Any) -> Any:
        """The views of a class: a tuple of processes, or the monitor."""
        found = self._shown.get(cls)
        if found is None:
            indices = self._of.get(cls)
            if indices is None:
                indices = self._of[cls] = self._look_up(cls)
            views = tuple([self.view(index) for index in indices])
            found = self._shown[cls] = views[0] if issubclass(cls, Monitor) else views
        return found

    def view(self, index: int) -> Any:
        view = self._views.get(index)
        if view is None:
            cls, reading = self._kinds[index]
            view = self._views[index] = _new(cls)
            attach(view, reading)
        return view

    def _look_up(self, cls: Any) -> tuple[int, ...]:
        if not (isinstance(cls, type) and issubclass(cls, Automaton)):
            raise ModelError(
                f"self[{cls!r}] in a property: not a class of processes or monitors",
                hint="name the class: self[Learner]",
                code="Q108",
                location=caller(),
            )
        found = tuple(
            column.index
            for column in self._columns
            if issubclass(column.cls, cls) and (cls._byzantine or not column.cls._byzantine)
        )
        if issubclass(cls, Monitor) and not found:
            raise ModelError(
                f"self[{cls.__name__}] in a property, but no such monitor watches",
                hint=f"add self.watch({cls.__name__}) to `build`",
                code="Q108",
                location=caller(),
            )
        return found


class _Reading:
    """Stands where a handler has its run: gives the identity, refuses to act."""

    __slots__ = ("index", "panel", "pid")
    closed = "a property"

    def __init__(self, panel: Panel, column: Column) -> None:
        self.panel = panel
        self.index = column.index
        self.pid: Pid | None = column.pid


def _view_class(column: Column) -> type:
    """A subclass of the process's class, so that its methods work, with every field replaced by a recording one."""
    members: dict[str, Any] = {"__slots__": (), "__setattr__": _refuse, "__module__": column.cls.__module__}
    for index, name in enumerate(column.fields[: column.spec.visible]):
        members[name] = property(_reader(index))
    if "crashed" not in members:
        members["crashed"] = property(_has_crashed)
    if column.cls.__hash__ is object.__hash__:
        members["__hash__"] = _hash
    return types.new_class(column.cls.__name__, (column.cls,), {"view": True}, lambda body: body.update(members))


def _reader(field: int) -> Callable[[Any], Any]:
    def read(self: Any) -> Any:
        reading: _Reading = self._run
        panel, column = reading.panel, reading.index
        panel.reads.setdefault((column, field))
        return panel.locals[column][field]

    return read


def _has_crashed(self: Any) -> bool:
    reading: _Reading = self._run
    reading.panel.reads.setdefault((reading.index, CRASH_FLAG))
    return is_crashed(reading.panel.locals[reading.index])


def _hash(self: Any) -> int:
    """By place, so that a set of views has the same order whenever it is made; not by address, as Python has it.

    Views of different evaluations differ in the upper bits: a cache that is keyed by them stays a hash table.
    """
    reading: _Reading = self._run
    index: int = reading.index
    return reading.panel.serial + index


def _refuse(self: Any, name: str, _: Any) -> NoReturn:
    raise ModelError(
        f"{type(self).__name__}.{name} was assigned in a property, which may only read",
        hint="keep intermediate results in local variables; for history use a Monitor",
        code="Q108",
        location=caller(),
    )
