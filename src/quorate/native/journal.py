"""What a model was asked, and what it answered: so that it can be seen later whether it is still the same model.

A journal numbers values, local states, messages and failures by their canonical bytes, for itself: the numbers of a
model depend on what was met first, those of a journal stay the same from one run of a check to the next. Of each answer
it keeps a digest. When a check goes on, the model is asked the same questions again, and an answer that differs is an
error which says which it is. Nothing is ever made from the bytes of a value, they are only compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from quorate import _core
from quorate.base.errors import TargetError
from quorate.base.failures import Failure
from quorate.base.records import Damaged, Reader, Writer
from quorate.base.values import encode, show
from quorate.model.outcome import Outcome, Request

if TYPE_CHECKING:
    from quorate.model.definition import Definition
    from quorate.native.model import Model

VALUE, LOCAL, MESSAGE, FAILURE, ANSWER = range(5)
QUERY, JUDGED, MEANWHILE, DECLARED = range(4)
ALIVE, CRASHED, FAILED = range(3)
NONE = _core.NONE
ASKED = {_core.QueryKind[name].value for name in ("request", "accept", "fire", "observe")}

Key = tuple[int, ...]
"""A question by the journal's numbers: QUERY, its kind, column, transition, local state, messages; or JUDGED, a
property and local states; or MEANWHILE, a search, and how many transitions it had made then; or DECLARED, and a line of
what the core is told before it asks."""


class Journal:
    """Of one model. `search` counts the searches of the check: what was asked in which."""

    def __init__(self, columns: int) -> None:
        self.search = 0
        self._values: dict[bytes, int] = {}
        self._locals: list[dict[Key, int]] = [{} for _ in range(columns)]
        self._elements: list[list[tuple[Key, Key]]] = [[] for _ in range(columns)]
        """Of each local state, what folds of properties read of it; and what becomes of it without a transition."""
        self._messages: list[dict[bytes, int]] = [{} for _ in range(columns)]
        self._uses: list[list[Key]] = [[] for _ in range(columns)]
        """Of each message: whether it stands, and is shown to properties, and the transitions that take it."""
        self._failures: dict[bytes, int] = {}
        self._answers: dict[Key, bytes] = {}
        self._when: dict[Key, int] = {}
        """The last search in which it was asked."""
        self._unseen: dict[Key, None] = {}
        """What was asked in an earlier run and not yet in this one."""
        self.fresh = Writer()
        """What is new since it was last saved."""
        self.locals: list[list[int]] = [[] for _ in range(columns)]
        self.messages: list[list[int]] = [[] for _ in range(columns)]
        self.failures: list[int] = []
        """By the numbers of the model as it runs now: the journal's."""
        self._locals_now: list[dict[int, int]] = [{} for _ in range(columns)]
        self._messages_now: list[dict[int, int]] = [{} for _ in range(columns)]
        self._lines: Sequence[str] = ()
        self.model: Model | None = None

    # --- what the model says as it runs ------------------------------------------------------------------------------

    def declared(self, lines: Sequence[str]) -> None:
        """What the core is told of a model before it asks anything: all of it, for `Told` leaves nothing out."""
        self._lines = lines
        for number, line in enumerate((*lines, f"{len(lines)} in all")):
            self._note((DECLARED, number), digest_of([line.encode()]))

    def new_local(
        self, column: int, kind: int, values: Iterable[bytes], elements: Iterable[bytes], after: Iterable[bytes] = ()
    ) -> None:
        """The next number of a local state is given. Elements are what folds of properties read of it."""
        key = (kind, *map(self._value, values))
        read, next = tuple(map(self._value, elements)), tuple(map(self._value, after))
        number = self._locals[column].get(key)
        if number is None:
            number = self._locals[column][key] = len(self._elements[column])
            self._elements[column].append((read, next))
            self.fresh.numbers((LOCAL, column, *key))
            self.fresh.numbers(read)
            self.fresh.numbers(next)
        elif self._elements[column][number][0] != read:
            raise changed(f"properties read something else of {self._name(column)}")
        elif self._elements[column][number][1] != next:
            raise changed(f"{self._name(column)} crashes or recovers differently")
        self._locals_now[column][number] = len(self.locals[column])
        self.locals[column].append(number)

    def new_message(self, column: int, encoded: bytes, uses: Key = ()) -> None:
        number = self._messages[column].get(encoded)
        if number is None:
            number = self._messages[column][encoded] = len(self._messages[column])
            self._uses[column].append(uses)
            self.fresh.numbers((MESSAGE, column, *uses))
            self.fresh.text(encoded)
        elif self._uses[column][number] != uses:
            raise changed(f"another transition of {self._name(column)} takes a message that it got, or none does")
        self._messages_now[column][number] = len(self.messages[column])
        self.messages[column].append(number)

    def _name(self, column: int) -> str:
        return self.model.definition.columns[column].name if self.model is not None else "a process"

    def new_failure(self, failure: Failure) -> None:
        self.failures.append(self._failure(failure))

    def _failure(self, failure: Failure) -> int:
        said = failure_bytes(failure)
        number = self._failures.get(said)
        if number is None:
            number = self._failures[said] = len(self._failures)
            self.fresh.numbers((FAILURE,))
            self.fresh.text(said)
        return number

    def answered(self, query: tuple[int, int, int, int], messages: Iterable[int], digest: bytes) -> None:
        """Kind, column, transition and local state, and the messages, by the numbers of the model."""
        kind, column, which, local = query
        named = sorted(self.messages[column][each] for each in messages)
        self._note((QUERY, kind, column, which, self.locals[column][local], *named), digest)

    def judged(self, number: int, locals: Sequence[int], digest: bytes) -> None:
        named = [of[local] for of, local in zip(self.locals, locals, strict=True)]
        self._note((JUDGED, number, *named), digest)

    def meanwhile(self, transitions: int) -> None:
        """The closure went on beside the search."""
        self._note((MEANWHILE, self.search, transitions), b"")

    def _note(self, key: Key, digest: bytes) -> None:
        known = self._answers.get(key)
        if known is not None and known != digest:
            raise changed(self._described(key))
        # Answers of properties are forgotten between two searches, and asked for again.
        if known is None or self.search > self._when[key]:
            self._answers[key], self._when[key] = digest, self.search
            self.fresh.numbers((ANSWER, self.search, *key))
            self.fresh.text(digest)
        self._unseen.pop(key, None)

    def _value(self, encoded: bytes) -> int:
        number = self._values.get(encoded)
        if number is None:
            number = self._values[encoded] = len(self._values)
            self.fresh.numbers((VALUE,))
            self.fresh.text(encoded)
        return number

    # --- reading what was saved -----------------------------------------------------------------------------------

    def load(self, data: bytes) -> None:
        """Add what was saved in an earlier run. Damaged if it is not what a journal writes."""
        reader = Reader(data)
        while reader:
            head = reader.numbers()
            if not head:
                raise Damaged("a record of nothing")
            kind, rest = head[0], head[1:]
            if kind == VALUE:
                _enter(self._values, reader.text())
            elif kind == FAILURE:
                _enter(self._failures, reader.text())
            elif kind == MESSAGE and rest and rest[0] < len(self._messages):
                _enter(self._messages[rest[0]], reader.text())
                self._uses[rest[0]].append(tuple(rest[1:]))
            elif kind == LOCAL and len(rest) > 1 and rest[0] < len(self._locals):
                _enter(self._locals[rest[0]], tuple(rest[1:]))
                self._elements[rest[0]].append((tuple(reader.numbers()), tuple(reader.numbers())))
            elif kind == ANSWER and len(rest) > 2 and rest[1] <= DECLARED:
                key = tuple(rest[1:])
                self._when.pop(key, None)  # its place is where it was asked last
                self._answers[key], self._when[key], self._unseen[key] = reader.text(), rest[0], None
            else:
                raise Damaged("a record of an unknown kind")

    def repeat(self, model: Model, search: int, go_on: Callable[[int], object]) -> None:
        """Ask the model again what it was asked up to the search of that number, if it was not yet in this run.

        What properties have said in that search is asked for in any case, for the core is to know it.
        """
        for key, when in list(self._when.items()):
            if when > search or (key[0] != QUERY and when != search):
                continue
            if not self._is_question(model, key):
                raise Damaged("a question that no search asks")
            if key[0] == JUDGED:
                locals = [self.local_now(model, column, number) for column, number in enumerate(key[2:])]
                if model.judge(key[1], locals) is None:
                    raise _core.StoppedError("interrupted")
            elif key in self._unseen and key[0] == MEANWHILE:
                go_on(key[2])
            elif key in self._unseen:
                self._ask(model, key)
            if key in self._unseen:
                raise changed(self._described(key))

    def _is_question(self, model: Model, key: Key) -> bool:
        columns = model.definition.columns
        if key[0] == JUDGED:
            return len(key) == 2 + len(columns) and key[1] < len(model.properties)
        if key[0] == MEANWHILE:
            return len(key) == 3
        if key[0] != QUERY or len(key) < 5 or key[1] not in ASKED or key[2] >= len(columns):
            return False
        column = columns[key[2]]
        if key[1] == _core.QueryKind.observe.value:
            return column.is_monitor and len(key) == 6
        return not column.is_monitor and key[3] < len(model.definition.transitions(column))

    def _ask(self, model: Model, key: Key) -> None:
        _, kind, column, which, number, *named = key
        local = self.local_now(model, column, number)
        messages = [self.message_now(model, column, each) for each in named]
        asked = _core.QueryKind(kind)
        subject = model.engine.set_of(column, messages) if asked is _core.QueryKind.fire else (*messages, 0)[0]
        if not model.fill([(asked, column, which, local, subject, messages)]):
            raise _core.StoppedError("interrupted")

    def local_now(self, model: Model, column: int, number: int) -> int:
        """The number that the model gives now to a local state of the journal."""
        now = self._locals_now[column].get(number)
        if now is None:
            raise changed(f"{model.definition.columns[column].name} is never again in a local state in which it was")
        return now

    def message_now(self, model: Model, column: int, number: int) -> int:
        now = self._messages_now[column].get(number)
        if now is None:
            raise changed(f"{model.definition.columns[column].name} never gets a message any more that it got")
        return now

    def locals_now(self, column: int) -> list[int]:
        """By number of the journal: that of the model; NONE of one that it has not met in this run."""
        return [self._locals_now[column].get(each, NONE) for each in range(len(self._elements[column]))]

    def messages_now(self, column: int) -> list[int]:
        return [self._messages_now[column].get(each, NONE) for each in range(len(self._messages[column]))]

    def failures_now(self) -> list[int]:
        found = [NONE] * len(self._failures)
        for now, number in enumerate(self.failures):
            found[number] = now
        return found

    # --- saying what is different ------------------------------------------------------------------------------------

    def _described(self, key: Key) -> str:
        model = self.model
        if key[0] == DECLARED:
            line = self._lines[key[1]] if key[1] < len(self._lines) else "fewer things"
            return f"it declares something else: {line}"
        if model is None or key[0] == MEANWHILE:
            return "its analysis takes another course"
        if key[0] == JUDGED:
            return f"the property `{model.properties[key[1]].name}` says or reads something else of the same state"
        _, kind, index, which, number, *named = key
        column = model.definition.columns[index]
        where = self._shown_local(model, index, number)
        messages = [self._shown_message(model, index, each) for each in named]
        given = f" on {', '.join(messages)}" if messages else ""
        if _core.QueryKind(kind) is _core.QueryKind.observe:
            return f"the monitor {column.name} reacts differently{given}, in {where}"
        name = model.definition.transitions(column)[which].name
        return f"the transition `{name}` of {column.name} does something else{given}, in {where}"

    def _shown_local(self, model: Model, column: int, number: int) -> str:
        now = self._locals_now[column].get(number)
        if now is None:
            return "a local state that is not reached any more"
        spec = model.definition.columns[column]
        values = zip(spec.fields, model.local(spec, now), strict=False)
        return ", ".join(f"{name}={show(value)}" for name, value in values) or "its only local state"

    def _shown_message(self, model: Model, column: int, number: int) -> str:
        now = self._messages_now[column].get(number)
        if now is None:
            return "a message that is not sent any more"
        return show(model.message(model.definition.columns[column], now))


