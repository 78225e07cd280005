"""What properties say of states, and what they have read to say it: for the core's tries, and for visibility."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from quorate import _core
from quorate.base.errors import MessagesRead, QuorateError
from quorate.base.values import encode
from quorate.base.watchdog import Halted
from quorate.model.bound import is_inside
from quorate.model.definition import Definition, Property
from quorate.model.outcome import Local, is_crashed
from quorate.model.renumbering import require_invariant
from quorate.model.views import PENDING
from quorate.native.journal import Journal, digest_of
from quorate.native.numbers import NONE, Numbers
from quorate.properties import Evaluation, evaluate
from quorate.properties.parts import Fold, Parts, parts_of

if TYPE_CHECKING:
    from quorate.reduce.decomposition import Whole

PENDING_FIELD = NONE - 1
"""What stands for a field where a property has read what is pending (core: model/column.hpp)."""
FIRST_JUDGED, EVERY_JUDGED = 32, 64
"""Of a property that is judged by its parts, so many answers, and then each of so many, are compared."""
Read = tuple[int, int, int, int, int]
"""What a property has read: column, field and value; and of a fold its number, and what is known of it then."""


class Judging(Numbers):
    """The properties of a check."""

    def __init__(
        self,
        definition: Definition,
        properties: Sequence[Property],
        values: dict[bytes, int] | None,
        whole: Whole | None,
        journal: Journal | None,
    ) -> None:
        plain = whole is None and journal is None and not definition.ranked and not definition.cells
        super().__init__(definition, values, journal, recalls=plain)
        self.whole = whole
        """If processes are taken apart into their roles: the system as it was written, which every answer is held
        against, and which properties are about."""
        self.properties = tuple(properties)
        self.calls = 0
        self.halted: Halted | None = None
        """If the model's code was stopped while it answered: where."""
        self.without_messages = ""
        """Where properties cannot be given messages that are in flight: what that is."""
        self.restart_on_new_reads = False
        """With the quotient an unobserved field may hold another local state's value (docs/soundness.md, rule 8)."""
        self._judges = self.properties if definition.bound is None else (*self.properties, definition.bound)
        # Processes that are taken apart do not have the fields that a property reads in one place.
        apart = whole is not None or definition.shown
        self.parts = [None if apart else parts_of(definition, each) for each in self._judges]
        """The properties as far as they are about processes one by one."""
        self._by_parts = [0] * len(self.parts)
        """How often each was judged by its parts."""
        for parts in filter(None, self.parts):
            for fold in parts.folds:
                for index in fold.columns:
                    fold.places[index] = len(self._folds[index])
                    self._folds[index].append((parts, fold))
        self._fold_states: dict[tuple[int, Any], int] = {}
        self._fold_texts: list[bytes] = []
        """What these numbers stand for, where a journal compares it."""
        self.observed = [
            [False] * (1 + column.spec.visible + len(self._folds[column.index])) for column in definition.columns
        ]
        """By column and field: whether a property has read it. First whether the process has crashed, then its fields,
        then what folds read of it (`properties/parts.py`)."""

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
                self._compare(number, state, answer)
                return _core.Verdict.yes if answer else _core.Verdict.no, path
        found = self.evaluate(prop, state, pending)
        said = "raises" if found.failure is not None else "yes" if found.value else "no"
        path += [
            self._read(each, state) if each[1] != PENDING else (each[0], PENDING_FIELD, seen[each[0]], NONE, NONE)
            for each in found.reads
        ]
        return _core.Verdict[said], path

    def _compare(self, number: int, state: tuple[Local, ...], answer: bool) -> None:
        """Now and then a property that was judged by its parts is judged as it was written too."""
        self._by_parts[number] += 1
        if self._by_parts[number] > FIRST_JUDGED and self._by_parts[number] % EVERY_JUDGED:
            return
        written = self.evaluate(self._judges[number], state)
        if written.failure is not None or written.value is not answer:
            raise QuorateError(
                f"{self._judges[number].name} is {answer} by its parts, and not as it was written",
                hint="this is a defect of Quorate; please report it with the model",
                code="Q900",
            )

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
