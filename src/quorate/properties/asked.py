"""Which properties a check is asked about."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from quorate.base.errors import PropertyError, did_you_mean
from quorate.model.definition import Definition, Property
from quorate.options import Options
from quorate.properties.temporal.stated import TemporalProperty, asked_for, temporal_of


@dataclass(frozen=True)
class Asked:
    """The properties of one check, in the order the core gets them."""

    properties: tuple[Property, ...]
    deadlock: bool
    named: bool
    """Whether they were asked for by name; otherwise they are all that the system states."""
    temporal: tuple[TemporalProperty, ...] = ()
    safety: bool = True
    """Whether anything but temporal properties is asked for. (Handlers may always fail.)"""

    @property
    def only_goals(self) -> bool:
        """Nothing is asked for but that things can happen. (Handlers may still fail.)"""
        return bool(self.properties) and not self.deadlock and all(each.kind == "can" for each in self.properties)

    def for_one_search(self, options: Options) -> Asked:
        """Where nothing but temporal properties is stated, the graph that decides them also tells of handlers that
        fail: no other search is needed."""
        alone = self.temporal and not (self.named or self.properties or self.deadlock or options.of_states)
        return replace(self, safety=False) if alone else self


def select(
    definition: Definition,
    names: str | Iterable[str] | None,
    ltl: Iterable[str] = (),
    ctl: Iterable[str] = (),
) -> Asked:
    """The properties by name, and formulas over the same names; all that the system states if neither is given."""
    formulas = (*asked_for(definition, ltl, "ltl"), *asked_for(definition, ctl, "ctl"))
    stated = temporal_of(definition)
    if names is None and formulas:
        return Asked((), False, True, formulas, safety=False)
    if names is None:
        chosen: Sequence[Property] = definition.properties
        deadlock = definition.final is not None
        temporal = stated
        safety = True
    else:
        wanted = [names] if isinstance(names, str) else list(names)
        families = {each.name.partition("[")[0] for each in stated}
        known = [each.name for each in definition.properties] + sorted(families)
        for name in wanted:
            if name not in known and name not in ("deadlock", "assertions", *(each.name for each in stated)):
                hint = did_you_mean(name, [*known, "deadlock", "assertions"])
                raise PropertyError(f"{definition.name} has no property `{name}`", hint=hint, code="Q401")
        chosen = [each for each in definition.properties if each.name in wanted]
        deadlock = "deadlock" in wanted
        temporal = tuple(each for each in stated if {each.name, each.name.partition("[")[0]} & {*wanted})
        safety = bool(chosen) or deadlock or "assertions" in wanted
    final = (definition.final,) if deadlock and definition.final is not None else ()
    temporal = (*temporal, *formulas)
    return Asked((*chosen, *final), deadlock, names is not None, temporal, safety or not temporal)
