"""The network as one policy: all that the semantics asks of it, and the one place for a new kind of network.

A policy sees the inbox of one process and answers with places in it. `Inboxes` is the only code that changes inboxes.
It notes every change, so that a message can be followed from its sending to its end (provenance.py) without saying a
second time what a network does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from quorate.base.values import encode
from quorate.language.message import Message
from quorate.language.pid import column_of

if TYPE_CHECKING:
    from quorate.model.definition import Column, Definition, Transition

Inbox = tuple[Message, ...]
Sends = tuple[tuple[int, Message], ...]
Test = Callable[[Message], bool]

BLOCKED = -1
APPENDED = -2


class Channels:
    """Messages without an order, each send one of its own: the rules that other networks change."""

    def __init__(self, definition: Definition) -> None:
        self.definition = definition
        self.network = definition.network

    # What a transition may look at, and what consuming does

    def offered(self, column: Column, inbox: Inbox, takes: Test, wants: Test) -> list[Message]:
        """What a transition may look at: `takes` asks for the type alone, `wants` for its filter as well."""
        return [message for message in dict.fromkeys(inbox) if takes(message)]

    def stays(self, transition: Transition) -> bool:
        """Whether what the transition consumes can be consumed again."""
        return transition.keep or self.network.copies_for_ever

    def discardable(self, column: Column, inbox: Inbox) -> list[int]:
        """What may be thrown away if no transition wants it."""
        return []

    # What a delivery does

    def merges(self, inbox: Sequence[Message], message: Message) -> bool:
        """Whether a message that is sent is one with an equal one that is pending."""
        return False

    def delivery(self, inbox: list[Message], message: Message) -> int:
        """APPENDED if there is room, BLOCKED if not; else the place of the message that has to make room."""
        capacity = self.network.capacity
        if capacity is None:
            return APPENDED
        channel = [place for place, other in enumerate(inbox) if other.sender == message.sender]
        if len(channel) < capacity:
            return APPENDED
        return channel[0] if self.network.replaces else BLOCKED

    def rank(self, column: Column, message: Message, content: Callable[[Message], Any] = encode) -> Any:
        """By what an inbox is sorted, in a stable way: here by content."""
        return content(message)

    def arranged(self, column: Column, inbox: Iterable[Message]) -> Inbox:
        """An inbox in its order."""
        return tuple(sorted(inbox, key=encode))

    def may_be_cut(self, sends: Sends, chosen: tuple[int, ...]) -> bool:
        """Whether a process that crashes in the midst of a step may have sent just these of its messages."""
        return True

    # What may be lost or copied, and where

    def may_lose(self, column: Column, inbox: Sequence[Message], place: int) -> bool:
        """Whether the message at a place may be lost, if any may."""
        return True

    def lossy(self, budget: tuple[int, int, int]) -> bool:
        return self.network.losses == "any" or budget[0] > 0

    def after_loss(self, budget: tuple[int, int, int]) -> tuple[int, int, int]:
        losses, duplicates, crashes = budget
        return (losses if self.network.losses == "any" else losses - 1, duplicates, crashes)

    def copying(self, budget: tuple[int, int, int]) -> bool:
        """Whether copies are steps: where there is no end of them, consuming a message leaves it there instead."""
        return not self.network.copies_for_ever and budget[1] > 0

    def after_copy(self, budget: tuple[int, int, int]) -> tuple[int, int, int]:
        losses, duplicates, crashes = budget
        return (losses, duplicates - 1, crashes)

    def has_room(self, inbox: Sequence[Message], message: Message) -> bool:
        """Whether a copy of a pending message finds room."""
        capacity = self.network.capacity
        return capacity is None or sum(other.sender == message.sender for other in inbox) < capacity

    def places(self, column: Column, inbox: Sequence[Message]) -> list[tuple[int, int]]:
        """One place for each different result of losing or copying, and how many there are before it for an equal one.

        Equal messages side by side are one, and standing messages cannot be lost. Without an order that is one place
        per distinct message, since the inbox is sorted; with FIFO channels, where the inbox holds one channel after the
        other, it is one per run of equal messages.
        """
        found: list[tuple[int, int]] = []
        seen: dict[Message, int] = {}
        for place, message in enumerate(inbox):
            if (place > 0 and inbox[place - 1] == message) or self.definition.stands(column, message):
                continue
            found.append((place, seen.setdefault(message, 0)))
            seen[message] += 1
        return found


class Merged(Channels):
    """A set: sending what is pending already changes nothing."""

    def merges(self, inbox: Sequence[Message], message: Message) -> bool:
        return message in inbox


class Queues(Channels):
    """One queue from each sender to each receiver. An inbox is one queue after the other, the oldest first."""

    def offered(self, column: Column, inbox: Inbox, takes: Test, wants: Test) -> list[Message]:
        found: list[Message] = []
        for queue in self._queues(inbox):
            wanted = [place for place in queue if wants(inbox[place])]
            if self.definition.stands(column, inbox[queue[0]]):
                chosen = wanted  # the attacker sends what is wanted, and nothing before it
            elif self.network.head == "skip":
                chosen = wanted[:1]
            else:
                chosen = [place for place in wanted[:1] if place == queue[0]]
            found += [inbox[place] for place in chosen]
        return found

    def discardable(self, column: Column, inbox: Inbox) -> list[int]:
        if self.network.head != "drop":
            return []
        heads = [queue[0] for queue in self._queues(inbox)]
        return [place for place in heads if not self.definition.stands(column, inbox[place])]

    def may_lose(self, column: Column, inbox: Sequence[Message], place: int) -> bool:
        if self.network.lost == "anywhere":
            return True
        return place == 0 or inbox[place - 1].sender != inbox[place].sender

    def rank(self, column: Column, message: Message, content: Callable[[Message], Any] = encode) -> Any:
        """By sender; a stable sort keeps the order within a queue. What an attacker may say has none."""
        sender = column_of(message.sender)
        return (sender, content(message)) if self.definition.stands(column, message) else (sender,)

    def arranged(self, column: Column, inbox: Iterable[Message]) -> Inbox:
        return tuple(sorted(inbox, key=lambda message: self.rank(column, message)))

    def may_be_cut(self, sends: Sends, chosen: tuple[int, ...]) -> bool:
        """What goes into one queue is sent in order, so a crash cuts off its end."""
        return all(
            earlier in chosen for later in chosen for earlier in range(later) if sends[earlier][0] == sends[later][0]
        )

    def _queues(self, inbox: Inbox) -> list[list[int]]:
        """The places of each queue, by sender."""
        found: dict[int, list[int]] = {}
        for place, message in enumerate(inbox):
            found.setdefault(column_of(message.sender), []).append(place)
        return [found[sender] for sender in sorted(found)]


_POLICIES: dict[str, type[Channels]] = {"set": Merged, "multiset": Channels, "fifo": Queues}


def channels(definition: Definition) -> Channels:
    """The policy of a system's network."""
    known: Channels | None = definition.channels
    if known is None:
        known = definition.channels = _POLICIES[definition.network.kind](definition)
    return known


