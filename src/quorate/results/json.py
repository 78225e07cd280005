"""Runs and values as JSON that says what they were, so that a saved run can be followed again.

Numbers, strings, booleans and None are themselves. Everything else is an object with a `$` that names its kind:
`{"$": "set", "items": [1, 2]}`. docs/json.md describes every kind; `VERSION` counts the times the form changed.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from enum import Enum
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from quorate.base import files
from quorate.base.errors import TargetError
from quorate.base.values import HUGE, in_order
from quorate.language.message import Event, Message, origin
from quorate.language.pid import Pid
from quorate.language.rank import Rank, number_of
from quorate.language.scalar import Scalar
from quorate.language.shared import Shared, Written
from quorate.model.outcome import is_crashed
from quorate.results.diff import Difference, changed_fields, differences
from quorate.semantics.state import in_flight

if TYPE_CHECKING:
    from quorate.model.definition import Definition
    from quorate.results.trace import Trace
    from quorate.semantics.state import State, Step

FORMAT = "quorate-trace"
VERSION = 1
LARGEST = 2**28
"""Bytes of a file that is taken for a saved run. Those of long runs have a few millions."""


def value_to_json(value: Any) -> Any:
    """Injective on the values of one model: two values have the same JSON only if they are the same."""
    if isinstance(value, Enum):  # first: an IntEnum is an int, but not the same value as that int
        return {"$": "enum", "type": type(value).__name__, "name": value.name}
    if isinstance(value, int) and abs(value) >= HUGE:  # many programs read no such numbers, and Python writes none
        return {"$": "int", "hex": f"{value:x}"}
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, Pid):
        return {"$": "process", "name": str(value)}
    if isinstance(value, Scalar):
        return {"$": "scalar", "type": type(value).__name__, "name": str(value)}
    if isinstance(value, Shared):
        return {"$": "cell", "name": str(value)}
    if isinstance(value, Rank):
        return {"$": "rank", "number": number_of(value)}
    if isinstance(value, bytes):
        return {"$": "bytes", "hex": value.hex()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        fields = {name: value_to_json(item) for name, item in zip(value._fields, value, strict=True)}
        return {"$": "record", "type": type(value).__name__, "fields": fields}
    if isinstance(value, tuple):
        return {"$": "tuple", "items": [value_to_json(item) for item in value]}
    if isinstance(value, frozenset):
        return {"$": "set", "items": [value_to_json(item) for item in in_order(value)]}
    if isinstance(value, Mapping):
        return {"$": "map", "items": [[value_to_json(key), value_to_json(item)] for key, item in value.items()]}
    if isinstance(value, Message | Event):
        return {"$": "message" if isinstance(value, Message) else "event", **_message(value)}
    if dataclasses.is_dataclass(value):
        return {"$": "record", "type": type(value).__name__, "fields": _fields(value)}
    raise TypeError(f"{value!r} cannot be part of a state")


def _fields(value: Any) -> dict[str, Any]:
    return {field.name: value_to_json(getattr(value, field.name)) for field in dataclasses.fields(value)}


def _message(message: Any) -> dict[str, Any]:
    entry: dict[str, Any] = {"type": type(message).__name__, "fields": _fields(message)}
    pid = origin(message)
    if pid is not None:  # a message that a process keeps may never have been sent
        entry["sender" if isinstance(message, Message) else "source"] = str(pid)
    return entry


def state_to_json(definition: Definition, state: State) -> dict[str, Any]:
    processes: dict[str, Any] = {}
    for column in definition.columns:
        if column.delivers_to is not None:
            continue
        local = state.locals[column.index]
        processes[column.name] = {n: value_to_json(v) for n, v in zip(column.fields, local, strict=True)}
        if column.may_crash:
            processes[column.name]["crashed"] = is_crashed(local)
    return {"processes": processes, "in_flight": _in_flight(definition, state), "budget": list(state.budget)}


def _in_flight(definition: Definition, state: State) -> list[dict[str, Any]]:
    found = []
    for column, message in in_flight(definition, state):
        entry: dict[str, Any] = {"to": definition.receiver(column.index).name, "message": _message(message)}
        if column.routes is not None:
            entry["delivered"] = True
        found.append(entry)
    return found


def step_to_json(definition: Definition, step: Step, before: State) -> dict[str, Any]:
    """One step: who, what, on which messages, and its effect."""
    entry: dict[str, Any] = {
        "kind": step.kind if definition.columns[step.column].delivers_to is None else "deliver",
        "process": definition.receiver(step.column).name,
        "transition": step.transition.name if step.transition is not None else None,
        "consumed": [_message(message) for message in step.consumed],
        "choices": [],
        "changes": [],
        "differences": [],
        "sent": [],
        "events": [],
        "failure": None,
        "in_flight": [],
    }
    if step.place:
        entry["place"] = step.place
    if step.redelivered:
        entry["redelivered"] = True
    if step.outcome is not None:
        entry["choices"] = [value_to_json(choice) for choice in step.outcome.choices]
        entry["sent"] = [
            {"to": definition.receiver(receiver).name, "message": _message(message)}
            for receiver, message in step.outcome.sends
            if not definition.stands(definition.columns[receiver], message)
        ]
        written = [event for event in step.outcome.events if isinstance(event, Written)]
        entry["events"] = [_message(event) for event in step.outcome.events if not isinstance(event, Written)]
        if definition.shared:
            entry["reads"] = [
                {"cell": definition.columns[index].name, "value": value_to_json(value)}
                for index, value in step.outcome.reads
            ]
            entry["writes"] = [{"cell": str(event.cell), "value": value_to_json(event.value)} for event in written]
    if step.failure is not None:
        failure = step.failure
        entry["failure"] = {"kind": failure.kind, "text": failure.text, "file": failure.file, "line": failure.line}
    if step.next is not None:
        entry["changes"] = [
            {
                "process": definition.columns[index].name,
                "field": name,
                "before": value_to_json(old),
                "after": value_to_json(new),
            }
            for index, name, old, new in changed_fields(definition, before, step.next)
        ]
        entry["differences"] = [
            _difference(definition.columns[index].name, difference)
            for index, name, old, new in changed_fields(definition, before, step.next)
            for difference in differences(old, new, name)
        ]
        entry["in_flight"] = _in_flight(definition, step.next)
    return entry


def _difference(process: str, difference: Difference) -> dict[str, Any]:
    """What is different inside a field. Of an added part there is no `before`, of a removed one no `after`."""
    path, kind, before, after = difference
    entry: dict[str, Any] = {"process": process, "path": path, "kind": kind}
    if kind != "added":
        entry["before"] = value_to_json(before)
    if kind != "removed":
        entry["after"] = value_to_json(after)
    return entry


def trace_to_json(trace: Trace) -> dict[str, Any]:
    before = trace.initial
    steps = []
    for number, step in enumerate(trace.steps, start=1):
        steps.append({"number": number, **step_to_json(trace.definition, step, before)})
        before = step.next if step.next is not None else before
    document: dict[str, Any] = {
        "version": VERSION,
        "kind": trace.kind,
        "property": trace.property,
        "reason": list(trace.reason),
        "explanation": trace.explanation.to_json() if trace.explanation is not None else None,
        "shortest": trace.shortest,
        "byzantine": [trace.definition.columns[index].name for index in sorted(trace.definition.attackers)],
        "shortened_from": trace.shortened_from,
        "initial": state_to_json(trace.definition, trace.initial),
        "steps": steps,
    }
    if trace.loop_from is not None:
        document["loop_from"] = trace.loop_from
    if trace.fairness is not None:
        document["fairness"] = trace.fairness
        document["crashed"] = [trace.definition.columns[index].name for index in trace.crashed]
    if trace.start != "initial":
        document["start"] = trace.start
    return document


# --- files -----------------------------------------------------------------------------------------------------


def saved_document(trace: Trace, target: str | None = None) -> dict[str, Any]:
    """A run with what is needed to find its model again."""
    definition = trace.definition
    return {
        "format": FORMAT,
        "version": VERSION,
        "target": target or target_of(type(definition.system)),
        "system": definition.name,
        "parameters": {name: value_to_json(value) for name, value in definition.parameters.items()},
        "environment": definition.environment.to_json(),
        "trace": trace_to_json(trace),
    }


def save(trace: Trace, path: str | PathLike[str], target: str | None = None) -> None:
    """Write a run so that `quorate replay` can follow it."""
    files.write(path, json.dumps(saved_document(trace, target), indent=1) + "\n")


def target_of(system: type) -> str:
    """What to type to check this class again: its module if that can be imported by name, else its file."""
    import sys

    module = sys.modules.get(system.__module__)
    if module is not None and module.__name__ != "__main__" and getattr(module, "__spec__", None) is not None:
        return f"{system.__module__}:{system.__qualname__}"
    file = getattr(module, "__file__", None)
    return f"{file or system.__module__}:{system.__qualname__}"


def load(path: str | PathLike[str]) -> dict[str, Any]:
    """Read what `save` wrote; anything else is refused with the reason."""
    name = fspath(path)
    try:
        with open(path, "rb") as file:
            content = file.read(LARGEST + 1)
    except (OSError, ValueError) as error:
        why = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise TargetError(f"cannot read {name}: {why}", code="Q310") from None
    if len(content) > LARGEST:
        raise TargetError(f"{name} is not a saved run: it has more than {LARGEST:,} bytes", code="Q311")
    try:
        document = json.loads(content.decode("utf-8"))
    except ValueError as error:
        raise TargetError(f"{name} is not JSON: {error}", code="Q311") from None
    except RecursionError:
        raise TargetError(f"{name} is not a saved run: it is nested too deeply", code="Q311") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise TargetError(
            f"{name} is not a saved run",
            hint="quorate check TARGET --save FILE writes one when a property is violated",
            code="Q311",
        )
    confirmed(document, name)
    return document


def confirmed(document: Mapping[str, Any], name: str) -> None:
    """Refuse what cannot be replayed, and say which key is the reason. Nothing of the document was used before."""
    from quorate.results import shape

    try:
        if "version" in document:
            shape.one_of(VERSION)(document["version"])
    except shape.Misshapen as error:
        raise TargetError(
            f"{name} is a run of another version: {error.below('version')}",
            hint="check again with --save to write a new one",
            code="Q311",
        ) from None
    try:
        shape.saved(VERSION)(document)
    except shape.Misshapen as error:
        hint = "it was changed or damaged after it was saved; check again with --save"
        raise TargetError(f"{name} is not a run that can be replayed: {error}", hint=hint, code="Q311") from None
    except RecursionError:
        raise TargetError(f"{name} is not a saved run: it is nested too deeply", code="Q311") from None
