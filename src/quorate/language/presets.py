"""Named choices of parameters, with the reason to make them.

A preset says that an instance stands for others by an argument about the protocol, such as a reduction theorem. It is
the protocol's author who vouches for it: a check proves what it proves of the instance, and says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Preset:
    """Values of parameters, what they stand for, as far as which property goes, and where that is argued."""

    values: Mapping[str, Any]
    stands_for: str
    property: str
    argument: str

    def caveat(self, name: str) -> str:
        """What a result with this preset rests on."""
        values = ", ".join(f"{key}={value}" for key, value in self.values.items())
        return (
            f"{name}: {values} stands for {self.stands_for}, as far as {self.property} goes, by a theorem about this "
            f"protocol ({self.argument}), which this check does not prove"
        )
