"""Viewstamped Replication: a replicated log that outlives its primary (Liskov and Cowling 2012).

In every view one replica is the primary, in turn. It orders the requests, and executes one once f others have it in
their logs. Whoever suspects the primary asks for the next view. The new primary collects the logs of f + 1 replicas,
its own among them, and goes on with the best of them: the longest of those that come from the latest view. Of
2f + 1 replicas up to f may crash for ever. They keep nothing on disk; the protocol by which one that has crashed comes
back is left out.

A request is written as the view that it was ordered in: a primary orders one for a position, so no more is needed to
tell requests apart.
"""

from enum import Enum

from quorate import Constant, Message, Peers, Pid, Process, System, can, invariant, on, quorum, step

Log = tuple[int, ...]


class Prepare(Message):
    view: int
    length: int  # of the log with this request
    executed: int


class Prepared(Message):
    view: int
    length: int


class Commit(Message):
    view: int
    executed: int


class StartViewChange(Message):
    view: int


class DoViewChange(Message):
    view: int
    last_normal: int
    log: Log
    executed: int


class StartView(Message):
    view: int
    log: Log
    executed: int


class Replica(Process):
    order: Constant[tuple[Pid, ...]]  # in which they become primary
    others: Constant[Peers]
    f: Constant[int]
    views: Constant[int]
    requests: Constant[int]
    view: int = 0
    normal: bool = True  # not in the midst of a view change
    last_normal: int = 0  # the latest view in which it was not
    told: bool = False  # the new primary has its log
    log: Log = ()
    executed: Log = ()

    def primary(self) -> Pid:
        return self.order[self.view % len(self.order)]

    def leads(self) -> bool:
        return self.normal and self.primary() == self.pid

    def obeys(self) -> bool:
        return self.normal

    def execute(self, length: int) -> None:
        self.executed += self.log[len(self.executed) : length]

    @step(when=lambda self: self.leads() and len(self.log) < self.requests)
    def request(self) -> None:
        self.log += (self.view,)
        self.send(self.others, Prepare(self.view, len(self.log), len(self.executed)))

    @on(Prepare, when=lambda self, m: m.view == self.view and self.obeys() and m.length == len(self.log) + 1)
    def prepare(self, m: Prepare) -> None:
        self.log += (m.view,)
        self.execute(m.executed)
        self.reply(Prepared(m.view, m.length))

    @quorum(
        Prepared,
        size="f",
        same="length",
        when=lambda self: self.leads(),
        where=lambda self, m: m.view == self.view and m.length > len(self.executed),
    )
    def commit(self, prepared: frozenset[Prepared]) -> None:
        self.execute(max(m.length for m in prepared))
        self.send(self.others, Commit(self.view, len(self.executed)))

    @on(Commit, when=lambda self, m: m.view == self.view and self.normal and m.executed <= len(self.log))
    def learn(self, m: Commit) -> None:
        self.execute(m.executed)

    @step(when=lambda self: True, fair=False)
    def suspect(self) -> None:
        self.change_view(self.view + 1)

    @on(StartViewChange, when=lambda self, m: m.view > self.view)
    def join(self, m: StartViewChange) -> None:
        self.change_view(m.view)

    def change_view(self, view: int) -> None:
        self.view, self.normal, self.told = view, False, False
        self.send(self.others, StartViewChange(view))

    @quorum(
        StartViewChange,
        size="f",
        when=lambda self: not self.normal and not self.told,
        where=lambda self, m: m.view == self.view,
    )
    def hand_over(self, changes: frozenset[StartViewChange]) -> None:
        self.told = True
        self.send(self.primary(), DoViewChange(self.view, self.last_normal, self.log, len(self.executed)))

    @quorum(
        DoViewChange,
        size=lambda self: self.logs_needed(),
        when=lambda self: not self.normal,
        where=lambda self, m: m.view == self.view,
    )
    def take_over(self, changes: frozenset[DoViewChange]) -> None:
        self.log = max(changes, key=self.quality).log
        self.start_view(self.view, max(m.executed for m in changes))
        self.send(self.others, StartView(self.view, self.log, len(self.executed)))

    def logs_needed(self) -> int:
        return self.f + 1

    def quality(self, m: DoViewChange) -> tuple[int, int]:
        return (m.last_normal, len(m.log))

    def start_view(self, view: int, executed: int) -> None:
        self.view, self.normal, self.last_normal, self.told = view, True, view, False
        self.execute(executed)

    @on(StartView, when=lambda self, m: m.view > self.view or (m.view == self.view and not self.normal))
    def follow(self, m: StartView) -> None:
        self.log = m.log
        self.start_view(m.view, m.executed)
        for length in range(m.executed + 1, len(m.log) + 1):
            self.reply(Prepared(m.view, length))

    def within(self) -> bool:
        return self.view <= self.views


class Measuring(Replica):
    def quality(self, m: DoViewChange) -> tuple[int, int]:
        return (len(m.log), m.last_normal)


class Hasty(Replica):
    def logs_needed(self) -> int:
        return self.f


class Obedient(Replica):
    def obeys(self) -> bool:
        return True


class Mistake(Enum):
    NONE = Replica
    LONGEST_LOG = Measuring  # the new primary takes the longest log, however old its view
    TOO_FEW_LOGS = Hasty  # it waits for f logs
    LATE_PREPARE = Obedient  # a replica prepares requests after it has handed over its log


class ViewstampedReplication(System):
    """Replicas execute the same requests though primaries change; each `mistake` loses some."""

    replicas: int = 3
    views: int = 2  # how many view changes are explored
    requests: int = 1  # how long a log may become
    mistake: Mistake = Mistake.NONE

    def build(self) -> None:
        self.require(self.replicas > 1 and self.replicas % 2 == 1, "there are 2f + 1 replicas, and f is not 0")
        replicas = self.spawn(self.mistake.value, self.replicas, f=self.replicas // 2, requests=self.requests)
        for replica in replicas:
            self.connect(replica, order=tuple(replicas), others=replicas - {replica}, views=self.views)

    @invariant
    def agreement(self) -> bool:
        """What one replica has executed, any other executes in the same order."""
        longest = max((replica.executed for replica in self[Replica]), key=len)
        return all(longest[: len(replica.executed)] == replica.executed for replica in self[Replica])

    @invariant
    def nothing_is_lost(self) -> bool:
        """The primary of the latest view has everything that was executed before."""
        latest = max(replica.last_normal for replica in self[Replica])
        return all(
            primary.log[: len(replica.executed)] == replica.executed
            for primary in self[Replica]
            if primary.last_normal == latest and primary.order[latest % self.replicas] == primary.pid
            for replica in self[Replica]
        )

    @can
    def executed_in_the_last_view(self) -> bool:
        return all(replica.executed and replica.executed[-1] == self.views for replica in self[Replica])

    @can
    def executed_after_a_view_change(self) -> bool:
        past = [replica.executed and replica.executed[0] < replica.last_normal for replica in self[Replica]]
        return any(past) or self.views == 0

    def all_executed(self) -> bool:
        """Every replica that is up has executed all requests."""
        return all(len(replica.executed) == self.requests or replica.crashed for replica in self[Replica])
