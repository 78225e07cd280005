"""What the core asks of a model: what a transition wants, accepts and does, and how monitors react.

The core asks each question once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

from quorate import _core
from quorate.base.failures import Failure
from quorate.base.places import class_location
from quorate.base.values import encode
from quorate.base.watchdog import Halted, supervised
from quorate.language.message import Event, Message
from quorate.language.pid import column_of
from quorate.model.again import differs
from quorate.model.definition import Column, Definition, Property, Transition
from quorate.model.outcome import Local, Outcome, Unread, cells_of, seen
from quorate.model.renumbering import in_places, ranks_in, require_invariant
from quorate.model.run import accepts, fire, observe, prepare
from quorate.model.touched import Record
from quorate.native.journal import Journal, digest_of, outcomes_digest, request_digest
from quorate.native.judging import Judging
from quorate.native.numbers import VIEW

if TYPE_CHECKING:
    from quorate.reduce.decomposition import Whole
    from quorate.reduce.families import Group

SECONDS_BETWEEN_LOOKS = 0.1

Query = tuple[_core.QueryKind, int, int, int, int, list[int]]


class Reaction(NamedTuple):
    """How a monitor reacts: the number of its next local state, and how it failed if it did."""

    local: int
    failure: Failure | None


class Answers(Judging):
    """Whatever only Python knows."""

    def __init__(
        self,
        definition: Definition,
        properties: Sequence[Property],
        stop: Callable[..., bool],
        values: dict[bytes, int] | None,
        whole: Whole | None,
        journal: Journal | None,
    ) -> None:
        super().__init__(definition, properties, values, whole, journal)
        self.symmetries: Group | None = None
        self.stop = stop
        self._figures = (0, 0, 0, 0)
        self._next_look = 0.0
        self._objects: dict[int, Any] = {}
        """By number, the values that transitions assign."""
        self._encodings: list[bytes] = []
        """By number, the encodings of values, as far as they were needed."""
        self._groups: dict[bytes, int] = {}
        self._reads: list[dict[int, int]] = [{} for _ in definition.columns]
        """By column and local state: the shared cell on which depends what it does next."""
        columns = definition.columns
        self.asked = in_places(definition)
        """The columns that handlers are run with."""
        self.anywhere = [replace(column, ranks="any places") for column in columns] if definition.ranked else columns
        """The same, where `later` is any later place: for numbers in the same order that must be the same."""
        self._inexact_ranks = False

    def fill(self, queries: list[Query]) -> bool:
        """Answer every query; False if it is time to stop."""
        try:
            return self._fill(queries)
        except Halted as halted:
            self.halted = halted
            return False

    def admit(self, locals: list[tuple[int, int]], messages: list[tuple[int, int]]) -> bool:
        """Make images known to the core, where there is symmetry without a closure; False if it is time to stop."""
        assert self.symmetries is not None
        try:
            self.symmetries.admit(locals, messages)
        except Halted as halted:
            self.halted = halted
            return False
        return not self._is_to_stop()

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
            numbered = _core.Request(mode=mode_of(transition))
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

    def _note_higher(self, held: Any, made: Any) -> None:
        """Note where a new rank, which is odd, is compared with a higher one: it is that one, or lower."""
        new = [each for each in ranks_in(made) if each % 2]
        self._inexact_ranks = self._inexact_ranks or bool(new and max(ranks_in(held), default=0) > min(new))

    @property
    def inexact_ranks(self) -> bool:
        """Whether `later` was taken for more than the next number: of a rank that is not the highest."""
        return self._inexact_ranks or self.engine.inexact_ranks()

    def _is_to_stop(self) -> bool:
        """Asked between two answers: an attacker that learns something may take long to list what it can say now."""
        now = perf_counter()
        if now < self._next_look:
            return False
        self._next_look = now + SECONDS_BETWEEN_LOOKS
        return self.stop(*self._figures, _core.resident_bytes())


def mode_of(transition: Transition) -> _core.Mode:
    if transition.kind in ("start", "step"):
        return _core.Mode.spontaneous
    return _core.Mode[transition.mode or "single"]


def _accepted(column: Column, transition: Transition, given: tuple[Local, Message]) -> list[bool]:
    return [accepts(column, transition, *given) is None]


def _done(column: Column, transition: Transition, given: tuple[Local, tuple[Message, ...]]) -> list[Any]:
    return [_made(each) for each in fire(column, transition, *given)]


def _made(outcome: Outcome) -> tuple[Any, ...]:
    failure = outcome.failure
    why = None if failure is None else (failure.kind, failure.file, failure.line)
    return outcome.local, outcome.sends, outcome.events, outcome.cut, why
