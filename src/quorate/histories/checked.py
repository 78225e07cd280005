"""A specification that is held to its promises: it returns a state and a result, the same ones every time, and leaves
the state that it is given as it is."""

from __future__ import annotations

from typing import Any

from quorate.base.errors import Location, ModelError
from quorate.base.failures import blame, is_models
from quorate.base.places import class_location
from quorate.base.values import BadValueError, encode, freeze, show
from quorate.base.watchdog import supervised
from quorate.language.forbidden import forbid_impure
from quorate.language.operation import Operation

REMEMBERS = "a specification is deterministic, and remembers nothing: what it needs belongs to the state"
KEPT = 200
"""So many answers are compared once more in the end."""


class Checked:
    """What a user gave as a specification."""

    def __init__(self, specification: Any, place: Location | None) -> None:
        if isinstance(specification, type):
            try:
                specification = specification()
            except TypeError as error:
                raise ModelError(
                    f"{specification.__name__} cannot be made without arguments: {error}",
                    hint=f"make one: linearizable({specification.__name__}(...))",
                    code="Q123",
                    location=place,
                ) from None
        self.specification = specification
        self.name = type(specification).__name__
        if not hasattr(specification, "initial") or not callable(getattr(specification, "apply", None)):
            raise ModelError(
                f"{show(specification)} is not a specification",
                hint="it has an `initial` state and a method `apply(self, state, operation) -> (state, result)`",
                code="Q123",
                location=place,
            )
        self.place = class_location(type(specification)) or place
        self.initial = self._frozen("initial", specification.initial)
        self._answers: list[tuple[Any, Operation, Any]] = []
        self._require_deterministic()

    def _require_deterministic(self) -> None:
        """Being asked twice finds chance only with luck: a coin falls the same way twice."""
        members = [member for cls in type(self.specification).__mro__ for member in vars(cls).values()]
        try:
            forbid_impure(f"the specification {self.name}", *members)
        except ModelError as impure:
            raise ModelError(
                impure.message, hint="a specification is deterministic", code="Q123", location=impure.location
            ) from None

    def apply(self, state: Any, operation: Operation) -> tuple[Any, Any] | None:
        """The next state and the result; None if the operation has to wait."""
        before = encode(state)
        found = self._once(state, operation)
        again = self._once(state, operation)
        if encode(found) != encode(again):
            raise self._error(
                f"apply({show(state)}, {show(operation)}) gave {show(found)}, and then {show(again)}",
                REMEMBERS,
            )
        if encode(state) != before:
            raise self._error(
                f"apply({show(state)}, {show(operation)}) changed the state that it was given",
                "return a new state",
            )
        if len(self._answers) < KEPT:
            self._answers.append((state, operation, found))
        return found

    def require_same(self) -> None:
        """Ask once more what was asked, the last first: what is remembered shows where it is another time."""
        kept, self._answers = self._answers, []
        for state, operation, found in reversed(kept):
            again = self._once(state, operation)
            if encode(found) != encode(again):
                raise self._error(
                    f"apply({show(state)}, {show(operation)}) gave {show(found)}, and later {show(again)}", REMEMBERS
                )

    def _once(self, state: Any, operation: Operation) -> tuple[Any, Any] | None:
        found = self._asked(state, operation)
        if found is None:
            return None
        if type(found) is not tuple or len(found) != 2:
            raise self._error(
                f"apply({show(state)}, {show(operation)}) returned {show(found)}",
                "it returns the next state and the result, `return state, result`, or None: it has to wait",
            )
        result = self._frozen("apply", found[1])
        if not operation.gives(result):
            raise self._error(
                f"apply({show(state)}, {show(operation)}) gives the result {show(result)}, "
                f"and results of {type(operation).__name__} are of another type",
                "correct one of them",
            )
        return self._frozen("apply", found[0]), result

    def _asked(self, state: Any, operation: Operation) -> Any:
        """What raises is a step that fails, and its run is shown; but nothing may end the program."""
        try:
            return supervised(lambda: self.specification.apply(state, operation))
        except Exception:
            raise
        except BaseException as error:
            if not is_models(error):
                raise
            raise blame("`apply`", error, self.place, "a specification says what an operation does") from None

    def _frozen(self, where: str, value: Any) -> Any:
        try:
            return freeze(value)
        except BadValueError as bad:
            raise self._error(
                f"`{where}` gives {show(bad.value)}, a {type(bad.value).__name__}, which cannot be part of a state",
                bad.advice,
            ) from None

    def _error(self, what: str, hint: str) -> ModelError:
        return ModelError(f"the specification {self.name}: {what}", hint=hint, code="Q123", location=self.place)
