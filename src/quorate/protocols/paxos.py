"""Single-decree Paxos: agreement despite the crash of a minority of acceptors (Lamport 2001)."""

from itertools import permutations
from typing import NamedTuple

from quorate import Constant, Message, Peers, Process, System, invariant, majority, on, quorum, step
from quorate.language.presets import Preset


class Vote(NamedTuple):
    ballot: int
    value: int


class Prepare(Message):  # phase 1a
    ballot: int


class Promise(Message):  # phase 1b: never again below this ballot; and what I last voted for
    ballot: int
    vote: Vote | None


class Accept(Message):  # phase 2a
    vote: Vote


class Accepted(Message):  # phase 2b
    vote: Vote


class Proposer(Process):
    value: int
    ballots: tuple[int, ...]  # its own, still to be tried
    acceptors: Constant[Peers]
    majority: Constant[int]
    ballot: int = 0
    waiting: bool = False

    @step(when=lambda self: self.ballots)
    def prepare(self) -> None:
        self.ballot, self.ballots, self.waiting = self.ballots[0], self.ballots[1:], True
        self.send(self.acceptors, Prepare(self.ballot))

    @quorum(Promise, size="majority", when=lambda self: self.waiting, where=lambda self, m: m.ballot == self.ballot)
    def propose(self, promises: frozenset[Promise]) -> None:
        self.waiting = False
        latest = max((p.vote for p in promises if p.vote), default=Vote(0, self.value))
        self.send(self.acceptors, Accept(Vote(self.ballot, latest.value)))


class Acceptor(Process):
    learners: Constant[Peers]
    promised: int = 0
    vote: Vote | None = None

    @on(Prepare, when=lambda self, m: m.ballot > self.promised)
    def promise(self, m: Prepare) -> None:
        self.promised = m.ballot
        self.reply(Promise(m.ballot, self.vote))

    @on(Accept, when=lambda self, m: m.vote.ballot >= self.promised)
    def accept(self, m: Accept) -> None:
        self.promised, self.vote = m.vote.ballot, m.vote
        self.send(self.learners, Accepted(m.vote))


class Learner(Process):
    majority: Constant[int]
    learned: frozenset[int] = frozenset()

    @quorum(Accepted, size="majority", same="vote")
    def learn(self, accepted: frozenset[Accepted]) -> None:
        self.learned |= {a.vote.value for a in accepted}


class Server(Proposer, Acceptor):
    """Both in one process."""


class Paxos(System):
    """Agreement and validity of single-decree Paxos."""

    proposers: int = 2
    acceptors: int = 3
    learners: int = 1
    ballots: int = 1  # per proposer
    majority: int | None = None  # by default the true one
    colocated: bool | None = None  # proposers run on the servers of the first acceptors
    any_order: bool | None = None  # who has which ballots is open, so that proposers are interchangeable

    acceptor, learner = Acceptor, Learner
    quorums = {"majority": "acceptors"}
    presets = {
        "any-learners": Preset({"learners": 1}, "any number of learners", "agreement", "docs/reduction-theorems.md"),
        "any-proposers": Preset({"proposers": 2}, "any number of proposers", "agreement", "docs/reduction-theorems.md"),
    }

    def build(self) -> None:
        size = self.majority or majority(self.acceptors)
        self.require(1 <= size <= self.acceptors, "a majority is at least one acceptor and at most all of them")
        learners = self.spawn(self.learner, self.learners, majority=size)
        if self.colocated:
            fits = self.acceptor is Acceptor and self.proposers <= self.acceptors
            self.require(fits, "every proposer runs on the server of an acceptor of the original kind")
            servers = self.spawn(Server, self.proposers, learners=learners, majority=size)
            acceptors = servers | self.spawn(Acceptor, self.acceptors - self.proposers, learners=learners)
        else:
            acceptors = self.spawn(self.acceptor, self.acceptors, learners=learners)
            servers = self.spawn(Proposer, self.proposers, majority=size)
        for i, server in enumerate(self.choose(permutations(servers)) if self.any_order else servers, 1):
            ballots = tuple(range(i, self.proposers * self.ballots + 1, self.proposers))
            self.connect(server, value=i, ballots=ballots, acceptors=acceptors.playing(Acceptor))

    @invariant
    def agreement(self) -> bool:
        return len({v for learner in self[Learner] for v in learner.learned}) <= 1

    @invariant
    def validity(self) -> bool:
        return {v for learner in self[Learner] for v in learner.learned} <= {p.value for p in self[Proposer]}

    def learned(self) -> bool:
        """Every learner knows a value: `F learned` is termination."""
        return all(learner.learned for learner in self[Learner])

    def others_up(self) -> bool:
        """Only acceptors have crashed."""
        return not any(p.crashed for p in (*self[Proposer], *self[Learner]))
