"""The errors a user can meet: one small family, each with a stable code, a place in the source and a next step."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from types import FrameType
from typing import NamedTuple


class Location(NamedTuple):
    """A line of the user's source."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class QuorateError(Exception):
    """Base of everything Quorate raises on purpose; `code` is stable, `hint` says what to do instead."""

    default_code = "Q000"

    def __init__(
        self, message: str, *, hint: str = "", code: str | None = None, location: Location | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.code = code or self.default_code
        self.location = location

    def __str__(self) -> str:
        place = f"{self.location}: " if self.location else ""
        hint = f"\n  hint: {self.hint}" if self.hint else ""
        return f"{place}[{self.code}] {self.message}{hint}"

    def to_json(self) -> dict[str, str | int | None]:
        """The object that `--json` prints under `error`."""
        place = self.location
        return {
            "code": self.code,
            "message": self.message,
            "hint": self.hint,
            "file": place.file if place is not None else None,
            "line": place.line if place is not None else None,
        }


class Signal(BaseException):
    """What Quorate itself raises through a model. Not an Exception, so that no handler swallows it, nor is blamed."""


class ModelError(QuorateError):
    """The model breaks a rule of the language."""

    default_code = "Q100"


class IdentityError(ModelError, TypeError):
    """A process identity was used as more than a name: ordered, added, turned into a number."""

    default_code = "Q113"


class ParameterError(QuorateError):
    """A parameter is unknown, of the wrong type, or out of its range."""

    default_code = "Q200"


class TargetError(QuorateError):
    """What was asked to be checked cannot be found or imported."""

    default_code = "Q300"


class PropertyError(QuorateError):
    """A property is unknown, or raised while it was evaluated."""

    default_code = "Q400"


class LimitError(QuorateError):
    """A documented limit was reached."""

    default_code = "Q500"


_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# The bundled protocols are models like any user's; the rest of the package never is the culprit.
_MODELS = os.path.join(_PACKAGE, "protocols") + os.sep


_LIBRARY = os.path.dirname(os.__file__) + os.sep
_INSTALLED = tuple(_LIBRARY + name + os.sep for name in ("site-packages", "dist-packages"))


def is_model_file(filename: str) -> bool:
    """Whether a frame of this file is the model's own code rather than Quorate's, or the standard library's."""
    return not is_own_file(filename) and not is_library_file(filename)


def is_own_file(filename: str) -> bool:
    """Whether it is Quorate's, or code that a dataclass generated."""
    return filename == "<string>" or (filename.startswith(_PACKAGE + os.sep) and not filename.startswith(_MODELS))


def is_library_file(filename: str) -> bool:
    """Whether it is the standard library's. What is installed beside it is not: a model may be a package."""
    return filename.startswith("<frozen") or (filename.startswith(_LIBRARY) and not filename.startswith(_INSTALLED))


def caller() -> Location | None:
    """The nearest line of model code on the stack."""
    return nearest(sys._getframe(1))


def nearest(frame: FrameType | None) -> Location | None:
    """The line of model code that a frame belongs to or was called from."""
    while frame is not None:
        filename = frame.f_code.co_filename
        if is_model_file(filename):
            return Location(filename, frame.f_lineno)
        frame = frame.f_back
    return None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A sentence that guesses what was meant, or lists what there is."""
    from difflib import get_close_matches

    names = sorted(known)
    close = get_close_matches(name, names, n=1)
    if close:
        return f"did you mean `{close[0]}`?"
    return f"there is: {', '.join(names)}" if names else "there is none"


class MessagesRead(BaseException):
    """A property has read messages in flight, and was not given those of this class."""

    def __init__(self, cls: type) -> None:
        super().__init__(f"a property read messages in flight: self.pending({cls.__name__})")
        self.cls = cls

    def refused(self, what: str) -> ParameterError:
        """The error where they cannot be given."""
        return ParameterError(
            f"a property reads messages in flight, self.pending({self.cls.__name__}), which cannot be combined with "
            f"{what}",
            hint="leave that out, or ask about other properties: --property NAME",
            code="Q605",
        )
