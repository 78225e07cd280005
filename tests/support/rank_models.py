"""Systems whose numbers are only compared: the duel of two Paxos proposers, and a register with unlimited writes."""

from typing import NamedTuple

from quorate import (
    Event,
    Map,
    Message,
    Monitor,
    Peers,
    Pid,
    Process,
    Rank,
    System,
    invariant,
    majority,
    on,
    quorum,
    start,
    step,
    unordered,
)
from quorate.histories import Read, Write, linearizable, regular_register
from quorate.histories import Register as AtomicRegister


class Ballot(NamedTuple):
    round: Rank
    proposer: int


class Vote(NamedTuple):
    ballot: Ballot
    value: int


class Prepare(Message):
    ballot: Ballot


class Promise(Message):
    ballot: Ballot
    vote: Vote | None


class Accept(Message):
    vote: Vote


class Accepted(Message):
    vote: Vote


class Reject(Message):
    ballot: Ballot
    promised: Ballot


class Proposer(Process):
    number: int
    acceptors: Peers
    majority: int
    ballot: Ballot | None = None
    waiting: bool = False
    chosen: int | None = None

    @start
    def begin(self) -> None:
        self.prepare(Rank())

    def prepare(self, highest: Rank) -> None:
        self.ballot, self.waiting = Ballot(highest.later(), self.number), True
        self.send(self.acceptors, Prepare(self.ballot))

    @quorum(Promise, size="majority", when=lambda self: self.waiting, where=lambda self, m: m.ballot == self.ballot)
    def propose(self, promises: frozenset[Promise]) -> None:
        assert self.ballot is not None
        self.waiting = False
        votes = [p.vote for p in promises if p.vote]
        self.send(self.acceptors, Accept(Vote(self.ballot, max(votes).value if votes else self.number)))

    @on(Reject)
    def try_again(self, m: Reject) -> None:
        if m.ballot == self.ballot and self.chosen is None:
            self.prepare(m.promised.round)

    @quorum(Accepted, size="majority", same="vote")
    def learn(self, accepted: frozenset[Accepted]) -> None:
        (self.chosen,) = {m.vote.value for m in accepted}


class Acceptor(Process):
    promised: Ballot | None = None
    vote: Vote | None = None

    @on(Prepare)
    def promise(self, m: Prepare) -> None:
        if self.promised is None or m.ballot > self.promised:
            self.promised = m.ballot
            self.reply(Promise(m.ballot, self.vote))
        else:
            self.reply(Reject(m.ballot, self.promised))

    @on(Accept)
    def accept(self, m: Accept) -> None:
        if self.promised is not None and self.promised > m.vote.ballot:
            self.reply(Reject(m.vote.ballot, self.promised))
        else:
            self.promised, self.vote = m.vote.ballot, m.vote
            self.reply(Accepted(m.vote))


class Duel(System):
    acceptors: int = 1
    proposers: int = 2
    quorum: int | None = None
    network = unordered(capacity=1, full="replace")

    def build(self) -> None:
        acceptors = self.spawn(Acceptor, self.acceptors)
        for number in range(1, self.proposers + 1):
            self.spawn(Proposer, number=number, acceptors=acceptors, majority=self.quorum or majority(self.acceptors))

    @invariant
    def agreement(self) -> bool:
        return len({p.chosen for p in self[Proposer]} - {None}) <= 1


# --- register
class Store(Message):
    stamp: Rank
    writer: int


class Stored(Message):
    stamp: Rank


class Query(Message): ...


class Answer(Message):
    stamp: Rank


class Began(Event): ...


class Ended(Event):
    stamp: Rank


class Base(Process):
    stamp: Rank = Rank()

    @on(Query)
    def query(self, m: Query) -> None:
        self.reply(Answer(self.stamp))

    @on(Store)
    def store(self, m: Store) -> None:
        self.stamp = max(self.stamp, m.stamp)
        self.reply(Stored(m.stamp))


