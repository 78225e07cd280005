"""Ranks of values and states: which occur, renumbering them, and whether handlers can tell (docs/ranks.md)."""

from __future__ import annotations

import typing
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from quorate.base.errors import Location, ModelError
from quorate.base.values import encode
from quorate.language.rank import MOST, Rank, number_of, rank
from quorate.model.definition import Column, Definition
from quorate.model.renaming import parts_of, renamed

_PLAIN = {type(None), bool, int, str, bytes}


def ranks_in(value: Any) -> frozenset[int]:
    """The ranks that occur in a value, but for the first one, which never changes."""
    found: set[int] = set()
    todo = [value]
    while todo:
        one = todo.pop()
        if type(one) is Rank:
            found.add(number_of(one))
        elif type(one) not in _PLAIN:
            todo += parts_of(one)
    return frozenset(found - {0})


def numbering(ranks: Iterable[int], numbers: Iterable[int]) -> dict[bytes, Rank]:
    """The mapping that gives these ranks, in their order, these numbers."""
    return {encode(rank(old)): rank(new) for old, new in zip(sorted(ranks), numbers, strict=True)}


def normal_form(values: Any) -> Any | None:
    """The values with their ranks renumbered to 2, 4, 6, ...; None if there are too many."""
    found = ranks_in(values)
    if len(found) > MOST:
        return None
    return renamed(values, numbering(found, range(2, 2 * len(found) + 1, 2)))


def without_ranks(value: Any) -> Any:
    """The same for values that differ in their ranks alone."""
    held = ranks_in(value)
    return renamed(value, numbering(held, range(1, len(held) + 1))) if held else value


def moved_by(one: Any, other: Any) -> int | None:
    """By how much all ranks of one value have to be moved to get the other one; None if that is not all."""
    here, there = sorted(ranks_in(one)), sorted(ranks_in(other))
    if len(here) != len(there) or not here:
        return None
    distance = there[0] - here[0]
    moved = renamed(one, numbering(here, [each + distance for each in here]))
    return distance if encode(moved) == encode(other) else None


def in_places(definition: Definition) -> Sequence[Column]:
    """The columns as handlers are run in a search: with ranks, these are places in the order of a whole state."""
    return (
        [replace(column, ranks="places") for column in definition.columns] if definition.ranked else definition.columns
    )


def uses_ranks(definition: Definition) -> bool:
    """Whether a field of a process, a monitor, a message or an event is declared to hold ranks."""
    types = [hint for column in definition.columns for hint in column.spec.types.values()]
    types += [hint for fields in definition.messages.values() for hint in fields.values()]
    todo, seen = list(types), set[int]()
    while todo:
        hint = todo.pop()
        if hint is Rank:
            return True
        if id(hint) not in seen:
            seen.add(id(hint))
            todo += [*typing.get_args(hint), *_fields(hint)]
    return False


def _fields(hint: Any) -> list[Any]:
    """The types of the fields of a record of the model's."""
    if not isinstance(hint, type) or not (hasattr(hint, "__dataclass_fields__") or hasattr(hint, "_fields")):
        return []
    try:
        return list(typing.get_type_hints(hint).values())
    except Exception:  # what cannot be read cannot be found: `later` is then a number like any other
        return []


def require_invariant(what: str, location: Location | None, inputs: Any, ask: Callable[[Any], Iterable[Any]]) -> None:
    """Refuse a handler or guard that does something else with other numbers in the same order.

    What it does is compared as an order: the ranks of what was given and of what it made, together. Not only the type
    vouches for that: a model may look behind it.
    """
    held = ranks_in(inputs)
    if not held:
        return
    size = len(held)
    spread = range(4, 4 * size + 1, 4) if 4 * size <= 2 * MOST else range(2, 2 * size + 1, 2)
    tried: list[Sequence[int]] = [sorted(held), spread, range(2 * (MOST - size) + 2, 2 * MOST + 1, 2)]
    # Odd ones, and with gaps of 2 and 3 by turns. There must be a place between any two, and one behind the last.
    tried += [each for each in (range(3, 2 * size + 2, 2), _mixed(size)) if each[-1] < 2 * MOST]
    seen: list[set[bytes]] = []
    for numbers in tried:
        given = renamed(inputs, numbering(held, numbers))
        seen.append({_pattern(given, made) for made in ask(given)})
    if any(each != seen[0] for each in seen):
        raise ModelError(
            f"{what} does something else when ranks are other numbers in the same order",
            hint="only compare ranks: what it does must not depend on the numbers themselves",
            code="Q125",
            location=location,
        )


def _mixed(size: int) -> list[int]:
    return [2 + 5 * at // 2 for at in range(1, size + 1)]


def _pattern(given: Any, made: Any) -> bytes:
    together = given, made
    found = ranks_in(together)
    return encode(renamed(together, numbering(found, range(1, len(found) + 1))))
