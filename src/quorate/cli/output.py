"""Where a page goes: in colour to a terminal, plain everywhere else."""

import os
import shutil
import sys
from typing import TextIO

from quorate.traces.layout import Page

WIDEST = 110  # longer lines are harder to read than wrapped ones


def coloured(stream: TextIO) -> bool:
    """On a terminal, unless NO_COLOR says otherwise; FORCE_COLOR colours anything."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (stream.isatty() and os.environ.get("TERM", "") != "dumb")


def width(stream: TextIO) -> int:
    """The terminal's width within reason; 80 where there is none, so that files do not depend on the window."""
    if not stream.isatty():
        return int(os.environ["COLUMNS"]) if os.environ.get("COLUMNS", "").isdigit() else 80
    return max(40, min(WIDEST, shutil.get_terminal_size().columns))


def show(page: Page, stream: TextIO | None = None) -> None:
    stream = sys.stdout if stream is None else stream
    if coloured(stream):
        from rich.console import Console

        page.print(Console(file=stream, force_terminal=True))
        return
    encoding = (stream.encoding or "utf-8").lower().replace("-", "")
    stream.write(page.plain(ascii_only=not encoding.startswith("utf")) + "\n")
