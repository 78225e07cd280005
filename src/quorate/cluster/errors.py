"""What can go wrong with workers."""

from __future__ import annotations

from quorate.base.errors import LimitError, QuorateError


class ClusterError(QuorateError):
    """Workers cannot do what was asked for."""

    default_code = "Q510"


class WorkerLostError(Exception):
    """A worker ended without an answer: its process was killed, or its machine is gone."""


class LostError(LimitError):
    """A worker is gone, and with it its share of the states."""

    def __init__(self, how: str, *, again: bool = False) -> None:
        super().__init__(
            f"a worker was lost{' again and again' if again else ''}, and its share of the states with it: {how}",
            hint="is there enough memory for the workers of a machine? does the model end its own process?"
            if again
            else "with --checkpoint DIR, which all workers reach, Ray starts it again and the search goes on",
            code="Q512",
        )


class KeptError(QuorateError):
    """What a worker wrote cannot be written or read."""

    default_code = "Q513"
