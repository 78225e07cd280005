"""A definition as numbers: local states, messages and field values, in the order they are met.

What is passed to the core along with each number is a hash of its content, so that nothing reported depends on that
order.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from functools import partial
from hashlib import blake2b
from itertools import combinations
from typing import Any

from quorate import _core
from quorate.base.failures import Failure
from quorate.base.values import BadValueError, encode
from quorate.base.watchdog import supervised
from quorate.language.message import Event, Message
from quorate.language.pid import column_of
from quorate.language.rank import MOST
from quorate.language.shared import Written
from quorate.model.again import smuggled
from quorate.model.definition import Column, Definition, Transition
from quorate.model.outcome import Crashed, Local, Seen, is_crashed
from quorate.model.renaming import renamed
from quorate.model.renumbering import numbering, ranks_in, require_invariant, without_ranks
from quorate.model.run import recovered
from quorate.native.history import NativeHistory
from quorate.native.journal import ALIVE, CRASHED, FAILED, Journal, failure_bytes
from quorate.properties.parts import Fold, Parts

NONE = _core.NONE

VIEW = -3
"""With what it has read of shared cells, a local state is known by this, its number, and the number of the value."""


Alike = dict[tuple[int, int], list[tuple[int, int]]]
"""By column and number, all local states or messages that differ from it in their ranks alone, and itself."""


class Numbers:
    """What has been numbered so far."""

    engine: _core.Engine
    histories: dict[int, NativeHistory]
    """Monitors whose reactions the core works out itself."""

    def __init__(
        self, definition: Definition, values: dict[bytes, int] | None, journal: Journal | None, recalls: bool
    ) -> None:
        self.definition = definition
        self.journal = journal
        """Where every answer is noted, if the check is saved: then it can be seen whether the model has changed."""
        self.recalls = recalls
        """Whether what a transition does is known from what it read in other local states (docs/soundness.md, rule 39).
        Where every answer is compared with another, or noted, it is asked for."""
        self.failures: list[Failure] = []
        self.unhandled: dict[tuple[str, str], None] = {}
        self.values: dict[bytes, int] = {} if values is None else values
        """The numbers of field values; models that are to be compared share them."""
        self._locals: list[list[Local]] = [[] for _ in definition.columns]
        self._local_ids: list[dict[tuple[int, ...], int]] = [{} for _ in definition.columns]
        self._messages: list[list[Message | Event]] = [[] for _ in definition.columns]
        self._message_ids: list[dict[bytes, int]] = [{} for _ in definition.columns]
        self._types: list[dict[type, int]] = [{} for _ in definition.columns]
        self._shapes: dict[tuple[int, bytes], int] = {}
        self._mates: dict[int, list[tuple[int, int]]] = {}
        self.like_local: Alike = {}
        self.like_message: Alike = {}
        self._cause = (-1, -1, -1)
        self._causes = [(array("q"), array("q")) for _ in definition.columns]
        self._folds: list[list[tuple[Parts, Fold]]] = [[] for _ in definition.columns]
        """By column, what properties ask of a process by itself."""
        self._keys: list[list[tuple[int, ...]]] = [[] for _ in definition.columns]
        """By column and local state, the numbers of its values (see `numbered_values`)."""
        self._failed: list[set[int]] = [set() for _ in definition.columns]
        """By column, the local states of monitors that failed."""
        self._elements: list[list[tuple[bytes, ...]]] = [[] for _ in definition.columns]
        """By column and local state, what these read."""

    def _value_id(self, value: object) -> int:
        return self.values.setdefault(encode(value), len(self.values))

    def local_id(self, column: Column, local: Local) -> int:
        """The number of a local state."""
        if column.index in self.histories:
            return self.histories[column.index].local_id(local)
        try:
            encodings = supervised(lambda: [encode(value) for value in local])
        except BadValueError:
            raise smuggled(column, local) from None
        known = self.values
        key = tuple([known.setdefault(each, len(known)) for each in encodings])
        found = self._local_ids[column.index].get((-2, *key) if is_crashed(local) else key)
        return self._numbered(column, local, encodings, self._folded(column, local)) if found is None else found

    def _folded(self, column: Column, local: Local) -> dict[bytes, tuple[bytes, ...]]:
        """What folds read of a new local state, and of those that come with it, by their encodings."""
        if not self._folds[column.index]:
            return {}
        with_it = [local]
        if column.may_crash and not is_crashed(local):
            with_it.append(Crashed(local))
        if is_crashed(with_it[-1]) and self.definition.faults.recover:
            back = recovered(column, with_it[-1])
            with_it += [back, Crashed(back)]
        if self.definition.ranked:
            for parts, fold in self._folds[column.index]:
                ask = partial(parts.part, fold, column.index)
                for each in with_it:
                    require_invariant(parts.property.name, parts.property.location, each, partial(_only, ask))
        return {
            encode(each): tuple([parts.element(fold, column.index, each) for parts, fold in self._folds[column.index]])
            for each in with_it
        }

    def _numbered(
        self, column: Column, local: Local, encodings: list[bytes], folded: dict[bytes, tuple[bytes, ...]]
    ) -> int:
        """All or nothing: here nothing may stop what the tables say together."""
        known = self.values
        key = tuple([known.setdefault(each, len(known)) for each in encodings])
        crashed = is_crashed(local)
        back = recovered(column, local) if crashed and self.definition.faults.recover else None
        values = [int(crashed), *key[: column.spec.visible]]
        if crashed:
            key = (-2, *key)
        ids = self._local_ids[column.index]
        found = ids.get(key)
        if found is None:
            self._causes[column.index][0].extend(self._cause)
            elements = folded[encode(local)] if folded else ()
            values += [known.setdefault(each, len(known)) for each in elements]
            self._elements[column.index].append(elements)
            content = _content(b"crashed" if crashed else b"", *encodings)
            if self.journal is not None:
                kind = CRASHED if crashed else ALIVE
                self.journal.new_local(column.index, kind, encodings, elements, _after(column, crashed, back))
            found = ids[key] = self.engine.add_local(column.index, content, values, None, crashed)
            if column.is_monitor:
                self.engine.add_weight(column.index, sum(map(len, encodings)))
            self._keys[column.index].append(key)
            if self.recalls and not crashed and not column.is_monitor:
                self.engine.set_fields(column.index, found, key)
            self._locals[column.index].append(local)
            if self.definition.ranked:
                self._place(column, local, found, self.engine.put_local_ranks, self.local_id, self.like_local)
            if back is not None:
                number = self._numbered(column, back, [encode(value) for value in back], folded)
                self.engine.set_recovery(column.index, found, number)
            elif column.may_crash and not crashed:
                self.engine.set_crash(column.index, found, self._numbered(column, Crashed(local), encodings, folded))
        return found

    def _place(
        self,
        column: Column,
        value: Any,
        number: int,
        put: Callable[[int, int, int, int], None],
        number_of: Callable[[Column, Any], int],
        alike: Alike,
    ) -> None:
        """Tell the core which ranks a value holds, and number all that differ from it in places of the normal form."""
        held = ranks_in(value)
        if not held:
            return
        key = column.index, encode(without_ranks(value))
        is_new = key not in self._shapes
        shape = self._shapes.setdefault(key, len(self._shapes))
        put(column.index, number, shape, sum(1 << each for each in held))
        mates = alike[column.index, number] = self._mates.setdefault(shape, [])
        mates.append((column.index, number))
        for places in combinations(range(2, 2 * MOST + 1, 2), len(held)) if is_new else ():
            number_of(column, renamed(value, numbering(held, places)))

    def _failed_monitor(self, column: Column, failure: int) -> int:
        """A local state that stands for a monitor which failed."""
        ids = self._local_ids[column.index]
        key = (-1, failure)
        if key not in ids:
            values = [0] + [NONE] * column.spec.visible
            if self.journal is not None:
                self.journal.new_local(column.index, FAILED, [failure_bytes(self.failures[failure])], ())
            ids[key] = self.engine.add_local(column.index, failure, values, failure, False)
            self._failed[column.index].add(ids[key])
            self._keys[column.index].append(key)
            self._locals[column.index].append(())
            self._causes[column.index][0].extend(self._cause)
            self._elements[column.index].append(())
        return ids[key]

    def message_id(self, column: Column, message: Message | Event) -> int:
        """The number of a message at its receiver, or of an event at a monitor."""
        ids = self._message_ids[column.index]
        encoded = supervised(partial(encode, message))
        found = ids.get(encoded)
        if found is None:
            sender = column_of(message.sender) if isinstance(message, Message) else 0
            kind = self._type_id(column, type(message))
            stands = isinstance(message, Message) and self.definition.stands(column, message)
            shown = not stands and issubclass(type(message), self.definition.shown)
            numbered = _core.Message(sender=sender, type=kind, content=_content(encoded), stands=stands, shown=shown)
            if self.journal is not None:
                takers = [each.index for each in self.definition.transitions(column) if _takes(each, type(message))]
                self.journal.new_message(column.index, encoded, (int(stands), int(shown), *takers))
            found = ids[encoded] = self.engine.add_message(column.index, numbered)
            self._messages[column.index].append(message)
            self._causes[column.index][1].extend(self._cause)
            if self.definition.ranked and not column.is_monitor:
                self._place(column, message, found, self.engine.put_message_ranks, self.message_id, self.like_message)
            if column.index in self.histories:
                assert isinstance(message, Event)
                self.histories[column.index].note(message, found)
            if isinstance(message, Written):
                self.engine.set_written(column.index, found, self.local_id(column, (message.value,)))
        return found

    def _type_id(self, column: Column, cls: type[Message | Event]) -> int:
        types = self._types[column.index]
        if cls not in types:
            types[cls] = len(types)
            takers = [each for each in self.definition.transitions(column) if _takes(each, cls)]
            if not takers and column.index not in self.definition.attackers:
                self.unhandled.setdefault((cls.__name__, column.cls.__name__))
            for each in takers if not column.is_monitor else ():
                self.engine.allow(column.index, each.index, types[cls])
        return types[cls]

    def local(self, column: Column, number: int) -> Local:
        """The local state of that number."""
        history = self.histories.get(column.index)
        return self._locals[column.index][number] if history is None else history.local(number)

    def message(self, column: Column, number: int) -> Message | Event:
        """The message (or event) of that number at its receiver."""
        return self._messages[column.index][number]

    def numbered_values(self) -> tuple[dict[int, Any], list[list[tuple[int, ...]]]]:
        """The values of fields by number, and by column the numbers that make up each local state.

        A crashed one begins with -2; a monitor that failed is -1 and the number of its failure; a local state with what
        it has read is VIEW, its number, and the number of the value.
        """
        values: dict[int, Any] = {}
        listed = [list(keys) if column not in self.histories else [] for column, keys in enumerate(self._local_ids)]
        for column, keys in enumerate(listed):
            for local, key in zip(self._locals[column] if keys else (), keys, strict=True):
                if key[:1] != (VIEW,):
                    values.update(zip(key[len(key) - len(local) :], local, strict=True))
        return values, listed

    def has_failed(self, column: int, number: int) -> bool:
        """Whether it is a local state of a monitor that failed."""
        return column not in self.histories and number in self._failed[column]

    def local_key(self, column: int, number: int) -> tuple[int, ...]:
        """The numbers of the values of a local state, as in `numbered_values`; there are no shared cells."""
        return self._keys[column][number]

    def elements_of(self, column: int, number: int) -> list[tuple[Parts, Fold, bytes]]:
        """What properties ask of a process by itself, and what they are told in a local state."""
        elements = self._elements[column][number]
        return [(parts, fold, each) for (parts, fold), each in zip(self._folds[column], elements, strict=False)]

    @property
    def numbered_locals(self) -> list[list[Local]]:
        """By column, the local states in the order of their numbers."""
        return self._locals

    @property
    def numbered_messages(self) -> list[list[Message | Event]]:
        """By column, the messages or events in the order of their numbers."""
        return self._messages

    def local_keys(self, column: int) -> list[tuple[int, ...]]:
        """By number of the local state, the numbers of its values (see `numbered_values`)."""
        return list(self._local_ids[column])

    def cause_of_local(self, column: int, number: int) -> tuple[int, int, int] | None:
        """Where a local state was met first: the column, its local state before, and the transition."""
        return _cause(self._causes[column][0], number)

    def cause_of_message(self, column: int, number: int) -> tuple[int, int, int] | None:
        """The same of a message or an event: who has sent it."""
        return _cause(self._causes[column][1], number)

    def noting(self, cause: tuple[int, int, int] | None) -> None:
        """What is numbered from here on, for the first time, was met there; None: nowhere."""
        self._cause = cause or (-1, -1, -1)

    def value_number(self, value: object) -> int:
        """The number of a value, or NONE."""
        return self.values.get(encode(value), NONE)

    def local_number(self, column: int, key: tuple[int, ...]) -> int:
        """The number of the local state made up of these values, or NONE."""
        return self._local_ids[column].get(key, NONE)

    def message_number(self, column: int, message: Message | Event) -> int:
        return self._message_ids[column].get(encode(message), NONE)

    def is_view(self, column: int, number: int) -> bool:
        """Whether that is no local state of a process, but one with what it has read of shared cells."""
        return type(self._locals[column][number]) is Seen if column not in self.histories else False

    def counted_messages(self) -> int:
        return sum(len(self._messages[column.index]) for column in self.definition.processes)

    def failure_id(self, failure: Failure) -> int:
        if failure not in self.failures:
            self.failures.append(failure)
            if self.journal is not None:
                self.journal.new_failure(failure)
        return self.failures.index(failure)


def _only(ask: Callable[[Any], Any], given: Any) -> list[Any]:
    return [ask(given)]


def _after(column: Column, crashed: bool, back: Local | None) -> list[bytes]:
    """What becomes of a process where no transition is taken: whether it may crash, and as what it comes back."""
    if back is not None:
        return [encode(value) for value in back]
    return [b"may crash"] if column.may_crash and not crashed else []


def _takes(transition: Transition, cls: type) -> bool:
    return transition.message is not None and issubclass(cls, transition.message)


def _cause(causes: array[int], number: int) -> tuple[int, int, int] | None:
    column, local, transition = causes[3 * number : 3 * number + 3]
    return None if column < 0 else (column, local, transition)


def _content(*encodings: bytes) -> int:
    return int.from_bytes(blake2b(b"\0".join(encodings), digest_size=8).digest(), "little")
