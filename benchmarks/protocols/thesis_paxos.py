"""Paxos as Bokor's thesis models it for Murphi (2011, section 3.6.1): one message a step, no learners.

A message is sent or received a step, so that a proposer may crash in the middle of telling the acceptors.
Proposers are interchangeable: what each proposes is its identity, and which ballot it has is open at the beginning.
What was accepted is remembered by the acceptors, so that a property can say what was chosen.
"""

from itertools import permutations
from typing import NamedTuple

from quorate import Message, Peers, Pid, Process, System, invariant, majority, on, step


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
    untold: Peers = Peers()  # those to whom the message that is due has not gone yet
    promises: int = 0
    highest: Vote | None = None
    proposal: Vote | None = None

    @step(when=lambda self: bool(self.untold))
    def tell(self) -> None:
        acceptor = self.choose(self.untold)
        self.untold -= {acceptor}
        self.send(acceptor, Accept(self.proposal) if self.proposal else Prepare(self.ballot))

    @on(Promise, when=lambda self, m: self.proposal is None)
    def count(self, m: Promise) -> None:
        self.promises += 1
        if m.vote and (self.highest is None or m.vote.ballot > self.highest.ballot):
            self.highest = m.vote
        if self.promises == self.majority:
            self.proposal = Vote(self.ballot, self.highest.value if self.highest else self.pid)
            self.untold, self.promises, self.highest = self.acceptors, 0, None


class Acceptor(Process):
    heedful: bool = True
    promised: int = 0
    last: Vote | None = None
    accepted: frozenset[Vote] = frozenset()

    @on(Prepare, when=lambda self, m: m.ballot > self.promised)
    def promise(self, m: Prepare) -> None:
        self.promised = m.ballot
        self.reply(Promise(self.last))

    @on(Accept, when=lambda self, m: m.vote.ballot >= self.promised or not self.heedful)
    def accept(self, m: Accept) -> None:
        self.promised, self.last = m.vote.ballot, m.vote
        self.accepted |= {m.vote}


class Server(Proposer, Acceptor):
    """Both in one process."""


class ThesisPaxos(System):
    """At most one value is chosen; where acceptors ignore promises (`heedful=false`), two may be."""

    proposers: int = 2
    acceptors: int = 3
    chosen_by: int | None = None  # acceptances that make a value chosen; by default a majority
    heedful: bool = True  # acceptors keep their promises
    colocated: bool = False  # proposers run on the servers of the first acceptors

    def build(self) -> None:
        ballots = self.choose(list(permutations(range(1, self.proposers + 1))))
        if self.colocated:
            servers = self.spawn(Server, self.proposers)
            acceptors = servers | self.spawn(Acceptor, self.acceptors - self.proposers)
        else:
            acceptors = self.spawn(Acceptor, self.acceptors)
            servers = self.spawn(Proposer, self.proposers)
        everyone = acceptors.playing(Acceptor)
        self.connect(servers, acceptors=everyone, untold=everyone, majority=majority(self.acceptors))
        for acceptor in acceptors:
            self.connect(acceptor, heedful=self.heedful)
        for server, ballot in zip(servers, ballots, strict=True):
            self.connect(server, ballot=ballot)

    @invariant
    def safety(self) -> bool:
        votes = [vote for acceptor in self[Acceptor] for vote in acceptor.accepted]
        enough = self.chosen_by or majority(self.acceptors)
        return len({vote.value for vote in votes if votes.count(vote) >= enough}) <= 1
