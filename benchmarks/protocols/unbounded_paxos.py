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
    def proposals_were_promised(self, m: Accept) -> bool:
        return sum(p.promised >= m.vote.ballot for p in self[Acceptor]) >= majority(self.acceptors)

    @lemma
    def learned_was_chosen(self, p: Learner) -> bool:
        """A majority has voted for what a learner knows."""
        return all(self.was_chosen(value) for value in p.learned)

    def was_chosen(self, value: int) -> bool:
        def by_majority(m: Accept) -> bool:
            votes = sum(self.ever_sent(p, Accepted(m.vote)) for p in self[Acceptor])
            return m.vote.value == value and votes >= majority(self.acceptors)

        return self.ever_sent_any(Accept, by_majority)


class ByHand(UnboundedPaxos):
    """The same with all lemmas written down."""

    @lemma
    def own_ballots(self, p: Proposer) -> bool:
        """Ballots tell who has begun them."""
        return p.ballot % p.rivals == p.number

    @lemma
    def proposes_in_own_ballots(self, m: Accept, p: Proposer) -> bool:
        return m.sender != p.pid or m.vote.ballot % p.rivals == p.number

    @lemma
    def proposes_once(self, m: Accept, p: Proposer) -> bool:
        return m.sender != p.pid or m.vote.ballot < p.ballot or (m.vote.ballot == p.ballot and not p.waiting)

    @lemma
    def nothing_proposed_while_waiting(self, m: Accept, p: Proposer) -> bool:
        return not p.waiting or m.vote.ballot != p.ballot

    @lemma
    def one_proposal_a_ballot(self, m: Accept, n: Accept) -> bool:
        return m.vote.ballot != n.vote.ballot or m.vote.value == n.vote.value

    @lemma
    def votes_were_proposed(self, m: Accepted) -> bool:
        return self.ever_sent_any(Accept, lambda x: x.vote == m.vote)

    @lemma
    def last_vote_was_sent(self, p: Acceptor) -> bool:
        return p.vote is None or self.ever_sent(p, Accepted(p.vote))

    @lemma
    def last_vote_is_promised(self, p: Acceptor) -> bool:
        return p.vote is None or p.vote.ballot <= p.promised

    @lemma
    def last_vote_is_the_greatest(self, m: Accepted, p: Acceptor) -> bool:
        return m.sender != p.pid or (p.vote is not None and m.vote.ballot <= p.vote.ballot)

    @lemma
    def promises_are_kept(self, m: Promise, p: Acceptor) -> bool:
        return m.sender != p.pid or m.ballot <= p.promised

    @lemma
    def promises_tell_votes(self, m: Promise, p: Acceptor) -> bool:
        return m.sender != p.pid or m.vote is None or self.ever_sent(p, Accepted(m.vote))

    @lemma
    def promises_tell_the_last(self, m: Promise, n: Accepted) -> bool:
        if m.sender != n.sender or m.ballot <= n.vote.ballot:
            return True
        return m.vote is not None and n.vote.ballot <= m.vote.ballot
