"""The register of `regular-storage` with a wrong claim (Bokor 2011, section 3.6.2).

A read is to return what was written by a write that ended before the read did, even if the two overlap. But the base
objects that a reader hears may have answered before the write came to them.
"""

from quorate import on
from quorate.protocols import regular_storage
from quorate.protocols.regular_storage import ReadEnded


class Regularity(regular_storage.Regularity):
    @on(ReadEnded)
    def read_ended(self, e: ReadEnded) -> None:
        self.irregular |= not self.ended <= e.time <= self.began  # right: not older than when the read began


class WrongRegularStorage(regular_storage.RegularStorage):
    """A register whose reads are to return what is written while they are under way; that fails."""

    monitor = Regularity
