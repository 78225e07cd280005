"""A directory for the states of a search (`--spill`)."""

from __future__ import annotations

import tempfile

from quorate.base.errors import QuorateError


def require_writable(directory: str) -> None:
    """Find out before the search, and not when the first states are to be written."""
    try:
        with tempfile.TemporaryFile(dir=directory) as file:
            file.write(b"\0")
    except OSError as error:
        raise QuorateError(
            f"spill={directory!r}: {error.strerror or error}",
            hint="name a directory that can be written to, on a disk with room for the states",
            code="Q600",
        ) from None
