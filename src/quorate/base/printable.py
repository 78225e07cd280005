"""Text that can be shown anywhere: on a terminal, in SVG and HTML, in a log.

A model's texts may hold anything. Control characters would move the cursor or end a line early, some are forbidden in
XML; lone surrogates cannot be encoded; marks of direction make a line read other than it is. All are shown escaped.
"""

from __future__ import annotations

import re

# C0 and C1 controls, line and paragraph separators, marks of direction, surrogates, and what is no character at all.
_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufdd0-\ufdef\ufeff\ufffe\uffff]"
)
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def printable(text: str) -> str:
    """The same text on one line, with an escape as Python writes it for every sign that is not safe to show."""
    return text if _UNSAFE.search(text) is None else _UNSAFE.sub(_escaped, text)


def printable_lines(text: str) -> str:
    """The same for a text of several lines, which stay apart."""
    return "\n".join(map(printable, text.split("\n")))


def _escaped(match: re.Match[str]) -> str:
    sign = match[0]
    code = ord(sign)
    return _SHORT.get(sign) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")
