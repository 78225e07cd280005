"""Positions as JSON for the page: only text, made here, so that the page has nothing to interpret."""

from __future__ import annotations

import dis
import sys
from collections.abc import Iterator
from functools import cache
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

from quorate.base.errors import is_model_file
from quorate.base.values import encode, show
from quorate.base.words import names
from quorate.explore.session import Position, Session
from quorate.language.shared import Cell
from quorate.model.outcome import is_crashed
from quorate.properties import evaluate
from quorate.render.chart.model import is_byzantine
from quorate.render.lasso import nothing_more
from quorate.results.diff import changed_fields, line, told
from quorate.results.history import announcements
from quorate.semantics.state import State, Step, in_flight
from quorate.semantics.steps import enabled_protocol

if TYPE_CHECKING:
    from quorate.model.definition import Column


def system_view(session: Session) -> dict[str, Any]:
    """What does not change: the system, its roles, how many initial states it has."""
    definition = session.definition
    return {
        "name": definition.name,
        "parameters": {name: show(value) for name, value in definition.parameters.items() if value is not None},
        "network": str(definition.network),
        "initials": len(session.initials),
        "properties": [
            {"name": prop.name, "kind": prop.kind, "doc": prop.doc}
            for prop in (*definition.properties, *([definition.final] if definition.final is not None else []))
        ],
    }


def position_view(session: Session, position: Position) -> dict[str, Any]:
    """A state by process, and the steps that are possible in it."""
    before = session.at(position.path[:-1]).state if len(position.path) > 1 else position.state
    offered = session.steps(position.state) if position.failed is None else ()
    return {
        "path": list(position.path),
        "state": short(position.state),
        "depth": len(position.path) - 1,
        "way": way(session, position),
        "processes": [_process(session, position.state, before, column) for column in _shown(session)],
        "budget": _budget(session, position.state),
        "properties": properties(session, position, offered if position.failed is None else None),
        "steps": [_step(session, position.state, step, number) for number, step in enumerate(offered)],
        "failed": _failure(position.failed),
    }


def way(session: Session, position: Position) -> list[dict[str, str]]:
    """Every state on the way to a position, and what was done to get there."""
    found: list[dict[str, str]] = []
    for end in range(1, len(position.path) + 1):
        done = "start"
        if end > 1:
            step = session.steps(session.at(position.path[: end - 1]).state)[position.path[end - 1]]
            done = " ".join(_who_does(session, step))
        found.append({"text": done, "state": short(session.at(position.path[:end]).state)})
    return found


def short(state: State) -> str:
    """A name of a state that is short enough to be read out."""
    from hashlib import blake2b

    return blake2b(state.key, digest_size=6).hexdigest()


def _shown(session: Session) -> Iterator[Column]:
    """Processes and monitors; a channel is shown with the process that it leads to."""
    for column in session.definition.columns:
        if column.delivers_to is None:
            yield column


def _process(session: Session, state: State, before: State, column: Column) -> dict[str, Any]:
    local, old = state.locals[column.index], before.locals[column.index]
    given = _given(session, column)
    return {
        "name": column.name,
        "role": column.cls.__name__,
        "monitor": column.is_monitor,
        "crashed": is_crashed(local),
        "byzantine": is_byzantine(session.definition, column.index),
        "fields": [
            {"name": name, "value": show(local[at]), "changed": encode(local[at]) != encode(old[at])}
            for at, name in column.shown
            if name not in given
        ],
        "constants": [
            {"name": name, "value": show(local[at])}
            for at, name in enumerate(column.fields[: column.spec.visible])
            if name in given
        ],
        "pending": _pending(session, state, before, column),
    }


def _given(session: Session, column: Column) -> frozenset[str]:
    """Fields that a process has once and for all: constants, and what no method of it assigns.

    Only a reader is told so, to whom they would be in the way. They are shown as all fields if that is wrong after all,
    because something else assigns them and initial states differ.
    """
    constants = column.cls._constants
    if column.is_monitor:
        return frozenset(constants)
    cls: Any = column.cls  # whose hash mypy takes for that of its instances
    assigned = assigned_names(cls)
    alike = {
        name
        for at, name in enumerate(column.fields[: column.spec.visible])
        if assigned is not None
        and name not in assigned
        and len({encode(state.locals[column.index][at]) for state in session.initials}) == 1
    }
    return frozenset({*constants, *alike})


