"""Before a verdict: is the model a function of its fields and messages, as every table of the search supposes?

Several looks, since none sees all. What the model could have stored outside of its fields is compared with what was
there after `build` (`model/memory.py`). A sample of all evaluations is done again, the last one first, on fresh
objects and without the model's own caches. And where the model has to do with what cannot be looked into, it is asked
in processes that have not seen the search (`properties/twin.py`). A model that answers otherwise gets an error,
whatever was found in it.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter, thread_time
from types import TracebackType
from typing import Any

from quorate.base.errors import ModelError
from quorate.base.watchdog import Halted
from quorate.model import effects
from quorate.model.again import CAUSES, Evaluation, require_same
from quorate.model.definition import Definition, Property, Transition
from quorate.model.memory import specifications
from quorate.model.outcome import Outcome
from quorate.properties.twin import Twins

SECONDS = 1.0
"""Repeating takes at most so long, or a tenth of what the check took if it came to its end: handlers may be slow."""


class Purity:
    """Whatever is found about these definitions within this context is a function of their states, or an error."""

    def __init__(self, *definitions: Definition | None, hurried: Callable[[], bool] = lambda: False) -> None:
        self.hurried = hurried
        """Whether no verdict rests on what is found, and somebody waits."""
        self.definitions = [each for each in definitions if each is not None]
        self.repeated = 0
        """How many evaluations were done a second time."""

        self._begun = perf_counter()
        self._twins: list[Twins] = []

    def listen(self) -> None:
        """From here on the model is asked."""
        if any(each.memory.opaque for each in self.definitions):
            effects.listen()

    def __enter__(self) -> Purity:
        self.listen()
        self._twins = [Twins(each) for each in self.definitions[:1]]
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        # Another error, ours too, may well come from what the model remembers; an interrupt needs no second opinion.
        try:
            if error is None or isinstance(error, Exception):
                self.require()
        finally:
            for each in self._twins:
                each.close()

    def require(self) -> None:
        """Raise if the model has not been a function so far."""
        effects.require_none()
        for definition in self.definitions:
            definition.memory.require_unchanged()
            for cache in definition.memory.caches:
                cache.cache_clear()
        self._repeat_all()
        for definition in self.definitions:
            self._repeat_specifications(definition)
            if definition.memory.caches:  # what a full cache has hidden is seen once it was asked without it
                definition.memory.require_unchanged()
        for each in self._twins:
            each.require_same()

    def _repeat_all(self) -> None:
        # The time that this thread gets: how much is looked at does not depend on what else the machine does.
        until = thread_time() + max(SECONDS, 0 if self.hurried() else (perf_counter() - self._begun) / 10)
        for each in reversed([each for definition in self.definitions for each in _askable(definition)]):
            kept, each.sample.kept = each.sample.kept, []
            for evaluation in reversed(kept):
                if thread_time() >= until:
                    return
                try:
                    self._repeat(each, evaluation)
                except Halted:  # the time is up, or the user has waited long enough
                    return

    def _repeat_specifications(self, definition: Definition) -> None:
        """They are asked by monitors of ours, or for the core, which keeps what they said."""
        for each in specifications(definition):
            try:
                each.require_same()
            except Halted:
                return

    def _repeat(self, asked: Transition | Property, evaluation: Evaluation) -> None:
        self.repeated += 1
        ask, given, answer = evaluation
        again = ask(*given)
        if isinstance(asked, Property):
            same = (answer.value, answer.reads) == (again.value, again.reads)
            what = f"the property `{asked.name}` gave another answer, or read other fields, when it was asked again"
        elif isinstance(answer, Outcome):
            require_same(given[0], asked, (), (answer,), (again,))
            return
        elif type(answer) is tuple:  # all that a transition may do
            require_same(given[0], asked, given[3], answer, again)
            return
        else:
            same = answer == again
            what = f"a guard of {asked} gave another answer when it was asked again about the same state and message"
        if not same:
            raise ModelError(what, hint=CAUSES, code="Q104", location=asked.location)


def _askable(definition: Definition) -> list[Any]:
    specs = dict.fromkeys(column.spec for column in definition.columns)
    finals = [each for each in (definition.final, definition.bound) if each is not None]
    return [*(each for spec in specs for each in spec.transitions), *definition.properties, *finals]
