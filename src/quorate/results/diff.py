"""What changed inside a value: the one entry of a map, the element added to a set, the field of a record.

log[2].term: 1 → 3
votes: + acceptor2
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from quorate.base.values import encode, in_order, show
from quorate.histories.linearizability import History

if TYPE_CHECKING:
    from quorate.model.definition import Definition
    from quorate.semantics.state import State

SHORT = 60
"""A change whose two sides fit into so many characters is easier to read whole than in parts."""


class Difference(NamedTuple):
    """One thing that is different. Of an added one there is no `before`, of a removed one no `after`."""

    path: str
    kind: Literal["changed", "added", "removed"]
    before: Any = None
    after: Any = None


def differences(before: Any, after: Any, path: str = "") -> list[Difference]:
    """What makes two values differ, as deep as it can be said; empty if they are the same."""
    if encode(before) == encode(after):
        return []
    parts = _inside(before, after, path)
    return [Difference(path, "changed", before, after)] if parts is None else list(parts)


def told(name: str, before: Any, after: Any) -> list[Difference]:
    """The change of a field as it is best told: whole if that is short, in parts where that says it in less."""
    whole = [Difference(name, "changed", before, after)]
    if len(show(before)) + len(show(after)) <= SHORT:
        return whole
    parts = differences(before, after, name)
    shorter = sum(len(line(part)) for part in parts) < len(line(whole[0])) if parts else False
    return parts if shorter else whole


def line(difference: Difference) -> str:
    """A difference in plain words."""
    path, kind, before, after = difference
    if kind == "added":
        return f"{path}: + {show(after)}"
    if kind == "removed":
        return f"{path}: - {show(before)}"
    return f"{path}: {show(before)} → {show(after)}"


def _inside(before: Any, after: Any, path: str) -> Iterator[Difference] | None:
    """The differences of the parts; None if the values have no parts to compare."""
    if isinstance(before, frozenset) and isinstance(after, frozenset):
        return _sets(before, after, path)
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        return _maps(before, after, path)
    if type(before) is not type(after):
        return None
    names = _field_names(before)
    if names is not None:
        return _records(before, after, names, path)
    if isinstance(before, tuple):
        return _tuples(before, after, path)
    return None


def _field_names(value: Any) -> tuple[str, ...] | None:
    if isinstance(value, tuple):
        return getattr(value, "_fields", None)
    if dataclasses.is_dataclass(value):  # messages are, too
        return tuple(field.name for field in dataclasses.fields(value))
    return None


def _records(before: Any, after: Any, names: tuple[str, ...], path: str) -> Iterator[Difference]:
    for name in names:
        yield from differences(getattr(before, name), getattr(after, name), f"{path}.{name}")


def _sets(before: frozenset[Any], after: frozenset[Any], path: str) -> Iterator[Difference]:
    old, new = ({encode(item): item for item in items} for items in (before, after))
    for item in in_order(old[code] for code in old.keys() - new.keys()):
        yield Difference(path, "removed", before=item)
    for item in in_order(new[code] for code in new.keys() - old.keys()):
        yield Difference(path, "added", after=item)


def _maps(before: Mapping[Any, Any], after: Mapping[Any, Any], path: str) -> Iterator[Difference]:
    old, new = ({encode(key): (key, value) for key, value in items.items()} for items in (before, after))
    for code in sorted(old.keys() | new.keys()):
        key = (old.get(code) or new[code])[0]
        inner = f"{path}[{show(key)}]"
        if code not in new:
            yield Difference(inner, "removed", before=old[code][1])
        elif code not in old:
            yield Difference(inner, "added", after=new[code][1])
        else:
            yield from differences(old[code][1], new[code][1], inner)


def _tuples(before: tuple[Any, ...], after: tuple[Any, ...], path: str) -> Iterator[Difference]:
    """Of equal length: place by place. Otherwise what was put in or taken out between a common head and tail."""
    if len(before) == len(after):
        for place, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from differences(old, new, f"{path}[{place}]")
        return
    old_codes, new_codes = [encode(item) for item in before], [encode(item) for item in after]
    shorter = min(len(before), len(after))
    head = next((at for at in range(shorter) if old_codes[at] != new_codes[at]), shorter)
    tail = next((at for at in range(shorter - head) if old_codes[-1 - at] != new_codes[-1 - at]), shorter - head)
    for place in range(head, len(before) - tail):
        yield Difference(f"{path}[{place}]", "removed", before=before[place])
    for place in range(head, len(after) - tail):
        yield Difference(f"{path}[{place}]", "added", after=after[place])


def changed_fields(definition: Definition, before: State, after: State) -> list[tuple[int, str, Any, Any]]:
    """The fields that differ, but not the hidden ones: whether a process has started is seen from its steps.

    Nor those of monitors that judge histories: the operations say more.
    """
    result: list[tuple[int, str, Any, Any]] = []
    for column in definition.columns:
        old, new = before.locals[column.index], after.locals[column.index]
        if old is new or issubclass(column.cls, History):
            continue
        for name, was, is_now in zip(column.fields, old, new, strict=True):
            if encode(was) != encode(is_now) and ":" not in name:
                result.append((column.index, name, was, is_now))
    return result
