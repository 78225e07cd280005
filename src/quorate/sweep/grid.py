"""Two parameters against each other: a verdict in every cell, and in every row the smallest value that is safe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from quorate.sweep.row import Row

SIGNS = {"holds": "✓", "violated": "✗", "incomplete": "?", "refused": "·", "error": "!", "": " "}


@dataclass(frozen=True)
class Summary:
    """One row of a grid: the smallest value from which on everything holds."""

    value: Any
    """Of the parameter down the side."""
    smallest: Any
    """Of the parameter along the top; None if there is none, or none is known."""
    exact: bool
    """The value below it is violated, or there is none."""
    tolerated: int | None
    """If the parameter along the top is the size of a quorum: how many of those it is taken from may crash."""

    def text(self, name: str) -> str:
        if self.smallest is None:
            return "none is safe" if self.exact else "not known"
        most = "" if self.exact else "at most "
        return f"{name} {most}{self.smallest}"


@dataclass(frozen=True)
class Grid:
    """The verdicts of two parameters; the others are fixed."""

    fixed: dict[str, Any]
    down: str
    across: str
    rows: tuple[Any, ...]
    columns: tuple[Any, ...]
    cells: Mapping[tuple[Any, Any], Row]
    summaries: tuple[Summary, ...]

    def verdict(self, row: Any, column: Any) -> str:
        found = self.cells.get((row, column))
        return "" if found is None else found.verdict

    def to_json(self) -> dict[str, Any]:
        from quorate.results.json import value_to_json

        def entry(each: Summary) -> dict[str, Any]:
            found = {
                self.down: value_to_json(each.value),
                f"smallest_safe_{self.across}": value_to_json(each.smallest),
                "exact": each.exact,
            }
            return found if each.tolerated is None else found | {"tolerated_crashes": each.tolerated}

        return {
            "fixed": {name: value_to_json(value) for name, value in self.fixed.items()},
            "rows": self.down,
            "columns": self.across,
            "summary": [entry(each) for each in self.summaries],
        }


def grids(rows: Sequence[Row], quorums: Mapping[str, str]) -> list[Grid]:
    """One grid for the last two parameters that vary, for every combination of the others; none if fewer vary."""
    if not rows:
        return []
    values = {name: tuple(dict.fromkeys(row.point[name] for row in rows)) for name in rows[0].point}
    varying = [name for name, options in values.items() if len(options) > 1]
    if len(varying) < 2:
        return []
    down, across = varying[-2:]
    found: dict[tuple[Any, ...], list[Row]] = {}
    others = [name for name in values if name not in (down, across)]
    for row in rows:
        found.setdefault(tuple(row.point[name] for name in others), []).append(row)
    return [
        _grid(dict(zip(others, key, strict=True)), down, across, values, group, quorums) for key, group in found.items()
    ]


def _grid(
    fixed: dict[str, Any],
    down: str,
    across: str,
    values: Mapping[str, tuple[Any, ...]],
    rows: Sequence[Row],
    quorums: Mapping[str, str],
) -> Grid:
    cells = {(row.point[down], row.point[across]): row for row in rows}
    summaries: list[Summary] = []
    for value in values[down]:
        if not isinstance(values[across][0], int) or isinstance(values[across][0], bool):
            break
        if any((value, column) not in cells for column in values[across]):
            continue  # interrupted: nothing follows from a part of a row
        smallest, exact = smallest_safe({column: cells[value, column].verdict for column in values[across]})
        whole = {**fixed, down: value}.get(quorums.get(across, ""))
        tolerated = whole - smallest if isinstance(whole, int) and smallest is not None and exact else None
        summaries.append(Summary(value, smallest, exact, tolerated))
    return Grid(fixed, down, across, values[down], values[across], cells, tuple(summaries))


def smallest_safe(verdicts: Mapping[int, str]) -> tuple[int | None, bool]:
    """The smallest value from which on all hold, and whether that is certain. What is refused does not count."""
    known = {value: verdict for value, verdict in verdicts.items() if verdict != "refused"}
    smallest = None
    for value in sorted(known, reverse=True):
        if known[value] != "holds":
            return smallest, known[value] == "violated"
        smallest = value
    return smallest, smallest is not None
