"""One line that says how far a search has come, rewritten in place; nothing at all where nobody watches."""

import os
from math import isfinite
from typing import TextIO

from quorate.base.printable import printable
from quorate.cli import interrupts
from quorate.cli.output import err
from quorate.results.result import Progress

PATIENCE = 0.5  # seconds: a check that answers sooner needs no line
_CLEAR = "\r\x1b[K"


def watched(stream: TextIO) -> bool:
    """Whether a person sees this stream, on a terminal that can rewrite a line."""
    return stream.isatty() and os.environ.get("TERM", "") != "dumb"


class ProgressLine:
    """Give `update` to `quorate.check(progress=...)`, and close the line before anything else is printed.

    Every update is a single write of a whole line, so that nothing flickers.
    """

    def __init__(self, stream: TextIO | None = None, label: str = "") -> None:
        self.stream = err() if stream is None else stream
        self.label = label
        self.shown = False
        self.enabled = watched(self.stream)

    def update(self, progress: Progress) -> None:
        """Also where nobody watches: a signal that came before the search took them gets there now."""
        interrupts.deliver()
        if not self.enabled or progress.seconds < PATIENCE:
            return
        self.say(line(progress, self.label))

    def say(self, text: str) -> None:
        """Show any text in place of the line."""
        if not self.enabled:
            return
        width = _columns(self.stream) - 1  # a full last column makes some terminals wrap
        self._write(_CLEAR + printable(text)[:width])
        self.shown = True

    def close(self) -> None:
        if self.shown:
            self._write(_CLEAR)
            self.shown = False

    def _write(self, text: str) -> None:
        try:
            self.stream.write(text)
            self.stream.flush()
        except (OSError, ValueError):  # the terminal went away; the search goes on
            self.enabled = self.shown = False


def line(progress: Progress, label: str = "") -> str:
    """The figures in columns that keep their place while the numbers grow."""
    from quorate.base.words import memory

    seconds = progress.seconds
    rate = progress.states / seconds if seconds > 0 else 0.0
    clock = f"{int(seconds) // 60}:{int(seconds) % 60:02d}"
    # What is to be expected comes first: of a line that is too long for the terminal the end is cut off.
    expected = progress.expected
    of = ""
    if expected is not None and expected.likely > 1.05 * progress.states:
        most = _short(expected.high) if isfinite(expected.high) else "no end"
        of = f" of about {_short(expected.likely)} ({_short(expected.low)} to {most})"
    figures = (
        f"{progress.states:>12,} states{of}  {_short(rate):>6}/s  frontier {_short(progress.frontier):>6}"
        f"  depth {progress.depth:>3}  {memory(progress.memory_bytes):>7}"
    )
    name = label or progress.phase
    return f"{clock:>5}  {name}  {figures}{_shares(progress)}"


def _shares(progress: Progress) -> str:
    """What part of the states each worker has; of many workers, the smallest and the largest part."""
    total = sum(progress.shares)
    if len(progress.shares) < 2 or total == 0:
        return ""
    parts = [f"{100 * each / total:.0f}" for each in progress.shares]
    if len(parts) > 8:
        parts = [f"{len(parts)} workers, {min(parts, key=int)}", max(parts, key=int)]
        return f"  {' to '.join(parts)}%"
    return f"  shares {' '.join(parts)}%"


def _short(number: float) -> str:
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.1f}{letter}"
    return f"{number:.0f}"


def _columns(stream: TextIO) -> int:
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except (OSError, ValueError):
        return 80
