"""A profile as a picture: a bar for each role, field and message, as long as what it multiplies, by powers."""

from __future__ import annotations

from collections.abc import Iterable
from math import log
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from quorate.base.words import count
from quorate.render.palette import SANS

if TYPE_CHECKING:
    from quorate.search.profile import Profile

MOST = 12
"""Bars of a kind; what multiplies less is left out."""
LINE, LEFT, RIGHT, LONGEST, LETTER = 26, 24, 250, 360, 7.6
INK, FAINT, BAR = "#222222", "#555555", "#2f5fd0"

Bar = tuple[str, float, str]
"""What it is about, how many times fewer states there would be, and what else is told."""


def profile_picture(found: Profile) -> str:
    """Roles, fields and messages one below the other, all on one scale."""
    sections: list[tuple[str, list[Bar]]] = [
        (
            "Roles: without them",
            _bars((f"{each.processes} {each.role}", each.saved, count(each.cells, "cell")) for each in found.roles),
        ),
        ("Fields: fixed in one process", _bars((e.name, e.saved, count(e.values, "value")) for e in found.fields)),
        ("Messages: never pending", _bars((e.name, e.saved, count(e.values, "message")) for e in found.messages)),
    ]
    names = [name for _, bars in sections for name, _, _ in bars]
    most = max([2.0, *(saved for _, bars in sections for _, saved, _ in bars)])
    begin = LEFT + LETTER * max(map(len, names), default=0) + 12
    drawn = "a sample of " if not found.complete else ""
    body = [
        _text(LEFT, 34, f"{found.system}: what multiplies its states", size=18, weight=600),
        _text(LEFT, 56, f"times fewer states there would be; {drawn}{count(found.states, 'state')}", colour=FAINT),
    ]
    y = 70
    for heading, bars in sections:
        if not bars:
            continue
        y += LINE
        body.append(_text(LEFT, y, heading, weight=600))
        for name, saved, told in bars:
            y += LINE
            width = max(2.0, LONGEST * log(max(1.0, saved)) / log(most))
            body.append(_text(begin - 10, y, name, anchor="end"))
            body.append(f"<rect x='{begin:g}' y='{y - 13}' width='{width:.1f}' height='16' rx='2' fill='{BAR}'/>")
            body.append(_text(begin + width + 8, y, f"{saved:,.1f} times; {told}", colour=FAINT))
        y += LINE // 2
    width, height = round(begin + LONGEST + RIGHT), y + LINE
    head = [
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{width}' height='{height}' "
        f"viewBox='0 0 {width} {height}' font-family=\"{SANS}\">",
        f"<title>{escape(found.system)}: what multiplies its states</title>",
        f"<rect width='{width}' height='{height}' fill='#ffffff'/>",
    ]
    return "\n".join([*head, *body, "</svg>"]) + "\n"


def _bars(bars: Iterable[Bar]) -> list[Bar]:
    return list(bars)[:MOST]


def _text(
    x: float, y: float, text: str, *, size: int = 13, weight: int = 400, anchor: str = "start", colour: str = INK
) -> str:
    return (
        f"<text x='{x:g}' y='{y:g}' font-size='{size}' font-weight='{weight}' text-anchor='{anchor}' "
        f"fill='{colour}'>{escape(text)}</text>"
    )
