"""Interchangeable processes: proposed by what they are, believed only after a check (docs/soundness.md, rule 10).

Two processes are proposed if they are of one class and exchanging their names leaves the set of initial states as it
is: the same fields up to renaming, the same links. Being so is transitive, so they fall into families. The exchange of
two neighbours in a family is then compared with the whole closure, behaviour by behaviour, in the core; a family that
fails is left out, with the place in the model where it fails. Properties are compared while the search judges them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from math import factorial, prod
from typing import Any

from quorate import _core
from quorate._core import NONE
from quorate.base.errors import Location
from quorate.base.failures import Failure
from quorate.base.values import encode
from quorate.language.message import Message
from quorate.language.pid import Pid, column_of
from quorate.language.shared import cell_key, cell_name, with_key
from quorate.model.definition import Column, Definition
from quorate.model.outcome import Local
from quorate.model.renaming import Name, Names, exchanging, names_in, renamed, veiled
from quorate.native.model import Model
from quorate.native.numbers import VIEW
from quorate.properties.parts import Parts
from quorate.reduce.growing import GrowingMonitors

Marked = tuple[int, list[tuple[int, int]]]


@dataclass(frozen=True)
class Family:
    """Names that may be exchanged for one another."""

    name: str
    names: tuple[Name, ...]

    @property
    def order(self) -> int:
        """How many renamings it has."""
        return factorial(len(self.names))

    def __str__(self) -> str:
        return f"{len(self.names)} of {self.name}"


def proposed(definition: Definition) -> list[Family]:
    """Families of names by class and initial states."""
    found: list[Family] = []
    for cls in dict.fromkeys(column.cls for column in definition.processes if column.pid is not None):
        groups: list[list[Name]] = []
        for column in definition.processes:
            if column.cls is not cls or column.pid is None:
                continue
            home = next((group for group in groups if _exchangeable(definition, group[0], column.pid)), None)
            if home is None:
                groups.append([column.pid])
            else:
                home.append(column.pid)
        found += [Family(cls.__name__, tuple(group)) for group in groups if len(group) > 1]
    return found + [Family(kind, names) for kind, names in definition.scalars.items() if len(names) > 1]


def _exchangeable(definition: Definition, one: Name, two: Name) -> bool:
    """Whether exchanging two names leaves the set of initial states as it is."""
    names = exchanging(one, two)
    if _cells_apart(definition, one, two):
        return False
    columns = column_images(definition, names)
    posted = definition.posted or ((),) * len(definition.initials)

    def content(state: Iterable[Local], sends: Iterable[tuple[int, Message]]) -> tuple[bytes, tuple[bytes, ...]]:
        return encode(tuple(state)), tuple(sorted(encode(each) for each in sends))  # the core compares their order

    initials = {content(state, sends) for state, sends in zip(definition.initials, posted, strict=True)}
    for state, sends in zip(definition.initials, posted, strict=True):
        image: list[Local] = [()] * len(state)
        for index, local in enumerate(state):
            image[columns[index]] = renamed(local, names)
        if content(image, [(columns[to], renamed(each, names)) for to, each in sends]) not in initials:
            return False
    return True


def _cells_apart(definition: Definition, one: Name, two: Name) -> bool:
    """Whether names have shared cells that cannot be exchanged with them: one has more, or one has two names."""
    both = {encode(one), encode(two)}
    if any(
        not both.isdisjoint(names_in(key := cell_key(cell))) and encode(key) not in both for cell in definition.cells
    ):
        return True
    mine, its = (
        sorted(cell_name(cell) for cell in definition.cells if encode(cell_key(cell)) == encode(name))
        for name in (one, two)
    )
    return mine != its


def column_images(definition: Definition, names: Names) -> list[int]:
    """Where a renaming moves each column: a process to the one of the new name, its channel along with it."""
    columns = [column.index for column in definition.columns]
    for column in definition.processes:
        new = None if column.pid is None else names.get(encode(column.pid))
        if new is not None and column.pid is not None:
            for mine, its in zip(owned(definition, column.pid), owned(definition, new), strict=True):
                columns[mine] = its
    for cell in definition.cells:  # those that values are the keys of
        new = names.get(encode(cell_key(cell)))
        if new is not None and not isinstance(new, Pid):
            at = definition.columns[0].cells
            columns[at[encode(cell)]] = at[encode(with_key(cell, new))]
    return columns


def owned(definition: Definition, name: Name) -> list[int]:
    """The process of that name and the channel to it, none of them if it is the name of a value; and shared cells of
    which it is the key."""
    mine = [cell for cell in definition.cells if encode(cell_key(cell)) == encode(name)]
    cells = [definition.columns[0].cells[encode(cell)] for cell in sorted(mine, key=cell_name)]
    if not isinstance(name, Pid):
        return cells
    index = column_of(name)
    found = [column.index for column in definition.processes if index in (column.delivers_to, _place(column))]
    return found + cells


def _place(column: Column) -> int:
    return -1 if column.pid is None else column.index


class Numbers:
    """What the closure holds, by number, under renamings and with names veiled."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.definition = model.definition
        self.values, self.keys = model.numbered_values()
        for index in model.engine.growing():  # all but the initial ones, which come first, are looked at one by one
            self.keys[index] = self.keys[index][: len({encode(state[index]) for state in model.definition.initials})]
        self.names_of = {number: names_in(value) for number, value in self.values.items()}

    def exchange(self, one: Name, two: Name) -> tuple[list[int], list[list[int]], list[list[int]]]:
        """The exchange of two names as tables of columns, local states and messages; NONE where there is no image."""
        names = exchanging(one, two)
        columns = column_images(self.definition, names)
        touched = {number for number, held in self.names_of.items() if not held.isdisjoint(names)}
        images = {number: self.model.value_number(renamed(self.values[number], names)) for number in touched}
        locals = [[self._local(columns[index], key, images) for key in keys] for index, keys in enumerate(self.keys)]
        messages = [
            [self.model.message_number(columns[index], renamed(message, names)) for message in held]
            for index, held in enumerate(self.model.numbered_messages)
        ]
        return columns, locals, messages

    def _local(self, column: int, key: tuple[int, ...], images: Mapping[int, int]) -> int:
        if key[:1] == (VIEW,):  # the core compares what is done there, whatever is read first
            return NONE
        if key[:1] == (-1,):  # a monitor that failed: which of several texts it failed with does not matter
            return self.model.local_number(column, key)
        image = tuple([images.get(number, number) for number in key])
        return NONE if NONE in image else self.model.local_number(column, image)

    def marks(self, marking: Marking) -> tuple[list[list[Marked]], list[list[Marked]]]:
        """How names occur in every local state and message, as numbers that no renaming changes."""
        growing = self.model.engine.growing()
        values = {number: marking.of(value) for number, value in self.values.items()}
        locals = [
            [joined(key, values) for key in keys] if index not in growing else []
            for index, keys in enumerate(self.keys)
        ]
        known: dict[bytes, Marked] = {}
        messages: list[list[Marked]] = []
        for held in self.model.numbered_messages:
            messages.append([])
            for message in held:
                code = encode(message)
                if code not in known:
                    known[code] = marking.of(message)
                messages[-1].append(known[code])
        return locals, messages


