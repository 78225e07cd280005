"""Global states, the steps between them, and where a run begins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from quorate.base.values import encode
from quorate.model.outcome import is_crashed, seen
from quorate.semantics.channels import Inbox, Inboxes, channels

if TYPE_CHECKING:
    from quorate.base.failures import Failure
    from quorate.language.message import Message
    from quorate.model.definition import Column, Definition, Transition
    from quorate.model.outcome import Local, Outcome


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


def looked_at(definition: Definition, state: State, column: Column) -> Local:
    """The local state of a process, with what it would read of shared cells now."""
    local = state.locals[column.index]
    if not definition.shared or is_crashed(local):
        return local
    return seen(local, {each.index: state.locals[each.index][0] for each in definition.shared})


Kind = Literal["step", "lose", "duplicate", "crash", "recover", "discard"]


class Step(NamedTuple):
    """One step from a state. `next` is None if the handler or a monitor failed, or `within` cut it."""

    kind: Kind
    column: int
    transition: Transition | None = None
    consumed: tuple[Message, ...] = ()
    outcome: Outcome | None = None
    next: State | None = None
    failure: Failure | None = None
    outside: bool = False
    """The bound of the whole system cut it."""
    redelivered: bool = False
    """Of a crash in the midst of a step: whether what the step consumed is still pending."""
    place: int = 0
    """Of a message that is lost or copied: how many runs of messages equal to it stand before it in its inbox."""

    @property
    def cut(self) -> bool:
        return self.outside or (self.outcome is not None and self.outcome.cut)


def initial_states(definition: Definition) -> tuple[State, ...]:
    """The states a run may begin in, in content order."""
    network = definition.network
    losses = network.losses if network.losses != "any" else 0
    duplicates = network.duplicates if network.duplicates != "any" else 0
    arranged = channels(definition).arranged
    standing = [arranged(column, definition.standing.get(column.index, ())) for column in definition.processes]
    found: list[State] = []
    for number, state in enumerate(definition.initials):
        inboxes = Inboxes(definition, standing)
        if definition.posted:
            room = inboxes.exchange(definition.columns[0], None, (), definition.posted[number])
            assert room, "`define` has refused more than a channel holds"
        found.append(State(state, inboxes.arranged(), (losses, duplicates, definition.faults.left)))
    return tuple(dict.fromkeys(found))


def in_flight(definition: Definition, state: State) -> list[tuple[Column, Message]]:
    """What was sent and is still pending, by receiver; not what attackers could say at any time."""
    return [
        (column, message)
        for column, inbox in zip(definition.processes, state.pending, strict=True)
        for message in inbox
        if not definition.stands(column, message)
    ]
