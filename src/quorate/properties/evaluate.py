"""Evaluating a property in a state, and saying what it saw."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from quorate.base.failures import Failure, failure_of
from quorate.base.values import show
from quorate.base.watchdog import supervised
from quorate.model.definition import Definition, Property
from quorate.model.outcome import Local, is_crashed
from quorate.model.views import CRASH_FLAG, Panel


class Evaluation(NamedTuple):
    """The answer, and the fields it rests on: (column, field index) in the order they were first read.

    Field index -1 stands for "is this process crashed?".
    """

    value: bool
    reads: tuple[tuple[int, int], ...]
    failure: Failure | None = None


def evaluate(definition: Definition, prop: Property, locals: tuple[Local, ...]) -> Evaluation:
    """Ask a property about a state. One that raises has no answer: value False, and a failure."""
    found = _evaluated(definition, prop, locals)
    prop.sample.note(_evaluated, (definition, prop, locals), found)
    return found


def _evaluated(definition: Definition, prop: Property, locals: tuple[Local, ...]) -> Evaluation:
    panel: Panel | None = definition.panel
    if panel is None:
        panel = definition.panel = Panel(definition)
    shown = panel.show(locals)
    try:
        value = supervised(partial(prop.function, shown))
    except BaseException as error:
        return Evaluation(False, tuple(panel.reads), failure_of(error, prop.location))
    if type(value) is not bool:
        failure = Failure(
            "exception",
            f"{prop.name} returned {show(value)}, not True or False",
            prop.location.file,
            prop.location.line,
            "end the property with `return <condition>`; bool(...) makes a condition of any value",
            "Q402",
        )
        return Evaluation(False, tuple(panel.reads), failure)
    return Evaluation(value, tuple(panel.reads))


def explain(definition: Definition, prop: Property, locals: tuple[Local, ...]) -> tuple[str, ...]:
    """The values the property read in a state, e.g. `learner1.learned = {1, 2}`."""
    lines: list[str] = []
    for index, field in evaluate(definition, prop, locals).reads:
        column = definition.columns[index]
        if field == CRASH_FLAG:
            if is_crashed(locals[index]):
                lines.append(f"{column.name} has crashed")
        else:
            lines.append(f"{column.name}.{column.fields[field]} = {show(locals[index][field])}")
    return tuple(lines)
