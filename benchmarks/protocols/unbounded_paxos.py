"""Paxos whose proposers never run out of ballots: infinitely many states, so that only a proof covers them all.

Acceptors and learners are those of the bundled protocol. A proposer's ballots are its number plus multiples of the
number of proposers. Three lemmas are given; `quorate prove` finds the others.
"""

from quorate import Process, System, invariant, lemma, majority, quorum, step
from quorate.language.pid import Peers
from quorate.protocols.paxos import Accept, Accepted, Acceptor, Learner, Prepare, Promise, Vote


class Proposer(Process):
    value: int
    number: int
    rivals: int
    acceptors: Peers
    majority: int
    ballot: int
    waiting: bool = False

    @step(when=lambda self: True)
    def prepare(self) -> None:
        self.ballot += self.rivals
        self.waiting = True
        self.send(self.acceptors, Prepare(self.ballot))

    @quorum(Promise, size="majority", when=lambda self: self.waiting, where=lambda self, m: m.ballot == self.ballot)
    def propose(self, promises: frozenset[Promise]) -> None:
        self.waiting = False
        votes = [p.vote for p in promises if p.vote]
        value = max(votes).value if votes else self.value
        self.send(self.acceptors, Accept(Vote(self.ballot, value)))


class UnboundedPaxos(System):
    """Agreement of Paxos with unlimited ballots and arbitrary values."""

    proposers: int = 2
    acceptors: int = 3

    def build(self) -> None:
        size = majority(self.acceptors)
        learners = self.spawn(Learner, 1, majority=size)
        acceptors = self.spawn(Acceptor, self.acceptors, learners=learners)
        for number in range(self.proposers):
            self.spawn(
                Proposer,
                value=number,
                number=number,
                rivals=self.proposers,
                acceptors=acceptors,
                majority=size,
                ballot=number,
            )

    @invariant
    def agreement(self) -> bool:
        return len({value for learner in self[Learner] for value in learner.learned}) <= 1

    @lemma
    def safe(self, m: Accept, n: Accept) -> bool:
        """What is proposed cannot contradict what an earlier ballot has chosen, or can still choose."""
        if m.vote.ballot <= n.vote.ballot or m.vote.value == n.vote.value:
            return True
        done = [p.promised > n.vote.ballot and not self.ever_sent(p, Accepted(n.vote)) for p in self[Acceptor]]
        return sum(done) >= majority(self.acceptors)

    @lemma
    def own_ballots(self, p: Proposer) -> bool:
        """Ballots tell who has begun them."""
        foreign = self.ever_sent_any(Accept, lambda m: m.vote.ballot % p.rivals != p.number, by=p)
        return p.ballot % p.rivals == p.number and not foreign

    @lemma
    def learned_was_chosen(self, p: Learner) -> bool:
        """A majority has voted for what a learner knows."""
        return all(self.was_chosen(value) for value in p.learned)

    def was_chosen(self, value: int) -> bool:
        def by_majority(m: Accept) -> bool:
            votes = sum(self.ever_sent(p, Accepted(m.vote)) for p in self[Acceptor])
            return m.vote.value == value and votes >= majority(self.acceptors)

        return self.ever_sent_any(Accept, by_majority)
