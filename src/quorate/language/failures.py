"""From a raised error to what is told about it: kind, text, and the model's line where it happened."""

from __future__ import annotations

import linecache
from types import TracebackType

from quorate.language.errors import Location, QuorateError, is_model_file
from quorate.language.outcome import Failure
from quorate.language.watchdog import MAX_STEPS, Endless

_LIBRARY = linecache.__file__.removesuffix("linecache.py")


def failure_of(error: BaseException, place: Location) -> Failure:
    """What went wrong, and the model's line where it did."""
    if isinstance(error, Endless):
        file, line = error.location or place
        return Failure(
            "exception",
            f"did not come to an end within {MAX_STEPS:,} steps",
            file,
            line,
            "a handler must end: look for a loop whose condition never becomes false",
            "Q114",
        )
    found = _innermost(error.__traceback__) or place
    if isinstance(error, QuorateError):
        at = error.location or found
        return Failure("model", error.message, at.file, at.line, error.hint, error.code)
    if isinstance(error, AssertionError):
        # Under pytest a rewritten assert adds lines that hold addresses; the first is the author's, and stays the same.
        text = str(error).partition("\n")[0] or linecache.getline(found.file, found.line).strip() or "assertion failed"
        return Failure("assertion", text, found.file, found.line)
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return Failure("exception", text, found.file, found.line)


def _innermost(traceback: TracebackType | None) -> Location | None:
    """The last line of model code on the way to the error; the standard library's lines would not help."""
    found: Location | None = None
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        if is_model_file(file) and not file.startswith(_LIBRARY) and not file.startswith("<frozen"):
            found = Location(file, traceback.tb_lineno)
        traceback = traceback.tb_next
    return found
