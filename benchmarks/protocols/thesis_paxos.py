"""Paxos as Bokor's thesis models it for Murphi (2011, section 3.6.1): one message a step, no learners.

Proposers are interchangeable: what each proposes is its identity, and which ballot it has is open at the beginning.
What was accepted is remembered by the acceptors, so that a property can say what was chosen.
"""

from itertools import permutations
from typing import NamedTuple

from quorate import Message, Peers, Pid, Process, System, invariant, majority, on, start


class Vote(NamedTuple):
    ballot: int
    value: Pid


class Prepare(Message):
    ballot: int


class Promise(Message):
    vote: Vote | None


class Accept(Message):
    vote: Vote


class Proposer(Process):
    acceptors: Peers
    majority: int
    ballot: int = 0
    waiting: bool = False
    promises: int = 0
    highest: Vote | None = None

    @start
    def prepare(self) -> None:
        self.waiting = True
        self.send(self.acceptors, Prepare(self.ballot))

    @on(Promise, when=lambda self, m: self.waiting)
    def count(self, m: Promise) -> None:
        self.promises += 1
        if m.vote and (self.highest is None or m.vote.ballot > self.highest.ballot):
            self.highest = m.vote
        if self.promises == self.majority:
            value = self.highest.value if self.highest else self.pid
            self.waiting, self.promises, self.highest = False, 0, None
            self.send(self.acceptors, Accept(Vote(self.ballot, value)))


class Acceptor(Process):
    promised: int = 0
    accepted: frozenset[Vote] = frozenset()

    @on(Prepare, when=lambda self, m: m.ballot > self.promised)
    def promise(self, m: Prepare) -> None:
        self.promised = m.ballot
        self.reply(Promise(max(self.accepted, key=lambda vote: vote.ballot, default=None)))

    @on(Accept, when=lambda self, m: m.vote.ballot >= self.promised)
    def accept(self, m: Accept) -> None:
        self.promised = m.vote.ballot
        self.accepted |= {m.vote}


class ThesisPaxos(System):
    """At most one value is chosen."""

    proposers: int = 2
    acceptors: int = 3

    def build(self) -> None:
        acceptors = self.spawn(Acceptor, self.acceptors)
        ballots = self.choose(list(permutations(range(1, self.proposers + 1))))
        for ballot in ballots:
            self.spawn(Proposer, ballot=ballot, acceptors=acceptors, majority=majority(self.acceptors))

    @invariant
    def safety(self) -> bool:
        votes = [vote for acceptor in self[Acceptor] for vote in acceptor.accepted]
        return len({vote.value for vote in votes if votes.count(vote) >= majority(self.acceptors)}) <= 1
