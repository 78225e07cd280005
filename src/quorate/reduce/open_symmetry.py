"""Symmetry where the closure has not ended: what a search asks for is compared as it asks.

There is no table of all that may ever happen to compare families with. But a search need not know more than what it
uses. When it asks what a transition does, the core asks the same under all renamings and compares the answers
(`src/core/reduce/symmetry/orbits.hpp`). Here local states and messages get their images, whole orbits at a time, and
what properties ask of one process is compared for each of them (docs/soundness.md, rule 10).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from quorate import _core
from quorate.model.outcome import Crashed, is_crashed
from quorate.model.renaming import exchanging, names_in, renamed
from quorate.native.model import Model
from quorate.properties.parts import Parts
from quorate.reduce.families import (
    Family,
    Group,
    Marked,
    Marking,
    column_images,
    explained,
    failure_classes,
    joined,
    owned,
    told_by,
)
from quorate.reduce.growing import GrowingMonitors


def possible(model: Model) -> bool:
    """Whether the images of all that a search meets can be told one by one."""
    definition = model.definition
    special = definition.attackers or definition.cells or definition.shown
    routed = any(column.routes is not None for column in definition.columns)
    return not special and not routed and model.whole is None and model.journal is None


class Field(NamedTuple):
    """The value of a field under the exchanges of neighbouring names."""

    held: list[bool]
    """Which of them change it."""
    images: list[Any]


class OpenSymmetries(Group):
    """Families of names that nothing has told apart so far."""

    def __init__(self, model: Model, families: Iterable[Family]) -> None:
        super().__init__(model)
        model.symmetries = self  # whom the core asks for images
        self._broken = 0
        self._unlike: set[int] = set()
        """Properties that are not known to say the same of renamed states, so that the core compares what they say."""
        self.in_universe = False
        """Whether all that was met belongs to a universe, and needs images, before the search meets it again."""
        self.why = ""
        """Why a family was broken, if one was, by what a property asks of one process."""
        for family in families:
            if why := self._named_initially(family):
                self.dropped.append((family, why))
            else:
                self.families.append(family)
        self._hand_over()

    def _hand_over(self) -> None:
        engine, definition = self._model.engine, self._model.definition
        pairs = [
            (number, one, two)
            for number, family in enumerate(self.families)
            for one, two in zip(family.names, family.names[1:], strict=False)
        ]
        self._pairs = pairs
        self._families = [number for number, _, _ in pairs]
        self._names = [exchanging(one, two) for _, one, two in pairs]
        self._columns = [column_images(definition, names) for names in self._names]
        self._marking = Marking(self.families)
        self._images: dict[tuple[int, int], list[int]] = {}
        self._fields: dict[int, Field] = {}
        self._marks: dict[int, Marked] = {}
        self._messages: set[tuple[int, int]] = set()
        self._elements: dict[tuple[int, int, int, bytes], bytes] = {}
        self.why = ""
        if not self._require_bound(self._tell_alike()):
            pairs = []
        if not pairs:
            engine.unsymmetrise()
            self.growing = GrowingMonitors(self._model, [], self._marking)
            return
        nothing: list[list[tuple[int, list[tuple[int, int]]]]] = [[] for _ in definition.columns]
        exchanges: list[list[_core.Renaming]] = [[] for _ in self.families]
        for number, columns in zip(self._families, self._columns, strict=True):
            exchanges[number].append(_core.Renaming(columns=columns, locals=[], messages=[]))
        engine.symmetrise(
            _core.Symmetry(
                families=[len(family.names) for family in self.families],
                owned=[owned(definition, name) for name in self.names],
                exchanges=exchanges,
                locals=nothing,
                messages=nothing,
                open=True,
            )
        )
        self._grown = frozenset(engine.growing())
        self.growing = GrowingMonitors(self._model, self.families, self._marking)
        if self.in_universe:
            self.admit_all()
        breach = None if self.growing.why else engine.open_orbits(self._model)
        if self.growing.why:
            self.drop(self.growing.broken, self.growing.why)
        elif breach is not None:
            self.drop(*self._told(*breach))
        elif self.why:
            self.drop(self._broken, self.why)

    def breach(self) -> tuple[int, str] | None:
        """The family that an answer, or what a property asks of one process, has told apart; and how."""
        if self.why:
            return self._broken, self.why
        breach = self._model.engine.orbit_breach()
        return None if breach is None else self._told(*breach)

    def _told(self, exchange: int, breach: _core.Breach) -> tuple[int, str]:
        number, one, two = self._pairs[exchange]
        return number, explained(self._model, one, two, breach)

    def admit(self, locals: Iterable[tuple[int, int]], messages: Iterable[tuple[int, int]]) -> None:
        if not self.families:
            return
        locals = list(locals)
        super().admit(locals, ())
        engine, all_columns = self._model.engine, self._model.definition.columns
        if len(engine.failure_classes) != len(self._model.failures):
            engine.failure_classes = failure_classes(self._model.failures)
        todo = [each for each in messages if each not in self._messages]
        while todo:
            index, number = todo.pop()
            if (index, number) in self._messages:
                continue
            self._messages.add((index, number))
            todo += self._model.like_message.get((index, number), ())
            message = self._model.message(all_columns[index], number)
            cause = self._model.cause_of_message(index, number)
            held = names_in(message)
            images = []
            for exchange, (columns, names) in enumerate(zip(self._columns, self._names, strict=True)):
                same = columns[index] == index and held.isdisjoint(names)
                to = all_columns[columns[index]]
                self._model.noting(self._renamed_cause(cause, exchange))
                images.append(number if same else self._model.message_id(to, renamed(message, names)))
                todo.append((columns[index], images[-1]))
            engine.add_message_image(index, number, images, *self._marking.of(message))
        self._model.noting(None)
        self._admit_locals([each for each in locals if each[0] not in self._grown and each not in self._images])

    def admit_all(self) -> None:
        """All that was met so far belongs to a universe: it is closed under renaming."""
        self.in_universe = True
        model = self._model
        locals = [
            (index, number)
            for index, known in enumerate(model.numbered_locals)
            if index not in self._grown
            for number in range(len(known))
        ]
        messages = [
            (index, number) for index, known in enumerate(model.numbered_messages) for number in range(len(known))
        ]
        self.admit(locals, messages)

    def _admit_locals(self, todo: list[tuple[int, int]]) -> None:
        engine, all_columns = self._model.engine, self._model.definition.columns
        while todo:
            index, number = todo.pop()
            if (index, number) in self._images:
                continue
            todo += self._model.like_local.get((index, number), ())
            local, key = self._model.local(all_columns[index], number), self._model.local_key(index, number)
            fields = [
                self._field(place, value) for place, value in zip(key[len(key) - len(local) :], local, strict=True)
            ]
            cause = self._model.cause_of_local(index, number)
            failed = self._model.has_failed(index, number)
            images = []
            for exchange, columns in enumerate(self._columns):
                same = failed or (columns[index] == index and not any(field.held[exchange] for field in fields))
                image = number
                if not same:
                    self._model.noting(self._renamed_cause(cause, exchange))
                    values = [field.images[exchange] for field in fields]
                    renamed_local = Crashed(values) if is_crashed(local) else tuple(values)
                    image = self._model.local_id(all_columns[columns[index]], renamed_local)
                images.append(image)
                todo.append((columns[index], image))
            self._images[index, number] = images
            base, marks = joined(key, self._marks)
            engine.add_image(index, number, images, base, marks)
            self._compare_elements(index, number, images)
        self._model.noting(None)

    def _field(self, number: int, value: Any) -> Field:
        """The value of that number under renamings."""
        if number not in self._fields:
            held = names_in(value)
            touched = [not held.isdisjoint(names) for names in self._names]
            pairs = zip(touched, self._names, strict=True)
            self._fields[number] = Field(touched, [renamed(value, names) if one else value for one, names in pairs])
            self._marks[number] = self._marking.of(value)
        return self._fields[number]

    def _renamed_cause(self, cause: tuple[int, int, int] | None, exchange: int) -> tuple[int, int, int] | None:
        """Where the image of something was met first: in the image of where that was."""
        if cause is None:
            return None
        index, local, transition = cause
        images = self._images.get((index, local))
        return None if images is None else (self._columns[exchange][index], images[exchange], transition)

    # --- what properties ask of one process ---

    def _tell_alike(self) -> list[bool]:
        """Which properties say the same of renamed states, for all that is known."""
        alike = [
            number not in self._unlike and parts is not None and self._is_symmetric(parts)
            for number, parts in enumerate(self._model.parts)
        ]
        self._model.engine.set_symmetric(alike)
        return alike

    def _is_symmetric(self, parts: Parts) -> bool:
        return parts.symmetric and all(
            {columns[index] for index in fold.columns} == {*fold.columns}
            for fold in parts.folds
            for columns in self._columns
        )

    def _compare_elements(self, index: int, number: int, images: Sequence[int]) -> None:
        """Compare what properties ask of a process in a local state with what they ask in its images.

        One that does not fold what it reads in the same way for both is compared by what it says. What it asks may tell
        processes apart even so: of two local states that it cannot tell apart, it must not tell the images apart.
        """
        model = self._model
        for exchange, (columns, image) in enumerate(zip(self._columns, images, strict=True)):
            its = {id(fold): element for _, fold, element in model.elements_of(columns[index], image)}
            for parts, fold, element in model.elements_of(index, number):
                there = its.get(id(fold))
                place = (id(fold), index, exchange, element)
                if there is None or self._elements.setdefault(place, there) != there:
                    self._broken, self.why = self._families[exchange], told_by(parts)
                    model.engine.break_family(self._broken)
                    return
                which = model.parts.index(parts)
                if which not in self._unlike and not (fold.folds(element) and there == element):
                    self._unlike.add(which)
                    self._tell_alike()
                    if parts.property is model.definition.bound:  # no state of which that was asked counts any more
                        self._broken, self.why = self._families[exchange], told_by(parts)
                        model.engine.break_family(self._broken)
                        return
                    model.engine.start_over()
