"""The plain semantics: states and steps straight from the definitions, simple before fast.

Counterexamples are replayed through it before they are shown, and the native search is tested against it. So nothing
here is clever: consumable sets are all subsets that fit the definition.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, product
from typing import Literal, NamedTuple

from quorate.base.failures import Failure
from quorate.base.values import encode
from quorate.language.message import Message
from quorate.language.network import Network
from quorate.language.pid import column_of
from quorate.model.definition import Column, Definition, Transition
from quorate.model.outcome import Crashed, Local, Outcome, is_crashed
from quorate.model.run import accepts, fire, observe, prepare, recovered

Inbox = tuple[Message, ...]
Sends = tuple[tuple[int, Message], ...]


@dataclass(frozen=True, eq=False)
class State:
    """A global state.

    `locals` has one local state per column, `pending` one inbox per process: in content order, or with FIFO channels
    by sender and, within a channel, oldest first. `budget` is what is left of losses, duplicates and crashes, 0 where
    there is none or no bound.
    """

    locals: tuple[Local, ...]
    pending: tuple[Inbox, ...]
    budget: tuple[int, int, int]

    @property
    def key(self) -> bytes:
        """The canonical bytes of the state. Python's own equality would take True for 1."""
        known: bytes | None = self.__dict__.get("_key")
        if known is None:
            known = encode((self.locals, self.pending, self.budget))
            self.__dict__["_key"] = known
        return known

    def __eq__(self, other: object) -> bool:
        return isinstance(other, State) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


class Step(NamedTuple):
    """One step from a state. `next` is None if the handler or a monitor failed, or `within` cut it."""

    kind: Literal["step", "lose", "duplicate", "crash", "recover", "discard"]
    column: int
    transition: Transition | None = None
    consumed: tuple[Message, ...] = ()
    outcome: Outcome | None = None
    next: State | None = None
    failure: Failure | None = None

    @property
    def cut(self) -> bool:
        return self.outcome is not None and self.outcome.cut


def initial_states(definition: Definition) -> tuple[State, ...]:
    """The states a run may begin in, in content order."""
    network = definition.network
    losses = network.losses if network.losses != "any" else 0
    duplicates = network.duplicates if network.duplicates != "any" else 0
    standing = [list(definition.standing.get(column.index, ())) for column in definition.processes]
    pending = _arranged(definition, standing)
    return tuple(
        State(state, pending, (losses, duplicates, definition.faults.crashes)) for state in definition.initials
    )


def steps(definition: Definition, state: State) -> tuple[Step, ...]:
    """Everything that can happen in a state: protocol steps by process and transition, then the environment's."""
    found: list[Step] = []
    for column in definition.processes:
        found.extend(_protocol(definition, state, column))
    for column in definition.processes:
        if definition.network.head == "drop" and definition.network.kind == "fifo":
            found.extend(_discards(definition, state, column))
    for column in definition.processes:
        found.extend(_environment(definition, state, column))
        found.extend(_crashes(definition, state, column))
    return tuple(found)


def repeat(definition: Definition, state: State, step: Step) -> Step | None:
    """The same thing done from another state: by the same process, on the same messages; None if it cannot be done.

    Of several outcomes it is the one of the same choices. What it leads to may differ: that is for the caller to see.
    """
    column = definition.columns[step.column]
    if step.kind == "step":
        offered = _protocol(definition, state, column, only=step.transition)
    elif step.kind == "discard":
        offered = _discards(definition, state, column)
    elif step.kind in ("crash", "recover"):
        offered = _crashes(definition, state, column)
    else:
        offered = _environment(definition, state, column)
    wanted = _label(step)
    return next((other for other in offered if _label(other) == wanted), None)


def _label(step: Step) -> tuple[object, ...]:
    """What a step is, apart from what it leads to. A crash in the midst of a step is known by what was still sent."""
    outcome = step.outcome
    cut_short = step.kind == "crash" and outcome is not None
    return (
        step.kind,
        step.transition,
        tuple(map(encode, step.consumed)),
        tuple(map(encode, outcome.choices)) if outcome is not None else (),
        encode(outcome.sends) if cut_short and outcome is not None else b"",
    )


def in_flight(definition: Definition, state: State) -> list[tuple[Column, Message]]:
    """What was sent and is still pending, by receiver; not what attackers could say at any time."""
    return [
        (column, message)
        for column, inbox in zip(definition.processes, state.pending, strict=True)
        for message in inbox
        if not definition.stands(column, message)
    ]


def enabled_protocol(found: tuple[Step, ...]) -> bool:
    """Whether the protocol itself can go on: what only the network or a crash could do does not count."""
    return any(step.kind in ("step", "discard") for step in found)


# The protocol's own steps


def _protocol(definition: Definition, state: State, column: Column, only: Transition | None = None) -> Iterator[Step]:
    local = state.locals[column.index]
    for transition in (only,) if only is not None else definition.transitions(column):
        for consumed in consumable(definition, state, column, transition):
            for outcome in fire(column, transition, local, consumed):
                step = _take(definition, state, column, transition, consumed, outcome)
                if step is not None:
                    yield step


