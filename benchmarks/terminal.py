"""Results as tables on the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from benchmarks.results import Figure, Results
from benchmarks.tables import GOALS, Lines, busy, goal_line, is_long, long, remarks, wide

STYLES = {"met": "green", "missed": "red"}


def show(results: Results, console: Console) -> None:
    for section in results.sections.values():
        console.print()
        console.print(section.name, style="bold")
        if section.entries:
            head, lines = long(section) if is_long(section) else wide(section)
            console.print(_table(head, lines))
        if section.figures:
            console.print(goals(section.figures))
        for note in (*section.notes, *remarks(section), busy(section, results.machine["cores"])):
            if note:
                console.print(note, style="dim", highlight=False)


def goals(figures: Sequence[Figure]) -> Table:
    table = Table(*GOALS, box=None, pad_edge=False)
    for column in table.columns[1:]:
        column.justify = "right"
        column.no_wrap = True
    for figure in figures:
        what, measured, goal, margin, outcome = goal_line(figure)
        style = STYLES.get(outcome, "")
        note = f"\n{figure.note}" if figure.note else ""
        table.add_row(
            Text.assemble(what, (note, "dim")), Text(measured, style), goal, Text(margin, style), Text(outcome, style)
        )
    return table


def _table(head: tuple[str, ...], lines: Lines) -> Table:
    table = Table(*head, box=None, pad_edge=False)
    for column in table.columns[2:]:
        column.justify = "right"
    for line in lines:
        table.add_row(*(Text(each, "bold red" if each.startswith("WRONG") else "") for each in line))
    return table
