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
