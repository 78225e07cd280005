"""Runs that show no fault of the protocol but a mistake in the model: they end in an error that says so."""

from __future__ import annotations

from quorate.base.errors import Location, ModelError, PropertyError
from quorate.native.backend import Witness
from quorate.native.model import Model
from quorate.results.trace import Trace


def raise_accidents(model: Model, violation: Witness, trace: Trace) -> None:
    """Raise the error that a violation is: a handler broke a rule of the language, or a property raised."""
    if violation.finding == "failure":
        failure = trace.steps[-1].failure
        if failure is not None and failure.kind == "model":
            place = Location(failure.file, failure.line)
            raise ModelError(failure.text, hint=failure.hint, code=failure.code or None, location=place)
    elif violation.finding == "raises":
        prop = model.properties[violation.property]
        last = trace.states[-1]
        failure = model.evaluate(prop, last.locals, last.pending).failure
        assert failure is not None
        raise PropertyError(
            f"the property `{prop.name}` raised: {failure.text}\n{trace}",
            hint=failure.hint or "a property must have an answer in every state; the run above leads to this one",
            code=failure.code or "Q403",
            location=Location(failure.file, failure.line),
        )
