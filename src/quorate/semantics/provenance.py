"""Where each consumed message came from, and what became of each that was sent.

The semantics knows messages as contents of inboxes, and equal ones as equal. A picture or a vector clock needs more:
which send a consumed message came from. So a run is walked through once more with a letter for every message. The
inboxes note what happens to them at every step (channels.py), so nothing here knows what a network does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

from quorate.semantics.channels import Inboxes, channels
from quorate.semantics.recurrence import next_round

if TYPE_CHECKING:
    from quorate.language.message import Message
    from quorate.model.definition import Definition
    from quorate.semantics.recurrence import next_round
from quorate.semantics.state import State, Step

Fate = Literal["consumed", "delivered", "lost", "discarded", "replaced", "merged", "later", "never"]
"""`merged`: with an equal message that was pending already. `replaced`: by a later one in a full channel. `later`:
received when the loop of the run comes round again. `never`: it is pending to the end, though it may have been read."""

_FATES: dict[str, Fate] = {"lose": "lost", "discard": "discarded"}


@dataclass(eq=False)  # two equal messages are two
class Letter:
    """One message from its sending to its end."""

    message: Message
    column: int
    """Whose inbox it is in."""
    sent: int
    """The number of the step that sent it or made the copy, counted from 1; 0 if it was pending before the run."""
    fate: Fate = "never"
    ended: int | None = None
    """The step that decided its fate."""
    copy_of: Letter | None = None
    """The letter that the network copied."""
    at_will: bool = False
    """An attacker can send it at any time: it stands for all of these sendings, and has no fate."""
    read: list[int] = field(default_factory=list)
    """The steps that consumed it and left it where it was."""


class Passage(NamedTuple):
    """One step with the letters that it handles."""

    number: int
    step: Step
    consumed: tuple[Letter, ...]
    """One for each message of `step.consumed`, in that order; of a message that is copied, the original."""
    sent: tuple[Letter, ...]
    """One for each message that was sent, in that order, as `step.outcome.sends` has them. A step that fails sends
    nothing."""
    copied: Letter | None = None
    """The copy that the network made."""


def passages(
    definition: Definition, initial: State, steps: Sequence[Step], loop_from: int | None = None
) -> list[Passage]:
    """The steps of a run with their letters, each of which knows its fate in that run.

    After its last step, a run with a loop goes on from its state of that number for ever.
    """
    reader = _Reader(definition, initial)
    found = [reader.read(number, step) for number, step in enumerate(steps, start=1)]
    if loop_from is not None and loop_from < len(steps):
        _go_round(reader, _before(initial, steps, loop_from), steps[loop_from:], len(steps))
    return found


def never_received(
    definition: Definition, initial: State, steps: Sequence[Step], loop_from: int | None = None
) -> list[Letter]:
    """What is pending when the run ends; of a run that goes on for ever, what is pending for ever. By receiver."""
    reader = _Reader(definition, initial)
    for number, step in enumerate(steps, start=1):
        if step.next is not None:  # else it failed, and the state is the one before it
            reader.read(number, step)
    pending = [letter for inbox in reader.letters for letter in inbox if not letter.at_will]
    if loop_from is not None and loop_from < len(steps):
        _go_round(reader, _before(initial, steps, loop_from), steps[loop_from:], len(steps))
    return [letter for letter in pending if letter.fate == "never"]


def _before(initial: State, steps: Sequence[Step], number: int) -> State:
    state = steps[number - 1].next if number else initial
    assert state is not None
    return state


def _go_round(reader: _Reader, before: State, loop: Sequence[Step], last: int) -> None:
    """See which letters that are pending at the end are received later.

    A round moves letters from place to place, always in the same way. So a letter that is ever taken out of its inbox
    is so within as many rounds as there are letters.
    """
    pending = [letter for inbox in reader.letters for letter in inbox if not letter.at_will]
    number = last
    for _ in range(len(pending)):
        loop, before = next_round(reader.definition, before, loop), reader.state
        for step in loop:
            number += 1
            reader.read(number, step)
    for letter in pending:
        received = letter.fate in ("consumed", "delivered") or any(each > last for each in letter.read)
        letter.read = [each for each in letter.read if each <= last]
        letter.fate, letter.ended = "later" if received else "never", None


class _Reader:
    def __init__(self, definition: Definition, initial: State) -> None:
        self.definition = definition
        self.state = initial
        self.letters = [
            [
                Letter(message, column.index, 0, at_will=definition.stands(column, message))
                for message in initial.pending[column.index]
            ]
            for column in definition.processes
        ]
        """By column: a letter for every message that is pending, in the order of the inbox."""

    def read(self, number: int, step: Step) -> Passage:
        """Take a step from the state that was reached."""
        column = self.definition.columns[step.column]
        inboxes = Inboxes(self.definition, self.state.pending)
        copied: Letter | None = None
        consumed: dict[int, Letter] = {}
        sends = step.outcome.sends if step.outcome is not None and step.next is not None else ()
        sent = {
            at: Letter(message, receiver, number, at_will=self._stands(receiver, message))
            for at, (receiver, message) in enumerate(sends)
        }
        if step.kind in ("lose", "discard", "duplicate"):
            place = self._place(step)
            (inboxes.copy if step.kind == "duplicate" else inboxes.remove)(column, place)
            consumed[0] = self.letters[step.column][place]
        else:
            inboxes.exchange(column, step.transition, step.consumed, sends, step.redelivered)
        for kind, index, place, at in inboxes.changes:
            inbox = self.letters[index]
            if kind == "consumed":
                fate: Fate = "consumed" if column.delivers_to is None else "delivered"
                consumed[at] = self._end(inbox.pop(place), fate, number)
            elif kind == "kept":
                consumed[at] = inbox[place]
                inbox[place].read.append(number)
            elif kind in ("put", "stands"):
                inbox.append(sent[at])
            elif kind == "merged":
                self._end(sent[at], "merged", number)
            elif kind == "replaced":
                self._end(inbox.pop(place), "replaced", number)
            elif kind == "lost":
                self._end(inbox.pop(place), _FATES[step.kind], number)
            else:
                copied = Letter(step.consumed[0], index, number, copy_of=consumed[0])
                inbox.insert(place, copied)
        self._arrange({index for _, index, _, _ in inboxes.changes})
        for at, message in enumerate(step.consumed):
            if at not in consumed:  # standing
                consumed[at] = self._pending(step.column, message)
        if step.next is not None:
            self.state = step.next
        return Passage(
            number, step, tuple(consumed[at] for at in range(len(step.consumed))), tuple(sent.values()), copied
        )

    def _stands(self, column: int, message: Message) -> bool:
        return self.definition.stands(self.definition.columns[column], message)

    def _end(self, letter: Letter, fate: Fate, number: int) -> Letter:
        letter.fate, letter.ended = fate, number
        return letter

    def _place(self, step: Step) -> int:
        """Where in the inbox the message is that the network loses, copies or throws away."""
        inbox = self.state.pending[step.column]
        (message,) = step.consumed
        if step.kind == "discard":
            return inbox.index(message)
        places = channels(self.definition).places(self.definition.columns[step.column], inbox)
        return next(place for place, before in places if inbox[place] == message and before == step.place)

    def _pending(self, column: int, message: Message) -> Letter:
        return next(letter for letter in self.letters[column] if letter.message == message)

    def _arrange(self, columns: set[int]) -> None:
        rank = channels(self.definition).rank
        for index in columns:
            column = self.definition.columns[index]
            self.letters[index].sort(key=lambda letter: rank(column, letter.message))