Kind = Literal["consumed", "kept", "put", "merged", "replaced", "stands", "lost", "copied"]
Change = tuple[Kind, int, int, int]
"""One thing that happened to an inbox: what, in which column, at which place, and to which of the consumed or the sent
messages of the step."""


class Inboxes:
    """The inboxes of a state while a step changes them."""

    def __init__(self, definition: Definition, pending: Sequence[Inbox]) -> None:
        self.definition = definition
        self.channels = channels(definition)
        self.changes: list[Change] = []
        self._pending: list[list[Message] | Inbox] = list(pending)

    def _open(self, column: int) -> list[Message]:
        inbox = self._pending[column]
        if isinstance(inbox, tuple):
            inbox = self._pending[column] = list(inbox)
        return inbox

    def exchange(
        self,
        column: Column,
        transition: Transition | None,
        consumed: tuple[Message, ...],
        sends: Sends,
        redelivered: bool = False,
    ) -> bool:
        """What a transition does: consume, then send. False if a full channel blocks it."""
        if transition is not None:
            self._consume(column, redelivered or self.channels.stays(transition), consumed)
        standing: dict[int, list[tuple[int, Message]]] = {}
        for number, (receiver, message) in enumerate(sends):
            if self.definition.stands(self.definition.columns[receiver], message):
                standing.setdefault(receiver, []).append((number, message))
            elif not self._deliver(receiver, message, number):
                return False
        for receiver, messages in standing.items():  # once each, in no order and without taking up room
            there = set(map(encode, self._pending[receiver]))
            for number, message in messages:
                code = encode(message)
                if code not in there:
                    there.add(code)
                    self.changes.append(("stands", receiver, len(self._open(receiver)), number))
                    self._open(receiver).append(message)
        return True

    def _consume(self, column: Column, stays: bool, consumed: tuple[Message, ...]) -> None:
        for number, message in enumerate(consumed):
            if self.definition.stands(column, message):
                continue
            inbox = self._open(column.index)
            place = inbox.index(message)  # the first equal one: in a queue, the oldest
            self.changes.append(("kept" if stays else "consumed", column.index, place, number))
            if not stays:
                del inbox[place]

    def _deliver(self, receiver: int, message: Message, number: int) -> bool:
        inbox = self._open(receiver)
        if self.channels.merges(inbox, message):
            self.changes.append(("merged", receiver, inbox.index(message), number))
            return True
        place = self.channels.delivery(inbox, message)
        if place == BLOCKED:
            return False
        if place != APPENDED:
            self.changes.append(("replaced", receiver, place, number))
            del inbox[place]
        self.changes.append(("put", receiver, len(inbox), number))
        inbox.append(message)
        return True

    def remove(self, column: Column, place: int) -> None:
        """Lose or throw away a message."""
        self.changes.append(("lost", column.index, place, 0))
        del self._open(column.index)[place]

    def copy(self, column: Column, place: int) -> None:
        """Put a copy of a message behind it, and behind those that are equal to it and next to it."""
        inbox = self._open(column.index)
        end = place + 1
        while end < len(inbox) and inbox[end] == inbox[place]:
            end += 1
        self.changes.append(("copied", column.index, end, 0))
        inbox.insert(end, inbox[place])

    def arranged(self) -> tuple[Inbox, ...]:
        """Every inbox in its order. Those that no step has opened are in order already."""
        arranged, columns = self.channels.arranged, self.definition.columns
        return tuple(
            [
                inbox if isinstance(inbox, tuple) else arranged(columns[index], inbox)
                for index, inbox in enumerate(self._pending)
            ]
        )
