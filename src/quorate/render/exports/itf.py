"""The Informal Trace Format of Apalache (its ADR 15), which trace viewers and Quint's tools read.

One variable for every process and monitor, a record of its fields; `network`, the messages in flight; `action`, what
led to the state. ITF has no null: None is the variant of that name.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any

from quorate.base.values import HUGE, in_order, show
from quorate.language.message import Event, Message, origin
from quorate.language.pid import Pid
from quorate.model.outcome import is_crashed
from quorate.semantics.state import in_flight

if TYPE_CHECKING:
    from quorate.model.definition import Column
    from quorate.results.trace import Trace
    from quorate.semantics.state import State, Step

FORMAT = "https://apalache-mc.org/docs/adr/015adr-trace.html"


def itf(trace: Trace) -> str:
    """The run as text in this format."""
    steps: list[Step | None] = [None, *(step for step in trace.steps if step.next is not None)]
    document: dict[str, Any] = {
        "#meta": {
            "format": "ITF",
            "format-description": FORMAT,
            "source": trace.definition.name,
            "description": f"{trace.kind} of {trace.property}",
            "parameters": {name: show(value) for name, value in trace.definition.parameters.items()},
        },
        "vars": [*(column.name for column in _named(trace)), "network", "action"],
    }
    if trace.loop_from is not None:
        document["loop"] = trace.loop_from
    states = [
        json.dumps({"#meta": {"index": index}, **_state(trace, state, step)})
        for index, (state, step) in enumerate(zip(trace.states, steps, strict=True))
    ]
    # A line for every state, so that two runs can be compared line by line.
    return (
        json.dumps(document, indent=1).removesuffix("\n}") + ',\n "states": [\n  ' + ",\n  ".join(states) + "\n ]\n}\n"
    )


def _state(trace: Trace, state: State, step: Step | None) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for column in _named(trace):
        local = state.locals[column.index]
        found[column.name] = {
            name: value_to_itf(value) for name, value in zip(column.fields, local, strict=True) if ":" not in name
        }
        if column.may_crash:
            found[column.name]["crashed"] = is_crashed(local)
    found["network"] = [
        {"to": trace.definition.receiver(to.index).name, **_message(message)}
        for to, message in in_flight(trace.definition, state)
    ]
    found["action"] = _action(trace, step)
    return found


def _named(trace: Trace) -> list[Column]:
    """Processes and monitors; what lies in a channel is in `network`."""
    return [column for column in trace.definition.columns if column.delivers_to is None]


def _action(trace: Trace, step: Step | None) -> dict[str, Any]:
    if step is None:
        return {"kind": "init", "process": "", "transition": "", "consumed": []}
    return {
        "kind": step.kind if trace.definition.columns[step.column].delivers_to is None else "deliver",
        "process": trace.definition.receiver(step.column).name,
        "transition": step.transition.name if step.transition is not None else "",
        "consumed": [_message(message) for message in step.consumed],
    }


def _message(message: Message | Event) -> dict[str, Any]:
    names = [field.name for field in dataclasses.fields(message)]  # type: ignore[arg-type]
    pid = origin(message)
    return {
        "type": type(message).__name__,
        "from": str(pid) if pid is not None else "",
        "fields": {name: value_to_itf(getattr(message, name)) for name in names},
    }


def value_to_itf(value: Any) -> Any:
    """A value as an expression of the format. Integers of any size are written as it asks for big ones."""
    if value is None:
        return {"tag": "None", "value": {"#tup": []}}
    if isinstance(value, Enum):
        return show(value)
    if isinstance(value, bool | str):
        return value
    if isinstance(value, int) and abs(value) < HUGE:
        return {"#bigint": str(value)}
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, Pid):
        return str(value)
    if isinstance(value, Message | Event):
        return _message(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return {name: value_to_itf(item) for name, item in zip(value._fields, value, strict=True)}
    if isinstance(value, tuple):
        return {"#tup": [value_to_itf(item) for item in value]}
    if isinstance(value, frozenset):
        return {"#set": [value_to_itf(item) for item in in_order(value)]}
    if isinstance(value, Mapping):
        return {"#map": [[value_to_itf(key), value_to_itf(item)] for key, item in value.items()]}
    if dataclasses.is_dataclass(value):
        return {field.name: value_to_itf(getattr(value, field.name)) for field in dataclasses.fields(value)}
    return {"#unserializable": show(value)}