class Marking:
    """How names of families occur in a value, as numbers that no renaming changes."""

    def __init__(self, families: Sequence[Family]) -> None:
        names = [name for family in families for name in family.names]
        self._numbers = {encode(name): number for number, name in enumerate(names)}
        self._tokens = {encode(name): b"@%d;" % i for i, family in enumerate(families) for name in family.names}

    def of(self, value: Any) -> Marked:
        mine = [(number, name) for name in names_in(value) if (number := self._numbers.get(name)) is not None]
        if not mine:
            return _digest(encode(value)), []
        tokens = self._tokens
        marked = [(number, _digest(veiled(value, {**tokens, name: b"!" + tokens[name]}))) for number, name in mine]
        return _digest(veiled(value, tokens)), sorted(marked)


def joined(key: tuple[int, ...], values: Mapping[int, Marked]) -> Marked:
    """The marks of a local state from those of its values. A negative number says what kind of state it is."""
    if key[:1] == (VIEW,):
        return 0, []  # no state holds it
    parts = [values[number] if number >= 0 else (-number, []) for number in key] if key[:1] != (-1,) else [(1, [])]
    base = [part[0] for part in parts]
    marked: dict[int, list[int]] = {}
    for place, (_, marks) in enumerate(parts):
        for number, mark in marks:
            marked.setdefault(number, base.copy())[place] = mark
    return _digest_of(base), [(number, _digest_of(parts)) for number, parts in sorted(marked.items())]


