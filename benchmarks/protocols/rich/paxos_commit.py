"""Gray & Lamport's Paxos Commit: one instance of Paxos for each resource manager."""

from enum import Enum

from quorate import Message, Peers, Pid, Process, System, can, invariant, majority, on, quorum, step, unordered


class Value(Enum):
    PREPARED = 1
    ABORTED = 2


class State(Enum):
    WORKING = 0
    PREPARED = 1
    COMMITTED = 2
    ABORTED = 3


class Prepare(Message):  # 1a
    rm: int
    ballot: int


class Promise(Message):  # 1b
    rm: int
    ballot: int
    bal: int
    val: Value | None


class Accept(Message):  # 2a
    rm: int
    ballot: int
    value: Value


class Accepted(Message):  # 2b
    rm: int
    ballot: int
    value: Value


class Commit(Message): ...


class Abort(Message): ...


class RM(Process):
    number: int
    acceptors: Peers = Peers()
    state: State = State.WORKING

    @step(when=lambda self: self.state is State.WORKING)
    def prepare(self) -> None:
        self.state = State.PREPARED
        self.send(self.acceptors, Accept(self.number, 0, Value.PREPARED))

    @step(when=lambda self: self.state is State.WORKING)
    def choose_abort(self) -> None:
        self.state = State.ABORTED
        self.send(self.acceptors, Accept(self.number, 0, Value.ABORTED))

    @on(Commit)
    def commit(self, m: Commit) -> None:
        self.state = State.COMMITTED

    @on(Abort)
    def abort(self, m: Abort) -> None:
        self.state = State.ABORTED


class Acceptor(Process):  # of one instance
    leader: Pid
    mbal: int = 0
    bal: int = -1
    val: Value | None = None

    @on(Prepare, when=lambda self, m: m.ballot > self.mbal)
    def promise(self, m: Prepare) -> None:
        self.mbal = m.ballot
        self.reply(Promise(m.rm, m.ballot, self.bal, self.val))

    @on(Accept, when=lambda self, m: m.ballot >= self.mbal)
    def accept(self, m: Accept) -> None:
        self.mbal, self.bal, self.val = m.ballot, m.ballot, m.value
        self.send(self.leader, Accepted(m.rm, m.ballot, m.value))


def all_prepared(self: "Leader", ms: frozenset[Accepted]) -> bool:
    """For every manager a majority at one ballot."""
    return all(
        any(sum(m.rm == rm and m.ballot == ballot for m in ms) >= self.majority for ballot in range(self.ballots))
        for rm in range(len(self.rms))
    )


class Leader(Process):
    rms: Peers
    instances: tuple[Peers, ...]
    ballots: int
    majority: int
    proposed: frozenset[tuple[int, int]] = frozenset()

    @step(when=lambda self: self.ballots > 1)
    def prepare(self) -> None:
        rm = self.choose(range(len(self.instances)))
        self.send(self.instances[rm], Prepare(rm, self.choose(range(1, self.ballots))))

    @quorum(
        Promise,
        size="majority",
        same=lambda m: (m.rm, m.ballot),
        where=lambda self, m: (m.rm, m.ballot) not in self.proposed,
    )
    def propose(self, promises: frozenset[Promise]) -> None:
        ((rm, ballot),) = {(p.rm, p.ballot) for p in promises}
        last = max(promises, key=lambda p: p.bal)
        self.proposed |= {(rm, ballot)}
        self.send(self.instances[rm], Accept(rm, ballot, last.val or Value.ABORTED))

    @quorum(Accepted, enough=all_prepared, where=lambda self, m: m.value is Value.PREPARED)
    def decide_commit(self, ms: frozenset[Accepted]) -> None:
        self.send(self.rms, Commit())

    @quorum(
        Accepted,
        size="majority",
        same=lambda m: (m.rm, m.ballot),
        where=lambda self, m: m.value is Value.ABORTED,
    )
    def decide_abort(self, ms: frozenset[Accepted]) -> None:
        self.send(self.rms, Abort())


class PaxosCommit(System):
    managers: int = 2
    acceptors: int = 3
    ballots: int = 2
    network = unordered(duplicates="any")

    def build(self) -> None:
        rms = [self.spawn(RM, number=i) for i in range(self.managers)]
        leader = self.spawn(Leader, rms=Peers(rms), ballots=self.ballots, majority=majority(self.acceptors))
        instances = tuple(self.spawn(Acceptor, self.acceptors, leader=leader) for _ in rms)
        self.connect(leader, instances=instances)
        for rm, acceptors in zip(rms, instances, strict=True):
            self.connect(rm, acceptors=acceptors)

    @invariant
    def consistent(self) -> bool:
        return not {State.COMMITTED, State.ABORTED} <= {rm.state for rm in self[RM]}

    @can
    def commits(self) -> bool:
        return all(rm.state is State.COMMITTED for rm in self[RM])
