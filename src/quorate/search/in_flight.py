"""Checks whose properties read messages in flight (`self.pending`): which messages, and what is left out there.

Which messages a property reads is seen when it does. So a check begins without any; one that reads some is begun anew
with these. Reductions argue that properties see local states alone: a message that is sent earlier or later, dropped
because nobody will consume it, or renamed, makes no difference to them. Here it does, so they are off.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from quorate.base.errors import MessagesRead
from quorate.model.definition import Definition
from quorate.options import Options
from quorate.properties import evaluate
from quorate.properties.asked import Asked
from quorate.results.result import Result
from quorate.semantics.state import initial_states

T = TypeVar("T")


def asking_again(run: Callable[[tuple[type, ...]], T]) -> T:
    """The answer of `run`, which is given the messages that properties read: more of them, as long as it asks for."""
    shown: tuple[type, ...] = ()
    while True:
        try:
            return run(shown)
        except MessagesRead as read:
            if read.cls in shown:
                raise AssertionError(f"{read}, and it was given") from None
            shown = (*shown, read.cls)


def read_first(definition: Definition, asked: Asked) -> None:
    """Let properties read messages before much is begun, if they do so in the initial states."""
    for prop in asked.properties:
        for state in initial_states(definition):
            evaluate(definition, prop, state.locals)


def message_options(definition: Definition, options: Options) -> Options:
    """The options for properties that read messages."""
    faced = {
        f"--por {options.por}": options.por != "none",
        "--self-check": options.self_check,
        "--checkpoint": options.checkpoint is not None,
        "--workers or --address": options.distributed,
        "fields of type Rank": definition.ranked,
        "--crash implicit": definition.environment.crash == "implicit",
    }
    for what, is_there in faced.items():
        if is_there:
            raise MessagesRead(definition.shown[0]).refused(what)
    return options.without_reductions()


def with_messages(result: Result, definition: Definition) -> Result:
    names = ", ".join(cls.__name__ for cls in definition.shown)
    told: dict[str, Any] = {"ran": True, "why": f"properties read {names} in flight, so the other reductions are off"}
    return replace(result, reductions={**result.reductions, "messages": told})
