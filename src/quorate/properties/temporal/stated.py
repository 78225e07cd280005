"""Temporal properties of a definition: formulas read, and their names bound to predicates of this instance."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from inspect import isfunction, signature
from typing import Any, Literal

from quorate.base.errors import Location, ModelError
from quorate.base.places import location_of
from quorate.language.message import Message
from quorate.language.system import System
from quorate.language.temporal import Expand, Stated
from quorate.model.definition import Column, Definition, Property
from quorate.model.senders import senders
from quorate.model.temporal import Claimed, methods_of, read_temporal
from quorate.properties.temporal.automaton import MOST_NAMES, check_limit
from quorate.properties.temporal.branching import linear
from quorate.properties.temporal.errors import FormulaError
from quorate.properties.temporal.formula import Formula, Op, names
from quorate.properties.temporal.parse import parse_ctl, parse_ltl


@dataclass(frozen=True, eq=False)
class TemporalProperty:
    """One formula about one instance; of a property with `each`, about one process."""

    name: str
    kind: str
    formula: Formula
    predicates: Mapping[str, Property]
    location: Location
    doc: str = ""
    of: type[Message] | None = None
    """With `each` of a type of messages: that type, and who was found to send it."""
    senders: frozenset[int] = frozenset()

    @property
    def branching(self) -> bool:
        return self.kind == "ctl"

    @property
    def condition(self) -> Formula | None:
        """Of `p -> q` this is p, and of `G(p -> q)` it is F p: if no run satisfies it, the property says nothing."""
        formula = linear(self.formula)
        inner = formula.parts[0] if formula is not None and formula.op is Op.G else formula
        if inner is None or inner.op is not Op.IMPLIES:
            return None
        left = inner.parts[0]
        return left if inner is formula else Formula(Op.F, (left,))


def temporal_of(definition: Definition) -> tuple[TemporalProperty, ...]:
    """All that the system states."""
    return tuple(each for claimed in read_temporal(type(definition.system)) for each in _bound(definition, claimed))


def asked_for(
    definition: Definition, formulas: Iterable[str], kind: Literal["ltl", "ctl"]
) -> tuple[TemporalProperty, ...]:
    """Formulas from the command line, over the same names."""
    methods = methods_of(type(definition.system), 0)
    place = Location(f"--{kind}", 1)
    claimed = [Claimed(text, kind, text, methods, None, "", place) for text in dict.fromkeys(formulas)]
    return tuple(each for one in claimed for each in _bound(definition, one))


def _bound(definition: Definition, claimed: Claimed) -> list[TemporalProperty]:
    if claimed.expand is not None:
        return _expanded(definition, claimed, claimed.expand)
    try:
        read = parse_ctl if claimed.kind == "ctl" else parse_ltl
        formula = read(claimed.formula, claimed.methods)
    except FormulaError as error:
        error.location = claimed.location
        error.hint = _other_parameters(definition, claimed, error) or error.hint
        raise
    check_limit("predicates", len(names(formula)), MOST_NAMES)
    if claimed.each is None:
        predicates = {name: _predicate(name, claimed.methods[name]) for name in names(formula)}
        return [TemporalProperty(claimed.name, claimed.kind, formula, predicates, claimed.location, claimed.doc)]
    of = claimed.each if issubclass(claimed.each, Message) else None
    columns = _playing(definition, claimed.each) if of is None else senders(definition, of)
    if not columns:
        wrong = f"there is no {claimed.each.__name__} in" if of is None else f"nobody sends {of.__name__} in"
        raise ModelError(
            f"{claimed.name}: {wrong} {definition.name}",
            hint="each= names a class of processes that `build` spawns, or of messages that they send",
            code="Q409",
            location=claimed.location,
        )
    return [
        TemporalProperty(
            f"{claimed.name}[{column.name}]",
            claimed.kind,
            formula,
            {name: _predicate_of(definition, name, claimed.methods[name], column) for name in names(formula)},
            claimed.location,
            claimed.doc,
            of,
            frozenset(each.index for each in columns),
        )
        for column in columns
    ]


def _other_parameters(definition: Definition, claimed: Claimed, error: FormulaError) -> str:
    """What is wrong with a name that is a method of the system, but cannot be a predicate here; empty if it is none."""
    named = re.match(r"\w*", error.text[error.column - 1 :])
    method = getattr(type(definition.system), named[0], None) if error.code == "Q405" and named is not None else None
    if named is not None and isinstance(method, Stated):
        return f"{named[0]} is a formula itself, and formulas are about methods: write out what it says"
    if named is None or not isfunction(method) or hasattr(System, named[0]):
        return ""
    parameters = ", ".join(signature(method).parameters)
    wanted = "only self" if claimed.each is None else f"self and a {claimed.each.__name__}, because of each="
    return f"{named[0]}({parameters}) is a method, but predicates of this formula take {wanted}"


def _expanded(definition: Definition, claimed: Claimed, expand: Expand) -> list[TemporalProperty]:
    """One property for each of the formulas that it stands for."""
    found: list[TemporalProperty] = []
    shared: dict[Any, Property] = {}
    """What several formulas name is asked once."""
    try:
        for which, text, methods in expand(definition.system, lambda role: len(_playing(definition, role))):
            formula = parse_ltl(text, methods)
            predicates = {
                name: shared.setdefault(methods[name], _predicate(name, methods[name])) for name in names(formula)
            }
            named = f"{claimed.name}[{which}]"
            found.append(TemporalProperty(named, claimed.kind, formula, predicates, claimed.location, claimed.doc))
    except (FormulaError, ModelError) as error:
        error.location = error.location or claimed.location
        raise
    if not found:
        raise ModelError(
            f"{claimed.name}: {definition.name} has no process that its operations are of",
            hint="operations(..., by=...) names a class of processes that `build` spawns, and count= is at least 1",
            code="Q409",
            location=claimed.location,
        )
    return found


def _playing(definition: Definition, role: Any) -> list[Column]:
    """The processes of a class that properties see."""
    return [
        column
        for column in definition.processes
        if issubclass(column.cls, role) and (role._byzantine or not column.cls._byzantine)
    ]


def _predicate(name: str, method: Callable[..., bool]) -> Property:
    return Property(name, "predicate", "", method, location_of(method) or Location("<unknown>", 1))


def _predicate_of(definition: Definition, name: str, method: Callable[..., bool], column: Column) -> Property:
    function = partial(_about, method, column.cls, _playing(definition, column.cls).index(column))
    return Property(
        f"{name}[{column.name}]", "predicate", "", function, location_of(method) or Location("<unknown>", 1)
    )


def _about(method: Callable[..., bool], role: type, place: int, system: Any) -> bool:
    """The method asked about one process of a role."""
    return method(system, system[role][place])
