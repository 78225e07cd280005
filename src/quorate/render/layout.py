"""Styled lines, independent of where they are shown.

A page knows styles by meaning ("bad", "faint"), never by colour. Printed to a terminal it is coloured by Rich;
everywhere else (pytest, a file, a pipe) it is plain text, and Rich is not even imported.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from quorate.base.printable import printable

if TYPE_CHECKING:
    from rich.console import Console

WIDTH = 80  # where nobody says otherwise

# Meaning -> Rich style. Eight-colour terminals show all of these.
STYLES = {
    "": "",
    "good": "bold green",
    "bad": "bold red",
    "open": "bold yellow",
    "warning": "yellow",
    "heading": "bold",
    "faint": "bright_black",
    "process": "cyan",
    "action": "bold",
    "message": "",
    "before": "bright_black",
    "after": "bold",
    "fault": "bold yellow",
    "command": "cyan",
}

# For terminals that cannot show these signs.
ASCII = str.maketrans(
    {"✓": "+", "✗": "x", "←": "<-", "→": "->", "·": "|", "…": "~", "⋮": ":"}
    # A chart's signs, one for one: what is drawn must stay where it is.
    | dict(zip("│┃┊├┤─╌▶◀○✕\u2573↻☠╭╰", "|#:++-.><oxX@!++", strict=True))
)


@dataclass(frozen=True)
class Piece:
    """A stretch of text with one meaning. Whatever a model put into it, it is safe to show, and on one line."""

    text: str
    style: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", printable(self.text))


Line = tuple[Piece, ...]
Content = str | Piece | Iterable["Content"]


def pieces(*content: Content) -> list[Piece]:
    """Flatten what a caller finds natural to write into pieces."""
    result: list[Piece] = []
    for item in content:
        if isinstance(item, str):
            result.append(Piece(item))
        elif isinstance(item, Piece):
            result.append(item)
        else:
            result.extend(pieces(*item))
    return [piece for piece in result if piece.text]


def length(line: Iterable[Piece]) -> int:
    return sum(len(piece.text) for piece in line)


def words(line: Iterable[Piece]) -> list[list[Piece]]:
    """Split at spaces into what must stay together; a word may span styles and keeps the spaces that follow it."""
    result: list[list[Piece]] = [[]]
    for piece in line:
        for part in re.findall(r"[^ ]* +|[^ ]+", piece.text):
            result[-1].append(Piece(part, piece.style))
            if part.endswith(" "):
                result.append([])
    return [word for word in result if word]


def wrap(line: Sequence[Piece], width: int, hanging: int) -> list[Line]:
    """Break a line between words; what continues is indented by `hanging`. A word too long for a line is left whole."""
    if length(line) <= width:
        return [tuple(line)]
    lines: list[list[Piece]] = [[]]
    used = 0
    for word in words(line):
        visible = len("".join(piece.text for piece in word).rstrip(" "))
        if used + visible > width and used > hanging:
            lines.append([Piece(" " * hanging)])
            used = hanging
        lines[-1].extend(word)
        used += length(word)
    return [tuple(line) for line in lines]


@dataclass
class Page:
    """Lines that were laid out for a width."""

    width: int = WIDTH
    lines: list[Line] = field(default_factory=list)

    def add(self, *content: Content, hanging: int = 4) -> None:
        self.lines.extend(wrap(pieces(*content), self.width, hanging))

    def gap(self) -> None:
        """One empty line, never two, and none at the top."""
        if self.lines and self.lines[-1]:
            self.lines.append(())

    def bracket(self, first: int, words: str, style: str = "fault") -> None:
        """Draw a bracket around the lines from a given one on; the lines before it move aside with them."""
        inside = [(Piece("│ ", style), *line) for line in self.lines[first:]]
        before = [(Piece("  "), *line) if line else line for line in self.lines[:first]]
        self.lines = [*before, (Piece(f"╭ {words}", style),), *inside, (Piece("╰", style),)]

    def table(self, rows: Iterable[tuple[Content, Content]], indent: int = 2) -> None:
        """Names on the left, aligned; what they mean on the right, wrapped under itself."""
        entries = [(pieces(name), pieces(content)) for name, content in rows]
        column = max((length(name) for name, _ in entries), default=0)
        for name, content in entries:
            faint = [Piece(piece.text, piece.style or "faint") for piece in name]
            gap = " " * (column - length(name) + 2)
            self.add(" " * indent, faint, gap, content, hanging=indent + column + 2)

    def plain(self, ascii_only: bool = False) -> str:
        text = "\n".join("".join(piece.text for piece in line).rstrip() for line in self.lines)
        return text.translate(ASCII) if ascii_only else text

    def print(self, console: Console) -> None:
        """To a terminal, in colour if it has any."""
        from rich.text import Text

        ascii_only = not (console.encoding or "utf-8").lower().replace("-", "").startswith("utf")
        for line in self.lines:
            text = Text(no_wrap=True, end="")
            for piece in line:
                shown = piece.text.translate(ASCII) if ascii_only else piece.text
                text.append(shown, STYLES[piece.style])
            text.rstrip()
            # soft_wrap: what is too long was meant to be, and may be copied as one line.
            console.print(text, soft_wrap=True, highlight=False)
