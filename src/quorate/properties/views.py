"""Read-only views of processes and monitors that record which fields a property reads.

What was read is what the property can depend on: two states that agree on it make the property read and answer the
same. Later layers build visibility and the caching of evaluations on that, so nothing may be read past the record.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any, NoReturn

from quorate.language.automaton import Automaton, attach
from quorate.language.definition import Column, Definition
from quorate.language.errors import ModelError, caller
from quorate.language.monitor import Monitor
from quorate.language.outcome import Local, is_crashed
from quorate.language.pid import Pid
from quorate.language.system import System

CRASH_FLAG = -1
"""The field index that stands for "is this process crashed?"."""


class Panel:
    """The views of one definition and the record of the evaluation under way."""

    def __init__(self, definition: Definition) -> None:
        self.locals: tuple[Local, ...] = ()
        self.reads: dict[tuple[int, int], None] = {}
        self._columns = definition.columns
        self._classes: dict[type, type] = {}
        self._views = [self._view(column) for column in definition.columns]
        self._of: dict[type, tuple[tuple[Column, Any], ...]] = {}
        self.system = _bound(definition.system, self)

    def of(self, cls: Any) -> Any:
        """The views of a class: a tuple of processes, or the monitor."""
        found = self._of.get(cls)
        if found is None:
            found = self._of[cls] = self._look_up(cls)
        if issubclass(cls, Monitor):
            return found[0][1]
        return tuple(view for _, view in found)

    def _look_up(self, cls: Any) -> tuple[tuple[Column, Any], ...]:
        if not (isinstance(cls, type) and issubclass(cls, Automaton)):
            raise ModelError(
                f"self[{cls!r}] in a property: not a class of processes or monitors",
                hint="name the class: self[Learner]",
                code="Q108",
                location=caller(),
            )
        found = tuple(
            (column, view)
            for column, view in zip(self._columns, self._views, strict=True)
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

    def _view(self, column: Column) -> Any:
        cls = self._classes.get(column.cls)
        if cls is None:
            cls = self._classes[column.cls] = _view_class(column)
        view: Any = object.__new__(cls)
        attach(view, _Reading(self, column))
        return view


class _Reading:
    """Stands where a handler has its run: gives the identity, refuses to act."""

    __slots__ = ("closed", "index", "panel", "pid")

    def __init__(self, panel: Panel, column: Column) -> None:
        self.panel = panel
        self.index = column.index
        self.pid: Pid | None = column.pid
        self.closed = "a property"


def _view_class(column: Column) -> type:
    """A subclass of the process's class, so that its methods work, with every field replaced by a recording one."""
    members: dict[str, Any] = {"__slots__": (), "__setattr__": _refuse, "__module__": column.cls.__module__}
    for index, name in enumerate(column.fields[: column.spec.visible]):
        members[name] = property(_reader(index))
    if "crashed" not in members:
        members["crashed"] = property(_has_crashed)
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


def _refuse(self: Any, name: str, _: Any) -> NoReturn:
    raise ModelError(
        f"{type(self).__name__}.{name} was assigned in a property, which may only read",
        hint="keep intermediate results in local variables; for history use a Monitor",
        code="Q108",
        location=caller(),
    )


def _bound(system: System, panel: Panel) -> System:
    """The system as a property sees it: its parameters, and views instead of processes."""
    bound = object.__new__(type(system))
    bound.__dict__.update(system.__dict__)
    bound.__dict__["_views"] = panel
    return bound