class Writer(Process):
    bases: Peers
    majority: int
    number: int
    state: str = "idle"
    stamp: Rank = Rank()

    @step(when=lambda self: self.state == "idle")
    def begin(self) -> None:
        self.state = "asking"
        self.emit(Began())
        self.send(self.bases, Query())

    @quorum(Answer, size="majority", when=lambda self: self.state == "asking")
    def asked(self, ms: frozenset[Answer]) -> None:
        self.stamp, self.state = max(m.stamp for m in ms).later(), "storing"
        self.send(self.bases, Store(self.stamp, self.number))

    @quorum(
        Stored, size="majority", when=lambda self: self.state == "storing", where=lambda self, m: m.stamp == self.stamp
    )
    def stored(self, ms: frozenset[Stored]) -> None:
        self.state = "idle"
        self.emit(Ended(self.stamp))


class Order(Monitor):
    highest: Rank = Rank()
    least: Map[Pid, Rank] = Map()
    inverted: bool = False

    @on(Began)
    def began(self, e: Began) -> None:
        self.least |= {e.source: self.highest}

    @on(Ended)
    def ended(self, e: Ended) -> None:
        self.inverted |= e.stamp <= self.least[e.source]
        self.least = self.least.without(e.source)
        self.highest = max(self.highest, e.stamp)


class Register(System):
    bases: int = 1
    writers: int = 2
    size: int | None = None
    network = unordered(capacity=1, full="replace")

    def build(self) -> None:
        bases = self.spawn(Base, self.bases)
        for n in range(1, self.writers + 1):
            self.spawn(Writer, bases=bases, majority=self.size or majority(self.bases), number=n)
        self.watch(Order)

    @invariant
    def in_order(self) -> bool:
        return not self[Order].inverted


# --- register with a history
class Put(Message):
    stamp: Rank
    value: int
    back: bool = False


class Done(Message):
    stamp: Rank
    back: bool


class Get(Message): ...


class Got(Message):
    stamp: Rank
    value: int


class Cell(Process):
    stamp: Rank = Rank()
    value: int = 0

    @on(Put)
    def put(self, m: Put) -> None:
        if m.stamp > self.stamp:
            self.stamp, self.value = m.stamp, m.value
        self.reply(Done(m.stamp, m.back))

    @on(Get)
    def get(self, m: Get) -> None:
        self.reply(Got(self.stamp, self.value))


class EndlessWriter(Process):
    cells: Peers
    size: int
    stamp: Rank = Rank()
    busy: bool = False

    @step(when=lambda self: not self.busy)
    def write(self) -> None:
        value = self.choose([0, 1])
        self.stamp, self.busy = self.stamp.later(), True
        self.invoke(Write(value))
        self.send(self.cells, Put(self.stamp, value))

    @quorum(Done, size="size", when=lambda self: self.busy, where=lambda self, m: m.stamp == self.stamp)
    def written(self, _: frozenset[Done]) -> None:
        self.busy = False
        self.returns()


class OneReader(Process):
    cells: Peers
    size: int
    back: bool
    asking: bool = False
    found: tuple[Rank, int] | None = None

    @start
    def read(self) -> None:
        self.asking = True
        self.invoke(Read())
        self.send(self.cells, Get())

    @quorum(Got, size="size", when=lambda self: self.asking)
    def collect(self, answers: frozenset[Got]) -> None:
        best = max(answers, key=lambda m: m.stamp)
        self.asking = False
        if self.back:
            self.found = (best.stamp, best.value)
            self.send(self.cells, Put(best.stamp, best.value, True))
        else:
            self.returns(best.value)

    @quorum(
        Done,
        size="size",
        when=lambda self: self.found is not None,
        where=lambda self, m: m.back and m.stamp == self.found[0],
    )
    def stored(self, _: frozenset[Done]) -> None:
        assert self.found is not None
        self.returns(self.found[1])
        self.found = None


class Endless(System):
    """The register of Attiya, Bar-Noy and Dolev with writes that never stop."""

    cells: int = 1
    size: int = 1
    readers: int = 1
    back: bool = False
    network = unordered(capacity=1, full="replace")

    atomic = linearizable(AtomicRegister(0))
    regular = regular_register(0)

    def build(self) -> None:
        cells = self.spawn(Cell, self.cells)
        self.spawn(EndlessWriter, cells=cells, size=self.size)
        self.spawn(OneReader, self.readers, cells=cells, size=self.size, back=self.back)
