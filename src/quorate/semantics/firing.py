"""Transitions of the protocol: which sets of messages they may consume, and what a state becomes when they do."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product

from quorate.base.values import encode
from quorate.language.message import Message
from quorate.model.definition import Column, Definition, Transition
from quorate.model.outcome import Local, Outcome, is_crashed
from quorate.model.run import accepts, fire, observe, prepare
from quorate.semantics.channels import Inboxes, channels
from quorate.semantics.state import State, Step, looked_at


def protocol_steps(definition: Definition, state: State, column: Column, only: str | None = None) -> Iterator[Step]:
    """What a process can do by itself or on messages: by all of its transitions, or by the one of that name."""
    local = looked_at(definition, state, column)
    for transition in definition.transitions(column):
        if only is not None and transition.name != only:
            continue
        for consumed in consumable(definition, state, column, transition):
            for outcome in fire(column, transition, local, consumed):
                step = take(definition, state, column, transition, consumed, outcome)
                if step is not None:
                    yield step


def take(
    definition: Definition,
    state: State,
    column: Column,
    transition: Transition | None,
    consumed: tuple[Message, ...],
    outcome: Outcome,
    redelivered: bool = False,
) -> Step | None:
    """The step with its next state; None if a full channel blocks it."""
    crash = outcome.local is not None and is_crashed(outcome.local)
    base = Step("crash" if crash else "step", column.index, transition, consumed, outcome, redelivered=redelivered)
    if outcome.failure is not None:
        return base._replace(failure=outcome.failure)
    if outcome.cut or outcome.local is None:
        return base
    locals = list(state.locals)
    locals[column.index] = outcome.local
    inboxes = Inboxes(definition, state.pending)
    if not inboxes.exchange(column, transition, consumed, outcome.sends, redelivered):
        return None
    for event in outcome.events:
        for monitor in definition.told(event):
            seen = observe(monitor, locals[monitor.index], event)
            if seen.local is None:
                return base._replace(failure=seen.failure)
            locals[monitor.index] = seen.local
    return base._replace(next=State(tuple(locals), inboxes.arranged(), state.budget))


def consumable(
    definition: Definition, state: State, column: Column, transition: Transition
) -> list[tuple[Message, ...]]:
    """The sets of pending messages the transition might consume, each in content order."""
    found = _consumable(definition, state, column, transition)
    if column.clean:
        found = [chosen for chosen in found if len(chosen) == len(state.pending[column.index])]
    return found


def _consumable(
    definition: Definition, state: State, column: Column, transition: Transition
) -> list[tuple[Message, ...]]:
    local = looked_at(definition, state, column)
    if is_crashed(local):
        return []
    if transition.kind in ("start", "step"):
        return [()]
    candidates = channels(definition).offered(
        column,
        state.pending[column.index],
        transition.takes,
        lambda message: wants(column, transition, local, message),
    )
    if transition.kind == "on":
        return [(message,) for message in candidates]
    request = prepare(column, transition, local)
    if request is None:
        return []
    groups: dict[bytes, list[Message]] = {}
    for message in candidates:
        key = accepts(column, transition, local, message)
        if key is not None:
            groups.setdefault(key, []).append(message)
    found: list[tuple[Message, ...]] = []
    for group in groups.values():
        if request.size is not None:
            found += [chosen for chosen in combinations(group, request.size) if _distinct_senders(chosen)]
        elif request.senders is not None:
            found += product(*([m for m in group if m.sender == pid] for pid in request.senders))
        else:
            found += _satisfying(column, transition, local, group)
    return sorted((tuple(sorted(chosen, key=encode)) for chosen in found), key=encode)


def _satisfying(
    column: Column, transition: Transition, local: Local, group: list[Message]
) -> list[tuple[Message, ...]]:
    """The minimal or maximal non-empty sets, at most one message per sender, on which the transition is enabled."""
    enabled = [
        frozenset(chosen)
        for size in range(1, len(group) + 1)
        for chosen in combinations(group, size)
        if _distinct_senders(chosen) and fire(column, transition, local, tuple(sorted(chosen, key=encode)))
    ]
    if transition.mode == "any":
        best = enabled
    elif transition.mode == "minimal":
        best = [one for one in enabled if not any(other < one for other in enabled)]
    else:
        best = [one for one in enabled if not any(other > one for other in enabled)]
    return [tuple(one) for one in best]


def _distinct_senders(messages: tuple[Message, ...]) -> bool:
    return len({message.sender for message in messages}) == len(messages)


def wants(column: Column, transition: Transition, local: Local, message: Message) -> bool:
    """Whether a message is of the transition's type and passes its filter (`when` of an `on`, `where` of a quorum)."""
    if not transition.takes(message):
        return False
    if transition.kind == "on":
        return bool(fire(column, transition, local, (message,)))
    return accepts(column, transition, local, message) is not None
