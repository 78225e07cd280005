"""Following a saved run through the plain semantics, step by step.

A recorded step counts only if the semantics offers the same step with the same effect, and the run only if it still
shows at its end what it was saved for. So a run that replays is a run of the model as it is now.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from quorate.base.errors import QuorateError
from quorate.properties import explain
from quorate.results.claim import Claim
from quorate.results.json import state_to_json, step_to_json
from quorate.results.trace import Trace
from quorate.semantics.steps import State, Step, initial_states, steps

if TYPE_CHECKING:
    from quorate.model.definition import Definition

# What a step is, and what it does. The rest of a recorded step (number, in_flight) follows from these.
_LABEL = ("kind", "process", "transition", "consumed", "choices")
_EFFECT = ("changes", "sent", "events")


class ReplayError(QuorateError):
    """The run is not one of this model, or no longer shows what it was saved for."""

    default_code = "Q320"


def follow(definition: Definition, recorded: Mapping[str, Any]) -> Trace:
    """The run that `trace_to_json` described, made again; ReplayError where the model does otherwise."""
    state = initial = _initial(definition, recorded)
    taken: list[Step] = []
    for number, wanted in enumerate(recorded["steps"], start=1):
        if taken and taken[-1].next is None:
            raise _differs(number, wanted, "the step before it fails now")
        step = _match(definition, state, wanted, number)
        taken.append(step)
        state = step.next if step.next is not None else state
    last = taken[-1] if taken else None
    name = str(recorded["property"])
    if last is not None and last.failure is not None:
        if recorded["kind"] == "witness" or name == "deadlock" or Claim(definition, name, False, False).property:
            raise ReplayError(
                f"the run was saved for {name}, but ends with a step that fails",
                hint="the file was changed after it was saved: check again with --save",
            )
        reason: tuple[str, ...] = (last.failure.text,)
    else:
        reason = _confirm(definition, name, state, witness=recorded["kind"] == "witness")
    return Trace(recorded["kind"], name, reason, definition, initial, tuple(taken), bool(recorded["shortest"]))


def _initial(definition: Definition, recorded: Mapping[str, Any]) -> State:
    for state in initial_states(definition):
        if state_to_json(definition, state) == recorded["initial"]:
            return state
    raise ReplayError(
        "the run does not start in an initial state of the model",
        hint="the model changed since the run was saved, or it has other parameters: check again with --save",
    )


def _match(definition: Definition, state: State, wanted: Mapping[str, Any], number: int) -> Step:
    offered = [(step, step_to_json(definition, step, state)) for step in steps(definition, state)]
    same = [(step, entry) for step, entry in offered if all(entry[key] == wanted[key] for key in _LABEL)]
    if not same:
        possible = [_describe(entry) for _, entry in offered if entry["process"] == wanted["process"]]
        there = "; ".join(possible[:3]) if possible else "nothing"
        raise _differs(number, wanted, f"it is not possible there; {wanted['process']} can do: {there}")
    for step, entry in same:
        # A failure is compared by its kind: its text and line may change with the source and mean the same.
        if all(entry[key] == wanted[key] for key in _EFFECT) and _kind(entry) == _kind(wanted):
            return step
    raise _differs(number, wanted, "it has another effect now")


def _kind(entry: Mapping[str, Any]) -> str | None:
    return entry["failure"]["kind"] if entry["failure"] is not None else None


def _describe(entry: Mapping[str, Any]) -> str:
    name = entry["transition"] or entry["kind"]
    consumed = ", ".join(f"{message['type']} from {message.get('sender')}" for message in entry["consumed"])
    return f"{name} on {consumed}" if consumed else str(name)


def _differs(number: int, wanted: Mapping[str, Any], why: str) -> ReplayError:
    return ReplayError(
        f"step {number} of the run, {wanted['process']} {_describe(wanted)}: {why}",
        hint="the model changed since the run was saved: check again with --save",
    )


def _confirm(definition: Definition, name: str, state: State, *, witness: bool) -> tuple[str, ...]:
    """The values that the property reads at the end of the run, once it is seen to fail (or to be reached) there."""
    claim = Claim(definition, name, witness, fails=False)
    if claim.property is None and name != "deadlock":
        raise ReplayError(
            f"the run was saved for the property {name}, which the model no longer has", hint="check again"
        )
    if claim.shown_in(state):
        return explain(definition, claim.property, state.locals) if claim.property is not None else ()
    if name == "deadlock":
        raise ReplayError("the run can still be followed, but it does not end in a deadlock", hint="check again")
    raise ReplayError(
        f"the run can still be followed, but {name} {'does not hold' if witness else 'holds'} at its end",
        hint="the property changed, or the model was repaired: check again",
    )
