"""What a check would do, and what it knows beforehand: everything that is found out before any search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from quorate import _core
from quorate.analysis.decomposition import Whole, roles, taken_apart
from quorate.analysis.facts import Enabling, Facts, Traffic, TransitionFacts
from quorate.analysis.model import Model
from quorate.analysis.symmetry import Symmetries, proposed
from quorate.language.definition import Definition, define
from quorate.language.environment import Environment
from quorate.language.errors import LimitError
from quorate.language.pid import DecompositionError
from quorate.language.system import System
from quorate.language.watchdog import Halted
from quorate.search.implicit import refuse_what_implicit_crashes_miss
from quorate.search.limits import Watcher
from quorate.search.options import Options, select
from quorate.search.purity import Purity
from quorate.search.reductions import MOST_BEHAVIOURS, Figures, analyse, require_decomposed

SCHEMA = 1


@dataclass(frozen=True)
class ProcessSizes:
    """How large a process (or monitor) is in the closure, and after the reductions."""

    name: str
    is_monitor: bool
    local_states: int
    merged: int | None
    """Local states after the quotient; None where it does not run."""
    messages: int
    dead: int | None
    """Pairs of a local state and a message that is dead there; None where dead messages are kept."""


@dataclass(frozen=True)
class Plan:
    """The analysis of one instance, and the reductions that a check with these options would use."""

    definition: Definition
    target: str | None
    properties: Mapping[str, list[str]]
    """Property -> the fields that it reads in the initial states."""
    processes: tuple[ProcessSizes, ...]
    transitions: tuple[TransitionFacts, ...]
    enabling: tuple[Enabling, ...]
    never_consumed: Traffic
    symmetries: Symmetries | None
    """Families of processes that may be exchanged, as far as the closure shows; None without one."""
    reductions: Figures
    closed: bool
    """Whether the closure ended. Otherwise processes and what enables what are not known."""
    seconds: float

    def to_json(self) -> dict[str, Any]:
        """The object that `quorate plan --json` prints."""
        from quorate.traces.json import value_to_json

        return {
            "schema": SCHEMA,
            "system": self.definition.name,
            "target": self.target,
            "parameters": {name: value_to_json(value) for name, value in self.definition.parameters.items()},
            "network": str(self.definition.network),
            "environment": self.definition.environment.to_json(),
            "closed": self.closed,
            "properties": {name: list(fields) for name, fields in self.properties.items()},
            "processes": {each.name: _sizes(each) for each in self.processes},
            "transitions": [each.to_json() for each in self.transitions],
            "enabling": [each.to_json() for each in self.enabling],
            "never_consumed": self.never_consumed,
            "symmetry_classes": self.symmetry_classes,
            "reductions": {name: dict(figures) for name, figures in self.reductions.items()},
            "seconds": self.seconds,
        }

    @property
    def symmetry_classes(self) -> list[dict[str, Any]]:
        """Who may be exchanged; and who looked as if, with the place where it turned out otherwise."""
        if self.symmetries is None:
            return []
        kept = [(family, None) for family in self.symmetries.families]
        return [
            {"class": family.name, "members": [str(name) for name in family.names], "why_not": why}
            for family, why in [*kept, *self.symmetries.dropped]
        ]


def plan(
    system: System | type[System],
    options: Options,
    *,
    property: str | list[str] | None = None,
    environment: Environment | None = None,
    target: str | None = None,
) -> Plan:
    """Find out what there is to know without a search."""
    try:
        with Watcher(None, None) as watcher:
            return _found(system, options, property, environment or Environment(), target, watcher)
    except Halted as halted:
        raise (MemoryError if halted.out_of_memory else KeyboardInterrupt) from None


def _found(
    system: System | type[System],
    options: Options,
    property: str | list[str] | None,
    environment: Environment,
    target: str | None,
    watcher: Watcher,
) -> Plan:
    definition = define(system, environment)
    apart, why = taken_apart(system, environment) if options.symmetry == "auto" else (None, "")
    asked = select(definition, property)
    refuse_what_implicit_crashes_miss(definition, asked)
    if apart is not None:
        try:
            model = Model(apart, asked.properties, watcher, whole=Whole(apart, definition))
            with Purity(definition, apart):
                return _plan(model, why, options, target, watcher)
        except DecompositionError as reason:
            why = str(reason)
    with Purity(definition):
        return _plan(Model(definition, asked.properties, watcher), why, options, target, watcher)


def _plan(model: Model, why_whole: str, options: Options, target: str | None, watcher: Watcher) -> Plan:
    definition = model.definition
    # What a property reads may grow during a search; the initial states are where it begins.
    reads = {each.name: _first_reads(model, each) for each in model.properties}
    try:
        figures = analyse(model, options)
        # Also where no reduction that was asked for needs it: it is what there is to tell.
        closure = figures["closure"] if "complete" in figures["closure"] else model.engine.close(model, MOST_BEHAVIOURS)
    except _core.LimitError as limit:
        raise LimitError(str(limit), code="Q501") from None
    except _core.StoppedError:
        raise KeyboardInterrupt from None
    if apart := roles(definition):
        require_decomposed(model, figures)
        figures["symmetry"]["decomposed"] = apart
    elif why_whole:
        figures["symmetry"]["not_decomposed"] = why_whole
    closed = bool(closure["complete"])
    facts = Facts(model, closed)
    return Plan(
        definition=definition,
        target=target,
        properties=reads,
        processes=tuple(_sizes_of(model, figures)) if closed else (),
        transitions=tuple(facts.transitions),
        enabling=tuple(facts.enabling),
        never_consumed=facts.never_consumed(),
        symmetries=(model.symmetries or Symmetries(model, proposed(definition))) if closed else None,
        reductions=figures,
        closed=closed,
        seconds=watcher.seconds,
    )


def _first_reads(model: Model, prop: Any) -> list[str]:
    found: dict[str, None] = {}
    for state in model.definition.initials:
        reads = model.evaluate(prop, state).reads
        model.note_reads(reads)
        for column, field in reads:
            owner = model.definition.columns[column]
            found.setdefault(f"{owner.name}.{owner.fields[field] if field >= 0 else 'crashed'}")
    return list(found)


def _sizes_of(model: Model, figures: Figures) -> list[ProcessSizes]:
    found: list[ProcessSizes] = []
    for column in model.definition.columns:
        representatives = model.engine.representatives(column.index)
        dead = model.engine.dead(column.index)
        found.append(
            ProcessSizes(
                column.name,
                column.is_monitor,
                local_states=len(representatives),
                merged=len(set(representatives)) if figures["quotient"]["ran"] else None,
                messages=len(dead),
                dead=sum(dead) if figures["dead-messages"]["ran"] and not column.is_monitor else None,
            )
        )
    return found


def _sizes(each: ProcessSizes) -> dict[str, Any]:
    return {
        "local_states": each.local_states,
        "merged": each.merged,
        "messages": each.messages,
        "dead": each.dead,
    }
