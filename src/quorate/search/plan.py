"""What a check would do, and what it knows beforehand: everything that is found out before any search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from quorate import _core
from quorate.base.errors import LimitError
from quorate.base.watchdog import Halted
from quorate.language.pid import DecompositionError
from quorate.language.system import System
from quorate.model.define import define
from quorate.model.definition import Definition
from quorate.model.environment import Environment
from quorate.native.model import Model
from quorate.options import Options
from quorate.properties.asked import Asked, select
from quorate.properties.purity import Purity
from quorate.reduce.decomposition import Whole, apart_for, roles
from quorate.reduce.facts import Enabling, Facts, Traffic, TransitionFacts
from quorate.reduce.families import Group, Symmetries, proposed
from quorate.reduce.reductions import MOST_BEHAVIOURS, Reductions
from quorate.search.implicit import refuse_what_implicit_crashes_miss
from quorate.search.in_flight import asking_again, message_options
from quorate.search.limits import Watcher
from quorate.search.ranked import refuse_ranks
from quorate.search.temporal_plan import TemporalPlan, first_reads, plan_temporal

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
    symmetries: Group | None
    """Families of processes that may be exchanged, as far as the closure shows; None without one."""
    reductions: Mapping[str, Mapping[str, Any]]
    temporal: TemporalPlan | None
    """The search for temporal properties, if there are any: fewer reductions keep whole runs and fairness."""
    safety: bool
    """Whether anything else is asked for."""
    closed: bool
    """Whether the closure ended. Otherwise processes and what enables what are not known."""
    seconds: float

    def to_json(self) -> dict[str, Any]:
        """The object that `quorate plan --json` prints."""
        from quorate.results.json import value_to_json

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
            "temporal": None if self.temporal is None else self.temporal.to_json(),
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
    watcher = Watcher(options.timeout, None, options.max_memory)
    try:
        with watcher:
            return asking_again(
                lambda shown: _found(system, options, property, environment or Environment(), target, watcher, shown)
            )
    except Halted as halted:
        watcher.halted(halted)
        if watcher.reason == "interrupt":
            raise KeyboardInterrupt from None
        halted.out_of_memory = watcher.reason == "memory"
        raise


def _found(
    system: System | type[System],
    options: Options,
    property: str | list[str] | None,
    environment: Environment,
    target: str | None,
    watcher: Watcher,
    shown: tuple[type, ...],
) -> Plan:
    definition = define(system, environment)
    definition.shown = shown
    if shown:
        options = message_options(definition, options)
    refuse_ranks(definition, "a plan, which closes tables of local states and messages")
    options = options.for_coverage()
    apart, why = apart_for(options, system, environment)
    asked = select(definition, property, options.ltl, options.ctl).for_one_search(options)
    refuse_what_implicit_crashes_miss(definition, asked)
    with Purity(definition, apart, hurried=watcher.was_stopped):
        found = _whole_or_apart(definition, apart, why, asked, options, target, watcher)
        if not asked.temporal:
            return found
        try:
            temporal = plan_temporal(definition, asked.temporal, options, watcher)
        except _core.LimitError as limit:
            raise LimitError(str(limit), code="Q501") from None
        except _core.StoppedError:
            raise Halted() from None
    reductions = found.reductions if asked.safety else temporal.reductions
    return replace(found, reductions=reductions, temporal=temporal, safety=asked.safety, seconds=watcher.seconds)


def _whole_or_apart(
    definition: Definition,
    apart: Definition | None,
    why: str,
    asked: Asked,
    options: Options,
    target: str | None,
    watcher: Watcher,
) -> Plan:
    """Of the processes taken apart into their roles, where that is the same system and gains something."""
    if apart is not None:
        try:
            model = Model(apart, asked.properties, watcher, whole=Whole(apart, definition))
            return _plan(model, why, options, target, watcher)
        except DecompositionError as reason:
            why = str(reason)
    return _plan(Model(definition, asked.properties, watcher), why, options, target, watcher)


def _plan(model: Model, why_whole: str, options: Options, target: str | None, watcher: Watcher) -> Plan:
    definition = model.definition
    # What a property reads may grow during a search; the initial states are where it begins.
    reads = {each.name: first_reads(model, each) for each in model.properties}
    try:
        reductions = Reductions(model, options)
        reductions.analyse()
        # Also where no reduction that was asked for needs it: it is what there is to tell.
        closure = reductions.closure or model.engine.close(model, MOST_BEHAVIOURS)
    except _core.LimitError as limit:
        raise LimitError(str(limit), code="Q501") from None
    except _core.StoppedError:
        raise model.halted or Halted() from None
    apart = roles(definition)
    if apart:
        reductions.require_decomposed()
    closed = closure.complete
    if not closed and model.whole is None and not reductions.dynamic and not options.distributed:
        reductions.open_symmetry()
    reductions.symmetry.taken_apart(apart, why_whole)
    facts = Facts(model, closed)
    return Plan(
        definition=definition,
        target=target,
        properties=reads,
        processes=tuple(_sizes_of(model, reductions)) if closed else (),
        transitions=tuple(facts.transitions),
        enabling=tuple(facts.enabling),
        never_consumed=facts.never_consumed(),
        symmetries=model.symmetries or (Symmetries(model, proposed(definition)) if closed else None),
        reductions=reductions.to_json(),
        temporal=None,
        safety=True,
        closed=closed,
        seconds=watcher.seconds,
    )


def _sizes_of(model: Model, reductions: Reductions) -> list[ProcessSizes]:
    found: list[ProcessSizes] = []
    for column in model.definition.columns:
        representatives = model.engine.representatives(column.index)
        dead = model.engine.dead(column.index)
        found.append(
            ProcessSizes(
                column.name,
                column.is_monitor,
                local_states=len(representatives),
                merged=len(set(representatives)) if reductions.quotient.ran else None,
                messages=len(dead),
                dead=sum(dead) if reductions.dead_messages.ran and not column.is_monitor else None,
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
