"""The temporal properties of a system class, with the methods that their formulas may name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from quorate.base.errors import Location, ModelError
from quorate.base.places import location_of, member_location
from quorate.language.declared import TEMPORAL_MARK, forgotten, refuse_reserved, stranger
from quorate.language.forbidden import forbid_classes, forbid_impure
from quorate.language.lost import refuse_hidden
from quorate.language.system import System
from quorate.language.temporal import Each, Expand, Named, Stated


@dataclass(frozen=True, eq=False)
class Claimed:
    """A temporal property: a formula in words, and what its names mean."""

    name: str
    kind: str
    """How it was stated: eventually, leads_to, repeatedly, stably, ltl or ctl."""
    formula: str
    methods: Mapping[str, Callable[..., bool]]
    """What a formula may name. With `each` they take a process beside the system."""
    each: Each | None
    doc: str
    location: Location
    expand: Expand | None = None
    """Where it is one formula for each of several things: these."""


def read_temporal(cls: type[System]) -> list[Claimed]:
    """In the order they are written, inherited ones first."""
    names: dict[str, list[type]] = {}
    for base in reversed(cls.__mro__):
        for name, value in base.__dict__.items():
            if _stated(value) is not None:
                names.setdefault(name, []).append(base)
    found: list[Claimed] = []
    for name, bases in names.items():
        refuse_hidden(cls, name, bases, System, "properties")
        value = getattr(cls, name)
        stated = _stated(value)
        if value is None:
            continue
        if stated is None:
            raise forgotten(cls, name, "temporal property", "its decorator")
        found.append(_claimed(cls, name, value, stated))
    return found


def methods_of(cls: type[System], parameters: int) -> dict[str, Callable[..., bool]]:
    """The methods that a formula may name: of its own classes and mixins, with that many parameters beside `self`."""
    found: dict[str, Callable[..., bool]] = {}
    for base in reversed(cls.__mro__):
        if base in System.__mro__:
            continue
        for name, value in base.__dict__.items():
            if isinstance(value, FunctionType) and name != "build" and not name.startswith("__"):
                found.pop(name, None)
                if value.__code__.co_argcount == 1 + parameters and not value.__code__.co_kwonlyargcount:
                    found[name] = getattr(cls, name)
            elif isinstance(value, Named) and parameters == 0:
                found |= {f"{name}.{each}": function for each, function in value.predicates().items()}
            else:  # what was a method may be something else in a subclass
                found.pop(name, None)
    return found


def refuse_temporal(cls: type) -> None:
    """Refuse temporal properties in a process or a monitor, where nobody would ask them."""
    for base in cls.__mro__:
        for name, value in base.__dict__.items():
            stated = _stated(value)
            if stated is not None:
                place = stated.location or location_of(value) or member_location(base, name)
                raise stranger(base, name, place, handler=False)


def goals_of(cls: type[System]) -> list[FunctionType]:
    """Functions that are no methods, and given as goals: `@leads_to(lambda self: ...)`."""
    stated = [_stated(value) for base in cls.__mro__ for value in base.__dict__.values()]
    return [each.goal for each in stated if each is not None and isinstance(each.goal, FunctionType)]


def _stated(value: Any) -> Stated | None:
    if isinstance(value, Stated):
        return value
    return getattr(value, TEMPORAL_MARK, None) if isinstance(value, FunctionType) else None


def _claimed(cls: type[System], name: str, value: Any, stated: Stated) -> Claimed:
    methods = methods_of(cls, 1 if stated.each is not None else 0)
    location = stated.location or location_of(value) or Location("<unknown>", 1)
    refuse_reserved(cls, name, location)
    formula = stated.formula
    if isinstance(value, FunctionType):
        forbid_impure(f"{cls.__name__}.{name}", value)
        forbid_classes(f"{cls.__name__}.{name}", value)
        if name not in methods:
            wanted = "self and the process" if stated.each is not None else "self alone"
            raise ModelError(
                f"{cls.__name__}.{name}: a temporal property takes {wanted}",
                hint=f"def {name}(self{', process' if stated.each is not None else ''}) -> bool: ...",
                code="Q409",
                location=location,
            )
        goal = stated.goal
        if callable(goal):
            methods = {**methods, f"{name}_goal": goal}
            goal = f"{name}_goal"
        formula = {
            "eventually": f"F {name}",
            "repeatedly": f"G F {name}",
            "stably": f"F G {name}",
            "leads_to": f"G({name} -> F {goal})",
        }[stated.shape]
    doc = (value.__doc__ or "").strip() if isinstance(value, FunctionType) else ""
    return Claimed(name, stated.shape, formula, methods, stated.each, doc, location, stated.expand)
