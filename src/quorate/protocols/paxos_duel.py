"""The duel of proposers: Paxos is safe whatever happens, and need not ever end (Lamport 2001, section 2.4).

A proposer whose ballot is rejected tries again with a higher one, which makes the other one's next message be rejected,
and so on for ever. No fairness of steps or channels helps: it takes a leader, which is one proposer in the end.

Ballots grow without end, but with one acceptor and two proposers those in use are next to each other: who is rejected
takes the ballot after the one that was promised to the other. So ballots are counted modulo 4, and which of two is
ahead is still clear: an assertion makes sure. With more acceptors, late messages spoil this. Then ballots are plain
numbers, `retries` bounds them, and runs that go beyond the bound are not searched.
"""

from typing import NamedTuple

from quorate import Message, Peers, Process, System, eventually, invariant, majority, on, quorum, start

CYCLE = 4


class Vote(NamedTuple):
    ballot: int
    value: int


class Prepare(Message):
    ballot: int


class Promise(Message):
    ballot: int
    vote: Vote | None


class Accept(Message):
    vote: Vote


class Accepted(Message):
    vote: Vote


class Reject(Message):
    ballot: int
    promised: int


def is_ahead(ballot: int, other: int, cycle: int) -> bool:
    if not cycle:
        return ballot > other
    distance = (ballot - other) % cycle
    assert distance in (0, 1, cycle - 1), "which of two ballots is ahead is not clear"
    return distance == 1


class Proposer(Process):
    number: int
    proposers: int
    acceptors: Peers
    majority: int
    cycle: int
    retries: int | None
    ballot: int = 0
    tries: int = 0
    waiting: bool = False
    chosen: int | None = None

    @start
    def begin(self) -> None:
        self.prepare(self.number)

    def prepare(self, ballot: int) -> None:
        self.ballot, self.waiting = ballot % self.cycle if self.cycle else ballot, True
        self.send(self.acceptors, Prepare(self.ballot))

    @quorum(Promise, size="majority", when=lambda self: self.waiting, where=lambda self, m: m.ballot == self.ballot)
    def propose(self, promises: frozenset[Promise]) -> None:
        self.waiting = False
        votes = [p.vote for p in promises if p.vote]
        self.send(self.acceptors, Accept(Vote(self.ballot, max(votes).value if votes else self.number)))

    @on(Reject)
    def try_again(self, m: Reject) -> None:
        if m.ballot == self.ballot and self.chosen is None:
            self.tries += self.retries is not None
            later = m.promised + 1
            self.prepare(later + (self.number - later) % self.proposers)  # its own next ballot

    @quorum(Accepted, size="majority", same="vote")
    def learn(self, accepted: frozenset[Accepted]) -> None:
        (self.chosen,) = {m.vote.value for m in accepted}

    def within(self) -> bool:
        return self.retries is None or self.tries <= self.retries


class Acceptor(Process):
    cycle: int
    promised: int | None = None
    vote: Vote | None = None

    @on(Prepare)
    def promise(self, m: Prepare) -> None:
        if self.promised is None or is_ahead(m.ballot, self.promised, self.cycle):
            self.promised = m.ballot
            self.reply(Promise(m.ballot, self.vote))
        else:
            self.reply(Reject(m.ballot, self.promised))

    @on(Accept)
    def accept(self, m: Accept) -> None:
        if self.promised is not None and is_ahead(self.promised, m.vote.ballot, self.cycle):
            self.reply(Reject(m.vote.ballot, self.promised))
        else:
            self.promised, self.vote = m.vote.ballot, m.vote
            self.reply(Accepted(m.vote))


class PaxosDuel(System):
    """Two proposers may keep each other from ever getting a value chosen; with `-p proposers=1` one is chosen."""

    proposers: int = 2
    acceptors: int = 1
    retries: int | None = None  # of each proposer; needed with more than one acceptor

    def build(self) -> None:
        exact = self.acceptors == 1 and self.proposers <= 2
        self.require(
            exact or self.retries is not None, "with more acceptors or proposers, `retries` bounds the ballots"
        )
        cycle = CYCLE if self.retries is None else 0
        acceptors = self.spawn(Acceptor, self.acceptors, cycle=cycle)
        for number in range(1, self.proposers + 1):
            self.spawn(
                Proposer,
                number=number,
                proposers=self.proposers,
                acceptors=acceptors,
                majority=majority(self.acceptors),
                cycle=cycle,
                retries=self.retries,
            )

    @invariant
    def agreement(self) -> bool:
        return len({p.chosen for p in self[Proposer]} - {None}) <= 1

    @eventually
    def chosen(self) -> bool:
        return any(p.chosen is not None for p in self[Proposer])
