"""Where two collections differ that a property compared: long ones are cut when they are shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from typing import Any


def apart(one: Any, word: str, two: Any, shown: Callable[[Any], str]) -> Iterator[str]:
    """Where two collections differ that were to be equal, or one to be a part of the other."""
    if isinstance(one, Set) and isinstance(two, Set):
        if word in ("==", "<=", "<") and one - two:
            yield f"only on the left: {shown(frozenset(one - two))}"
        if word in ("==", ">=", ">") and two - one:
            yield f"only on the right: {shown(frozenset(two - one))}"
    elif word == "==" and isinstance(one, Mapping) and isinstance(two, Mapping):
        for key in [key for key in (*one, *(key for key in two if key not in one)) if one.get(key) != two.get(key)][:1]:
            sides = [shown(side[key]) if key in side else "nothing" for side in (one, two)]
            yield f"they differ at {shown(key)}: {sides[0]} and {sides[1]}"
    elif word == "==" and _is_listed(one) and _is_listed(two):
        place = next((at for at, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), None)
        if place is not None:
            yield f"they differ at [{place}]: {shown(one[place])} and {shown(two[place])}"
        else:
            longer, side = (one, "left") if len(one) > len(two) else (two, "right")
            yield f"the {side} one goes on with {shown(longer[min(len(one), len(two))])}"


def _is_listed(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str) and not hasattr(value, "_fields")
