"""What cannot be put into a formula is refused: by name, with the field and the line, and what works instead."""

from __future__ import annotations

from quorate.base.errors import Location, QuorateError, caller


class RefusedError(QuorateError):
    """This model, or this part of it, cannot be proved anything about."""

    default_code = "Q752"

    def __init__(self, message: str, hint: str = "", location: Location | None = None) -> None:
        super().__init__(message, hint=hint, location=location or caller())

    def about(self, what: str, place: Location | None) -> RefusedError:
        """The same with whose fault it is."""
        if what and what not in self.message:
            self.message = f"{what}: {self.message}"
        self.location = self.location or place
        return self
