"""Boxes in rows with arrows between them: proof graphs, message flows. A box stands below what it follows from."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from quorate.base.printable import printable
from quorate.render.palette import DARK_HUES, LIGHT_HUES, MONO, SANS

LETTER, LINE, PAD, GAP, ROW = 7.0, 17.0, 12.0, 26.0, 64.0
WIDEST = 62  # letters in a box


class Box(NamedTuple):
    """What is drawn: a heading, lines below it, and one of six hues."""

    heading: str
    lines: tuple[str, ...] = ()
    hue: int = 0


class Arrow(NamedTuple):
    source: str
    target: str
    label: str = ""


def layered(title: str, boxes: Mapping[str, Box], arrows: Sequence[Arrow]) -> str:
    """The whole file. Where arrows go round, one of them goes up."""
    rows = _rows(boxes, arrows)
    sizes = {name: _size(box) for name, box in boxes.items()}
    widths = [sum(sizes[name][0] for name in row) + GAP * (len(row) - 1) for row in rows]
    width = max([*widths, LETTER * len(title)]) + 2 * GAP
    places: dict[str, tuple[float, float]] = {}
    y = 3 * GAP
    for row, wide in zip(rows, widths, strict=True):
        x = (width - wide) / 2
        for name in row:
            places[name] = x, y
            x += sizes[name][0] + GAP
        y += max(sizes[name][1] for name in row) + ROW
    parts = [_text(GAP, 1.4 * GAP, title, "title")]
    parts += [_arrow(each, places, sizes) for each in arrows if each.source in boxes and each.target in boxes]
    for name, box in boxes.items():
        (x, y0), (w, h) = places[name], sizes[name]
        parts.append(f'<rect x="{x:.1f}" y="{y0:.1f}" width="{w:.1f}" height="{h:.1f}" rx="7" class="t{box.hue % 6}"/>')
        parts.append(_text(x + PAD, y0 + PAD + 8, _short(box.heading), "heading"))
        for at, line in enumerate(box.lines, start=1):
            parts.append(_text(x + PAD, y0 + PAD + 8 + at * LINE, _short(line), "line"))
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{y - ROW + GAP:.0f}" '
        f'viewBox="0 0 {width:.0f} {y - ROW + GAP:.0f}">\n<title>{html.escape(printable(title))}</title>\n'
        f"<style>{_style()}</style>\n"
        '<defs><marker id="tip" markerWidth="9" markerHeight="9" refX="8" refY="4" orient="auto">'
        '<path d="M0,0 L8,4 L0,8 z" class="tip"/></marker></defs>\n'
        f'<rect width="100%" height="100%" class="paper"/>\n{body}\n</svg>\n'
    )


def _rows(boxes: Mapping[str, Box], arrows: Sequence[Arrow]) -> list[list[str]]:
    """Below all that lead to it; in a circle, in the order of naming."""
    depth: dict[str, int] = {}
    before: dict[str, list[str]] = {name: [] for name in boxes}
    for each in arrows:
        if each.source in boxes and each.target in boxes and each.source != each.target:
            before[each.target].append(each.source)

    def of(name: str, above: tuple[str, ...] = ()) -> int:
        if name in above:
            return 0
        if name not in depth:
            depth[name] = 1 + max(
                (of(other, (*above, name)) for other in before[name] if other not in above), default=-1
            )
        return depth[name]

    for name in boxes:
        of(name)
    found: list[list[str]] = [[] for _ in range(max(depth.values(), default=0) + 1)]
    for name in boxes:
        found[depth[name]].append(name)
    return [row for row in found if row]


def _size(box: Box) -> tuple[float, float]:
    longest = max(len(_short(line)) for line in (box.heading, *box.lines))
    return longest * LETTER + 2 * PAD, (1 + len(box.lines)) * LINE + 1.4 * PAD


def _short(line: str) -> str:
    line = printable(line)
    return line if len(line) <= WIDEST else line[: WIDEST - 1] + "…"


def _arrow(each: Arrow, places: Mapping[str, tuple[float, float]], sizes: Mapping[str, tuple[float, float]]) -> str:
    (x1, y1), (w1, h1) = places[each.source], sizes[each.source]
    (x2, y2), (w2, h2) = places[each.target], sizes[each.target]
    down = y2 > y1
    start = x1 + w1 / 2, y1 + h1 if down else y1
    end = x2 + w2 / 2, y2 if down else y2 + h2
    bend = (end[1] - start[1]) / 2
    path = (
        f"M{start[0]:.1f},{start[1]:.1f} C{start[0]:.1f},{start[1] + bend:.1f} "
        f"{end[0]:.1f},{end[1] - bend:.1f} {end[0]:.1f},{end[1]:.1f}"
    )
    label = ""
    if each.label:
        label = _text((start[0] + end[0]) / 2 + 4, (start[1] + end[1]) / 2, _short(each.label), "label")
    return f'<path d="{path}" class="arrow" marker-end="url(#tip)"/>{label}'


def _text(x: float, y: float, text: str, cls: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{cls}">{html.escape(printable(text))}</text>'


def _style() -> str:
    def hues(of: Mapping[str, str]) -> str:
        return "".join(f".{name}{{fill:{value};fill-opacity:.13;stroke:{value}}}" for name, value in of.items())

    common = (
        f"text{{font:12px {MONO}}}.title{{font:600 15px {SANS}}}.heading{{font-weight:600}}"
        ".label{font-size:11px}.arrow{fill:none;stroke-width:1.2}"
    )
    light = "text{fill:#1f2430}.paper{fill:#fff}.arrow{stroke:#8a93a5}.tip{fill:#8a93a5}" + hues(LIGHT_HUES)
    dark = "text{fill:#e6e9f0}.paper{fill:#14171f}.arrow{stroke:#7c8699}.tip{fill:#7c8699}" + hues(DARK_HUES)
    return f"{common}{light}@media (prefers-color-scheme:dark){{{dark}}}"