def _take(
    definition: Definition,
    state: State,
    column: Column,
    transition: Transition | None,
    consumed: tuple[Message, ...],
    outcome: Outcome,
) -> Step | None:
    """The step with its next state; None if a full channel blocks it."""
    crash = outcome.local is not None and is_crashed(outcome.local)
    base = Step("crash" if crash else "step", column.index, transition, consumed, outcome)
    if outcome.failure is not None:
        return base._replace(failure=outcome.failure)
    if outcome.cut or outcome.local is None:
        return base
    locals = list(state.locals)
    locals[column.index] = outcome.local
    pending: list[list[Message] | Inbox] = list(state.pending)
    for index in {column.index, *(receiver for receiver, _ in outcome.sends)}:
        pending[index] = list(state.pending[index])
    if transition is not None and not transition.keep and definition.network.duplicates != "any":
        for message in consumed:
            if not definition.stands(column, message):
                _of(pending, column.index).remove(message)  # the first equal one: in a FIFO channel, the oldest
    standing: dict[int, list[Message]] = {}
    for receiver, message in outcome.sends:
        if definition.stands(definition.columns[receiver], message):
            standing.setdefault(receiver, []).append(message)
        elif not _deliver(definition.network, _of(pending, receiver), message):
            return None
    for receiver, messages in standing.items():  # once each, in no order and without taking up room
        there = set(map(encode, pending[receiver]))
        _of(pending, receiver).extend(one for one in dict.fromkeys(messages) if encode(one) not in there)
    for event in outcome.events:
        for monitor in definition.monitors:
            seen = observe(monitor, locals[monitor.index], event)
            if seen.local is None:
                return base._replace(failure=seen.failure)
            locals[monitor.index] = seen.local
    return base._replace(next=State(tuple(locals), _arranged(definition, pending), state.budget))


def _of(pending: list[list[Message] | Inbox], index: int) -> list[Message]:
    """An inbox that the step changes."""
    inbox = pending[index]
    assert isinstance(inbox, list)
    return inbox


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
    local = state.locals[column.index]
    if is_crashed(local):
        return []
    if transition.kind in ("start", "step"):
        return [()]
    candidates = _candidates(definition, state, column, transition)
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
    if transition.mode == "minimal":
        best = [one for one in enabled if not any(other < one for other in enabled)]
    else:
        best = [one for one in enabled if not any(other > one for other in enabled)]
    return [tuple(one) for one in best]


def _distinct_senders(messages: tuple[Message, ...]) -> bool:
    return len({message.sender for message in messages}) == len(messages)


def _candidates(definition: Definition, state: State, column: Column, transition: Transition) -> list[Message]:
    """The pending messages the transition may look at: distinct ones, or what FIFO channels offer."""
    inbox = state.pending[column.index]
    local = state.locals[column.index]
    if definition.network.kind != "fifo":
        return [message for message in _distinct(inbox) if transition.takes(message)]
    offered: list[Message] = []
    for channel in _channels(inbox):
        wanted = [message for message in channel if _wants(column, transition, local, message)]
        if definition.stands(column, channel[0]):
            offered += wanted  # the attacker sends what is wanted, and nothing before it
        elif definition.network.head == "skip":
            offered += wanted[:1]
        else:
            offered += [message for message in wanted[:1] if message is channel[0]]
    return offered


def _wants(column: Column, transition: Transition, local: Local, message: Message) -> bool:
    """Whether a message is of the transition's type and passes its filter (`when` of an `on`, `where` of a quorum)."""
    if not transition.takes(message):
        return False
    if transition.kind == "on":
        return bool(fire(column, transition, local, (message,)))
    return accepts(column, transition, local, message) is not None


# The network


def _channels(inbox: Inbox) -> list[list[Message]]:
    """The channels of an inbox, by sender."""
    found: dict[int, list[Message]] = {}
    for message in inbox:
        found.setdefault(column_of(message.sender), []).append(message)
    return [found[sender] for sender in sorted(found)]


def _distinct(inbox: Inbox) -> list[Message]:
    return list(dict.fromkeys(inbox))


def _deliver(network: Network, inbox: list[Message], message: Message) -> bool:
    """Put a message into an inbox; False if the channel is full and blocks."""
    if network.kind == "set" and message in inbox:
        return True
    if network.capacity is not None:
        channel = [other for other in inbox if other.sender == message.sender]
        if len(channel) >= network.capacity:
            if network.full == "block":
                return False
            inbox.remove(channel[0])
    inbox.append(message)
    return True


def _arranged(definition: Definition, pending: Sequence[list[Message] | Inbox]) -> tuple[Inbox, ...]:
    """Every inbox in its order; those that are tuples have not changed."""
    if definition.network.kind != "fifo":
        return tuple(inbox if isinstance(inbox, tuple) else tuple(sorted(inbox, key=encode)) for inbox in pending)

    def place(column: Column, message: Message) -> tuple[int, bytes]:
        """A stable sort keeps each channel's order; what an attacker may say has none."""
        return column_of(message.sender), encode(message) if definition.stands(column, message) else b""

    return tuple(
        inbox if isinstance(inbox, tuple) else tuple(sorted(inbox, key=partial(place, column)))
        for column, inbox in zip(definition.processes, pending, strict=True)
    )


