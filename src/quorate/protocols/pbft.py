"""Practical Byzantine Fault Tolerance, the normal case: one view, one sequence number (Castro and Liskov 1999).

A primary and its backups agree on the request to execute, though up to f of the 3f+1 replicas are Byzantine. Two
quorums of 2f+1 share an honest replica, which prepares only one request. The round of commits makes sure that f+1
honest replicas are prepared, so that a later view would learn of it. A Byzantine primary proposes two requests to
everybody, and like the Byzantine backups it prepares and commits both; since every message may be late for ever, that
includes telling some replicas one thing and some another.
"""

from enum import Enum

from quorate import Message, Peers, Pid, Process, System, can, final, invariant, on, quorum, start


class Request(Enum):
    PAY_ALICE = 1
    PAY_BOB = 2


class PrePrepare(Message):
    request: Request


class Prepare(Message):
    request: Request


class Commit(Message):
    request: Request


class Replica(Process):
    replicas: Peers
    primary: Pid
    enough: int  # 2f+1
    lenient: bool
    accepted: Request | None = None
    prepared: Request | None = None
    committed: Request | None = None

    @start(when=lambda self: self.pid == self.primary)
    def propose(self) -> None:
        self.accepted = Request.PAY_ALICE
        self.send(self.replicas - {self.pid}, PrePrepare(self.accepted))

    @on(PrePrepare, when=lambda self, m: m.sender == self.primary and self.accepted is None)
    def accept(self, m: PrePrepare) -> None:
        self.accepted = m.request
        self.send(self.replicas, Prepare(m.request))

    @quorum(
        Prepare,
        size=lambda self: self.enough - 1,  # the pre-prepare is the primary's
        when=lambda self: self.prepared is None,
        where=lambda self, m: m.request == self.accepted and (m.sender != self.primary or self.lenient),
    )
    def prepare(self, prepares: frozenset[Prepare]) -> None:
        self.prepared = self.accepted
        assert self.prepared is not None
        self.send(self.replicas, Commit(self.prepared))

    @quorum(
        Commit,
        size="enough",
        when=lambda self: self.committed is None,
        where=lambda self, m: m.request == self.prepared,
    )
    def commit(self, commits: frozenset[Commit]) -> None:
        self.committed = self.prepared


class Byzantine(Process, byzantine=True):
    replicas: Peers

    @start
    def equivocate(self) -> None:
        for request in Request:
            for message in (PrePrepare(request), Prepare(request), Commit(request)):
                self.send(self.replicas, message)


class Pbft(System):
    """Honest replicas commit the same request, whatever up to f Byzantine ones do, the primary first among them."""

    f: int = 1  # how many the 3f+1 replicas tolerate
    byzantine: int = 1  # how many there are
    quorum: int | None = None  # by default 2f+1; agreement fails with less
    lenient: bool = False  # prepares of the primary count, besides its pre-prepare: certificates come to differ

    def build(self) -> None:
        size = self.quorum or 2 * self.f + 1
        self.require(0 <= self.byzantine <= 3 * self.f, "of the 3f+1 replicas one at least is honest")
        self.require(2 <= size <= 3 * self.f + 1, "a quorum is at least two replicas and at most all of them")
        byzantine = [self.spawn(Byzantine) for _ in range(self.byzantine)]
        honest = [
            self.spawn(Replica, enough=size, lenient=self.lenient) for _ in range(3 * self.f + 1 - self.byzantine)
        ]
        self.connect(byzantine, replicas=Peers(honest))
        # What the Byzantine ones are told does not matter, as they say everything already.
        self.connect(honest, replicas=Peers(honest), primary=(byzantine + honest)[0])

    @invariant
    def agreement(self) -> bool:
        return len({r.committed for r in self[Replica]} - {None}) <= 1

    @invariant
    def certificates_agree(self) -> bool:
        """No two honest replicas are prepared for different requests."""
        return len({r.prepared for r in self[Replica]} - {None}) <= 1

    @invariant
    def commits_endure(self) -> bool:
        """What an honest replica commits, f+1 honest ones are prepared for, so that a later view would hear of it."""
        prepared = [r.prepared for r in self[Replica]]
        return all(r.committed is None or prepared.count(r.committed) > self.f for r in self[Replica])

    @can
    def commit(self) -> bool:
        return all(r.committed for r in self[Replica])

    @final
    def done(self) -> bool:
        """Only the primary can keep the others waiting; a change of view would help."""
        return self.byzantine > 0 or all(r.committed for r in self[Replica])

    def committed(self) -> bool:
        """Whoever is up has committed."""
        return all(r.committed or r.crashed for r in self[Replica])

    def primary_up(self) -> bool:
        return not any(r.crashed for r in self[Replica] if r.pid == r.primary)