def changed(what: str) -> TargetError:
    """The model is not the one that was saved."""
    return TargetError(
        f"the model has changed since it was saved: {what}",
        hint="check it from the beginning, with another --checkpoint; or undo the change",
        code="Q343",
    )


def digest_of(parts: Iterable[bytes]) -> bytes:
    """Eight bytes that depend on each part, and on where it ends."""
    found = blake2b(digest_size=8)
    for part in parts:
        found.update(len(part).to_bytes(8, "little"))
        found.update(part)
    return found.digest()


def failure_bytes(failure: Failure) -> bytes:
    """What makes two failures the same: the line may have moved since."""
    return encode((failure.kind, failure.text, failure.code))


def outcomes_digest(definition: Definition, outcomes: Iterable[Outcome]) -> bytes:
    """What a transition does; of events also who is told of them."""
    parts: list[bytes] = []
    for each in outcomes:
        if each.failure is not None:
            parts += [b"fails", failure_bytes(each.failure)]
        elif each.local is None:
            parts.append(b"cut")
        else:
            parts += [b"moves", encode(each.local), encode(len(each.sends)), encode(len(each.events))]
            for receiver, message in each.sends:
                parts += [encode(receiver), encode(message)]
            for event in each.events:
                parts += [encode(event), encode(tuple(monitor.index for monitor in definition.told(event)))]
    return digest_of(parts)


def request_digest(request: Request | None) -> bytes:
    """What a quorum transition asks for."""
    return digest_of(() if request is None else (encode(request.size), encode(request.senders)))


def _enter(table: dict[Any, int], key: Any) -> None:
    if key in table:
        raise Damaged("something is numbered twice")
    table[key] = len(table)
