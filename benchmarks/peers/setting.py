"""The setting of Echo Multicast, as `quorate.protocols.echo_multicast` builds it, for its models in other languages."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil


@dataclass(frozen=True)
class Setting:
    """So many honest receivers, honest initiators, Byzantine receivers, Byzantine initiators."""

    honest_receivers: int
    honest_initiators: int
    byzantine_receivers: int
    byzantine_initiators: int

    def __str__(self) -> str:
        numbers = (self.honest_receivers, self.honest_initiators, self.byzantine_receivers, self.byzantine_initiators)
        return f"({','.join(map(str, numbers))})"

    @property
    def receivers(self) -> int:
        return self.honest_receivers + self.byzantine_receivers

    @property
    def initiators(self) -> int:
        return self.honest_initiators + self.byzantine_initiators

    @property
    def needed(self) -> int:
        """The echoes that convince everyone."""
        return ceil((2 * self.receivers + 1) / 3)

    @property
    def half(self) -> int:
        """The honest receivers whom a Byzantine initiator tells this; it tells that to the others."""
        return ceil(self.honest_receivers / 2)
