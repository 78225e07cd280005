"""A definition as numbers: the oracle that the native core asks whatever only Python knows.

The core asks each question once. Local states, messages and field values are numbered here, in the order they are met;
what is passed along with each is a hash of its content, so that nothing reported depends on that order.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from hashlib import blake2b
from itertools import combinations, islice
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from quorate import _core
from quorate.base.errors import LimitError, MessagesRead
from quorate.base.failures import Failure
from quorate.base.places import class_location
from quorate.base.stopwatch import Stopwatch
from quorate.base.values import BadValueError, encode, show
from quorate.base.watchdog import Halted, supervised
from quorate.language.message import Event, Message
from quorate.language.pid import column_of
from quorate.language.rank import MOST
from quorate.language.shared import Written
from quorate.model.again import differs, smuggled
from quorate.model.bound import is_inside
from quorate.model.definition import Column, Definition, Property, Transition
from quorate.model.outcome import Crashed, Local, Outcome, Seen, Unread, cells_of, is_crashed, seen
from quorate.model.renaming import renamed
from quorate.model.renumbering import normal_form, numbering, ranks_in, require_invariant, without_ranks
from quorate.model.run import accepts, fire, observe, prepare, recovered
from quorate.model.touched import Record
from quorate.model.views import PENDING
from quorate.native.history import NativeHistory
from quorate.native.journal import (
    ALIVE,
    CRASHED,
    FAILED,
    Journal,
    digest_of,
    failure_bytes,
    outcomes_digest,
    request_digest,
)
from quorate.native.told import Told
from quorate.properties import Evaluation, evaluate
from quorate.properties.kinds import kind_of
from quorate.properties.parts import Fold, Parts, parts_of
from quorate.semantics.channels import channels
from quorate.semantics.state import State

if TYPE_CHECKING:
    from quorate.reduce.decomposition import Whole
    from quorate.reduce.families import Symmetries

NONE = _core.NONE

SECONDS_BETWEEN_LOOKS = 0.1

VIEW = -3

Query = tuple[_core.QueryKind, int, int, int, int, list[int]]
PENDING_FIELD = NONE - 1
"""What stands for a field where a property has read what is pending (core: model/column.hpp)."""
Read = tuple[int, int, int, int, int]
"""What a property has read: column, field and value; and of a fold its number, and what is known of it then."""


class Reaction(NamedTuple):
    """How a monitor reacts: the number of its next local state, and how it failed if it did."""

    local: int
    failure: Failure | None


class Model:
    """The oracle of one check: a definition, the properties asked for, and what has been numbered so far."""

    def __init__(
        self,
        definition: Definition,
        properties: Sequence[Property],
        stop: Callable[..., bool] = lambda *_: False,
        values: dict[bytes, int] | None = None,
        whole: Whole | None = None,
        journal: Journal | None = None,
    ) -> None:
        network = definition.network
        self.definition = definition
        self.properties = tuple(properties)
        self._judges = self.properties if definition.bound is None else (*self.properties, definition.bound)
        self.whole = whole
        """If processes are taken apart into their roles: the system as it was written, which every answer is held
        against, and which properties are about."""
        self.journal = journal
        """Where every answer is noted, if the check is saved: then it can be seen whether the model has changed."""
        self.recalls = whole is None and journal is None and not definition.ranked and not definition.cells
        """Whether what a transition does is known from what it read in other local states (docs/soundness.md, rule 39).
        Where every answer is compared with another, or noted, it is asked for."""
        self._objects: dict[int, Any] = {}
        """By number, the values that transitions assign."""
        self._encodings: list[bytes] = []
        """By number, the encodings of values, as far as they were needed."""
        self.calls = 0
        self.spent = Stopwatch()
        """What was done before the search that has the answer, by what took the time."""
        self.without_messages = ""
        """Where properties cannot be given messages that are in flight: what that is."""
        self.restart_on_new_reads = False
        """With the quotient an unobserved field may hold another local state's value (docs/soundness.md, rule 8)."""
        self.symmetries: Symmetries | None = None
        self.told_apart: tuple[int, str] | None = None
        """A family of names that a search in other processes found not to be interchangeable, and why."""
        self.failures: list[Failure] = []
        self.unhandled: dict[tuple[str, str], None] = {}
        self.stop = stop
        self.halted: Halted | None = None
        """If the model's code was stopped while it answered: where."""
        self._figures = (0, 0, 0, 0)
        self._next_look = 0.0
        self.values: dict[bytes, int] = {} if values is None else values
        """The numbers of field values; models that are to be compared share them."""
        self._groups: dict[bytes, int] = {}
        self._locals: list[list[Local]] = [[] for _ in definition.columns]
        self._local_ids: list[dict[tuple[int, ...], int]] = [{} for _ in definition.columns]
        self._reads: list[dict[int, int]] = [{} for _ in definition.columns]
        """By column and local state: the shared cell on which depends what it does next."""
        self._messages: list[list[Message | Event]] = [[] for _ in definition.columns]
        self._message_ids: list[dict[bytes, int]] = [{} for _ in definition.columns]
        self._types: list[dict[type, int]] = [{} for _ in definition.columns]
        columns = definition.columns
        self.asked = [replace(column, ranks="places") for column in columns] if definition.ranked else columns
        """The columns that handlers are run with; with ranks, these are places in the order of a whole state."""
        self.anywhere = [replace(column, ranks="any places") for column in columns] if definition.ranked else columns
        """The same, where `later` is any later place: for numbers in the same order that must be the same."""
        self._shapes: dict[tuple[int, bytes], int] = {}
        self._cause = (-1, -1, -1)
        self._causes = [(array("q"), array("q")) for _ in definition.columns]
        # Processes that are taken apart do not have the fields that a property reads in one place.
        apart = whole is not None or definition.shown
        self.parts = [None if apart else parts_of(definition, each) for each in self._judges]
        """The properties as far as they are about processes one by one."""
        self._folds: list[list[tuple[Parts, Fold]]] = [[] for _ in definition.columns]
        for parts in filter(None, self.parts):
            for fold in parts.folds:
                for index in fold.columns:
                    fold.places[index] = len(self._folds[index])
                    self._folds[index].append((parts, fold))
        self._elements: list[list[tuple[bytes, ...]]] = [[] for _ in definition.columns]
        self._fold_states: dict[tuple[int, Any], int] = {}
        self._fold_texts: list[bytes] = []
        """What these numbers stand for, where a journal compares it."""
        numbered = _core.Network(
            order=_core.Order[network.kind],
            when_full=_core.WhenFull[network.full],
            head=_core.Head[network.head],
            capacity=None if network.capacity is None else _counted("capacity", network.capacity),
            losses_unlimited=network.losses == "any",
            duplicates_unlimited=network.duplicates == "any",
            losses=0 if network.losses == "any" else _counted("losses", network.losses),
            duplicates=0 if network.duplicates == "any" else _counted("duplicates", network.duplicates),
            crashes_unlimited=definition.faults.crashes == "any",
            crashes=_counted("crashes", definition.faults.left),
            cut_short=definition.faults.cut_short,
            redeliver=definition.faults.redeliver,
            loses_heads=network.lost == "head",
            down=None if definition.faults.down is None else _counted("down", definition.faults.down),
        )
        engine = _core.Engine(numbered)
        told = None if journal is None else Told(engine, numbered)
        # All that the core is told from here on, whatever it is, is noted.
        self.engine = engine if told is None else cast("_core.Engine", told)
        if journal is not None:
            journal.model = self
        if definition.shown:
            self.engine.show_messages()
        self._inexact_ranks = False
        if definition.ranked:
            self.engine.use_ranks(MOST)
        for column in definition.columns:
            transitions = [] if column.is_monitor else definition.transitions(column)
            modes = [_core.Transition(mode=_mode(each), keep=each.keep) for each in transitions]
            self.engine.add_column(column.is_monitor, modes)
            if column.routes is not None:
                self.engine.set_input(column.index, column.clean)
        for column in definition.shared:
            self.engine.set_shared(column.index)
        self.histories = {
            column.index: NativeHistory(self.engine, column, self._value_id)
            for column in definition.columns
            # Else every reaction is compared with the whole's, or noted.
            if whole is None and journal is None and NativeHistory.fits(column)
        }
        """Monitors whose reactions the core works out itself."""
        for index, messages in definition.standing.items():
            for message in messages:
                self.engine.open_with(index, self.message_id(definition.columns[index], message))
        for column in definition.processes if definition.faults.crashes else ():
            for receiver, notice in definition.notices(column):
                number = self.message_id(definition.columns[receiver], notice)
                self.engine.add_notice(column.index, receiver, number)
        for each in self.properties:
            self.engine.add_property(_core.PropertyKind[kind_of(each).core])
        if definition.bound is not None:
            self.engine.add_property(_core.PropertyKind.bound)
        self.observed = [
            [False] * (1 + column.spec.visible + len(self._folds[column.index])) for column in definition.columns
        ]
        """By column and field: whether a property has read it. First whether the process has crashed, then its fields,
        then what folds read of it (`properties/parts.py`)."""
        self.engine.observe(self.observed)
        self.engine.set_initials(
            [
                [self.local_id(column, state[column.index]) for column in definition.columns]
                for state in definition.initials
            ],
            [
                [(receiver, self.message_id(definition.columns[receiver], message)) for receiver, message in sends]
                for sends in definition.posted
            ],
        )
        self.engine = engine
        if journal is not None and told is not None:
            journal.declared(told.lines)

    # Numbers

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
            if self.recalls and not crashed and not column.is_monitor:
                self.engine.set_fields(column.index, found, key)
            self._locals[column.index].append(local)
            if self.definition.ranked:
                self._place(column, local, found, self.engine.put_local_ranks, self.local_id)
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
    ) -> None:
        """Tell the core which ranks a value holds, and number all that differ from it in places of the normal form."""
        held = ranks_in(value)
        if not held:
            return
        key = column.index, encode(without_ranks(value))
        is_new = key not in self._shapes
        shape = self._shapes.setdefault(key, len(self._shapes))
        put(column.index, number, shape, sum(1 << each for each in held))
        for places in combinations(range(2, 2 * MOST + 1, 2), len(held)) if is_new else ():
            number_of(column, renamed(value, numbering(held, places)))

    def _note_higher(self, held: Any, made: Any) -> None:
        """Note where a new rank, which is odd, is compared with a higher one: it is that one, or lower."""
        new = [each for each in ranks_in(made) if each % 2]
        self._inexact_ranks = self._inexact_ranks or bool(new and max(ranks_in(held), default=0) > min(new))

    @property
    def inexact_ranks(self) -> bool:
        """Whether `later` was taken for more than the next number: of a rank that is not the highest."""
        return self._inexact_ranks or self.engine.inexact_ranks()

    def _failed_monitor(self, column: Column, failure: int) -> int:
        """A local state that stands for a monitor which failed."""
        ids = self._local_ids[column.index]
        key = (-1, failure)
        if key not in ids:
            values = [0] + [NONE] * column.spec.visible
            if self.journal is not None:
                self.journal.new_local(column.index, FAILED, [failure_bytes(self.failures[failure])], ())
            ids[key] = self.engine.add_local(column.index, failure, values, failure, False)
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
                self._place(column, message, found, self.engine.put_message_ranks, self.message_id)
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

    def value_number(self, value: object) -> int:
        """The number of a value, or NONE."""
        return self.values.get(encode(value), NONE)

    def local_number(self, column: int, key: tuple[int, ...]) -> int:
        """The number of the local state made up of these values, or NONE."""
        return self._local_ids[column].get(key, NONE)

    def message_number(self, column: int, message: Message | Event) -> int:
        return self._message_ids[column].get(encode(message), NONE)

    def failure_id(self, failure: Failure) -> int:
        if failure not in self.failures:
            self.failures.append(failure)
            if self.journal is not None:
                self.journal.new_failure(failure)
        return self.failures.index(failure)

    def reduced(self, state: State) -> tuple[object, object]:
        """The state as the reductions leave it, in the form the core reports states in."""
        columns: list[tuple[int, list[int]]] = []
        if self.definition.ranked:
            normal = normal_form((state.locals, state.pending))
            if normal is None:
                return [], []
            locals, pending = normal
            state = State(locals, pending, state.budget)
        for column in self.definition.columns:
            inbox: list[int] = []
            if not column.is_monitor:
                inbox = self.arranged(column, state.pending[column.index])
            local = self.local_id(column, state.locals[column.index])
            if self.symmetries is not None and column.index in self.symmetries.growing.columns:
                self.symmetries.growing.admit(column, local)
            columns.append((local, inbox))
        reduced, left = self.engine.reduced((columns, list(state.budget)))
        return [(local, list(inbox)) for local, inbox in reduced], list(left)

    def arranged(self, column: Column, messages: Sequence[Message]) -> list[int]:
        """In the core's order: as the network arranges it, but by the core's numbers where that is by content."""
        rank = channels(self.definition).rank
        numbered = [(message, self.message_id(column, message)) for message in messages]
        numbered.sort(key=lambda pair: rank(column, pair[0], lambda _: pair[1]))
        return [number for _, number in numbered]

    # What the core asks

    def fill(self, queries: list[Query]) -> bool:
        """Answer every query; False if it is time to stop."""
        try:
            return self._fill(queries)
        except Halted as halted:
            self.halted = halted
            return False

    def _fill(self, queries: list[Query]) -> bool:
        for kind, index, which, local_id, subject, messages in queries:
            if self._is_to_stop():
                return False
            if kind is _core.QueryKind.bound:
                self._bound(messages)
                continue
            self.calls += 1
            column = self.definition.columns[index]
            if kind is _core.QueryKind.observe:
                if index in self.histories:
                    self._react_natively(column, local_id, subject)
                elif self.symmetries is not None and index in self.symmetries.growing.columns:
                    self.symmetries.growing.react(column, local_id, subject)
                else:
                    self.react(column, local_id, subject)
                continue
            local = self._locals[index][local_id]
            if kind is _core.QueryKind.read:
                self._read_cell(column, local_id, subject)
                continue
            transition = self.definition.transitions(column)[which]
            try:
                self._answer(kind, column, transition, local, local_id, subject, messages)
            except Unread as unread:
                if local_id not in self._reads[index]:  # else it reads that first; this one then its views do
                    self._reads[index][local_id] = unread.column
                    self.engine.set_reads(index, local_id, unread.column)
        return True

    def _answer(
        self,
        kind: _core.QueryKind,
        column: Column,
        transition: Transition,
        local: Local,
        local_id: int,
        subject: int,
        messages: list[int],
    ) -> None:
        """What a transition does, asks for or accepts in a local state."""
        index, which = column.index, transition.index
        if kind is _core.QueryKind.request:
            self._request(column, transition, local, local_id)
        elif kind is _core.QueryKind.accept:
            message: Any = self._messages[index][subject]
            reads: dict[int, None] = {}
            group = accepts(column, transition, local, message, reads)
            if self.definition.ranked:
                require_invariant(
                    f"a guard of {transition}",
                    transition.location,
                    (local, message),
                    partial(_accepted, column, transition),
                )
            if self.whole is not None:
                self.whole.require_group(column, transition, local, message, group)
            number_of = None if group is None else self._groups.setdefault(group, len(self._groups))
            self.engine.put_group(index, which, local_id, subject, number_of)
            self._learn(column, transition, local_id, kind, subject, list(reads))
            self._note(kind, index, which, local_id, messages, digest_of(() if group is None else (group,)))
        else:
            consumed: Any = tuple(sorted((self._messages[index][each] for each in messages), key=encode))
            # Together, since comparing and encoding what a handler does may take long as well.
            asked = self.asked[index]
            noted = Record()
            outcomes = supervised(partial(fire, asked, transition, local, consumed, noted))
            if self.definition.ranked:
                require_invariant(
                    str(transition),
                    transition.location,
                    (local, consumed),
                    partial(_done, self.anywhere[index], transition),
                )
                self._note_higher((local, consumed), tuple(outcome.choices for outcome in outcomes))
            if self.whole is not None:
                self.whole.require_outcomes(column, transition, local, consumed, outcomes)
            self._cause = (index, local_id, which)
            encoded = [self._outcome(column, outcome) for outcome in outcomes]
            self._cause = (-1, -1, -1)
            self.engine.put_behaviour(index, which, local_id, subject, encoded)
            if self.recalls:
                read, assigned = noted.close()
                if self._keep(outcomes, (*read, *assigned)):
                    self._learn(column, transition, local_id, kind, subject, read, assigned)
            if self.journal is not None:
                self._note(kind, index, which, local_id, messages, outcomes_digest(self.definition, outcomes))

    def _read_cell(self, column: Column, local_id: int, value_id: int) -> None:
        """Tell the core what becomes of a local state when the cell that it reads holds a value."""
        local = self._locals[column.index][local_id]
        cell = self._reads[column.index][local_id]
        value = self._locals[cell][value_id][0]
        number = self.engine.add_view(column.index, local_id, value_id)
        self._locals[column.index].append(seen(local, {**cells_of(local), cell: value}))
        self._local_ids[column.index][VIEW, local_id, value_id] = number
        self._elements[column.index].append(self._elements[column.index][local_id])
        self._causes[column.index][0].extend(self._cause)

    def _keep(self, outcomes: Sequence[Outcome], fields: Sequence[int]) -> bool:
        """Keep the values that may have been assigned to these fields. False: one has changed since it was numbered."""
        for local in [outcome.local for outcome in outcomes if outcome.local is not None]:
            for field in fields:
                value = local[field]
                number = self.values.get(encode(value))
                if number is None:
                    return False  # the model changes what is immutable, which is found when it is run again
                self._objects[number] = value
        return True

    def _learn(
        self,
        column: Column,
        transition: Transition,
        local: int,
        kind: _core.QueryKind,
        subject: int,
        read: list[int],
        assigned: Sequence[int] = (),
    ) -> None:
        """Tell the core what was read to find an answer: it is the same wherever that is the same."""
        if not self.recalls:
            return
        about = _core.Record(kind=kind, transition=transition.index, subject=subject, read=read, assigned=assigned)
        if not self.engine.learn(column.index, local, about):
            raise differs(transition)

    def number_changed(self, index: int, local: int, transition: int, fields: list[int], key: list[int]) -> int | None:
        """The number of the local state with the values of these numbers, which differs from a known one in the fields.

        None if it is time to stop.
        """
        if self._is_to_stop():
            return None
        values = list(self._locals[index][local])
        for field in fields:
            values[field] = self._objects[key[field]]
        column, changed = self.definition.columns[index], tuple(values)
        if len(self._encodings) < len(self.values):
            self._encodings += islice(self.values, len(self._encodings), None)
        encodings = [self._encodings[each] for each in key]
        try:
            folded = self._folded(column, changed)
        except Halted as halted:
            self.halted = halted
            return None
        self._cause = (index, local, transition)
        number = self._numbered(column, changed, encodings, folded)
        self._cause = (-1, -1, -1)
        return number

    def _note(
        self, kind: _core.QueryKind, column: int, which: int, local: int, messages: Sequence[int], digest: bytes
    ) -> None:
        if self.journal is not None:
            self.journal.answered((kind.value, column, which, local), messages, digest)

    def _bound(self, locals: list[int]) -> None:
        """Tell the core whether a state lies inside the bound of the system."""
        answered = self.judge(len(self.properties), locals)
        if answered is None and self.halted is not None:
            raise self.halted
        if not answered:
            self.engine.start_over()

    def _request(self, column: Column, transition: Transition, local: Local, local_id: int) -> None:
        reads: dict[int, None] = {}
        request = prepare(column, transition, local, reads)
        if self.definition.ranked:
            require_invariant(
                f"`when` or `size` of {transition}",
                transition.location,
                local,
                lambda given: [prepare(column, transition, given)],
            )
        if self.whole is not None:
            self.whole.require_request(column, transition, local, request)
        numbered: _core.Request | None = None
        if request is not None and request.size is not None:
            numbered = _core.Request(mode=_core.Mode.exact, size=request.size)
        elif request is not None and request.senders is not None:
            senders = [column_of(pid) for pid in request.senders]
            numbered = _core.Request(mode=_core.Mode.each, senders=senders)
        elif request is not None:
            numbered = _core.Request(mode=_mode(transition))
        self.engine.put_request(column.index, transition.index, local_id, numbered)
        self._learn(column, transition, local_id, _core.QueryKind.request, 0, list(reads))
        self._note(_core.QueryKind.request, column.index, transition.index, local_id, (), request_digest(request))

    def _outcome(self, column: Column, outcome: Outcome) -> _core.Outcome:
        if outcome.failure is not None:
            return _core.Outcome(effect=_core.Effect.fails, failure=self.failure_id(outcome.failure))
        if outcome.local is None:
            return _core.Outcome(effect=_core.Effect.cut)
        columns = self.definition.columns
        sends = [(receiver, self.message_id(columns[receiver], message)) for receiver, message in outcome.sends]
        for event in outcome.events:
            sends += [(monitor.index, self.message_id(monitor, event)) for monitor in self.definition.told(event)]
        return _core.Outcome(effect=_core.Effect.moves, local=self.local_id(column, outcome.local), sends=sends)

    def _react_natively(self, column: Column, local_id: int, event_id: int) -> None:
        event = self._messages[column.index][event_id]
        assert isinstance(event, Event)
        try:
            if self.histories[column.index].answer(local_id, event_id, event):
                return
        except Exception:  # the specification's: the monitor is to fail with it, as any other
            pass
        self.react(column, local_id, event_id)

    def react(self, column: Column, local_id: int, event_id: int) -> Reaction:
        """Evaluate how a monitor reacts to an event, and tell the core."""
        local = self.local(column, local_id)
        event: Any = self._messages[column.index][event_id]
        outcome = observe(column, local, event)
        if self.definition.ranked:
            require_invariant(
                f"{column.cls.__name__}, which watches,",
                class_location(column.cls),
                (local, event),
                lambda given: [_made(observe(column, *given))],
            )
            self._note_higher(local, event)
        if self.whole is not None:
            self.whole.require_reaction(column, local, event, outcome)
        if outcome.failure is not None:
            number = self._failed_monitor(column, self.failure_id(outcome.failure))
        else:
            assert outcome.local is not None
            number = self.local_id(column, outcome.local)
        moved = _core.Outcome(effect=_core.Effect.moves, local=number)
        self.engine.put_behaviour(column.index, 0, local_id, event_id, [moved])
        if self.journal is not None:
            digest = outcomes_digest(self.definition, (outcome,))
            self._note(_core.QueryKind.observe, column.index, 0, local_id, (event_id,), digest)
        return Reaction(number, outcome.failure)

    def judge(self, number: int, locals: list[int]) -> bool | None:
        """Evaluate a property and hand its path of reads to the core; False if the search has to start over.

        None if it is time to stop.
        """
        self.calls += 1
        columns = self.definition.columns
        locals, seen = locals[: len(columns)], locals[len(columns) :]
        state = tuple(self.local(column, local) for column, local in zip(columns, locals, strict=True))
        pending = self._pending(seen)
        try:
            said, path = self._judged(number, state, locals, seen, pending)
            if said == _core.Verdict.raises and number == len(self.properties):
                # It tells of what was raised; another value than True and False is taken for one, as in processes.
                inside = is_inside(self.definition, state, pending, self.definition.shown)
                said = _core.Verdict.yes if inside else _core.Verdict.no
        except Halted as halted:
            self.halted = halted
            return None
        if self.journal is not None:
            self.journal.judged(number, locals, digest_of([said.name.encode(), *map(self._shown_read, path)]))
        new = self.note_reads((column, field - 1) for column, field, *_ in path if field != PENDING_FIELD)
        if new and self.restart_on_new_reads:
            return False
        if new:
            self.engine.observe(self.observed)
        self.engine.add_answer(number, path, said)
        return True

    def _pending(self, seen: list[int]) -> list[list[Any]] | None:
        """What properties may read of each inbox, if they may read messages at all."""
        if not self.definition.shown:
            return None
        return [
            [self.message(column, message) for message in self.engine.inbox(column.index, number)]
            for column, number in zip(self.definition.processes, seen, strict=True)
        ]

    def _judged(
        self,
        number: int,
        state: tuple[Local, ...],
        locals: list[int],
        seen: Sequence[int] = (),
        pending: list[list[Any]] | None = None,
    ) -> tuple[_core.Verdict, list[Read]]:
        """What a property says of a state, and the path of its reads."""
        prop, parts = self._judges[number], self.parts[number]
        if self.definition.ranked:
            require_invariant(
                prop.name, prop.location, state, lambda given: [evaluate(self.definition, prop, given).value]
            )
        path: list[Read] = []
        if parts is not None:

            def element_of(fold: Fold, column: int) -> bytes:
                return self._elements[column][locals[column]][fold.places[column]]

            answer, reads = parts.evaluate(state, element_of)
            path = [self._folded_read(parts, each) if len(each) > 2 else self._read(each, state) for each in reads]
            if answer is not None:
                return _core.Verdict.yes if answer else _core.Verdict.no, path
        found = self.evaluate(prop, state, pending)
        said = "raises" if found.failure is not None else "yes" if found.value else "no"
        path += [
            self._read(each, state) if each[1] != PENDING else (each[0], PENDING_FIELD, seen[each[0]], NONE, NONE)
            for each in found.reads
        ]
        return _core.Verdict[said], path

    def is_view(self, column: int, number: int) -> bool:
        """Whether that is no local state of a process, but one with what it has read of shared cells."""
        return type(self._locals[column][number]) is Seen if column not in self.histories else False

    def folds_alike(self, fold: Fold, columns: Sequence[int], locals: Sequence[Sequence[int]]) -> bool:
        """Whether a fold reads the same of every local state and of its image under a renaming."""
        if {columns[index] for index in fold.columns} != {*fold.columns}:
            return False
        for column in fold.columns:
            mine, its = self._elements[column], self._elements[columns[column]]
            here, there = fold.places[column], fold.places[columns[column]]
            for local, image in enumerate(locals[column]):
                if self.is_view(column, local):
                    continue
                element = mine[local][here]
                if not fold.folds(element) or image == NONE or its[image][there] != element:
                    return False
        return True

    def folds_apart(self, fold: Fold, columns: Sequence[int], locals: Sequence[Sequence[int]]) -> bool:
        """Whether a fold reads the same of two local states of a process, and not of their images under a renaming."""
        for column in fold.columns:
            mine, its = self._elements[column], self._elements[columns[column]]
            here, there = fold.places[column], fold.places.get(columns[column])
            images: dict[bytes, bytes] = {}
            for local, image in enumerate(locals[column]):
                if self.is_view(column, local):
                    continue
                if there is None or image == NONE:
                    return True
                element = its[image][there]
                if images.setdefault(mine[local][here], element) != element:
                    return True
        return False

    def _read(self, read: tuple[int, int], state: tuple[Local, ...]) -> Read:
        column, field = read
        return column, field + 1, self._value(column, field, state[column]), NONE, NONE

    def _shown_read(self, read: Read) -> bytes:
        """A read without the numbers of values and of what is known of folds, which are not the same in every run."""
        column, field, _, fold, state = read
        return encode((column, field, -1, b"") if fold == NONE else (column, field, fold, self._fold_texts[state]))

    def _folded_read(self, parts: Parts, read: tuple[int, int, int, bytes, Any]) -> Read:
        column, _, number, element, so_far = read
        fold = parts.folds[number]
        place = 1 + self.definition.columns[column].spec.visible + fold.places[column]
        state = self._fold_states.setdefault((id(fold), so_far), len(self._fold_states))
        if self.journal is not None and state == len(self._fold_texts):
            known = sorted(so_far) if isinstance(so_far, frozenset) else so_far
            self._fold_texts.append(f"{fold.kind} {known!r}".encode())
        return column, place, self.values[element], number, state

    def evaluate(
        self, prop: Property, locals: tuple[Local, ...], pending: Sequence[Sequence[Any]] | None = None
    ) -> Evaluation:
        """What a property says of a state, and what it read. Processes that were taken apart it sees as wholes."""
        if self.whole is None:
            try:
                return evaluate(self.definition, prop, locals, pending, self.definition.shown)
            except MessagesRead as read:
                if self.without_messages:
                    raise read.refused(self.without_messages) from None
                raise
        found = evaluate(self.whole.whole, prop, self.whole.locals(locals))
        return found._replace(reads=tuple(self.whole.field(column, field) for column, field in found.reads))

    def note_reads(self, reads: Iterable[tuple[int, int]]) -> bool:
        """Observe the fields that a property has read; whether some of them were not observed before."""
        new = [
            (column, field + 1) for column, field in reads if field != PENDING and not self.observed[column][field + 1]
        ]
        for column, field in new:
            # Processes of one class are likely to be read alike: fewer surprises, fewer restarts.
            for other in self.definition.columns:
                if other.cls is self.definition.columns[column].cls:
                    self.observed[other.index][field] = True
        return bool(new)

    def _value(self, column: int, field: int, local: Local) -> int:
        if field < 0:
            return int(is_crashed(local))
        return self.values[encode(local[field])]

    def poll(self, progress: _core.Progress) -> bool:
        self._figures = progress.states, progress.transitions, progress.frontier, progress.depth
        return self.stop(*self._figures, progress.memory, progress.levels, self._violated(progress))

    def _violated(self, progress: _core.Progress) -> tuple[str, ...]:
        """The names of what a search has met a violation of."""
        names = [self.properties[number].name for number in progress.violated]
        if progress.deadlock:
            names.append("deadlock")
        if progress.failure is not None:
            names.append(self.failures[progress.failure].violates)
        return tuple(names)

    def _is_to_stop(self) -> bool:
        """Asked between two answers: an attacker that learns something may take long to list what it can say now."""
        now = perf_counter()
        if now < self._next_look:
            return False
        self._next_look = now + SECONDS_BETWEEN_LOOKS
        return self.stop(*self._figures, _core.resident_bytes())

    def counted_messages(self) -> int:
        return sum(len(self._messages[column.index]) for column in self.definition.processes)


