"""Paxos with one message per transition: what a quorum transition takes in one step is counted message by message.

The counters stop at the majority and are reset once they have served, so that they add no states that do not matter.
It solves what `paxos` solves, under the same faults; the comparison is that of Bokor's thesis (2011, section 3.4).
"""

from quorate import Map, Peers, Process, System, invariant, majority, on, step
from quorate.protocols.paxos import Accept, Accepted, Acceptor, Prepare, Promise, Vote

NONE = Vote(0, 0)  # below every vote


class Proposer(Process):
    value: int
    ballots: tuple[int, ...]
    acceptors: Peers
    majority: int
    ballot: int = 0
    waiting: bool = False
    promises: int = 0
    highest: Vote = NONE

    @step(when=lambda self: self.ballots)
    def prepare(self) -> None:
        self.ballot, self.ballots, self.waiting = self.ballots[0], self.ballots[1:], True
        self.promises, self.highest = 0, NONE
        self.send(self.acceptors, Prepare(self.ballot))

    @on(Promise, when=lambda self, m: self.waiting and m.ballot == self.ballot)
    def count(self, m: Promise) -> None:
        self.promises += 1
        self.highest = max(self.highest, m.vote or NONE)
        if self.promises == self.majority:
            value = self.highest.value if self.highest != NONE else self.value
            self.waiting, self.promises, self.highest = False, 0, NONE
            self.send(self.acceptors, Accept(Vote(self.ballot, value)))


class Learner(Process):
    majority: int
    votes: Map[Vote, int] = Map()
    learned: frozenset[int] = frozenset()

    @on(Accepted, when=lambda self, m: self.votes.get(m.vote, 0) < self.majority)
    def count(self, m: Accepted) -> None:
        self.votes |= {m.vote: self.votes.get(m.vote, 0) + 1}
        if self.votes[m.vote] == self.majority:
            self.learned |= {m.vote.value}


class PaxosSingle(System):
    """Agreement and validity of single-decree Paxos, without quorum transitions."""

    proposers: int = 2
    acceptors: int = 3
    learners: int = 1
    ballots: int = 1
    majority: int | None = None

    quorums = {"majority": "acceptors"}

    def build(self) -> None:
        size = self.majority or majority(self.acceptors)
        self.require(1 <= size <= self.acceptors, "a majority is at least one acceptor and at most all of them")
        learners = self.spawn(Learner, self.learners, majority=size)
        acceptors = self.spawn(Acceptor, self.acceptors, learners=learners)
        for i in range(1, self.proposers + 1):
            ballots = tuple(range(i, self.proposers * self.ballots + 1, self.proposers))
            self.spawn(Proposer, value=i, ballots=ballots, acceptors=acceptors, majority=size)

    @invariant
    def agreement(self) -> bool:
        return len({v for learner in self[Learner] for v in learner.learned}) <= 1

    @invariant
    def validity(self) -> bool:
        proposed = {p.value for p in self[Proposer]}
        return all(learner.learned <= proposed for learner in self[Learner])
