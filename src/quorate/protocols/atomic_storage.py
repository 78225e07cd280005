"""An atomic register for one writer and many readers, from messages (Attiya, Bar-Noy, Dolev 1995).

The register of `regular-storage`, and a second round to read: before a reader returns what it found, it stores it at a
majority itself, so that no later read can find less. It outlives the crash of a minority of base objects. Without that
round (`write_back=False`) it is still regular, but two reads in a row may see two writes in the wrong order.
"""

from quorate import Map, Monitor, Pid, System, invariant, majority, on, quorum
from quorate.protocols import regular_storage
from quorate.protocols.regular_storage import Answer, Base, ReadBegan, ReadEnded, Regularity, Store, Stored, Writer


class Reader(regular_storage.Reader):
    found: int | None = None

    @quorum(Answer, size="majority", when=lambda self: self.found is None)
    def collect(self, answers: frozenset[Answer]) -> None:
        self.found = max(answer.time for answer in answers)
        self.send(self.bases, Store(self.found))

    @quorum(Stored, size="majority", when=lambda self: self.result is None)
    def written_back(self, stored: frozenset[Stored]) -> None:
        (self.result,) = {m.time for m in stored}
        self.emit(ReadEnded(self.result))


class ReadOrder(Monitor):
    """A read returns nothing older than a read that ended before it began."""

    newest: int = 0  # that any read has returned
    oldest: Map[Pid, int] = Map()  # what a reader may return at the least
    inverted: bool = False

    @on(ReadBegan)
    def read_began(self, e: ReadBegan) -> None:
        self.oldest |= {e.source: self.newest}

    @on(ReadEnded)
    def read_ended(self, e: ReadEnded) -> None:
        self.inverted |= e.time < self.oldest[e.source]
        self.newest = max(self.newest, e.time)
        self.oldest = self.oldest.without(e.source)


class AtomicStorage(System):
    """A register in which reads see writes in order; with `write_back=false` it is only regular."""

    bases: int = 3
    readers: int = 2
    writes: int = 1
    write_back: bool = True  # the second round

    def build(self) -> None:
        self.require(self.bases > 0, "there must be a base object")
        bases = self.spawn(Base, self.bases)
        self.spawn(Writer, bases=bases, majority=majority(self.bases), writes=self.writes)
        reader = Reader if self.write_back else regular_storage.Reader
        self.spawn(reader, self.readers, bases=bases, majority=majority(self.bases))
        self.watch(Regularity)
        self.watch(ReadOrder)

    @invariant
    def regularity(self) -> bool:
        return not self[Regularity].irregular

    @invariant
    def atomicity(self) -> bool:
        """With one writer: regular, and reads in a row see writes in order (Attie and Chockler 2006, equation 3)."""
        return not self[Regularity].irregular and not self[ReadOrder].inverted

    def all_served(self) -> bool:
        """Every operation has ended."""
        written = all(w.time == w.writes and not w.busy for w in self[Writer])
        return written and all(r.result is not None for r in self[regular_storage.Reader])

    def clients_up(self) -> bool:
        """Only base objects have crashed."""
        return not any(client.crashed for client in (*self[Writer], *self[regular_storage.Reader]))
