"""Small helpers for tests about the language: where a line is, what a process did."""

import sys
from pathlib import Path
from typing import Any

import pytest

from quorate import ModelError, Process, System
from quorate.base.failures import Failure
from quorate.language.message import Message
from quorate.model.define import define
from quorate.model.definition import Column, Definition, Transition
from quorate.model.outcome import Outcome
from quorate.model.run import fire


def here(marker: str) -> tuple[str, int]:
    """File and line of the calling test file's comment `# here: marker`."""
    file = sys._getframe(1).f_code.co_filename
    for number, line in enumerate(Path(file).read_text().splitlines(), 1):
        if line.endswith(f"# here: {marker}"):
            return file, number
    raise AssertionError(f"no line is marked `# here: {marker}`")


def alone(cls: type[Process], **fields: Any) -> Definition:
    """The definition of a system with one process of that class."""

    class One(System):
        def build(self) -> None:
            self.spawn(cls, **fields)

    return define(One())


def refused(cls: type[Process], name: str, *messages: Message) -> ModelError:
    """The error for a handler that is no function of its state and messages."""
    with pytest.raises(ModelError) as caught:
        run(cls, name, *messages)
    return caught.value


def column(definition: Definition, name: str) -> Column:
    return next(each for each in definition.columns if each.name == name)


def transition(definition: Definition, name: str, of: Column | None = None) -> Transition:
    where = of or definition.columns[0]
    return next(each for each in definition.transitions(where) if each.name == name)


def run(cls: type[Process], name: str, *messages: Message, **fields: Any) -> tuple[Outcome, ...]:
    """Fire one transition of a lone process in its initial state."""
    definition = alone(cls, **fields)
    where = definition.columns[0]
    return fire(where, transition(definition, name), definition.initials[0][0], messages)


def failure(cls: type[Process], name: str, *messages: Message, **fields: Any) -> Failure:
    """The failure that firing one transition ends in."""
    (outcome,) = run(cls, name, *messages, **fields)
    assert outcome.failure is not None
    assert (outcome.local, outcome.sends, outcome.events) == (None, (), ())
    return outcome.failure
