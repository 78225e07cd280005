"""Evaluating a property in a state, and saying what it saw."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from quorate.base.errors import MessagesRead
from quorate.base.failures import Failure, failure_of
from quorate.base.values import show
from quorate.base.watchdog import supervised
from quorate.language.message import Message
from quorate.language.shared import PRESENT
from quorate.model.definition import Definition, Property
from quorate.model.outcome import Local, is_crashed
from quorate.model.views import CRASH_FLAG, PENDING, Panel


class Evaluation(NamedTuple):
    """The answer, and the fields it rests on: (column, field index) in the order they were first read.

    Field index -1 stands for "is this process crashed?", -2 for "which messages are pending for it?".
    """

    value: bool
    reads: tuple[tuple[int, int], ...]
    failure: Failure | None = None


Inboxes = Sequence[Sequence[Message]]
"""What is pending, by process."""


def evaluate(
    definition: Definition,
    prop: Property,
    locals: tuple[Local, ...],
    pending: Inboxes | None = None,
    only: tuple[type, ...] | None = None,
) -> Evaluation:
    """Ask a property about a state. One that raises has no answer: value False, and a failure.

    Without what is pending, or with messages of `only` some classes, one that reads others raises `MessagesRead`.
    """
    found = ask(definition, prop, locals, pending, only)
    prop.sample.note(ask, (definition, prop, locals, pending, only), found)
    return found


def ask(
    definition: Definition,
    prop: Property,
    locals: tuple[Local, ...],
    pending: Inboxes | None,
    only: tuple[type, ...] | None,
) -> Evaluation:
    panel: Panel | None = definition.panel
    if panel is None:
        panel = definition.panel = Panel(definition)
    shown = panel.show(locals, pending, only)
    PRESENT.memory = panel
    try:
        value = supervised(partial(prop.function, shown))
    except MessagesRead:
        raise
    except BaseException as error:
        return Evaluation(False, tuple(panel.reads), failure_of(error, prop.location))
    finally:
        PRESENT.memory = None
    if type(value) is not bool:
        failure = Failure(
            "exception",
            f"{prop.name} returned {supervised(partial(show, value))}, not True or False",
            prop.location.file,
            prop.location.line,
            "end the property with `return <condition>`; bool(...) makes a condition of any value",
            "Q402",
        )
        return Evaluation(False, tuple(panel.reads), failure)
    return Evaluation(value, tuple(panel.reads))


def explain(
    definition: Definition, prop: Property, locals: tuple[Local, ...], pending: Inboxes | None = None
) -> tuple[str, ...]:
    """The values the property read in a state, e.g. `learner1.learned = {1, 2}`."""
    lines: list[str] = []
    for index, field in evaluate(definition, prop, locals, pending).reads:
        column = definition.columns[index]
        if field == PENDING:
            waiting = [each for each in (pending or ())[index] if not definition.stands(column, each)]
            if waiting:
                lines.append(f"pending for {column.name}: {', '.join(map(show, waiting))}")
        elif field == CRASH_FLAG:
            if is_crashed(locals[index]):
                lines.append(f"{column.name} has crashed")
        else:
            lines.append(f"{column.label(field)} = {show(locals[index][field])}")
    return tuple(lines)
