"""An atomic register for many writers and readers, from messages (Lynch and Shvartsman 1997).

The register of Attiya, Bar-Noy and Dolev, with a round more to write: ask a majority of the base objects for the
highest stamp, then store the value at a majority with one that is higher. A stamp is a number and, to tell writes
apart that chose the same, the writer. A read asks a majority for the highest stamp and stores what it found at a
majority before it returns. The values are the stamps themselves.

The number in a stamp has no bound of its own: each write may be higher than all others. In a run there are only so
many writes, but what bounds a single process does not show that.
"""

from typing import NamedTuple

from quorate import (
    Event,
    Map,
    Message,
    Monitor,
    Peers,
    Pid,
    Process,
    System,
    invariant,
    majority,
    on,
    quorum,
    step,
)


class Stamp(NamedTuple):
    time: int = 0
    writer: int = 0


class Query(Message):
    op: int  # the number of the client's operation


class Answer(Message):
    op: int
    stamp: Stamp


class Store(Message):
    op: int
    stamp: Stamp


class Stored(Message):
    op: int


class Began(Event): ...


class Ended(Event):
    stamp: Stamp
    wrote: bool


class Base(Process):
    stamp: Stamp = Stamp()

    @on(Query)
    def answer(self, m: Query) -> None:
        self.reply(Answer(m.op, self.stamp))

    @on(Store)
    def store(self, m: Store) -> None:
        self.stamp = max(self.stamp, m.stamp)
        self.reply(Stored(m.op))


class Client(Process):
    bases: Peers
    majority: int
    ops: int  # how many operations it carries out
    op: int = 0
    stamp: Stamp | None = None  # of the operation that is under way, in its second round
    busy: bool = False

    @step(when=lambda self: not self.busy and self.op < self.ops)
    def begin(self) -> None:
        self.op, self.busy = self.op + 1, True
        self.emit(Began())
        self.send(self.bases, Query(self.op))

    @quorum(
        Answer,
        size="majority",
        when=lambda self: self.busy and self.stamp is None,
        where=lambda self, m: m.op == self.op,
    )
    def collect(self, answers: frozenset[Answer]) -> None:
        self.choose_stamp(max(m.stamp for m in answers))

    def choose_stamp(self, highest: Stamp) -> None:
        self.stamp = highest
        self.send(self.bases, Store(self.op, self.stamp))

    @quorum(
        Stored,
        size="majority",
        when=lambda self: self.stamp is not None,
        where=lambda self, m: m.op == self.op,
    )
    def end(self, stored: frozenset[Stored]) -> None:
        self.finish()

    def finish(self) -> None:
        assert self.stamp is not None
        self.emit(Ended(self.stamp, isinstance(self, Writer)))
        self.stamp, self.busy = None, False


class Reader(Client):
    pass


class HastyReader(Reader):
    def choose_stamp(self, highest: Stamp) -> None:
        self.stamp = highest
        self.finish()


class Writer(Client):
    number: int

    def choose_stamp(self, highest: Stamp) -> None:
        super().choose_stamp(Stamp(highest.time + 1, self.number))


class Order(Monitor):
    """Stamps are an order of the operations in which each read returns the last write, and that fits real time."""

    highest: Stamp = Stamp()  # of all operations that have ended
    least: Map[Pid, Stamp] = Map()  # by operation under way: the highest of those that ended before it began
    written: frozenset[Stamp] = frozenset()
    inverted: bool = False
    twice: bool = False

    @on(Began)
    def began(self, e: Began) -> None:
        self.least |= {e.source: self.highest}

    @on(Ended)
    def ended(self, e: Ended) -> None:
        self.inverted |= e.stamp < self.least[e.source] or (e.wrote and e.stamp == self.least[e.source])
        self.least = self.least.without(e.source)
        self.highest = max(self.highest, e.stamp)
        if e.wrote:
            self.twice |= e.stamp in self.written
            self.written |= {e.stamp}


class MultiWriterStorage(System):
    """An atomic register for many writers; with `write_back=false` or `tell_apart=false` it is none."""

    bases: int = 3
    writers: int = 2
    readers: int = 0  # each makes it much larger
    writes: int = 1  # by each writer
    reads: int = 1  # by each reader
    write_back: bool = True  # the second round of a read
    tell_apart: bool = True  # stamps hold the number of the writer

    def build(self) -> None:
        self.require(self.bases > 0, "there must be a base object")
        bases = self.spawn(Base, self.bases)
        for number in range(1, self.writers + 1):
            self.spawn(
                Writer,
                bases=bases,
                majority=majority(self.bases),
                ops=self.writes,
                number=number if self.tell_apart else 0,
            )
        reader = Reader if self.write_back else HastyReader
        self.spawn(reader, self.readers, bases=bases, majority=majority(self.bases), ops=self.reads)
        self.watch(Order)

    @invariant
    def atomicity(self) -> bool:
        """Operations that follow each other in time do so in the order of their stamps (Lynch 1996, lemma 13.16)."""
        return not self[Order].inverted

    @invariant
    def writes_differ(self) -> bool:
        """No two writes have the same stamp."""
        return not self[Order].twice

    def all_served(self) -> bool:
        """Every operation has ended."""
        return all(client.op == client.ops and not client.busy for client in self[Client])

    def clients_up(self) -> bool:
        """Only base objects have crashed."""
        return not any(client.crashed for client in self[Client])
