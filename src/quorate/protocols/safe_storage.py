"""The weakest of registers: a read that overlaps no write returns what was written last (Lamport 1986).

The protocol is that of `regular-storage`, as Attie and Chockler (2006) have it for their safe register: time stamps,
one writer, majorities that outlive the crash of a minority of base objects. Their instance has three writes and one
read. With `late` the writer does not look to which of its writes an acknowledgement belongs: a late one of the last
write then ends the next too early, and not even safety is left.
"""

from quorate import Monitor, Pid, System, invariant, majority, on, quorum
from quorate.protocols.regular_storage import (
    Base,
    ReadBegan,
    ReadEnded,
    Reader,
    Stored,
    WriteBegan,
    WriteEnded,
    Writer,
)


class HastyWriter(Writer):
    @quorum(Stored, size="majority", when=lambda self: self.busy)  # the original asks for the present time
    def written(self, stored: frozenset[Stored]) -> None:
        super().written(stored)


class Safety(Monitor):
    """A read that overlaps no write returns the last one."""

    last: int = 0
    writing: bool = False
    alone: frozenset[Pid] = frozenset()  # reads under way that have overlapped no write so far
    unsafe: bool = False

    @on(WriteBegan)
    def write_began(self, _: WriteBegan) -> None:
        self.writing, self.alone = True, frozenset()

    @on(WriteEnded)
    def write_ended(self, e: WriteEnded) -> None:
        self.writing, self.last = False, e.time

    @on(ReadBegan, when=lambda self, e: not self.writing)
    def read_began(self, e: ReadBegan) -> None:
        self.alone |= {e.source}

    @on(ReadEnded, when=lambda self, e: e.source in self.alone)
    def read_ended(self, e: ReadEnded) -> None:
        self.unsafe |= e.time != self.last
        self.alone -= {e.source}


class SafeStorage(System):
    """A read that overlaps no write returns the last; with `late=true` writes end too early, and it may not."""

    bases: int = 3
    readers: int = 1
    writes: int = 3
    late: bool = False  # acknowledgements count for whatever write is under way

    def build(self) -> None:
        self.require(self.bases > 0, "there must be a base object")
        bases = self.spawn(Base, self.bases)
        writer = HastyWriter if self.late else Writer
        self.spawn(writer, bases=bases, majority=majority(self.bases), writes=self.writes)
        self.spawn(Reader, self.readers, bases=bases, majority=majority(self.bases))
        self.watch(Safety)

    @invariant
    def safety(self) -> bool:
        return not self[Safety].unsafe

    def all_served(self) -> bool:
        """Every operation has ended."""
        written = all(w.time == w.writes and not w.busy for w in self[Writer])
        return written and all(r.result is not None for r in self[Reader])

    def clients_up(self) -> bool:
        """Only base objects have crashed."""
        return not any(client.crashed for client in (*self[Writer], *self[Reader]))