def _digest(code: bytes) -> int:
    return int.from_bytes(blake2b(code, digest_size=8).digest(), "little")


def _digest_of(numbers: Iterable[int]) -> int:
    return _digest(b"".join([number.to_bytes(8, "little") for number in numbers]))


class Group:
    """The families of a model that passed the check, and those left out with the reason."""

    growing: GrowingMonitors

    def __init__(self, model: Model) -> None:
        self.families: list[Family] = []
        self.dropped: list[tuple[Family, str]] = []
        self._model = model

    @property
    def order(self) -> int:
        """The number of elements of the group."""
        return prod(family.order for family in self.families)

    @property
    def group(self) -> str:
        """The group as a person writes it: `5! Acceptor x 2! Learner`."""
        return " x ".join(f"{len(family.names)}! {family.name}" for family in self.families)

    @property
    def names(self) -> list[Name]:
        """The names of all families, one after the other."""
        return [name for family in self.families for name in family.names]

    def drop(self, number: int, why: str) -> None:
        """Leave a family out after all."""
        self.dropped.append((self.families.pop(number), why))
        self._hand_over()

    def admit(self, locals: Iterable[tuple[int, int]], messages: Iterable[tuple[int, int]]) -> None:
        """Make images of local states and messages, by column and number, known to the core, if they are not."""
        for index, local in locals:
            if index in self.growing.columns:
                self.growing.admit(self._model.definition.columns[index], local)

    def _named_initially(self, family: Family) -> str:
        """Why a family is left out whose names an object of a register has from the beginning."""
        names = {encode(name) for name in family.names}
        for history in self._model.histories.values():
            if not names.isdisjoint(names_in(history.specification.initial)):
                return f"the initial state of {history.specification.name} names one of them"
        return ""

    def _require_bound(self, symmetric: Sequence[bool]) -> bool:
        """Leave out all families if what is cut, which is never judged, may be something else for renamed states."""
        if self._model.definition.bound is None or not self.families or symmetric[-1]:
            return True
        why = f"{self._model.definition.name}.within is not known to treat them alike: let it only fold what it reads"
        self.dropped += [(family, why) for family in self.families]
        self.families = []
        return False

    def _hand_over(self) -> None:
        """Tell the core of the families that are left."""
        raise NotImplementedError


