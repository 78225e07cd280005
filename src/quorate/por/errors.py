"""What can go wrong in `quorate.por`, in the style of `quorate.base.errors`."""

from __future__ import annotations

from collections.abc import Collection

from quorate.base.errors import QuorateError, did_you_mean


class ReductionError(QuorateError):
    """A transition system, a request for a reduction or the text of a net has no meaning."""

    default_code = "Q800"


class RelationError(ReductionError):
    """The relations claim an independence that the system does not have: a reduction would lose states."""


def one_of(name: str, value: object, known: Collection[str]) -> None:
    """Refuse a value that is not among the known ones."""
    if value not in known:
        raise ReductionError(f"{name}={value!r} is unknown", hint=did_you_mean(str(value), known))
