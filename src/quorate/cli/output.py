"""Where output goes: a command's own to standard output, in colour on a terminal; what a model prints elsewhere."""

import errno
import io
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO, cast

from quorate.render.layout import Page

NARROWEST, WIDEST = 40, 110  # longer lines are harder to read than wrapped ones
MOST = 1000  # in files, if COLUMNS asks for that


class Patient(io.TextIOBase):
    """A stream that never raises. A reader that is gone or a full disk is remembered; the work goes on.

    So the files that were asked for are written, and the exit status is the verdict's, whoever listens.
    """

    def __init__(self, stream: TextIO, *, answers: bool = False) -> None:
        self.stream = stream
        self._process = os.getpid() if answers else None
        """Who answers. A copy of it that a model has forked must not answer as well, and ends here."""
        self.failed: OSError | None = None

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self.stream.encoding or "utf-8"

    @property
    def gone(self) -> bool:
        """Nobody reads any more, which is no error: `| head` has seen enough."""
        return self.failed is not None and self.failed.errno == errno.EPIPE

    @property
    def buffer(self) -> Any:
        """For models that write bytes."""
        return getattr(self.stream, "buffer", None)

    def isatty(self) -> bool:
        return self.stream.isatty()

    def fileno(self) -> int:
        return self.stream.fileno()

    def writable(self) -> bool:
        return True

    def write(self, text: str, /) -> int:
        if self._process is not None and self._process != os.getpid():
            os._exit(0)
        if self.failed is None:
            try:
                self.stream.write(text)
            except OSError as error:
                self._give_up(error)
        return len(text)

    def flush(self) -> None:
        if self.failed is None and not self.stream.closed:  # Python flushes it when it is collected, too
            try:
                self.stream.flush()
            except OSError as error:
                self._give_up(error)

    def _give_up(self, error: OSError) -> None:
        self.failed = error
        try:
            # Python flushes once more at exit, and would complain then.
            silence = os.open(os.devnull, os.O_WRONLY)
            os.dup2(silence, self.stream.fileno())
            os.close(silence)
        except (OSError, ValueError):
            pass


_own: Patient | None = None
_errors: Patient | None = None


def out() -> TextIO:
    """A command's own standard output."""
    return sys.stdout if _own is None else cast(TextIO, _own)


def err() -> TextIO:
    """A command's own standard error, also where a model has put something else in the place of `sys.stderr`."""
    return sys.stderr if _errors is None else cast(TextIO, _errors)


def reader_gone() -> bool:
    """Whether nobody reads standard output any more."""
    return _own is not None and _own.gone


@contextmanager
def apart() -> Iterator[Patient]:
    """Keep standard output for the command: whatever else is printed meanwhile goes to standard error.

    A model's code runs in many places (imports, handlers, properties, explanations), so it is not those that are
    redirected, but the command's own output that takes another way.
    """
    global _own, _errors
    before, errors, outer = sys.stdout, sys.stderr, (_own, _errors)
    stderr = Patient(errors)
    copy = _copied(before)
    own = Patient(before if copy is None else copy, answers=True)
    _own, _errors = own, stderr
    sys.stderr = cast(TextIO, stderr)
    sys.stdout = sys.stderr
    try:
        yield own
    finally:
        own.flush()
        stderr.flush()
        sys.stdout, sys.stderr = before, errors
        _own, _errors = outer
        if copy is not None:
            os.dup2(copy.fileno(), 1)
            copy.close()


def _copied(stdout: TextIO) -> TextIO | None:
    """Standard output under another number, so that programs which a model starts do not find it; None in tests."""
    try:
        stdout.flush()
        if stdout.fileno() != 1:
            return None
        number = os.dup(1)
        os.dup2(2, 1)
    except (OSError, ValueError):
        return None
    # A sign that the terminal cannot show must not cost the verdict.
    return open(number, "w", encoding=stdout.encoding, errors="backslashreplace")


def fill_standard_streams() -> None:
    """Where a standard stream is closed, the next file that is opened would get its number, and the model's output."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            opened = os.open(os.devnull, os.O_RDONLY if number == 0 else os.O_WRONLY)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
        if getattr(sys, name) is None:
            stream = os.fdopen(number, "r" if number == 0 else "w", encoding="utf-8", closefd=False)
            setattr(sys, name, stream)


def coloured(stream: TextIO) -> bool:
    """On a terminal, unless NO_COLOR says otherwise; FORCE_COLOR colours anything."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (stream.isatty() and os.environ.get("TERM", "") != "dumb")


def columns() -> int | None:
    """What COLUMNS says, within reason: lines are filled up to their width, in memory."""
    said = os.environ.get("COLUMNS", "")
    wanted = int(said) if said.isdecimal() and len(said) < 10 else 0
    return max(NARROWEST, min(MOST, wanted)) if wanted else None


def settle_columns() -> None:
    """Let everybody read the same there; libraries take it as it is."""
    found = columns()
    os.environ.pop("COLUMNS", None)
    if found is not None:
        os.environ["COLUMNS"] = str(found)


def width(stream: TextIO) -> int:
    """The terminal's width within reason; 80 where there is none, so that files do not depend on the window."""
    if not stream.isatty():
        return columns() or 80
    return max(NARROWEST, min(WIDEST, shutil.get_terminal_size().columns))


def show(page: Page, stream: TextIO | None = None) -> None:
    stream = out() if stream is None else stream
    if coloured(stream):
        from rich.console import Console

        page.print(Console(file=stream, force_terminal=True))
        return
    encoding = (stream.encoding or "utf-8").lower().replace("-", "")
    stream.write(page.plain(ascii_only=not encoding.startswith("utf")) + "\n")
