"""From the path the core found to a run of the plain semantics: every counterexample is replayed before it is shown.

The core's path is one of reduced states. At every step any successor of the plain semantics will do whose reduced
form is the next state of the path (docs/soundness.md, rule 12); if there is none, the core and the semantics disagree,
which is a defect.
"""

from __future__ import annotations

from typing import NamedTuple

from quorate.base.errors import QuorateError
from quorate.base.failures import Failure
from quorate.model.definition import Property
from quorate.native.backend import Witness
from quorate.native.model import Model
from quorate.properties import explain
from quorate.results.trace import Kind, Trace
from quorate.semantics.follow import Differs, follow
from quorate.semantics.state import State, Step, initial_states
from quorate.semantics.steps import enabled_protocol, steps


class ReplayError(QuorateError):
    """The native search and the plain semantics disagree. Never the user's fault."""

    default_code = "Q900"


def rebuild(model: Model, found: Witness, shortest: bool) -> Trace:
    """Replay what the core reported, and check that it ends where it says."""
    definition = model.definition
    path = found.path
    starts = [state for state in initial_states(definition) if model.reduced(state) == path[0]]
    if not starts:
        raise _disagree("the first state is not initial")
    initial = starts[0]
    run = follow(definition, initial, [_LeadingTo(model, target) for target in path[1:]])
    if isinstance(run, Differs):
        raise _disagree(f"step {run.number} leads nowhere")
    taken = list(run.steps)
    state = run.last
    kind: Kind = "violation"
    reason: tuple[str, ...] = ()
    finding = found.finding
    if finding == "failure":
        failing = [step for step in steps(definition, state) if step.failure is not None]
        wanted = model.failures[found.failure]
        # How it fails is what the result says. Processes, which the text may name, may be others than in the reduced
        # search: so which one it is comes second.
        failing = [step for step in failing if step.failure is not None and _alike(step.failure, wanted)] or failing
        failing = [step for step in failing if step.column == found.column] or failing
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
            if model.evaluate(definition.final, state.locals, state.pending).value:
                raise _disagree("the last state is a final one")
            reason = _explained(model, definition.final, state)
    else:
        prop: Property = model.properties[found.property]
        name = prop.name
        evaluation = model.evaluate(prop, state.locals, state.pending)
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
    return explain(model.definition, prop, state.locals, state.pending) if model.whole is None else ()


def _alike(one: Failure, other: Failure) -> bool:
    return (one.kind, one.file, one.line, one.code) == (other.kind, other.file, other.line, other.code)


class _LeadingTo(NamedTuple):
    """Any step to a state that has this reduced form."""

    model: Model
    target: tuple[object, object]

    def matches(self, step: Step, before: State) -> bool:
        return step.next is not None and self.model.reduced(step.next) == self.target


def _disagree(what: str) -> ReplayError:
    return ReplayError(
        f"the counterexample does not replay: {what}",
        hint="this is a defect of Quorate; please report it with the model. --quotient off may work around it",
    )
