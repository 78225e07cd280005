"""Temporal properties of a definition: formulas read, and their names bound to predicates of this instance."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from quorate.base.errors import Location, ModelError
from quorate.base.places import location_of
from quorate.model.definition import Column, Definition, Property
from quorate.model.temporal import Claimed, methods_of, read_temporal
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

    @property
    def branching(self) -> bool:
        return self.kind == "ctl"

    @property
    def trigger(self) -> Property | None:
        """The left side of G(p -> ...): if it never holds, the formula holds for no reason."""
        if self.formula.op is Op.G and self.formula.parts[0].op is Op.IMPLIES:
            left = self.formula.parts[0].parts[0]
            return self.predicates.get(left.name) if left.op is Op.NAME else None
        return None


def temporal_of(definition: Definition) -> tuple[TemporalProperty, ...]:
    """All that the system states."""
    return tuple(each for claimed in read_temporal(type(definition.system)) for each in _bound(definition, claimed))


def asked_for(
    definition: Definition, formulas: Iterable[str], kind: Literal["ltl", "ctl"]
) -> tuple[TemporalProperty, ...]:
    """Formulas from the command line, over the same names."""
    methods = methods_of(type(definition.system), 0)
    place = Location(f"--{kind}", 1)
    claimed = [Claimed(text, kind, text, methods, None, "", place) for text in formulas]
    return tuple(each for one in claimed for each in _bound(definition, one))


def _bound(definition: Definition, claimed: Claimed) -> list[TemporalProperty]:
    try:
        read = parse_ctl if claimed.kind == "ctl" else parse_ltl
        formula = read(claimed.formula, claimed.methods)
    except FormulaError as error:
        error.location = claimed.location
        raise
    if claimed.each is None:
        predicates = {name: _predicate(name, claimed.methods[name]) for name in names(formula)}
        return [TemporalProperty(claimed.name, claimed.kind, formula, predicates, claimed.location, claimed.doc)]
    role = claimed.each
    columns = [
        column
        for column in definition.processes
        if issubclass(column.cls, role) and (role._byzantine or not column.cls._byzantine)
    ]
    if not columns:
        raise ModelError(
            f"{claimed.name}: there is no {claimed.each.__name__} in {definition.name}",
            hint="each= names a class of processes that `build` spawns",
            code="Q409",
            location=claimed.location,
        )
    return [
        TemporalProperty(
            f"{claimed.name}[{column.name}]",
            claimed.kind,
            formula,
            {
                name: _predicate_of(name, claimed.methods[name], claimed.each, columns, column)
                for name in names(formula)
            },
            claimed.location,
            claimed.doc,
        )
        for column in columns
    ]


def _predicate(name: str, method: Callable[..., bool]) -> Property:
    return Property(name, "predicate", "", method, location_of(method) or Location("<unknown>", 1))


def _predicate_of(
    name: str, method: Callable[..., bool], role: type, columns: list[Column], column: Column
) -> Property:
    function = partial(_about, method, role, columns.index(column))
    return Property(
        f"{name}[{column.name}]", "predicate", "", function, location_of(method) or Location("<unknown>", 1)
    )


def _about(method: Callable[..., bool], role: type, place: int, system: Any) -> bool:
    """The method asked about one process of a role."""
    return method(system, system[role][place])
