"""From the path the core found to a run of the plain semantics: every counterexample is replayed before it is shown.

The core's path is one of reduced states. At every step any successor of the plain semantics will do whose reduced
form is the next state of the path (design rule 12); if there is none, the core and the semantics disagree, which is
a defect.
"""

from __future__ import annotations

from typing import Any

from quorate.analysis.model import Model
from quorate.language.definition import Property
from quorate.language.errors import QuorateError
from quorate.language.outcome import Failure
from quorate.properties import explain
from quorate.semantics import State, Step, enabled_protocol, initial_states, steps
from quorate.traces.trace import Kind, Trace


class ReplayError(QuorateError):
    """The native search and the plain semantics disagree. Never the user's fault."""

    default_code = "Q900"


def rebuild(model: Model, found: dict[str, Any], shortest: bool) -> Trace:
    """Replay what the core reported, and check that it ends where it says."""
    definition = model.definition
    path = [(list(columns), list(left)) for columns, left in found["path"]]
    starts = [state for state in initial_states(definition) if _reduced(model, state) == path[0]]
    if not starts:
        raise _disagree("the first state is not initial")
    initial = state = starts[0]
    taken: list[Step] = []
    for position, target in enumerate(path[1:], 1):
        step = _step_to(model, state, target)
        if step is None or step.next is None:
            raise _disagree(f"step {position} leads nowhere")
        taken.append(step)
        state = step.next
    kind: Kind = "violation"
    reason: tuple[str, ...] = ()
    finding = found["finding"]
    if finding == "failure":
        failing = [step for step in steps(definition, state) if step.failure is not None]
        wanted = model.failures[found["failure"]]
        # How it fails is what the result says. Processes, which the text may name, may be others than in the reduced
        # search: so which one it is comes second.
        failing = [step for step in failing if step.failure is not None and _alike(step.failure, wanted)] or failing
        failing = [step for step in failing if step.column == found["column"]] or failing
        if not failing or failing[0].failure is None:
            raise _disagree("the last step does not fail")
        taken.append(failing[0])
        name = {"assertion": "assertions", "exception": "exceptions", "model": "model"}[failing[0].failure.kind]
        reason = (failing[0].failure.text,)
    elif finding == "deadlock":
        name = "deadlock"
        if enabled_protocol(steps(definition, state)):
            raise _disagree("the last state is no deadlock")
        if definition.final is not None:
            if model.evaluate(definition.final, state.locals).value:
                raise _disagree("the last state is a final one")
            reason = _explained(model, definition.final, state)
    else:
        prop: Property = model.properties[found["property"]]
        name = prop.name
        evaluation = model.evaluate(prop, state.locals)
        if finding == "raises":
            kind = "error"
            if evaluation.failure is None:
                raise _disagree(f"{name} does not raise in the last state")
        elif evaluation.value != (finding == "reached"):
            raise _disagree(f"{name} is {evaluation.value} in the last state")
        elif finding == "reached":
            kind = "witness"
        reason = _explained(model, prop, state)
    return Trace(kind, name, reason, definition, initial, tuple(taken), shortest)


def _explained(model: Model, prop: Property, state: State) -> tuple[str, ...]:
    """Of processes that were taken apart, once they are put together again (recompose.py)."""
    return explain(model.definition, prop, state.locals) if model.whole is None else ()


def _alike(one: Failure, other: Failure) -> bool:
    return (one.kind, one.file, one.line, one.code) == (other.kind, other.file, other.line, other.code)


def _step_to(model: Model, state: State, target: tuple[object, object]) -> Step | None:
    for step in steps(model.definition, state):
        if step.next is not None and _reduced(model, step.next) == target:
            return step
    return None


def _reduced(model: Model, state: State) -> tuple[object, object]:
    return model.reduced(state)


def _disagree(what: str) -> ReplayError:
    return ReplayError(
        f"the counterexample does not replay: {what}",
        hint="this is a defect of Quorate; please report it with the model. --quotient off may work around it",
    )