class Symmetries(Group):
    """What was compared with the closure."""

    def __init__(self, model: Model, families: Iterable[Family]) -> None:
        super().__init__(model)
        self._numbers = Numbers(model)
        self._exchanges: dict[Family, list[_core.Renaming]] = {}
        self._images: dict[Family, list[tuple[list[int], list[list[int]]]]] = {}
        """The same, as far as columns and local states go."""
        failures = failure_classes(model.failures)
        for family in families:
            why = self._check(family, failures)
            if why:
                self.dropped.append((family, why))
            else:
                self.families.append(family)
        self._hand_over()

    def _check(self, family: Family, failures: list[int]) -> str:
        if why := self._named_initially(family):
            return why
        for one, two in zip(family.names, family.names[1:], strict=False):
            breach = self._model.engine.find_breach(self._exchange(family, one, two), failures)
            if breach is not None:
                return explained(self._model, one, two, breach)
            columns, locals = self._images[family][-1]
            for parts in self._model.parts:
                if parts is not None and any(self._model.folds_apart(fold, columns, locals) for fold in parts.folds):
                    return told_by(parts)
        return ""

    def _exchange(self, family: Family, one: Name, two: Name) -> _core.Renaming:
        """The exchange of two neighbours of a family, which is kept."""
        columns, locals, messages = self._numbers.exchange(one, two)
        found = _core.Renaming(columns=columns, locals=locals, messages=messages)
        self._images.setdefault(family, []).append((columns, locals))
        self._exchanges.setdefault(family, []).append(found)
        return found

    def _is_symmetric(self, parts: Parts | None) -> bool:
        """Whether a property says the same of all renamed states, by what it is made of.

        It folds what it reads of all processes of a role, in any order, and reads the same of a renamed process.
        """
        if parts is None or not parts.symmetric:
            return False
        return all(
            self._model.folds_alike(fold, columns, locals)
            for family in self.families
            for columns, locals in self._images[family]
            for fold in parts.folds
        )

    def _hand_over(self) -> None:
        engine = self._model.engine
        symmetric = [self._is_symmetric(parts) for parts in self._model.parts]
        self._require_bound(symmetric)
        engine.set_symmetric(symmetric)
        marking = Marking(self.families)
        if not self.families:
            engine.unsymmetrise()
            self.growing = GrowingMonitors(self._model, [], marking)
            return
        locals, messages = self._numbers.marks(marking)
        engine.symmetrise(
            _core.Symmetry(
                families=[len(family.names) for family in self.families],
                owned=[owned(self._model.definition, name) for name in self.names],
                exchanges=[self._exchanges[family] for family in self.families],
                locals=locals,
                messages=messages,
            )
        )
        self.growing = GrowingMonitors(self._model, self.families, marking)
        if self.growing.why:  # by what an earlier search has asked for
            self.drop(self.growing.broken, self.growing.why)


def failure_classes(failures: Sequence[Failure]) -> list[int]:
    """Failures that differ in their text alone, which may hold names, count as the same."""
    known: dict[tuple[str, str, int, str], int] = {}
    keys = [(each.kind, each.file, each.line, each.code) for each in failures]
    return [known.setdefault(key, len(known)) for key in keys]


def told_by(parts: Parts) -> str:
    """What a property asks of one process tells others apart."""
    place = parts.property.location
    return (
        f"what the property `{parts.property.name}` ({place.file}:{place.line}) asks of one process "
        "depends on which is which, for example on the order of a set of identities"
    )


def explained(model: Model, one: Name, two: Name, breach: _core.Breach) -> str:
    """Where a family turned out not to be symmetric, for the user."""
    definition = model.definition
    what, transition = breach.what, breach.transition
    if what == "initial" or breach.column is None:
        return f"exchanging {one} and {two} changes what there is at the beginning"
    column = definition.columns[breach.column]
    place: Location | None = None
    where = str(column.cls.__name__)
    if transition is not None and not column.is_monitor:
        found = definition.transitions(column)[transition]
        place, where = found.location, str(found)
    elif definition.transitions(column):
        place = definition.transitions(column)[0].location
    at = f" ({place.file}:{place.line})" if place is not None else ""
    if what == "message":
        return f"{column} may be sent something that it is not sent when {one} and {two} are exchanged{at}"
    if what == "crash":
        return f"crashes of {column} are not the same when {one} and {two} are exchanged{at}"
    if what == "local":
        return f"{where} comes to a local state that it does not come to when {one} and {two} are exchanged{at}"
    return (
        f"{where} does something else when {one} and {two} are exchanged{at}: it depends on which process is which, "
        "for example on the order of a set of identities"
    )
