"""Viewstamped Replication Revisited (Liskov & Cowling 2012): normal operation and view change."""

from enum import Enum
from typing import NamedTuple

from quorate import (
    Event,
    Message,
    Monitor,
    Peers,
    Pid,
    Process,
    System,
    can,
    crashes,
    invariant,
    on,
    quorum,
    step,
    unordered,
)


class Status(Enum):
    NORMAL = 1
    VIEW_CHANGE = 2


class Op(NamedTuple):
    view: int
    request: int


Log = tuple[Op, ...]


class Prepare(Message):
    view: int
    number: int
    op: Op
    commit: int


class PrepareOk(Message):
    view: int
    number: int


class Commit(Message):
    view: int
    commit: int


class StartViewChange(Message):
    view: int


class DoViewChange(Message):
    view: int
    log: Log
    last_normal: int
    commit: int


class StartView(Message):
    view: int
    log: Log
    commit: int


class Executed(Event):
    number: int
    op: Op


class Replica(Process):
    durable = ()

    f: int
    views: int
    requests: int
    longest_log: bool
    hasty: bool
    obey_old: bool
    order: tuple[Pid, ...]
    peers: Peers

    view: int = 0
    status: Status = Status.NORMAL
    log: Log = ()
    commit: int = 0
    last_normal: int = 0
    told: bool = False  # DoViewChange was sent in this view

    def primary(self) -> Pid:
        return self.order[self.view % len(self.order)]

    def leads(self) -> bool:
        return self.primary() == self.pid

    def normal(self) -> bool:
        return self.status is Status.NORMAL

    def execute(self, upto: int) -> None:
        while self.commit < min(upto, len(self.log)):
            self.commit += 1
            self.emit(Executed(self.commit, self.log[self.commit - 1]))

    # normal operation

    @step(when=lambda self: self.normal() and self.leads() and len(self.log) < self.requests)
    def request(self) -> None:
        op = Op(self.view, len(self.log) + 1)
        self.log += (op,)
        self.send(self.peers, Prepare(self.view, len(self.log), op, self.commit))

    @on(
        Prepare,
        when=lambda self, m: m.view == self.view and (self.normal() or self.obey_old) and m.number == len(self.log) + 1,
    )
    def prepare(self, m: Prepare) -> None:
        self.log += (m.op,)
        self.execute(m.commit)
        self.reply(PrepareOk(m.view, m.number))

    @quorum(
        PrepareOk,
        size="f",
        same="number",
        when=lambda self: self.normal() and self.leads(),
        where=lambda self, m: m.view == self.view and m.number > self.commit,
    )
    def prepared(self, oks: frozenset[PrepareOk]) -> None:
        self.execute(next(iter(oks)).number)
        self.send(self.peers, Commit(self.view, self.commit))

    @on(Commit, when=lambda self, m: m.view == self.view and self.normal() and self.commit < m.commit <= len(self.log))
    def committed(self, m: Commit) -> None:
        self.execute(m.commit)

    # view change

    def change(self, view: int) -> None:
        self.view, self.status, self.told = view, Status.VIEW_CHANGE, False
        self.send(self.peers, StartViewChange(view))

    @step(when=lambda self: self.view < self.views)
    def timeout(self) -> None:
        self.change(self.view + 1)

    @on(StartViewChange, when=lambda self, m: m.view > self.view)
    def join(self, m: StartViewChange) -> None:
        self.change(m.view)

    @quorum(
        StartViewChange,
        size="f",
        when=lambda self: not self.normal() and not self.told,
        where=lambda self, m: m.view == self.view,
    )
    def do_view_change(self, ms: frozenset[StartViewChange]) -> None:
        self.told = True
        self.send(self.primary(), DoViewChange(self.view, self.log, self.last_normal, self.commit))

    @quorum(
        DoViewChange,
        size=lambda self: self.f + (not self.hasty),
        when=lambda self: not self.normal() and self.leads(),
        where=lambda self, m: m.view == self.view,
    )
    def start_view(self, ms: frozenset[DoViewChange]) -> None:
        if self.longest_log:
            self.log = max((len(m.log), m.last_normal, m.log) for m in ms)[2]
        else:
            self.log = max((m.last_normal, len(m.log), m.log) for m in ms)[2]
        self.status, self.last_normal = Status.NORMAL, self.view
        self.execute(max(m.commit for m in ms))
        self.send(self.peers, StartView(self.view, self.log, self.commit))

    @on(StartView, when=lambda self, m: m.view > self.view or (m.view == self.view and not self.normal()))
    def new_view(self, m: StartView) -> None:
        self.view, self.log, self.status, self.last_normal = m.view, m.log, Status.NORMAL, m.view
        self.execute(m.commit)
        for number in range(m.commit + 1, len(m.log) + 1):
            self.reply(PrepareOk(m.view, number))


class Client(Monitor):
    """What any replica has executed, by number: what clients may have seen."""

    log: Log = ()

    @on(Executed)
    def executed(self, e: Executed) -> None:
        if e.number == len(self.log) + 1:
            self.log += (e.op,)
        else:
            assert self.log[e.number - 1] == e.op, f"{e.op} is executed as number {e.number}, as was another"


class VR(System):
    """Viewstamped Replication: what was executed once is executed everywhere, across view changes."""

    replicas: int = 3
    views: int = 2
    requests: int = 2
    crashes: int = 0
    longest_log: bool = False  # the new primary takes the longest log, not the one of the latest view
    hasty: bool = False  # it waits for f instead of f + 1 logs
    obey_old: bool = False  # prepares are accepted in the midst of a view change

    network = unordered()

    def build(self) -> None:
        self.require(self.replicas % 2 == 1, "2f + 1 replicas")
        self.faults = crashes(self.crashes, recover=True)
        replicas = self.spawn(
            Replica,
            self.replicas,
            f=self.replicas // 2,
            views=self.views,
            requests=self.requests,
            longest_log=self.longest_log,
            hasty=self.hasty,
            obey_old=self.obey_old,
        )
        self.connect(replicas, order=tuple(replicas))
        for pid in replicas:
            self.connect(pid, peers=replicas - {pid})
        self.watch(Client)

    @invariant
    def same_prefix(self) -> bool:
        return all(
            a.log[: min(a.commit, b.commit)] == b.log[: min(a.commit, b.commit)]
            for a in self[Replica]
            for b in self[Replica]
        )

    @invariant
    def primaries_know_everything(self) -> bool:
        return all(
            r.log[: len(self[Client].log)] == self[Client].log
            for r in self[Replica]
            if r.status is Status.NORMAL and r.leads() and r.view == max(x.last_normal for x in self[Replica])
        )

    @can
    def executed_after_a_view_change(self) -> bool:
        return any(op.view > 0 for op in self[Client].log)
