"""Paxos Commit: a transaction commits or aborts though its coordinator may fail (Gray and Lamport 2006).

Two-phase commit waits for its coordinator. Here every resource manager's vote is a decision of its own, made by Paxos:
the manager proposes it to the acceptors, in ballot 0, which belongs to nobody else. The first leader commits once a
majority of acceptors has accepted the votes of all managers, and all are yes. If that takes too long, another leader
takes a higher ballot of its own. It asks a majority of acceptors what they have accepted, keeps the latest vote of each
manager, and proposes no for those of whom nothing is known. As in the paper, what concerns all managers is sent in one
message.
"""

from typing import NamedTuple

from quorate import (
    Constant,
    Map,
    Message,
    Peers,
    Pid,
    Process,
    System,
    can,
    final,
    invariant,
    majority,
    on,
    quorum,
    start,
    step,
)

Votes = Map[Pid, bool]


class Vote(Message):  # of a manager, which is phase 2a of ballot 0
    yes: bool


class Prepare(Message):  # phase 1a
    ballot: int


class Accepting(NamedTuple):
    ballot: int = 0
    votes: Votes = Map()


class Promise(Message):  # phase 1b
    ballot: int
    last: Accepting


class Accept(Message):  # phase 2a
    accepting: Accepting


class Accepted(Message):  # phase 2b
    accepting: Accepting


class Decision(Message):
    commit: bool


class Manager(Process):
    acceptors: Constant[Peers]
    vote: bool | None = None
    committed: bool | None = None

    @step(when=lambda self: self.vote is None)
    def prepare(self) -> None:
        self.vote = self.choose((True, False))
        self.send(self.acceptors, Vote(self.vote))

    @on(Decision, when=lambda self, m: self.committed is None)
    def learn(self, m: Decision) -> None:
        self.committed = m.commit


class Acceptor(Process):
    leaders: Constant[tuple[Pid, ...]]  # by ballot
    managers: Constant[Peers]
    promised: int = 0
    last: Accepting = Accepting()

    @on(Vote, when=lambda self, m: self.heeds(0))
    def collect(self, m: Vote) -> None:
        self.accept(Accepting(0, self.last.votes | {m.sender: m.yes}))

    @on(Prepare, when=lambda self, m: m.ballot > self.promised)
    def promise(self, m: Prepare) -> None:
        self.promised = m.ballot
        self.reply(Promise(m.ballot, self.last))

    @on(Accept, when=lambda self, m: self.heeds(m.accepting.ballot))
    def vote(self, m: Accept) -> None:
        self.promised = max(self.promised, m.accepting.ballot)
        self.accept(m.accepting)

    def heeds(self, ballot: int) -> bool:
        return ballot >= self.promised

    def accept(self, accepting: Accepting) -> None:
        self.last = accepting
        if len(accepting.votes) == len(self.managers):
            self.send(self.leaders[accepting.ballot], Accepted(accepting))


class Leader(Process):
    ballot: Constant[int]
    majority: Constant[int]
    acceptors: Constant[Peers]
    managers: Constant[Peers]
    prepared: bool = False

    @start(when=lambda self: self.ballot > 0)
    def prepare(self) -> None:
        self.send(self.acceptors, Prepare(self.ballot))

    @quorum(Promise, size="majority", when=lambda self: not self.prepared)
    def propose(self, promises: frozenset[Promise]) -> None:
        self.prepared = True
        votes = Map({manager: self.latest(manager, promises) for manager in self.managers})
        self.send(self.acceptors, Accept(Accepting(self.ballot, votes)))

    def latest(self, manager: Pid, promises: frozenset[Promise]) -> bool:
        known = [(p.last.ballot, p.last.votes[manager]) for p in promises if manager in p.last.votes]
        return max(known, default=(0, False))[1]

    @quorum(Accepted, size="majority", same="accepting")
    def decide(self, accepted: frozenset[Accepted]) -> None:
        commit = all(all(m.accepting.votes.values()) for m in accepted)
        self.send(self.managers, Decision(commit))


class Forgiving(Acceptor):
    def heeds(self, ballot: int) -> bool:
        return True


class Headstrong(Leader):
    def latest(self, manager: Pid, promises: frozenset[Promise]) -> bool:
        return False


class PaxosCommit(System):
    """Managers agree to commit or abort though a leader fails; with `heed=false` or `ask=false` they need not."""

    managers: int = 2
    acceptors: int = 3
    leaders: int = 2  # the first one, and others that may take over
    heed: bool = True  # acceptors keep their promises
    ask: bool = True  # a leader that takes over heeds what was accepted before; otherwise it aborts

    def build(self) -> None:
        self.require(self.leaders > 0, "there must be a leader")
        managers = self.spawn(Manager, self.managers)
        acceptors = self.spawn(Acceptor if self.heed else Forgiving, self.acceptors, managers=managers)
        leader = Leader if self.ask else Headstrong
        known = {"majority": majority(self.acceptors), "acceptors": acceptors, "managers": managers}
        leaders = tuple(self.spawn(leader, ballot=ballot, **known) for ballot in range(self.leaders))
        self.connect(managers, acceptors=acceptors)
        self.connect(acceptors, leaders=leaders)

    @invariant
    def agreement(self) -> bool:
        """Nobody commits what another aborts."""
        return len({manager.committed for manager in self[Manager]} - {None}) <= 1

    @invariant
    def validity(self) -> bool:
        """Nobody commits unless all have voted for it."""
        return all(m.vote for m in self[Manager]) or not any(m.committed for m in self[Manager])

    @can
    def commit(self) -> bool:
        return all(manager.committed for manager in self[Manager])

    @can
    def another_leader_commits(self) -> bool:
        return self.leaders == 1 or (self.commit() and self[Leader][-1].prepared)

    @final
    def decided(self) -> bool:
        return all(manager.committed is not None for manager in self[Manager])

    def nobody_waits(self) -> bool:
        """Whoever is up knows the decision."""
        return all(manager.committed is not None or manager.crashed for manager in self[Manager])

    def leaders_up(self) -> bool:
        return not any(leader.crashed for leader in self[Leader])
