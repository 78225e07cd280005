"""A register for one writer and many readers that outlives the crash of a minority of its base objects.

The writer stores each value with a time stamp at a majority of the base objects; a reader asks a majority and returns
the value with the highest stamp. That is the first half of Attiya, Bar-Noy and Dolev (1995), and makes the register
regular: a read returns what was written last before it began, or something that is written meanwhile.

A crashed base object is one that never answers, so crashes need not be modelled. The values are the time stamps
themselves. Regularity is about the order of operations in real time, so a monitor watches them begin and end.
"""

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
    start,
    step,
)


class Store(Message):
    time: int


class Stored(Message):
    time: int


class Query(Message): ...


class Answer(Message):
    time: int


class WriteBegan(Event):
    time: int


class WriteEnded(Event):
    time: int


class ReadBegan(Event): ...


class ReadEnded(Event):
    time: int


class Base(Process):
    time: int = 0

    @on(Store)
    def store(self, m: Store) -> None:
        self.time = max(self.time, m.time)
        self.reply(Stored(m.time))

    @on(Query)
    def answer(self, _: Query) -> None:
        self.reply(Answer(self.time))


class Writer(Process):
    bases: Peers
    majority: int
    writes: int
    time: int = 0
    busy: bool = False

    @step(when=lambda self: not self.busy and self.time < self.writes)
    def write(self) -> None:
        self.time, self.busy = self.time + 1, True
        self.emit(WriteBegan(self.time))
        self.send(self.bases, Store(self.time))

    @quorum(Stored, size="majority", when=lambda self: self.busy, where=lambda self, m: m.time == self.time)
    def written(self, _: frozenset[Stored]) -> None:
        self.busy = False
        self.emit(WriteEnded(self.time))


class Reader(Process):
    bases: Peers
    majority: int
    result: int | None = None

    @start
    def read(self) -> None:
        self.emit(ReadBegan())
        self.send(self.bases, Query())

    @quorum(Answer, size="majority", when=lambda self: self.result is None)
    def collect(self, answers: frozenset[Answer]) -> None:
        self.result = max(answer.time for answer in answers)
        self.emit(ReadEnded(self.result))


class Regularity(Monitor):
    """A read returns the last write that ended before it began, or one that overlaps it."""

    began: int = 0
    ended: int = 0
    oldest: Map[Pid, int] = Map()  # what a reader may return at the least
    irregular: bool = False

    @on(WriteBegan)
    def write_began(self, e: WriteBegan) -> None:
        self.began = e.time

    @on(WriteEnded)
    def write_ended(self, e: WriteEnded) -> None:
        self.ended = e.time

    @on(ReadBegan)
    def read_began(self, e: ReadBegan) -> None:
        self.oldest |= {e.source: self.ended}

    @on(ReadEnded)
    def read_ended(self, e: ReadEnded) -> None:
        self.irregular |= not self.oldest[e.source] <= e.time <= self.began
        self.oldest = self.oldest.without(e.source)


class RegularStorage(System):
    """Regularity of a replicated register with one writer and one round of messages to read."""

    bases: int = 3
    readers: int = 1
    writes: int = 1

    monitor = Regularity

    def build(self) -> None:
        self.require(self.bases > 0, "there must be a base object")
        bases = self.spawn(Base, self.bases)
        self.spawn(Writer, bases=bases, majority=majority(self.bases), writes=self.writes)
        self.spawn(Reader, self.readers, bases=bases, majority=majority(self.bases))
        self.watch(self.monitor)

    @invariant
    def regularity(self) -> bool:
        return not self[Regularity].irregular

    def all_served(self) -> bool:
        """Every operation has ended."""
        written = all(w.time == w.writes and not w.busy for w in self[Writer])
        return written and all(r.result is not None for r in self[Reader])

    def clients_up(self) -> bool:
        """Only base objects have crashed."""
        return not any(client.crashed for client in (*self[Writer], *self[Reader]))
