"""What cannot be put into a formula is refused: by name, with the field and the line, and what works instead.

A refusal goes through code of the model, which may catch it. So it is noted on the path that is being taken as well:
whatever the model's code makes of it, the path is void (paths.py).
"""

from __future__ import annotations

import sys
from types import FrameType
from typing import TYPE_CHECKING

from quorate.base.errors import Location, QuorateError, is_model_file

if TYPE_CHECKING:
    from quorate.proofs.paths import Path


class _Running:
    path: Path | None = None
    doubtful: tuple[str, Location] | None = None
    """Something in the model's code by which a plain integer may get beside lifted ones."""
    alike = False
    """Whether unknown integers hash alike, even those that may be 0 or 1: a first try, to be shown right."""
    tried = False
    """Whether one was hashed in such a try."""


running = _Running()


def noted(error: BaseException) -> None:
    """Whatever the model's code makes of this error: the path that is being taken ends with it."""
    if running.path is not None:
        running.path.ends_with(error)


class RefusedError(QuorateError):
    """This model, or this part of it, cannot be proved anything about."""

    default_code = "Q752"

    def __init__(self, message: str, hint: str = "", location: Location | None = None) -> None:
        super().__init__(message, hint=hint, location=location or _line())
        noted(self)

    def about(self, what: str, place: Location | None) -> RefusedError:
        """The same with whose fault it is."""
        if what and what not in self.message:
            self.message = f"{what}: {self.message}"
        self.location = self.location or place
        return self


def _line() -> Location | None:
    """The line of the model that is being run. Who called for the proof is none."""
    frame: FrameType | None = sys._getframe(1)
    found: Location | None = None
    while frame is not None:
        code = frame.f_code
        if found is None and is_model_file(code.co_filename):
            found = Location(code.co_filename, frame.f_lineno)
        if (
            found is not None
            and code.co_name == "explore"
            and frame.f_globals.get("__name__") == "quorate.proofs.paths"
        ):
            return found
        frame = frame.f_back
    return None


class Doubt:
    """A refusal that is due unless the path fails: what the model's code saw may have been something else.

    A path that fails has to be shown to be impossible, and what it stands on can only be too much.
    """

    def __init__(self, message: str, hint: str, location: Location | None = None) -> None:
        self.message, self.hint, self.location = message, hint, location or _line()
        if running.path is not None and running.path.doubt is None:
            running.path.doubt = self

    def refusal(self) -> RefusedError:
        return RefusedError(self.message, self.hint, self.location)
