"""Read-only views of processes and monitors that record which fields a property reads.

What was read is what the property can depend on: two states that agree on it make the property read and answer the
same. Later layers build visibility and the caching of evaluations on that, so nothing may be read past the record.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

from quorate.base.errors import MessagesRead, ModelError, caller
from quorate.base.values import encode, freeze, show
from quorate.language.automaton import Automaton, attach
from quorate.language.message import Message
from quorate.language.monitor import Monitor
from quorate.language.pid import Pid
from quorate.language.shared import Shared, cell_key, cell_name
from quorate.language.system import System
from quorate.model.definition import Column, Definition
from quorate.model.outcome import Local, is_crashed

_new = object.__new__
CRASH_FLAG = -1
"""The field index that stands for "is this process crashed?"."""
PENDING = -2
"""The field index that stands for "which messages are pending for this process?"."""


class Panel:
    """The state that a property is asked about, and the record of what is read of it.

    Every evaluation has views of its own, and a system of its own. So whatever a property keeps in these objects, or
    keeps by them (`cached_property`, `functools.cache` with a process as argument), is not there the next time.
    """

    def __init__(self, definition: Definition) -> None:
        self.locals: Sequence[Local] | Mapping[int, Local] = ()
        self.inboxes: Sequence[Sequence[Message]] | None = None
        self.only: tuple[type, ...] | None = None
        self.reads: dict[Any, None] = {}
        self.serial = 0
        self._definition = definition
        self._columns = definition.columns
        self._system = definition.system
        self._cells = definition.cells
        classes = {column.cls: _view_class(column) for column in definition.columns}
        self._kinds = [(classes[column.cls], _Reading(self, column)) for column in definition.columns]
        self._of: dict[Any, tuple[int, ...]] = {}
        self._views: dict[int, Any] = {}
        self._shown: dict[Any, Any] = {}

    def show(
        self,
        locals: tuple[Local, ...],
        inboxes: Sequence[Sequence[Message]] | None = None,
        only: tuple[type, ...] | None = None,
    ) -> System:
        """The system in a state, for one evaluation. The inboxes may hold messages of `only` these classes."""
        self.locals, self.inboxes, self.only = locals, inboxes, only
        self.reads = {}
        self.serial += 1 << 30
        self._views = {}
        self._shown = {}
        bound = _new(type(self._system))
        held = bound.__dict__
        held.update(self._system.__dict__)
        held.update(self._definition.settings)
        held["_views"] = self
        return bound

    def alone(self, column: int, local: Local) -> Any:
        """A process by itself, for one evaluation."""
        self.locals, self.inboxes = {column: local}, None
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

    def read_cell(self, cell: Shared[Any]) -> Any:
        column = self._columns[0].cells[encode(cell)]
        self.reads.setdefault((column, 0))
        return self.locals[column][0]

    def write_cell(self, cell: Shared[Any], value: Any) -> NoReturn:
        raise ModelError(f"{cell} was written in a property, which may only read", code="Q108", location=caller())

    def shared(self, name: str, *key: Any) -> Any:
        """What a shared cell holds."""
        wanted = encode(freeze(key[0] if len(key) == 1 else key))
        for cell in self._cells:
            if cell_name(cell) == name and encode(cell_key(cell)) == wanted:
                return self.read_cell(cell)
        known = [cell_name(cell) if cell_key(cell) == () else str(cell) for cell in self._cells]
        raise ModelError(
            f"there is no shared cell {name}{f'[{show(key[0])}]' if len(key) == 1 else ''}",
            hint=f"there are {', '.join(known)}" if known else "self.share(...) in `build` makes one",
            code="Q108",
            location=caller(),
        )

    def pending(self, cls: Any, to: Any) -> tuple[Any, ...]:
        """The messages of a class that are in flight, by receiver; not what attackers could say at any time."""
        if not (isinstance(cls, type) and issubclass(cls, Message)):
            raise ModelError(
                f"self.pending({cls!r}) in a property: not a class of messages",
                hint="name the class: self.pending(Promise)",
                code="Q108",
                location=caller(),
            )
        wanted = None if to is None else self._index(to)
        if self.inboxes is None or not (self.only is None or issubclass(cls, self.only)):
            raise MessagesRead(cls)
        definition, found = self._definition, []
        for column, inbox in zip(definition.processes, self.inboxes, strict=True):
            if wanted is None or definition.receiver(column.index).index == wanted:
                self.reads.setdefault((column.index, PENDING))
                found += [each for each in inbox if isinstance(each, cls) and not definition.stands(column, each)]
        return tuple(found)

    def _index(self, to: Any) -> int:
        if isinstance(to, Pid):
            return to._index
        reading = getattr(to, "_run", None)
        if not isinstance(reading, _Reading):
            raise ModelError(
                f"self.pending(..., to={show(to)}) in a property: not a process",
                hint="name one of self[Role], or its pid",
                code="Q108",
                location=caller(),
            )
        return reading.index

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
    members["__class__"] = property(lambda _: column.cls)  # what type(...) says is another, and refused
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