def _discards(definition: Definition, state: State, column: Column) -> Iterator[Step]:
    """FIFO with head="drop": a head that no transition of the receiver takes may be thrown away."""
    local = state.locals[column.index]
    if is_crashed(local):
        return
    for channel in _channels(state.pending[column.index]):
        head = channel[0]
        if definition.stands(column, head):
            continue
        if not any(_wants(column, transition, local, head) for transition in definition.transitions(column)):
            inbox = list(state.pending[column.index])
            inbox.remove(head)
            yield Step("discard", column.index, consumed=(head,), next=_with_inbox(definition, state, column, inbox))


# The environment: losses, duplicates, crashes


def _environment(definition: Definition, state: State, column: Column) -> Iterator[Step]:
    network = definition.network
    if column.routes is not None:
        return  # what was delivered is safe
    losses, duplicates, crashes = state.budget
    inbox = list(state.pending[column.index])
    if network.losses == "any" or losses > 0:
        left = (losses if network.losses == "any" else losses - 1, duplicates, crashes)
        for position in _positions(definition, column, inbox):
            rest = inbox[:position] + inbox[position + 1 :]
            after = _with_inbox(definition, state, column, rest, left)
            yield Step("lose", column.index, consumed=(inbox[position],), next=after)
    if network.duplicates != "any" and duplicates > 0:
        left = (losses, duplicates - 1, crashes)
        for position in _positions(definition, column, inbox):
            message = inbox[position]
            channel = [other for other in inbox if other.sender == message.sender]
            if network.capacity is None or len(channel) < network.capacity:
                more = [*inbox[: position + 1], message, *inbox[position + 1 :]]
                after = _with_inbox(definition, state, column, more, left)
                yield Step("duplicate", column.index, consumed=(message,), next=after)


def _crashes(definition: Definition, state: State, column: Column) -> Iterator[Step]:
    """A crash between steps, or in the midst of one: the process has moved, but sent only a part of its messages."""
    local = state.locals[column.index]
    if is_crashed(local):
        if definition.faults.recover:
            back = (*state.locals[: column.index], recovered(column, local), *state.locals[column.index + 1 :])
            yield Step("recover", column.index, next=State(back, state.pending, state.budget))
        return
    losses, duplicates, crashes = state.budget
    if crashes == 0 or not column.may_crash:
        return
    less = State(state.locals, state.pending, (losses, duplicates, crashes - 1))
    notices = definition.notices(column)
    stop = _take(definition, less, column, None, (), Outcome(Crashed(local), tuple(notices)))
    if stop is not None:
        yield stop
    if not definition.faults.cut_short:
        return
    for transition in definition.transitions(column):
        for consumed in consumable(definition, state, column, transition):
            for outcome in fire(column, transition, local, consumed):
                if outcome.local is None or _take(definition, state, column, transition, consumed, outcome) is None:
                    continue  # condition (1) of definition 3: only what can be done as a whole can be cut short
                for part in _strict_parts(definition.network, outcome.sends):
                    cut = outcome._replace(local=Crashed(outcome.local), sends=(*part, *notices))
                    stop = _take(definition, less, column, transition, consumed, cut)
                    if stop is not None:
                        yield stop


def _strict_parts(network: Network, sends: Sends) -> list[Sends]:
    """All but the whole, each once. What goes into one FIFO channel is sent in order, so a crash cuts off its end."""
    places = [chosen for size in range(len(sends)) for chosen in combinations(range(len(sends)), size)]
    if network.kind == "fifo":
        places = [chosen for chosen in places if _cut_at_the_end(sends, chosen)]
    parts = [tuple(sends[place] for place in chosen) for chosen in places]
    return list({encode(part): part for part in parts if encode(part) != encode(sends)}.values())


def _cut_at_the_end(sends: Sends, chosen: tuple[int, ...]) -> bool:
    """Whether all that went into a channel before something that was sent was sent as well."""
    return all(
        earlier in chosen for later in chosen for earlier in range(later) if sends[earlier][0] == sends[later][0]
    )


def _positions(definition: Definition, column: Column, inbox: list[Message]) -> list[int]:
    """One position for each different result: equal messages side by side are one, standing messages cannot be lost.

    Without an order that is one per distinct message, since the inbox is sorted; with FIFO channels, where the inbox
    holds one channel after the other, it is one per run of equal messages.
    """
    first = [at for at, message in enumerate(inbox) if at == 0 or inbox[at - 1] != message]
    return [at for at in first if not definition.stands(column, inbox[at])]


def _with_inbox(
    definition: Definition,
    state: State,
    column: Column,
    inbox: list[Message],
    budget: tuple[int, int, int] | None = None,
) -> State:
    pending: list[list[Message] | Inbox] = list(state.pending)
    pending[column.index] = inbox
    return State(state.locals, _arranged(definition, pending), state.budget if budget is None else budget)
