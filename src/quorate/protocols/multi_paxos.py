"""Multi-Paxos: replicas agree on a log of commands, slot by slot (Lamport 2001, section 3; van Renesse 2015).

A leader asks for promises once, for all slots: an acceptor that promises reports its last vote in every slot. The
leader takes up the latest vote reported for a slot and fills the others with its own commands. Any minority of
acceptors may crash, and any leader, and several may believe they lead.
"""

from typing import NamedTuple

from quorate import Constant, Map, Message, Peers, Process, System, can, invariant, majority, on, quorum, start, step


class Vote(NamedTuple):
    ballot: int
    command: int  # that of the leader with this number


class Prepare(Message):
    ballot: int


class Promise(Message):
    ballot: int
    votes: Map[int, Vote]  # slot -> last vote


class Accept(Message):
    slot: int
    vote: Vote


class Accepted(Message):
    slot: int
    vote: Vote


class Leader(Process):
    ballot: Constant[int]
    slots: Constant[int]
    acceptors: Constant[Peers]
    majority: Constant[int]
    plan: tuple[int, ...] | None = None  # the commands still to be proposed

    @start
    def prepare(self) -> None:
        self.send(self.acceptors, Prepare(self.ballot))

    @quorum(Promise, size="majority", when=lambda self: self.plan is None)
    def lead(self, promises: frozenset[Promise]) -> None:
        own = Vote(0, self.ballot)
        self.plan = tuple(max(p.votes.get(slot, own) for p in promises).command for slot in range(1, self.slots + 1))

    @step(when=lambda self: self.plan)
    def propose(self) -> None:
        assert self.plan is not None
        slot = self.slots - len(self.plan) + 1
        self.send(self.acceptors, Accept(slot, Vote(self.ballot, self.plan[0])))
        self.plan = self.plan[1:]


class Acceptor(Process):
    learners: Constant[Peers]
    promised: int = 0
    votes: Map[int, Vote] = Map()

    @on(Prepare, when=lambda self, m: m.ballot > self.promised)
    def promise(self, m: Prepare) -> None:
        self.promised = m.ballot
        self.reply(Promise(m.ballot, self.votes))

    @on(Accept, when=lambda self, m: m.vote.ballot >= self.promised)
    def accept(self, m: Accept) -> None:
        self.promised = m.vote.ballot
        self.votes |= {m.slot: m.vote}
        self.send(self.learners, Accepted(m.slot, m.vote))


class LastSlotAcceptor(Acceptor):
    @on(Accept, when=lambda self, m: m.vote.ballot >= self.promised)
    def accept(self, m: Accept) -> None:
        super().accept(m)
        self.votes = Map({m.slot: m.vote})


class Learner(Process):
    majority: Constant[int]
    log: frozenset[tuple[int, int]] = frozenset()  # slot and command

    @quorum(Accepted, size="majority", same=lambda m: (m.slot, m.vote))
    def learn(self, accepted: frozenset[Accepted]) -> None:
        self.log |= {(m.slot, m.vote.command) for m in accepted}


class MultiPaxos(System):
    """Learners agree on every slot; with `last_slot_only=true` acceptors forget the votes of other slots."""

    leaders: int = 2
    acceptors: int = 3
    learners: int = 1
    slots: int = 2
    last_slot_only: bool = False  # acceptors report one vote as in single-decree Paxos: agreement fails

    def build(self) -> None:
        size = majority(self.acceptors)
        learners = self.spawn(Learner, self.learners, majority=size)
        acceptors = self.spawn(LastSlotAcceptor if self.last_slot_only else Acceptor, self.acceptors, learners=learners)
        for ballot in range(1, self.leaders + 1):
            self.spawn(Leader, ballot=ballot, slots=self.slots, acceptors=acceptors, majority=size)

    @invariant
    def agreement(self) -> bool:
        """At most one command is learned for a slot."""
        log = {entry for learner in self[Learner] for entry in learner.log}
        return len(log) == len({slot for slot, _ in log})

    @can
    def the_log_fills(self) -> bool:
        return all(len(learner.log) == self.slots for learner in self[Learner])

    @can
    def commands_of_different_leaders(self) -> bool:
        mixed = [len({command for _, command in learner.log}) > 1 for learner in self[Learner]]
        return any(mixed) or 1 in (self.slots, self.leaders)
