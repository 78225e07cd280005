"""From a raised error to what is told about it: kind, text, and the model's line where it happened."""

from __future__ import annotations

import linecache
from functools import partial
from types import TracebackType
from typing import Literal, NamedTuple

from quorate.base.errors import (
    LimitError,
    Location,
    ModelError,
    QuorateError,
    Signal,
    is_library_file,
    is_model_file,
    is_own_file,
)
from quorate.base.values import LONG
from quorate.base.watchdog import supervised

TOO_DEEP = "a value of the model is nested too deeply"
TOO_DEEP_HINT = "a tuple within a tuple, some hundred times? keep a flat tuple, or bound its depth"


class Failure(NamedTuple):
    """Why a handler, a monitor or a property did not come to its end."""

    kind: Literal["assertion", "exception", "model"]
    text: str
    file: str
    line: int
    hint: str = ""
    code: str = ""

    @property
    def violates(self) -> str:
        """The name under which it is told among the properties."""
        return "assertions" if self.kind == "assertion" else "exceptions"


def failure_of(error: BaseException, place: Location) -> Failure:
    """What went wrong, and the model's line where it did. What is not the model's doing is raised again."""
    if not is_models(error):
        raise error
    found = innermost(error.__traceback__) or place
    if isinstance(error, RecursionError) and is_own_file(_last(error.__traceback__)):
        # We went too deep into a value, not the model: no finding about the protocol. It is not kept as the outcome
        # of a handler either, for where it comes depends on how deep the stack was before.
        raise LimitError(TOO_DEEP, hint=TOO_DEEP_HINT, code="Q501", location=found) from None
    if isinstance(error, RecursionError):
        # How deep Python goes is no part of the protocol, so this is a mistake in the model rather than a finding.
        hint = "a function that calls itself must come to an end; write a loop where it goes too deep"
        return Failure("model", f"RecursionError: {error}", found.file, found.line, hint, "Q114")
    if isinstance(error, QuorateError):
        at = error.location or found
        return Failure("model", error.message, at.file, at.line, error.hint, error.code)
    if isinstance(error, AssertionError):
        # Under pytest a rewritten assert adds lines that hold addresses; the first is the author's, and stays the same.
        text = said(error).partition("\n")[0] or linecache.getline(found.file, found.line).strip() or "assertion failed"
        return Failure("assertion", text, found.file, found.line)
    text = described(error)
    if not isinstance(error, Exception):
        # It would end the program, perhaps with status 0. So it is no finding about the protocol, but a mistake.
        hint = "a model cannot end the check: use an assert for what must not happen, `return` for what is done"
        return Failure("model", f"{text} would end the program", found.file, found.line, hint, "Q119")
    return Failure("exception", text, found.file, found.line)


def described(error: BaseException) -> str:
    """The type of an error and what it says: `KeyError: 'no'`."""
    text = said(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def said(error: BaseException) -> str:
    """What an error says of itself; nothing where that fails in turn, for its `__str__` may be the model's."""
    try:
        text = supervised(partial(str, error))
        return text if len(text) <= LONG else f"{text[:LONG]}… ({len(text):,} characters)"
    except BaseException as another:
        if not is_models(another):
            raise
        return ""


def is_models(error: BaseException) -> bool:
    """Whether an error is the model's doing. Quorate's own signals are not, and neither is Ctrl-C.

    Ctrl-C comes between two instructions, or from Quorate's handler of signals. A model that means to raise a
    KeyboardInterrupt has an instruction for it.
    """
    if isinstance(error, Signal):
        return False
    if not isinstance(error, KeyboardInterrupt):
        return True
    from opcode import opmap

    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    if last is None or not is_model_file(last.tb_frame.f_code.co_filename):
        return False
    return last.tb_frame.f_code.co_code[last.tb_lasti] == opmap["RAISE_VARARGS"]


def blame(what: str, error: BaseException, place: Location | None, hint: str) -> ModelError:
    """The error for an exception where no run of the protocol is to be shown: in `build`, in `within`."""
    failure = failure_of(error, place or Location("<unknown>", 0))
    location = Location(failure.file, failure.line) if failure.line else None
    if failure.code:
        return ModelError(failure.text, hint=failure.hint, code=failure.code, location=location)
    return ModelError(f"{what} raised {failure.text}", hint=hint, code="Q118", location=location)


def model_at_fault(error: BaseException) -> ModelError | None:
    """Of an error that nobody expected: that it is the model's, if its last line is, the library's lines left out."""
    traceback, last = error.__traceback__, ""
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        if not is_library_file(file):
            last = file
        traceback = traceback.tb_next
    if not last or not is_model_file(last) or not is_models(error):
        return None
    return blame("the model", error, None, "QUORATE_TRACEBACK=1 shows how it got there")


def _last(traceback: TracebackType | None) -> str:
    """The file in which the error was raised."""
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    return traceback.tb_frame.f_code.co_filename if traceback is not None else ""


def innermost(traceback: TracebackType | None) -> Location | None:
    """The last line of model code on the way to the error; the standard library's lines would not help."""
    found: Location | None = None
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        if is_model_file(file):
            found = Location(file, traceback.tb_lineno)
        traceback = traceback.tb_next
    return found
