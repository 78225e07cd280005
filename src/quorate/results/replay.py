"""Following a saved run through the plain semantics, step by step.

A recorded step counts only if the semantics offers the same step with the same effect, and the run only if it still
shows at its end what it was saved for, or comes back to where its loop begins. So a run that replays is a run of the
model as it is now.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from quorate.base.errors import QuorateError
from quorate.properties import explain
from quorate.properties.temporal.branching import linear
from quorate.properties.temporal.errors import FormulaError
from quorate.properties.temporal.refutation import refuted
from quorate.properties.temporal.stated import TemporalProperty, asked_for, temporal_of
from quorate.results.claim import Claim
from quorate.results.json import state_to_json, step_to_json
from quorate.results.restore import state_from_json
from quorate.results.trace import Trace
from quorate.semantics.follow import Differs, Run, follow
from quorate.semantics.recurrence import comes_back
from quorate.semantics.state import State, Step, initial_states
from quorate.semantics.steps import steps

if TYPE_CHECKING:
    from quorate.model.definition import Definition

# What a step is, and what it does. The rest of a recorded step (number, in_flight) follows from these.
_LABEL = ("kind", "process", "transition", "consumed", "choices")
_EFFECT = ("changes", "sent", "events")


class ReplayError(QuorateError):
    """The run is not one of this model, or no longer shows what it was saved for."""

    default_code = "Q320"


def replay(definition: Definition, recorded: Mapping[str, Any]) -> Trace:
    """The run that `trace_to_json` described, made again; ReplayError where the model does otherwise."""
    initial = _initial(definition, recorded)
    run = follow(definition, initial, [_Recorded(definition, entry) for entry in recorded["steps"]])
    if isinstance(run, Differs):
        raise _differs(run, recorded["steps"][run.number - 1])
    last = run.steps[-1] if run.steps else None
    name = str(recorded["property"])
    if "loop_from" in recorded:
        _confirm_loop(definition, recorded, run)
        reason: tuple[str, ...] = tuple(recorded.get("reason", ()))
    elif last is not None and last.failure is not None:
        if recorded["kind"] == "witness" or name == "deadlock" or Claim(definition, name, False, False).property:
            raise ReplayError(
                f"the run was saved for {name}, but ends with a step that fails",
                hint="the file was changed after it was saved: check again with --save",
            )
        reason = (last.failure.text,)
    else:
        reason = _confirm(definition, name, run.last, witness=recorded["kind"] == "witness")
    return Trace(
        recorded["kind"],
        name,
        reason,
        definition,
        initial,
        run.steps,
        bool(recorded["shortest"]),
        loop_from=recorded.get("loop_from"),
        start=recorded.get("start", "initial"),
        fairness=recorded.get("fairness"),
        crashed=_crashed(definition, recorded),
    )


def _initial(definition: Definition, recorded: Mapping[str, Any]) -> State:
    if recorded.get("start", "initial") == "any":
        state = state_from_json(definition, recorded["initial"])
        if state is not None:
            return state
        raise ReplayError(
            "the run starts in a state that the model does not have",
            hint="its processes or their fields changed since the run was saved: check again with --save",
        )
    for state in initial_states(definition):
        if state_to_json(definition, state) == recorded["initial"]:
            return state
    raise ReplayError(
        "the run does not start in an initial state of the model",
        hint="the model changed since the run was saved, or it has other parameters: check again with --save",
    )


class _Recorded(NamedTuple):
    """A step as a file tells it."""

    definition: Definition
    entry: Mapping[str, Any]

    def matches(self, step: Step, before: State) -> bool:
        there = step_to_json(self.definition, step, before)
        # A failure is compared by its kind: its text and line may change with the source and mean the same.
        return (
            self.is_same(there)
            and all(there[key] == self.entry[key] for key in _EFFECT)
            and _kind(there) == _kind(self.entry)
        )

    def is_same(self, there: Mapping[str, Any]) -> bool:
        """Whether it is the same step, whatever its effect is. Before places were noted, the first one was taken."""
        same = all(there[key] == self.entry[key] for key in _LABEL)
        return same and all(there.get(key, 0) == self.entry.get(key, 0) for key in ("place", "redelivered"))


def _kind(entry: Mapping[str, Any]) -> str | None:
    return entry["failure"]["kind"] if entry["failure"] is not None else None


def _describe(entry: Mapping[str, Any]) -> str:
    name = entry["transition"] or entry["kind"]
    consumed = ", ".join(f"{message['type']} from {message.get('sender')}" for message in entry["consumed"])
    return f"{name} on {consumed}" if consumed else str(name)


def _differs(found: Differs, wanted: Mapping[str, Any]) -> ReplayError:
    assert isinstance(found.wanted, _Recorded)
    definition = found.wanted.definition
    if found.state is None:
        why = "the step before it fails now"
    else:
        offered = [step_to_json(definition, step, found.state) for step in steps(definition, found.state)]
        if any(map(found.wanted.is_same, offered)):
            why = "it has another effect now"
        else:
            possible = [_describe(entry) for entry in offered if entry["process"] == wanted["process"]]
            there = "; ".join(possible[:3]) if possible else "nothing"
            why = f"it is not possible there; {wanted['process']} can do: {there}"
    return ReplayError(
        f"step {found.number} of the run, {wanted['process']} {_describe(wanted)}: {why}",
        hint="the model changed since the run was saved: check again with --save",
    )


def _confirm_loop(definition: Definition, recorded: Mapping[str, Any], run: Run) -> None:
    """See that the loop closes, is fair, and that the formula is false of the run."""
    name, loop_from = str(recorded["property"]), recorded["loop_from"]
    prop = _temporal(definition, name)
    formula = linear(prop.formula) if prop is not None else None
    if prop is None or formula is None:  # of a formula with branches no run is saved
        raise _gone(name)
    states = [state for state in (run.initial, *(step.next for step in run.steps)) if state is not None]
    if loop_from > len(run.steps):
        raise ReplayError(
            f"the run is said to go on from its state {loop_from}, but it has only {len(run.steps)} steps",
            hint="the file was changed after it was saved: check again with --save",
        )
    if len(states) <= len(run.steps) or not comes_back(definition, states, loop_from):
        raise ReplayError(
            f"the run can still be followed, but its loop does not close: after the last step it is not in state "
            f"{loop_from} again",
            hint="the model changed since the run was saved: check again with --save",
        )
    level, crashed = recorded.get("fairness", "message"), _crashed(definition, recorded)
    why = refuted(definition, prop, formula, run.initial, run.steps, loop_from, level, crashed)
    if why:
        raise ReplayError(
            f"the run can still be followed, but it does not show that {name} is violated: {why}",
            hint="the property changed, or the model was repaired: check again",
        )


def _temporal(definition: Definition, name: str) -> TemporalProperty | None:
    """The temporal property of that name; a formula from the command line is its own name."""
    found = next((each for each in temporal_of(definition) if each.name == name), None)
    if found is not None or name.isidentifier():
        return found
    kinds: tuple[Literal["ltl", "ctl"], ...] = ("ltl", "ctl")
    for kind in kinds:
        with suppress(FormulaError):
            return asked_for(definition, [name], kind)[0]
    return None


def _crashed(definition: Definition, recorded: Mapping[str, Any]) -> tuple[int, ...]:
    names = set(recorded.get("crashed", ()))
    return tuple(column.index for column in definition.processes if column.name in names)


def _gone(name: str) -> ReplayError:
    return ReplayError(f"the run was saved for the property {name}, which the model no longer has", hint="check again")


def _confirm(definition: Definition, name: str, state: State, *, witness: bool) -> tuple[str, ...]:
    """The values that the property reads at the end of the run, once it is seen to fail (or to be reached) there."""
    claim = Claim(definition, name, witness, fails=False)
    if claim.property is None and name != "deadlock":
        raise _gone(name)
    if claim.shown_in(state):
        return explain(definition, claim.property, state.locals, state.pending) if claim.property is not None else ()
    if name == "deadlock":
        raise ReplayError("the run can still be followed, but it does not end in a deadlock", hint="check again")
    raise ReplayError(
        f"the run can still be followed, but {name} {'does not hold' if witness else 'holds'} at its end",
        hint="the property changed, or the model was repaired: check again",
    )
