"""Shared cells in formulas: each is a variable, or several, that steps of any process read and write.

Of a step, what is read is what the step has written, or what the cell held before. The accesses of a step are counted
as in `model/run.py`: where one too many would fail a check, it has to be shown impossible here.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from quorate.base.errors import ModelError, caller
from quorate.base.places import class_location
from quorate.base.values import encode, freeze, show
from quorate.language.maps import Map
from quorate.language.pid import Pid
from quorate.language.shared import PRESENT, Cell, Shared, cell_key, cell_name, is_single
from quorate.model.definition import Column, Definition
from quorate.proofs.refusal import RefusedError
from quorate.proofs.terms import Term

if TYPE_CHECKING:
    from quorate.proofs.machine import Frame, Machine


class Cells:
    """The shared cells as one run of a handler sees them, or a property, which may read alone."""

    def __init__(self, machine: Machine, frame_of: Callable[[Column], Frame]) -> None:
        self.machine = machine
        self.process: Frame | None = None
        """Whose step it is; None in a property."""
        self._frame_of = frame_of
        self._frames: dict[int, Frame] = {}
        self._accesses: dict[tuple[bytes, str], str] = {}
        self._single = False

    def read_cell(self, cell: Shared[Any]) -> Any:
        return self._frame(cell, "read").read(0)

    def write_cell(self, cell: Shared[Any], value: Any) -> None:
        closed = "a property" if self.process is None else self.process.closed
        if closed:
            raise ModelError(f"{cell} was written in {closed}, which may only read", code="Q108", location=caller())
        self._frame(cell, "written").write(0, value)

    def _frame(self, cell: Shared[Any], how: str) -> Frame:
        if self.process is not None:
            if self.process.closed == "`within`":
                raise ModelError(f"{cell} was {how} in `within`", code="Q108", location=caller())
            self._accesses.setdefault((encode(cell), how), f"{cell} {how}")
            self._single |= is_single(cell)
            if self._single and len(self._accesses) > 1:
                raise ModelError(
                    f"one step has more than one access to shared cells: {', '.join(self._accesses.values())}",
                    code="Q126",
                    location=caller(),
                )
        columns = self.machine.definition.columns
        index = columns[0].cells[encode(cell)]
        if index not in self._frames:
            self._frames[index] = self._frame_of(columns[index])
        return self._frames[index]

    def named(self, name: str, key: tuple[Any, ...]) -> Any:
        """What the cell of a name and a key holds, in a property."""
        wanted = encode(freeze(key[0] if len(key) == 1 else key))
        for cell in self.machine.definition.cells:
            if cell_name(cell) == name and encode(cell_key(cell)) == wanted:
                return self.read_cell(cell)
        raise ModelError(f"there is no shared cell {name}", code="Q108", location=caller())

    def updates(self) -> dict[Term, Term]:
        """What was written."""
        found: dict[Term, Term] = {}
        for index in sorted(self._frames):
            found.update(self._frames[index].updates())
        return found


@contextmanager
def present(cells: Cells | None) -> Iterator[Cells | None]:
    """While it lasts, these are the cells that code of the model reads and writes."""
    before, PRESENT.memory = PRESENT.memory, cells
    try:
        yield cells
    finally:
        PRESENT.memory = before


# --- what cells hold ---------------------------------------------------------------------------------------------


def types_of(definition: Definition) -> dict[int, Any]:
    """By column: what a shared cell holds, as the fields that the cell is kept in declare it."""
    found: dict[int, list[Any]] = {column.index: [] for column in definition.shared}
    if not found:
        return {}
    indices = definition.columns[0].cells
    for column in definition.processes:
        for at, name in enumerate(column.fields[: column.spec.visible]):
            for state in definition.initials:
                for cell, hint in _declared(state[column.index][at], column.spec.types.get(name)):
                    mine = found[indices[encode(cell)]]
                    if hint is not Any and hint not in mine:
                        mine.append(hint)
    return {index: _one(definition, index, hints) for index, hints in found.items()}


def _declared(value: Any, hint: Any) -> Iterator[tuple[Shared[Any], Any]]:
    """The cells in a value, each with the type that it is declared with."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if type(value) is Shared:
        for option in arguments if origin is not Shared else (hint,):
            if typing.get_origin(option) is Shared:
                yield value, typing.get_args(option)[0]
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _declared(each, arguments[1] if len(arguments) == 2 else None)
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        hints = typing.get_type_hints(type(value))
        for name, each in zip(value._fields, value, strict=True):
            yield from _declared(each, hints.get(name))
    elif isinstance(value, (tuple, frozenset)):
        for at, each in enumerate(value):
            one = origin is frozenset or Ellipsis in arguments
            yield from _declared(each, arguments[0 if one else at] if arguments else None)
    elif is_dataclass(value) and not isinstance(value, type):
        hints = typing.get_type_hints(type(value))
        for each in fields(value):
            yield from _declared(getattr(value, each.name), hints.get(each.name))


def _one(definition: Definition, index: int, hints: list[Any]) -> Any:
    """The one type of a cell. A first value that is an integer, a truth value or of an enum says enough, too."""
    if len(hints) == 1:
        return hints[0]
    begins = {type(state[index][0]) for state in definition.initials}
    if not hints and len(begins) == 1:
        (kind,) = begins
        if kind in (int, bool) or issubclass(kind, Enum):
            return kind
    named = " and ".join(show(each) if not isinstance(each, type) else each.__name__ for each in hints) or "no type"
    raise RefusedError(
        f"the shared cell {definition.columns[index].name} is declared with {named}",
        "declare the field that holds it as Constant[Shared[int]], or what it holds",
        class_location(type(definition.system)),
    )


def is_cell(column: Column) -> bool:
    return column.cls is Cell


def cell_of(definition: Definition, column: Column) -> str | None:
    """What a cell is called, and all of its row; None for what is no cell."""
    if not is_cell(column):
        return None
    return cell_name(definition.cells[definition.shared.index(column)])


def kept(value: Any, owner: Pid | None) -> Iterator[tuple[str, Shared[Any]]]:
    """The cells in a field that a lemma may speak of: that of all, or the owner's own, each with how it is written."""
    if type(value) is Shared:
        yield "", value
    elif isinstance(value, Map) and owner in value and type(value[owner]) is Shared:
        yield "[{}.pid]", value[owner]