def _counted(name: str, number: int) -> int:
    """A number of messages or crashes, which the core counts in 32 bits."""
    if number >= NONE:
        raise LimitError(f"{name}={show(number)}: at most {NONE - 1:,} are counted", hint="use fewer", code="Q501")
    return number


def _only(ask: Callable[[Any], Any], given: Any) -> list[Any]:
    return [ask(given)]


def _accepted(column: Column, transition: Transition, given: tuple[Local, Message]) -> list[bool]:
    return [accepts(column, transition, *given) is None]


def _done(column: Column, transition: Transition, given: tuple[Local, tuple[Message, ...]]) -> list[Any]:
    return [_made(each) for each in fire(column, transition, *given)]


def _made(outcome: Outcome) -> tuple[Any, ...]:
    failure = outcome.failure
    why = None if failure is None else (failure.kind, failure.file, failure.line)
    return outcome.local, outcome.sends, outcome.events, outcome.cut, why


def _after(column: Column, crashed: bool, back: Local | None) -> list[bytes]:
    """What becomes of a process where no transition is taken: whether it may crash, and as what it comes back."""
    if back is not None:
        return [encode(value) for value in back]
    return [b"may crash"] if column.may_crash and not crashed else []


def _mode(transition: Transition) -> _core.Mode:
    if transition.kind in ("start", "step"):
        return _core.Mode.spontaneous
    return _core.Mode[transition.mode or "single"]


def _takes(transition: Transition, cls: type) -> bool:
    return transition.message is not None and issubclass(cls, transition.message)


def _cause(causes: array[int], number: int) -> tuple[int, int, int] | None:
    column, local, transition = causes[3 * number : 3 * number + 3]
    return None if column < 0 else (column, local, transition)


def _content(*encodings: bytes) -> int:
    return int.from_bytes(blake2b(b"\0".join(encodings), digest_size=8).digest(), "little")
