"""Whether a run that Quorate shows is a run of the abstract protocol, step by step, and ends in what it claims."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quorate import Map, Message, Peers, Pid, Scalar, Signed, Trace
from quorate.model.outcome import is_crashed
from quorate.semantics.state import State as TheirState

from .evaluate import Msg, Value, as_map
from .evaluate import Signed as Vouched
from .protocol import Protocol
from .system import Local, State, System

KINDS = {"assertions": "assertion", "exceptions": "exception"}


def ours(value: Any) -> Value:
    """One of Quorate's values as the reference has it."""
    if isinstance(value, Pid):
        return f"#{value._index}"
    if isinstance(value, Signed):
        return Vouched(ours(value.value), ours(value.signer))
    if isinstance(value, Scalar):
        return f"${value._index}"
    if isinstance(value, Message):
        names = tuple(type(value)._names)
        sender = ours(value.sender) if "_origin" in value.__dict__ else ""  # one that was made and not sent
        return Msg(type(value).__name__, tuple(ours(getattr(value, name)) for name in names), names, sender)
    if isinstance(value, Map | Mapping):
        return as_map({ours(key): ours(item) for key, item in value.items()})
    if isinstance(value, Peers | frozenset):
        return frozenset(ours(each) for each in value)
    if isinstance(value, tuple):
        return tuple(ours(each) for each in value)
    return value


def our_state(state: TheirState, trace: Trace, system: System) -> State:
    """A state of a run as the reference has it. What attackers could say at any time is no part of that."""
    locals: list[Local] = []
    monitors: list[tuple[Value, ...]] = []
    for column, local in zip(trace.definition.columns, state.locals, strict=True):
        values = dict(zip(column.fields, local, strict=True))
        if column.is_monitor:
            monitors.append(tuple(ours(values[f.name]) for f in system.fields[column.cls.__name__]))
        elif column.delivers_to is not None:
            continue
        elif column.index in system.attackers:
            locals.append(Local(tuple(ours(each) for each in local)))
        else:
            started = frozenset(name.removeprefix("started:") for name, on in values.items() if ":" in name and on)
            fields = system.fields[system.classes[column.index]]
            locals.append(Local(tuple(ours(values[f.name]) for f in fields), started, is_crashed(local)))
    pending: list[list[Msg]] = []
    for column, inbox in zip(trace.definition.processes, state.pending, strict=True):
        pending.append([ours(each) for each in inbox if not trace.definition.stands(column, each)])
    return State(tuple(locals), tuple(monitors), system.arranged(pending), state.budget)


def wrong_with(trace: Trace, system: System, protocol: Protocol) -> str:
    """Why this is no run of the protocol, or not one that shows what it is to show; empty if it is."""
    state = our_state(trace.initial, trace, system)
    if state not in system.initial:
        return "its first state is not initial"
    for number, step in enumerate(trace.steps, 1):
        label = (step.kind, step.column)
        possible = [each for each in system.steps(state) if (each.kind, each.who) == label]
        if step.transition is not None:
            possible = [each for each in possible if each.action == step.transition.name]
        if step.next is None:
            if number < len(trace.steps):
                return f"step {number} leads nowhere"
            wanted = KINDS.get(trace.property, "")
            return "" if any(each.failure == wanted for each in possible) else f"step {number} does not fail"
        following = our_state(step.next, trace, system)
        if all(each.next != following for each in possible):
            return f"step {number} is none"
        state = following
    return _wrong_end(trace, system, protocol, state)


def _wrong_end(trace: Trace, system: System, protocol: Protocol, state: State) -> str:
    if trace.property in KINDS:
        return "its last step does not fail"
    if trace.property == "deadlock":
        final = next((each.claim for each in protocol.properties if each.kind == "final"), None)
        if any(step.of_protocol for step in system.steps(state)):
            return "its last state is not stuck"
        return "its last state is fine" if final is not None and system.judge(final, state) else ""
    prop = next(each for each in protocol.properties if each.name == trace.property)
    answer = system.judge(prop.claim, state)
    return "" if answer is (prop.kind == "can") else f"{prop.name} is {answer} in its last state"
