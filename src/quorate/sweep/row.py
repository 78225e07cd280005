"""One instance of a sweep and what became of it, as plain data that can cross processes and wait in a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

REFUSED = "Q203"  # the system itself says that this combination of parameters makes no sense


@dataclass(frozen=True)
class Row:
    """The parameters that were given, and the result as JSON, or `{"parameters": ..., "error": ...}`."""

    point: dict[str, Any]
    document: dict[str, Any]

    @property
    def error(self) -> dict[str, Any] | None:
        found: dict[str, Any] | None = self.document.get("error")
        return found

    @property
    def verdict(self) -> str:
        """holds, violated, incomplete; refused by the system; or error."""
        if self.error is not None:
            return "refused" if self.error["code"] == REFUSED else "error"
        return str(self.document["verdict"])

    @property
    def interrupted(self) -> bool:
        return self.document.get("stopped_by") == "interrupt"