@cache
def assigned_names(cls: type) -> frozenset[str] | None:
    """The attributes that methods of a class assign; None if that cannot be told."""
    found: set[str] = set()
    todo = [
        value.__code__
        for base in cls.__mro__
        if is_model_file(getattr(sys.modules.get(base.__module__), "__file__", None) or "")
        for value in vars(base).values()
        if isinstance(value, FunctionType)
    ]
    while todo:
        code = todo.pop()
        todo += [each for each in code.co_consts if isinstance(each, CodeType)]
        if "setattr" in code.co_names:
            return None
        found |= {str(each.argval) for each in dis.get_instructions(code) if each.opname == "STORE_ATTR"}
    return frozenset(found)


def _pending(session: Session, state: State, before: State, column: Column) -> list[dict[str, Any]]:
    if column.is_monitor:
        return []
    old = {(to.index, encode(message)) for to, message in in_flight(session.definition, before)}
    return [
        {
            "text": show(message),
            "from": f"{message.sender}{session.definition.place(to)}",
            "new": (to.index, encode(message)) not in old,
        }
        for to, message in in_flight(session.definition, state)
        if session.definition.receiver(to.index) is column
    ]


def _budget(session: Session, state: State) -> dict[str, int]:
    return {name: left for name, left in zip(("losses", "duplicates", "crashes"), state.budget, strict=True) if left}


def properties(session: Session, position: Position, offered: tuple[Step, ...] | None) -> list[dict[str, Any]]:
    """How every property stands in a state, and why where it is bad; a deadlock is one too."""
    definition, state = session.definition, position.state
    found: list[dict[str, Any]] = []
    for prop in definition.properties:
        evaluation = evaluate(definition, prop, state.locals, state.pending)
        broken = prop.kind == "invariant" and not evaluation.value
        text = evaluation.failure.text if evaluation.failure is not None else str(evaluation.value).lower()
        why = _why(session, position, prop.name) if broken else []
        found.append({"name": prop.name, "kind": prop.kind, "value": text, "bad": broken, "why": why})
    if offered is not None and not enabled_protocol(offered):
        final = definition.final
        fine = final is not None and evaluate(definition, final, state.locals, state.pending).value
        words = "the end, as it should be" if fine else nothing_more(definition, state)
        bad = final is not None and not fine
        why = _why(session, position, "deadlock") if bad else []
        found.append({"name": "deadlock", "kind": "deadlock", "value": words, "bad": bad, "why": why})
    return found


def _why(session: Session, position: Position, name: str) -> list[str]:
    """The explanation that a report of a run to here would give, line by line."""
    part = session.run(position.path, violates=name).explanation
    return list(part.lines()) if part is not None else []


def _step(session: Session, state: State, step: Step, number: int) -> dict[str, Any]:
    definition = session.definition
    process, name = _who_does(session, step)
    sends: dict[str, list[str]] = {}
    changes: list[str] = []
    if step.outcome is not None:
        for to, message in step.outcome.sends:
            if not definition.stands(definition.columns[to], message):
                sends.setdefault(show(message), []).append(definition.receiver(to).name)
    breaks: list[str] = []
    if step.next is not None:
        for index, field, old, new in changed_fields(definition, state, step.next):
            if definition.columns[index].cls is Cell:
                continue  # what is written is told with the events
            label = field if index == step.column else f"{definition.columns[index].name}.{field}"
            changes.extend(line(difference) for difference in told(label, old, new))
        breaks = sorted(broken(session, step.next) - broken(session, state))
    return {
        "number": number,
        "kind": step.kind,
        "process": process,
        "name": name,
        "consumed": [f"{show(message)} from {message.sender}" for message in step.consumed],
        "choices": [show(choice) for choice in step.outcome.choices] if step.outcome is not None else [],
        "changes": changes,
        "sends": [f"{message} to {names(receivers)}" for message, receivers in sends.items()],
        "events": announcements(definition, step),
        "breaks": breaks,
        "fails": step.failure.text if step.failure is not None else None,
    }


def broken(session: Session, state: State) -> set[str]:
    """The invariants that fail in a state."""
    definition = session.definition
    return {
        prop.name for prop in definition.invariants if not evaluate(definition, prop, state.locals, state.pending).value
    }


def _who_does(session: Session, step: Step) -> tuple[str, str]:
    column = session.definition.receiver(step.column)
    if column.index != step.column:
        return "network", f"delivers to {column.name}"
    if step.kind in ("lose", "duplicate"):
        return "network", f"{step.kind}s a message to {column.name}"
    if step.transition is None:
        return column.name, {"crash": "crashes", "recover": "recovers", "discard": "discards"}.get(step.kind, step.kind)
    return column.name, f"crashes in {step.transition.name}" if step.kind == "crash" else step.transition.name


def _failure(step: Step | None) -> dict[str, Any] | None:
    if step is None or step.failure is None:
        return None
    return {"text": step.failure.text, "file": step.failure.file, "line": step.failure.line}
