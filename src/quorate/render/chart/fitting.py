"""Making text fit. Widths are estimated from above, so that what fits here fits in whatever font is at hand."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

SIZE = 11.0
"""Of messages and values, in pixels."""
CHARACTER = 0.605 * SIZE
"""Fixed-pitch fonts are 0.60 em wide, some 0.55; none that is common is wider."""
WORD = 0.62
"""The average width in em of a bold sans-serif letter, from above."""
LINE = 15.0
MOST_LINES = 3


class Span(NamedTuple):
    """A stretch of text with one meaning."""

    text: str
    style: str = ""


Text = tuple[Span, ...]


class Lines(NamedTuple):
    """One thing to be said, on as many lines as it takes. `full` is what it says when there is no want of room."""

    lines: tuple[Text, ...]
    full: str = ""


def width(text: Iterable[Span]) -> float:
    return sum(len(span.text) * _character(span.style) for span in text)


def _character(style: str) -> float:
    return WORD * 12.0 if style in ("title", "mishap", "quiet", "number") else CHARACTER


def fitted(forms: Iterable[str], room: float, style: str = "") -> Lines:
    """The first form that fits; else the last one, broken between words, and cut where even that is too long."""
    choices = list(forms)
    characters = max(8, int(room / CHARACTER))
    for form in choices:
        if len(form) <= characters:
            return Lines(((Span(form, style),),), choices[0])
    broken = _broken(choices[-1], characters)
    return Lines(tuple((Span(line, style),) for line in broken), choices[0])


def _broken(text: str, characters: int) -> list[str]:
    lines = [""]
    for word in _words(text):
        indent = " " if len(lines) > 1 and not lines[-1] else ""
        if lines[-1] and len(lines[-1]) + len(word.rstrip()) > characters:
            lines[-1] = lines[-1].rstrip()
            lines.append("")
            indent = " "
        lines[-1] += indent + word
    lines = [_cut(line.rstrip(), characters) for line in lines]
    if len(lines) > MOST_LINES:
        lines = [*lines[: MOST_LINES - 1], _cut(lines[MOST_LINES - 1] + "…", characters)]
    return lines


def _words(text: str) -> list[str]:
    """Split behind spaces and opening brackets, where a reader would break the line."""
    words, word = [], ""
    for at, sign in enumerate(text):
        word += sign
        if sign == " " or (sign in "({[" and len(word) > 12 and at + 1 < len(text)):
            words.append(word)
            word = ""
    return [*words, word] if word else words


def _cut(text: str, characters: int) -> str:
    return text if len(text) <= characters else text[: characters - 1] + "…"
