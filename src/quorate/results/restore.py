"""Reading a state back from JSON, for runs that start in a state that is not initial and is known from nowhere else.

Classes are found by their names among the declared types of fields, the values of the initial states, and what is in
the modules of the model. Whether all was understood is seen by writing the state again: it has to come out as it was
read.
"""

from __future__ import annotations

import dataclasses
import sys
import typing
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any

from quorate.base.values import ContentSet, freeze
from quorate.language.maps import Map
from quorate.language.message import Record, stamped
from quorate.language.pid import Peers, Pid
from quorate.language.rank import rank
from quorate.model.outcome import Crashed
from quorate.results.json import state_to_json
from quorate.semantics.channels import channels
from quorate.semantics.state import State

if TYPE_CHECKING:
    from quorate.model.definition import Definition
    from quorate.model.outcome import Local


def state_from_json(definition: Definition, entry: Mapping[str, Any]) -> State | None:
    """The state that `state_to_json` wrote; None if this model has no such state."""
    try:
        state = _Reader(definition).state(entry)
        return state if state_to_json(definition, state) == entry else None
    except (LookupError, TypeError, ValueError, AttributeError):
        return None


class _Reader:
    def __init__(self, definition: Definition) -> None:
        self.definition = definition
        self.pids = {column.name: column.pid for column in definition.columns if column.pid is not None}
        self.scalars = {str(value): value for values in definition.scalars.values() for value in values}
        self.cells = {str(cell): cell for cell in definition.cells}
        self.classes: dict[str, Any] = {cls.__name__: cls for cls in classes_of(definition)}

    def state(self, entry: Mapping[str, Any]) -> State:
        definition = self.definition
        locals = tuple(
            () if column.delivers_to is not None else self._local(column.fields, entry["processes"][column.name])
            for column in definition.columns
        )
        pending = [list(definition.standing.get(column.index, ())) for column in definition.processes]
        column_of = {column.name: column for column in definition.processes}
        for sent in entry["in_flight"]:
            to = column_of[sent["to"]]
            waits = to.routes is not None and not sent.get("delivered", False)
            pending[to.routes[to.index] if waits and to.routes is not None else to.index].append(
                self._record(sent["message"])
            )
        arranged = channels(definition).arranged
        inboxes = tuple(arranged(column, inbox) for column, inbox in zip(definition.processes, pending, strict=True))
        losses, duplicates, crashes = entry["budget"]
        return State(locals, inboxes, (losses, duplicates, crashes))

    def _local(self, fields: tuple[str, ...], entry: Mapping[str, Any]) -> Local:
        values = tuple(freeze(self._value(entry[name])) for name in fields)
        return Crashed(values) if entry.get("crashed") is True and "crashed" not in fields else values

    def _value(self, entry: Any) -> Any:
        if not isinstance(entry, dict):
            return entry
        kind = entry["$"]
        if kind == "enum":
            return self.classes[entry["type"]][entry["name"]]
        if kind == "process":
            return self.pids[entry["name"]]
        if kind == "rank":
            return rank(entry["number"])
        if kind == "scalar":
            return self.scalars[entry["name"]]
        if kind == "cell":
            return self.cells[entry["name"]]
        if kind in ("int", "bytes"):
            return int(entry["hex"], 16) if kind == "int" else bytes.fromhex(entry["hex"])
        if kind in ("message", "event"):
            return self._record(entry)
        if kind == "record":
            return self.classes[entry["type"]](**{name: self._value(item) for name, item in entry["fields"].items()})
        if kind == "map":
            return Map({self._value(key): self._value(item) for key, item in entry["items"]})
        items = [self._value(item) for item in entry["items"]]
        if kind == "tuple":
            return tuple(items)
        return Peers(items) if items and all(isinstance(item, Pid) for item in items) else ContentSet(items)

    def _record(self, entry: Mapping[str, Any]) -> Any:
        made = self.classes[entry["type"]](**{name: self._value(item) for name, item in entry["fields"].items()})
        origin = entry.get("sender", entry.get("source"))
        return freeze(made) if origin is None else stamped(made, self.pids[origin])


def classes_of(definition: Definition) -> Iterable[type]:
    """All classes that values of the model are known to have; those that are known better come last."""
    modules = {type(definition.system).__module__, *(column.cls.__module__ for column in definition.columns)}
    todo: list[Any] = [hint for column in definition.columns for hint in column.spec.types.values()]
    todo += [value for state in definition.initials for local in state for value in local]
    todo += list(definition.messages)
    todo += [message for sends in definition.posted for _, message in sends]
    # A message that nobody takes is known from the module alone.
    aside = [each for module in sorted(modules) for each in vars(sys.modules[module]).values()]
    todo = [each for each in aside if isinstance(each, type)] + todo
    found: dict[type, None] = {}
    while todo:
        each = todo.pop()
        todo += typing.get_args(each)
        cls = each if isinstance(each, type) else type(each)
        if isinstance(each, Mapping):
            todo += [*each.keys(), *each.values()]
        elif isinstance(each, tuple | frozenset):
            todo += each
        if cls in found or not (issubclass(cls, Enum | Record) or _field_names(cls)):
            continue
        found[cls] = None
        if not issubclass(cls, Enum):
            try:
                todo += typing.get_type_hints(cls).values()
            except Exception:  # names that are local to a function; the values may still tell
                continue
    return reversed(found)


def _field_names(cls: Any) -> bool:
    return hasattr(cls, "_fields") if issubclass(cls, tuple) else dataclasses.is_dataclass(cls)
