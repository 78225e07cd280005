"""Which properties a check is asked about."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from quorate.base.errors import PropertyError, did_you_mean
from quorate.model.definition import Definition, Property


@dataclass(frozen=True)
class Asked:
    """The properties of one check, in the order the core gets them."""

    properties: tuple[Property, ...]
    deadlock: bool
    named: bool
    """Whether they were asked for by name; otherwise they are all that the system states."""

    @property
    def only_goals(self) -> bool:
        """Nothing is asked for but that things can happen. (Handlers may still fail.)"""
        return bool(self.properties) and not self.deadlock and all(each.kind == "can" for each in self.properties)


def select(definition: Definition, names: str | Iterable[str] | None) -> Asked:
    """The properties by name; all that the system states if none is named."""
    if names is None:
        chosen: Sequence[Property] = definition.properties
        deadlock = definition.final is not None
    else:
        wanted = [names] if isinstance(names, str) else list(names)
        known = [each.name for each in definition.properties]
        for name in wanted:
            if name not in known and name not in ("deadlock", "assertions"):
                hint = did_you_mean(name, [*known, "deadlock", "assertions"])
                raise PropertyError(f"{definition.name} has no property `{name}`", hint=hint, code="Q401")
        chosen = [each for each in definition.properties if each.name in wanted]
        deadlock = "deadlock" in wanted
    final = (definition.final,) if deadlock and definition.final is not None else ()
    return Asked((*chosen, *final), deadlock, names is not None)
