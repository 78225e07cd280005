"""The instances of a system that differ in how many processes of a role there are, as one.

`build` is run for several numbers. What it makes has to be more of the same: the other processes and their fields are
equal in all instances, but for sets of all processes of a role, a process's own identity, and integers that depend on
the number. Those become what they mean (parametric_values.py); anything else that differs is refused by its field.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

from quorate.base.errors import LimitError, ParameterError, QuorateError, did_you_mean
from quorate.base.places import class_location, member_location
from quorate.base.values import encode
from quorate.language.pid import Pid, column_of
from quorate.language.system import System
from quorate.model.define import define
from quorate.model.definition import Column, Definition
from quorate.proofs.parametric_values import OfNumber, Role
from quorate.proofs.proxies import lifted
from quorate.proofs.refusal import RefusedError

SIZES = {1: (1, 2, 3, 4, 5, 6, 7), 2: (1, 2, 3, 4), 3: (1, 2, 3)}
"""By how many roles may have any number: the numbers that are built."""
MORE = {
    1: ((8,), (11,), (16,)),
    2: ((7, 7), (2, 8), (8, 2), (8, 8), (11, 11)),
    3: ((4, 4, 4), (7, 7, 7), (8, 8, 8)),
}
"""What is built besides, as long as that is quick: constants of a model are often greater than the numbers above."""
QUICK = 2.0
"""CPU seconds that building one of these may take, if the time doubles with every process."""


class Everyone(NamedTuple):
    """In a field: all processes of a role, with or without the owner of the field, and certain others."""

    role: Role
    others: bool
    fixed: tuple[Pid, ...]


class Oneself(NamedTuple):
    """In a field: the process that it is a field of."""

    role: Role


@dataclass
class Family:
    """What all instances have in common."""

    system: System
    roles: tuple[Role, ...]
    points: tuple[tuple[int, ...], ...]
    definitions: tuple[Definition, ...]
    reference: Definition
    """The instance whose columns stand for all: of a role the first one, of others those there are."""

    def role_of(self, column: Column) -> Role | None:
        return next((role for role in self.roles if column.cls is role.cls), None)

    def columns(self) -> list[Column]:
        """One column of every role, and all others."""
        seen: set[Role] = set()
        found = []
        for column in self.reference.columns:
            role = self.role_of(column)
            if role is not None and role in seen:
                continue
            if role is not None:
                seen.add(role)
            found.append(column)
        return found

    def number(self, role: Role) -> OfNumber:
        at = self.roles.index(role)
        return OfNumber([point[at] for point in self.points])

    @property
    def built(self) -> str:
        """For which numbers `build` was run, in words."""
        if len(self.roles) == 1:
            return f"{self.roles[0].parameter} = {_ranges([point[0] for point in self.points])}"
        names = ", ".join(role.parameter for role in self.roles)
        small = [point for point in self.points if point in set(product(SIZES[len(self.roles)], repeat=len(point)))]
        each = _ranges(sorted({number for point in small for number in point}))
        whole = len(small) == len({number for point in small for number in point}) ** len(self.roles)
        shown = [f"each {each}"] if whole else [f"({', '.join(map(str, point))})" for point in small]
        shown += [f"({', '.join(map(str, point))})" for point in self.points if point not in small]
        return f"({names}) = {'; '.join(shown)}"

    def parameter(self, name: str, value: Any) -> Any:
        """What a parameter of the system is in a property."""
        for role in self.roles:
            if role.parameter == name:
                return self.number(role)
        return lifted(value)

    # Fields

    def initial(self, column: Column, index: int) -> list[Any]:
        """What a field begins with, in every initial state: a plain value, or what it means."""
        role = self.role_of(column)
        count = len(self.reference.initials)
        found = []
        for number in range(count):
            seen: list[tuple[Any, Definition, Column]] = []
            for definition in self.definitions:
                mine = (
                    [each for each in definition.columns if each.cls is column.cls]
                    if role is not None
                    else [self._other(definition, column)]
                )
                seen += [(definition.initials[number][each.index][index], definition, each) for each in mine]
            found.append(self._meaning(seen, column, index))
        return found

    def _other(self, definition: Definition, column: Column) -> Column:
        fixed = [each for each in self.reference.columns if self.role_of(each) is None]
        theirs = [each for each in definition.columns if self.role_of(each) is None]
        return theirs[fixed.index(column)]

    def _fixed(self, definition: Definition, pid: Pid) -> Pid | None:
        """The same process in the reference instance; None for one of a role."""
        column = definition.columns[column_of(pid)]
        if self.role_of(column) is not None:
            return None
        theirs = [each for each in definition.columns if self.role_of(each) is None]
        fixed = [each for each in self.reference.columns if self.role_of(each) is None]
        return fixed[theirs.index(column)].pid

    def _meaning(self, seen: Sequence[tuple[Any, Definition, Column]], column: Column, index: int) -> Any:
        values = [value for value, _, _ in seen]
        if all(isinstance(each, Pid) for each in values):
            fixed = [self._fixed(definition, value) for value, definition, _ in seen]
            if None not in fixed and len({str(each) for each in fixed}) == 1:
                return fixed[0]
            role = self.role_of(column)
            if role is not None and all(value == owner.pid for value, _, owner in seen):
                return Oneself(role)
        elif all(isinstance(each, frozenset) and all(isinstance(pid, Pid) for pid in each) for each in values) and any(
            values
        ):
            found = self._set(seen)
            if found is not None:
                return found
        elif all(type(each) is int for each in values) and len(set(values)) > 1:
            by_point: list[int] = []
            for definition in self.definitions:
                own = {value for value, where, _ in seen if where is definition}
                if len(own) != 1:
                    break
                by_point.append(own.pop())
            else:
                return OfNumber(by_point)
        elif all(isinstance(each, tuple) and len(each) == len(values[0]) for each in values) and values[0] != ():
            parts = [
                self._meaning([(value[at], definition, owner) for value, definition, owner in seen], column, index)
                for at in range(len(values[0]))
            ]
            return type(values[0])(*parts) if hasattr(values[0], "_fields") else tuple(parts)
        elif len({encode(each) for each in values}) == 1 and not _pids(values[0]):
            return values[0]
        name = f"{column.cls.__name__}.{column.fields[index]}"
        raise RefusedError(
            f"{name} begins as {values[0]!r} here and as {next((v for v in values if v != values[0]), values[-1])!r} "
            "there, depending on the process or on how many there are",
            f"a set of all processes of a role works, and --any {name} for all values",
            member_location(column.cls, column.fields[index]),
        )

    def _set(self, seen: Sequence[tuple[Any, Definition, Column]]) -> Any:
        fixed: set[tuple[Pid, ...]] = set()
        meanings: dict[Role, set[str]] = {role: {"none", "all", "others"} for role in self.roles}
        for value, definition, owner in seen:
            known = [self._fixed(definition, pid) for pid in value]
            fixed.add(tuple(sorted((each for each in known if each is not None), key=column_of)))
            for role in self.roles:
                every = {each.pid for each in definition.columns if each.cls is role.cls}
                mine = {pid for pid in value if pid in every}
                possible = {
                    name
                    for name, wanted in (("none", set()), ("all", every), ("others", every - {owner.pid}))
                    if mine == wanted and (name != "others" or owner.cls is role.cls)
                }
                meanings[role] &= possible
        if len(fixed) != 1 or any(not each for each in meanings.values()):
            return None
        some = [role for role in self.roles if "none" not in meanings[role]]
        (same,) = fixed
        if not some:
            from quorate.language.pid import Peers

            return Peers(same)
        if len(some) > 1:
            return None
        return Everyone(some[0], "all" not in meanings[some[0]], same)


def _pids(value: Any) -> bool:
    if isinstance(value, Pid):
        return True
    if isinstance(value, Mapping):
        return any(_pids(part) for item in value.items() for part in item)
    return isinstance(value, (tuple, frozenset)) and any(map(_pids, value))


# --- from a system -----------------------------------------------------------------------------------------------


def family(system: System, numbers: Iterable[str]) -> Family:
    """The instances of a system with any number of processes of certain roles: `Participant=any`."""
    parsed = tuple(dict.fromkeys(_parsed(each) for each in numbers))
    given = define(system)
    roles = tuple(_role(system, given, name) for name in parsed)
    if len(roles) > max(SIZES):
        raise RefusedError(f"any number of {len(roles)} roles at once", f"up to {max(SIZES)} work")
    points: list[tuple[int, ...]] = []
    definitions = []
    least = list(product(*(SIZES[len(roles)] for _ in roles)))
    seconds = 0.0
    for point in (*least, *MORE[len(roles)]):
        if point not in least and seconds * 2 ** (max(point) - max(points[-1])) > QUICK:
            break
        began = time.process_time()
        values = {**system.parameters, **{role.parameter: n for role, n in zip(roles, point, strict=True)}}
        try:
            definition = define(type(system)(**values))
        except QuorateError as error:
            if point == tuple(2 for _ in roles):
                raise
            if isinstance(error, LimitError) and point not in least:
                break
            if not isinstance(error, ParameterError):
                raise
            continue  # a number that the system itself refuses
        seconds = time.process_time() - began
        for role, n in zip(roles, point, strict=True):
            if sum(column.cls is role.cls for column in definition.columns) != n:
                raise RefusedError(
                    f"with {role.parameter}={n} there are not {n} processes of {role.name}",
                    "one parameter has to say how many there are",
                    class_location(type(system)),
                )
        points.append(point)
        definitions.append(definition)
    reference = definitions[points.index(tuple(2 for _ in roles))]
    found = Family(system, roles, tuple(points), tuple(definitions), reference)
    _alike(found)
    return found


def _parsed(text: str) -> str:
    role, _, number = text.partition("=")
    if not role.strip() or number.strip() != "any":
        raise ParameterError(
            f"--number {text} is not of the form ROLE=any",
            hint="for example --number Participant=any; a certain number is a parameter of the system: -p",
            code="Q755",
        )
    return role.strip()


def _role(system: System, given: Definition, name: str) -> Role:
    classes: dict[str, set[type]] = {}
    for column in given.processes:
        classes.setdefault(column.cls.__name__, set()).add(column.cls)
    if name not in classes:
        raise ParameterError(f"there is no role {name}", hint=did_you_mean(name, classes), code="Q755")
    if len(classes[name]) > 1 or name in ("Int", "Bool"):
        raise RefusedError(f"the name {name} is that of something else too", "rename the class")
    (cls,) = classes[name]
    found = []
    before = sum(column.cls is cls for column in given.columns)
    for parameter, value in system.parameters.items():
        if type(value) is not int:
            continue
        try:
            more = define(type(system)(**{**system.parameters, parameter: value + 1}))
        except QuorateError:
            continue
        if sum(column.cls is cls for column in more.columns) == before + 1 and value == before:
            found.append(parameter)
    if len(found) != 1:
        raise ParameterError(
            f"{'no' if not found else 'more than one'} parameter of {given.name} says how many {name} there are"
            + (f": {', '.join(found)}" if found else ""),
            hint=f"--number needs a parameter n with self.spawn({name}, self.n)",
            code="Q755",
        )
    return Role(name, cls, found[0])


def _alike(found: Family) -> None:
    """Refuse a system of which instances differ in more than their number of processes."""
    place = class_location(type(found.system))
    reference = found.reference
    fixed = [column.cls for column in reference.columns if found.role_of(column) is None]
    for definition, point in zip(found.definitions, found.points, strict=True):
        shown = ", ".join(f"{role.parameter}={n}" for role, n in zip(found.roles, point, strict=True))
        if [column.cls for column in definition.columns if found.role_of(column) is None] != fixed:
            raise RefusedError(
                f"with {shown} there are other processes besides", "their number must not depend on it", place
            )
        if (definition.network, definition.faults) != (reference.network, reference.faults):
            raise RefusedError(
                f"with {shown} the network or the faults are others", "they must not depend on the number", place
            )
        if _rest(definition) != _rest(reference):
            raise RefusedError(
                f"with {shown} there are other scalars, shared cells, or messages that are pending at the beginning",
                "they must not depend on the number",
                place,
            )
        if len(definition.initials) != len(reference.initials):
            raise RefusedError(
                f"with {shown} there are other initial states", "their number must not depend on it", place
            )


def _ranges(numbers: Sequence[int]) -> str:
    """Ascending numbers in words: `1 to 8, 11, 16`."""
    runs: list[list[int]] = []
    for each in numbers:
        if runs and each == runs[-1][-1] + 1:
            runs[-1].append(each)
        else:
            runs.append([each])
    return ", ".join(f"{run[0]} to {run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs)


def _rest(definition: Definition) -> Any:
    """What a system has besides processes, as far as it has to be the same for every number of them."""
    scalars = {name: [encode(each) for each in made] for name, made in definition.scalars.items()}
    return scalars, [encode(each) for each in definition.cells], any(definition.posted)
