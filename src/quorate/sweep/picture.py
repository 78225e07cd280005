"""A grid as a picture: SVG, written by hand, readable without colour and on light and dark ground."""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import escape

from quorate.sweep.grid import Grid, Summary
from quorate.sweep.row import Row

CELL, LEFT, TOP, BOTTOM, SIDE = 64, 96, 84, 56, 250
# Fill and ink. Blue and orange are told apart by everyone; the signs say the same once more.
COLOURS = {
    "holds": ("#cfe4f7", "#0b4a7d"),
    "violated": ("#fbd3b4", "#8f3a00"),
    "incomplete": ("#ececec", "#555555"),
    "error": ("#ececec", "#8f0000"),
}
MEANING = {"holds": "✓ holds", "violated": "✗ violated", "incomplete": "? not decided", "error": "! error"}
FONT = "font-family='system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif'"


def picture(title: str, grids: Sequence[Grid]) -> str:
    """The whole picture; several grids stand one below the other."""
    body: list[str] = []
    y = TOP
    for grid in grids:
        body += _grid(grid, y)
        y += CELL * len(grid.rows) + (TOP if grid is not grids[-1] else BOTTOM)
    height = y + 8
    legend, right = _legend(grids, height - 22)
    width = max([right, *(LEFT + CELL * len(grid.columns) + SIDE for grid in grids)])
    head = [
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{width}' height='{height}' "
        f"viewBox='0 0 {width} {height}' {FONT}>",
        f"<title>{escape(title)}</title>",
        f"<rect width='{width}' height='{height}' fill='#ffffff'/>",
        _text(24, 34, title, size=18, weight=600),
    ]
    return "\n".join([*head, *body, *legend, "</svg>"]) + "\n"


def _grid(grid: Grid, y: int) -> list[str]:
    found = []
    fixed = ", ".join(f"{name}={value}" for name, value in grid.fixed.items())
    if fixed:
        found.append(_text(24, y - 26, fixed, size=13, colour="#555555"))
    found.append(_text(LEFT + CELL * len(grid.columns) / 2, y - 26, grid.across, size=13, weight=600, anchor="middle"))
    middle = y + CELL * len(grid.rows) / 2
    found.append(
        f"<text transform='translate(30 {middle:g}) rotate(-90)' text-anchor='middle' font-size='13' "
        f"font-weight='600' fill='#222222'>{escape(grid.down)}</text>"
    )
    for number, column in enumerate(grid.columns):
        found.append(_text(LEFT + CELL * (number + 0.5), y - 8, str(column), size=13, anchor="middle"))
    summaries = {summary.value: summary for summary in grid.summaries}
    for number, row in enumerate(grid.rows):
        top = y + CELL * number
        found.append(_text(LEFT - 14, top + CELL / 2 + 5, str(row), size=13, anchor="end"))
        for place, column in enumerate(grid.columns):
            cell = grid.cells.get((row, column))
            if cell is not None:
                found += _cell(LEFT + CELL * place, top, cell)
        if row in summaries:
            found += _summary(LEFT + CELL * len(grid.columns) + 18, top, grid, summaries[row])
    return found


def _cell(x: float, y: float, row: Row) -> list[str]:
    if row.verdict not in COLOURS:  # refused: there is no such instance
        return [f"<circle cx='{x + CELL / 2:g}' cy='{y + CELL / 2:g}' r='2' fill='#bbbbbb'/>"]
    fill, ink = COLOURS[row.verdict]
    found = [f"<rect x='{x + 2:g}' y='{y + 2:g}' width='{CELL - 4}' height='{CELL - 4}' rx='6' fill='{fill}'/>"]
    sign = MEANING[row.verdict][0]
    found.append(_text(x + CELL / 2, y + CELL / 2 + 3, sign, size=22, weight=700, anchor="middle", colour=ink))
    if "states" in row.document:
        states = _short(row.document["states"])
        found.append(_text(x + CELL / 2, y + CELL - 10, states, size=10, anchor="middle", colour=ink))
    return found


def _summary(x: float, y: float, grid: Grid, summary: Summary) -> list[str]:
    middle = y + CELL / 2
    if summary.tolerated is None:
        return [_text(x, middle + 5, f"smallest safe: {summary.text(grid.across)}", size=13)]
    crashes = {0: "no crash", 1: "1 crash"}.get(summary.tolerated, f"{summary.tolerated} crashes")
    return [
        _text(x, middle - 3, f"smallest safe: {summary.text(grid.across)}", size=13),
        _text(x, middle + 15, f"so {crashes} can be tolerated", size=12, colour="#555555"),
    ]


def _legend(grids: Sequence[Grid], y: float) -> tuple[list[str], int]:
    """What the signs mean, and where that ends on the right."""
    met = {row.verdict for grid in grids for row in grid.cells.values()}
    found, x = [], float(LEFT)
    for verdict, meaning in MEANING.items():
        if verdict in met:
            fill, ink = COLOURS[verdict]
            width = 22 + 7.2 * len(meaning)
            found.append(f"<rect x='{x:g}' y='{y - 15:g}' width='{width:g}' height='22' rx='5' fill='{fill}'/>")
            found.append(_text(x + width / 2, y, meaning, size=12, anchor="middle", colour=ink))
            x += width + 10
    notes = ["with the number of states"] if met - {"refused"} else []
    notes += ["(a dot: refused by the system)"] if "refused" in met else []
    said = " ".join(notes)
    found.append(_text(x + 6, y, said, size=12, colour="#555555"))
    return found, int(x + 30 + 7 * len(said))


def _text(
    x: float, y: float, text: str, *, size: int, weight: int = 400, anchor: str = "start", colour: str = "#222222"
) -> str:
    return (
        f"<text x='{x:g}' y='{y:g}' font-size='{size}' font-weight='{weight}' text-anchor='{anchor}' "
        f"fill='{colour}'>{escape(text)}</text>"
    )


def _short(number: int) -> str:
    for size, letter in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if number >= 10 * size:
            return f"{number / size:,.0f}{letter}"
        if number >= size:
            return f"{number / size:.1f}{letter}"
    return str(number)
