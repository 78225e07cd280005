"""Raft as Quorate likes it: guards instead of early returns, quorum transitions, no rejections."""

from enum import Enum
from typing import ClassVar, NamedTuple

from quorate import (
    Event,
    Map,
    Message,
    Monitor,
    Peers,
    Pid,
    Process,
    System,
    can,
    crashes,
    invariant,
    majority,
    on,
    quorum,
    step,
    unordered,
)


class Role(Enum):
    FOLLOWER = 1
    CANDIDATE = 2
    LEADER = 3


class Entry(NamedTuple):
    term: int
    value: int


class RequestVote(Message):
    term: int
    last_term: int
    last_index: int


class Vote(Message):
    term: int


class AppendEntries(Message):
    term: int
    prev_index: int
    prev_term: int
    entries: tuple[Entry, ...]
    commit: int


class AppendReply(Message):
    term: int
    match: int


class Mismatch(Message):
    term: int
    prev_index: int


class BecameLeader(Event):
    term: int
    log: tuple[Entry, ...]


class Committed(Event):
    term: int
    log: tuple[Entry, ...]


def last_term(log: tuple[Entry, ...]) -> int:
    return log[-1].term if log else 0


class Server(Process):
    durable: ClassVar[tuple[str, ...]] = ("term", "voted_for", "log")

    peers: Peers
    max_term: int
    max_log: int
    values: int
    check_log: bool
    figure8: bool
    truncate: bool
    clamp: bool

    term: int = 0
    voted_for: Pid | None = None
    log: tuple[Entry, ...] = ()

    role: Role = Role.FOLLOWER
    commit: int = 0
    next: Map[Pid, int] = Map()
    match: Map[Pid, int] = Map()

    def see(self, term: int) -> None:
        if term > self.term:
            self.term, self.voted_for = term, None
            self.follow()

    def follow(self) -> None:
        self.role, self.next, self.match = Role.FOLLOWER, Map(), Map()

    # elections

    @step(when=lambda self: self.role is not Role.LEADER and self.term < self.max_term)
    def timeout(self) -> None:
        self.term += 1
        self.role, self.voted_for = Role.CANDIDATE, self.pid
        self.send(self.peers, RequestVote(self.term, last_term(self.log), len(self.log)))

    @on(RequestVote, when=lambda self, m: m.term > self.term or (m.term == self.term and self.voted_for is None))
    def request_vote(self, m: RequestVote) -> None:
        self.see(m.term)
        if not self.check_log or (m.last_term, m.last_index) >= (last_term(self.log), len(self.log)):
            self.voted_for = m.sender
            self.reply(Vote(self.term))

    @quorum(
        Vote,
        size=lambda self: majority(len(self.peers) + 1) - 1,
        when=lambda self: self.role is Role.CANDIDATE,
        where=lambda self, m: m.term == self.term,
    )
    def win(self, votes: frozenset[Vote]) -> None:
        self.role = Role.LEADER
        self.next = Map({p: len(self.log) + 1 for p in self.peers})
        self.match = Map(dict.fromkeys(self.peers, 0))
        self.emit(BecameLeader(self.term, self.log))

    # the log

    @step(when=lambda self: self.role is Role.LEADER and len(self.log) < self.max_log)
    def client_request(self) -> None:
        self.log += (Entry(self.term, self.choose(range(self.values))),)

    @step(when=lambda self: self.role is Role.LEADER)
    def replicate(self) -> None:
        to = self.choose(self.peers)
        prev = self.next[to] - 1
        entries = self.log[prev : prev + 1]
        self.send(
            to,
            AppendEntries(
                self.term,
                prev,
                last_term(self.log[:prev]),
                entries,
                self.commit,
            ),
        )

    @on(AppendEntries, when=lambda self, m: m.term >= self.term)
    def append_entries(self, m: AppendEntries) -> None:
        self.see(m.term)
        self.follow()
        if len(self.log) < m.prev_index or last_term(self.log[: m.prev_index]) != m.prev_term:
            self.reply(Mismatch(self.term, m.prev_index))
            return
        last = m.prev_index + len(m.entries)
        if self.truncate or m.entries != self.log[m.prev_index : last]:
            self.log = self.log[: m.prev_index] + m.entries
        self.commit_upto(min(m.commit, last if self.clamp else len(self.log)))
        self.reply(AppendReply(self.term, last))

    @on(
        Mismatch,
        when=lambda self, m: (
            m.term == self.term and self.role is Role.LEADER and self.next[m.sender] == m.prev_index + 1
        ),
    )
    def step_back(self, m: Mismatch) -> None:
        self.next |= {m.sender: m.prev_index}

    @on(
        AppendReply,
        when=lambda self, m: m.term == self.term and self.role is Role.LEADER and m.match > self.match[m.sender],
    )
    def advance(self, m: AppendReply) -> None:
        self.match |= {m.sender: m.match}
        self.next |= {m.sender: m.match + 1}
        for index in range(len(self.log), self.commit, -1):
            has_it = 1 + sum(self.match[p] >= index for p in self.peers)
            counts = self.figure8 or self.log[index - 1].term == self.term
            if counts and has_it >= majority(len(self.peers) + 1):
                self.commit_upto(index)
                break

    def commit_upto(self, index: int) -> None:
        if index > self.commit:
            self.commit = index
            self.emit(Committed(self.term, self.log[:index]))


