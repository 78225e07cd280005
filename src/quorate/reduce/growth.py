"""What grows where an analysis does not end: which field or message has the most values, and who makes them.

A closure that does not end has a reason that can be pointed at: a counter without a bound, a log, a set that is never
emptied. It may also just be large. Either way the field with the most values is the one to look at first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from quorate.base.errors import Location
from quorate.base.values import show
from quorate.model.definition import Column
from quorate.native.model import Model
from quorate.native.numbers import VIEW

FEW = 8
"""A field with fewer values is no reason for anything."""
MOST_MESSAGES = 2_000
"""Of a process, the last ones: they show best what goes on."""
LONGEST = 60
MOST_STEPS = 1_000
_NOTHING = (-1, -1, -1)
CHAIN = 3
"""Values that follow one another, as an example."""


class Growth(NamedTuple):
    """A field, or a kind of message, with many values."""

    what: str
    """`Server.log`, or `Append.entries` of a message."""
    values: int
    by: str
    """The transition that has made the last of them, if one did."""
    location: Location | None
    chain: tuple[str, ...]
    """Values that follow one another."""
    advice: str

    def __str__(self) -> str:
        at = f", {self.location.file}:{self.location.line}" if self.location is not None else ""
        by = f" by {self.by}{at}" if self.by else ""
        values = f"{self.values:,} values so far"
        return f"{self.what} grows{by}: {', '.join(self.chain)}, ... ({values}); {self.advice}"

    def to_json(self) -> dict[str, Any]:
        place = None if self.location is None else {"file": self.location.file, "line": self.location.line}
        return {**self._asdict(), "location": place, "chain": list(self.chain), "told": str(self)}


def growth(model: Model) -> list[Growth]:
    """What has grown most: a field of processes or monitors, and a field of messages.

    A counter goes before what is larger only because of it: logs and maps grow with the terms that are their keys.
    """
    fields = list(_fields(model))
    counters = _largest(each for each in fields if _counts(each[1]))
    rest = [each for each in _largest(fields) if each not in counters]
    return [*counters, *rest, *_largest(_messages(model))]


def _counts(found: Growth) -> bool:
    """Whether a field is a number that only ever goes up, as far as its last values tell."""
    last = [int(each) for each in found.chain if each.lstrip("-").isdigit()]
    return len(last) == len(found.chain) >= CHAIN and all(one < next for one, next in pairwise(last))


def _largest(found: Iterable[tuple[int, Growth]]) -> list[Growth]:
    best = max(found, key=lambda each: each[0], default=None)
    return [] if best is None or best[0] < FEW else [best[1]]


def _fields(model: Model) -> Iterable[tuple[int, Growth]]:
    for column in model.definition.columns:
        keys = model.local_keys(column.index)
        # Not a monitor that failed, nor what a process has read.
        kept = [number for number, key in enumerate(keys) if key[:1] not in ((-1,), (VIEW,))]
        for field, name in enumerate(column.fields[: column.spec.visible]):
            # A local state is known by the numbers of its values, the last ones of its key.
            values = {keys[number][field - len(column.fields)] for number in kept}
            if len(values) >= FEW:
                chain, cause = _chain(model, column, kept[-1], field)
                yield len(values), _told(model, f"{column.cls.__name__}.{name}", len(values), chain, cause)


def _chain(model: Model, column: Column, local: int, field: int) -> tuple[list[Any], tuple[int, int, int] | None]:
    """Values of a field that follow one another, on the way on which a local state was met first; and what made the
    last of them. The last ones, unless they are too long to be told apart: then earlier ones."""
    locals = model.numbered_locals[column.index]
    chain, causes = [locals[local][field]], [_NOTHING]
    for _ in range(MOST_STEPS):
        cause = model.cause_of_local(column.index, local)
        if cause is None or cause[0] != column.index:
            break
        local = cause[1]
        if show(locals[local][field]) != show(chain[-1]):
            causes[-1] = cause
            chain.append(locals[local][field])
            causes.append(_NOTHING)
            if len(chain) >= CHAIN and all(len(show(value)) <= LONGEST for value in chain[-CHAIN:]):
                break
    made = causes[max(0, len(causes) - CHAIN)]
    return chain[-CHAIN:][::-1], made if made != _NOTHING else None


def _messages(model: Model) -> Iterable[tuple[int, Growth]]:
    for column in model.definition.columns:
        held = model.numbered_messages[column.index]
        by_class: dict[type, list[int]] = {}
        for number in range(max(0, len(held) - MOST_MESSAGES), len(held)):
            by_class.setdefault(type(held[number]), []).append(number)
        for cls, numbers in by_class.items():
            for name in cls._names:  # type: ignore[attr-defined]
                values = _distinct(getattr(held[number], name) for number in numbers)
                if len(values) >= FEW:
                    cause = model.cause_of_message(column.index, numbers[-1])
                    # What becomes longer is best told by what is still short.
                    few = values[-CHAIN:] if type(values[-1]) is int else sorted(values, key=_length)[:CHAIN]
                    yield len(values), _told(model, f"{cls.__name__}.{name}", len(values), few, cause)


def _length(value: Any) -> int:
    return len(show(value))


def _distinct(values: Iterable[Any]) -> list[Any]:
    return list({show(value): value for value in values}.values())


def _told(model: Model, what: str, values: int, chain: Sequence[Any], cause: tuple[int, int, int] | None) -> Growth:
    by, location = "", None
    if cause is not None:
        column = model.definition.columns[cause[0]]
        transition = model.definition.transitions(column)[cause[2]]
        by, location = str(transition), transition.location
    return Growth(what, values, by, location, tuple(_short(show(each)) for each in chain), _advice(chain[-1]))


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _advice(value: Any) -> str:
    """What helps depends on what a value is."""
    if isinstance(value, int) and not isinstance(value, bool):
        return "bound it with `within`, or by a parameter in a guard"
    if isinstance(value, tuple | frozenset | dict) or hasattr(value, "keys"):
        return "bound its length with `within`, or keep only what is still asked for"
    return "give it a smaller domain, or bound it with `within`"