class Forgetful(Server):
    durable = ("term", "log")


class NoDisk(Server):
    durable = ("term", "voted_for")


class History(Monitor):
    leaders: Map[int, Pid] = Map()
    two_leaders: bool = False
    committed: tuple[tuple[int, Entry], ...] = ()  # and the first term it was committed in
    conflict: bool = False
    incomplete: bool = False

    @on(BecameLeader)
    def leader(self, e: BecameLeader) -> None:
        if self.leaders.get(e.term, e.source) != e.source:
            self.two_leaders = True
        self.leaders |= {e.term: e.source}
        for index, (since, entry) in enumerate(self.committed):
            if since < e.term and e.log[index : index + 1] != (entry,):
                self.incomplete = True

    @on(Committed)
    def commit(self, e: Committed) -> None:
        for index, entry in enumerate(e.log):
            if index == len(self.committed):
                self.committed += ((e.term, entry),)
            elif self.committed[index][1] != entry:
                self.conflict = True


class Raft2(System):
    """Raft with logs: election safety, log matching, leader completeness, state machine safety."""

    servers: int = 3
    terms: int = 2
    log: int = 1
    values: int = 1
    crashes: int = 0
    losses: int = 0
    duplicates: int = 0
    check_log: bool = True
    figure8: bool = False
    truncate: bool = False
    clamp: bool = True
    disk: str = "all"

    def build(self) -> None:
        self.network = unordered(losses=self.losses, duplicates=self.duplicates)
        self.faults = crashes(self.crashes, recover=True)
        servers = self.spawn(
            {"all": Server, "no vote": Forgetful, "no log": NoDisk}[self.disk],
            self.servers,
            max_term=self.terms,
            max_log=self.log,
            values=self.values,
            check_log=self.check_log,
            figure8=self.figure8,
            truncate=self.truncate,
            clamp=self.clamp,
        )
        for server in servers:
            self.connect(server, peers=servers - {server})
        self.watch(History)

    @invariant
    def election_safety(self) -> bool:
        return not self[History].two_leaders

    @invariant
    def log_matching(self) -> bool:
        for a in self[Server]:
            for b in self[Server]:
                for i in range(min(len(a.log), len(b.log))):
                    if a.log[i].term == b.log[i].term and a.log[: i + 1] != b.log[: i + 1]:
                        return False
        return True

    @invariant
    def leader_completeness(self) -> bool:
        return not self[History].incomplete

    @invariant
    def state_machine_safety(self) -> bool:
        return not self[History].conflict

    @can
    def something_is_committed(self) -> bool:
        return any(server.commit > 0 for server in self[Server])
