"""Raft with its log: elections, replication, the commit rule and restarts from disk (Ongaro and Ousterhout 2014).

A leader offers every entry of its log to everybody, each with the entry before it. A follower takes an entry where the
one before fits, and drops what it had from there on if that was another. What a majority has acknowledged is committed,
if it is of the leader's own term: an older entry may still be overwritten, as figure 8 of the paper shows, and is
committed only along with a newer one. Servers may crash and come back with what is on disk: the term, the vote, the
log.

An entry is the term that it was made in: a leader makes one entry for a position, so no more is needed to tell entries
apart. Nobody refuses anything: what does not fit waits. So there is no index of the next entry to send to each
follower, which would only say in which order a leader makes its offers.
"""

from enum import Enum
from typing import ClassVar

from quorate import (
    Constant,
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
)

Log = tuple[int, ...]


class Role(Enum):
    FOLLOWER = 1
    CANDIDATE = 2
    LEADER = 3


class Call(Message):
    term: int


class RequestVote(Call):
    last: tuple[int, int]  # the term of the last entry, and how many there are


class AppendEntry(Call):
    entry: int
    after: int  # how many entries come before it
    previous: int  # the term of the last of these
    committed: int


class Vote(Message):
    term: int


class Appended(Message):
    term: int
    length: int


class Elected(Event):
    term: int


class Committed(Event):
    term: int
    log: Log


def last_of(log: Log) -> int:
    return log[-1] if log else 0


class Server(Process):
    durable: ClassVar[tuple[str, ...]] = ("term", "voted_for", "log")
    others: Constant[Peers]
    needed: Constant[int]  # of the others, to make a majority
    terms: Constant[int]
    entries: Constant[int]
    term: int = 0
    voted_for: Pid | None = None
    log: Log = ()
    role: Role = Role.FOLLOWER
    committed: int = 0

    @on(Call, when=lambda self, m: m.term > self.term, keep=True)
    def step_down(self, m: Call) -> None:
        self.term, self.voted_for, self.role = m.term, None, Role.FOLLOWER

    @step(when=lambda self: self.role is not Role.LEADER)
    def time_out(self) -> None:
        self.term, self.voted_for, self.role = self.term + 1, self.pid, Role.CANDIDATE
        self.send(self.others, RequestVote(self.term, (last_of(self.log), len(self.log))))

    @on(RequestVote, when=lambda self, m: m.term == self.term and self.voted_for is None and self.may_lead(m))
    def vote(self, m: RequestVote) -> None:
        self.voted_for = m.sender
        self.reply(Vote(m.term))

    def may_lead(self, m: RequestVote) -> bool:
        return m.last >= (last_of(self.log), len(self.log))

    @quorum(
        Vote,
        size="needed",
        when=lambda self: self.role is Role.CANDIDATE,
        where=lambda self, m: m.term == self.term,
    )
    def win(self, votes: frozenset[Vote]) -> None:
        self.role = Role.LEADER
        self.emit(Elected(self.term))
        self.offer()

    def offer(self) -> None:
        for after, entry in enumerate(self.log):
            previous = last_of(self.log[:after])
            self.send(self.others, AppendEntry(self.term, entry, after, previous, self.committed))

    @step(when=lambda self: self.role is Role.LEADER and len(self.log) < self.entries)
    def request(self) -> None:
        self.log += (self.term,)
        self.offer()

    @on(AppendEntry, when=lambda self, m: m.term == self.term and self.fits(m))
    def append(self, m: AppendEntry) -> None:
        self.role = Role.FOLLOWER
        if self.log[m.after : m.after + 1] != (m.entry,):
            self.log = (*self.log[: m.after], m.entry)
        self.committed = max(self.committed, min(m.committed, self.known(m)))
        self.reply(Appended(m.term, m.after + 1))

    def fits(self, m: AppendEntry) -> bool:
        return len(self.log) >= m.after and last_of(self.log[: m.after]) == m.previous

    def known(self, m: AppendEntry) -> int:
        """How much of the log is as the leader's."""
        return m.after + 1

    @quorum(
        Appended,
        size="needed",
        same="length",
        when=lambda self: self.role is Role.LEADER,
        where=lambda self, m: m.term == self.term and m.length > self.committed and self.may_commit(m.length),
    )
    def commit(self, appended: frozenset[Appended]) -> None:
        self.committed = max(m.length for m in appended)
        self.emit(Committed(self.term, self.log[: self.committed]))
        self.offer()

    def may_commit(self, length: int) -> bool:
        return self.log[length - 1 : length] == (self.term,)

    def within(self) -> bool:
        return self.term <= self.terms


class Generous(Server):
    def may_lead(self, m: RequestVote) -> bool:
        return True


class Gullible(Server):
    def fits(self, m: AppendEntry) -> bool:
        return True


class Hasty(Server):
    def may_commit(self, length: int) -> bool:
        return True


class Trusting(Server):
    def known(self, m: AppendEntry) -> int:
        return len(self.log)


class Forgetful(Server):
    durable = ("term", "log")


class Mistake(Enum):
    NONE = Server
    NO_LOG_CHECK = Generous  # whoever asks is elected, whatever its log
    NO_MATCH = Gullible  # a follower takes an entry wherever it stands
    FIGURE_8 = Hasty  # entries of earlier terms are committed by counting
    UNCLAMPED = Trusting  # a follower commits entries that the leader may not have
    LOST_VOTE = Forgetful  # votes are not written to disk


class History(Monitor):
    won: frozenset[int] = frozenset()  # terms that had a leader
    twice: bool = False
    committed: Map[int, Log] = Map()  # by the term of the leader

    @on(Elected)
    def elected(self, e: Elected) -> None:
        self.twice |= e.term in self.won
        self.won |= {e.term}

    @on(Committed)
    def commit(self, e: Committed) -> None:
        self.committed |= {e.term: e.log}


class Raft(System):
    """Raft with its log keeps what was committed; each `mistake` breaks it, figure 8 of the paper among them."""

    servers: int = 3
    terms: int = 2  # how many are explored
    entries: int = 1  # how long a log may become
    crashes: int = 1
    mistake: Mistake = Mistake.NONE

    def build(self) -> None:
        kind = self.mistake.value
        needed = majority(self.servers) - 1
        servers = self.spawn(kind, self.servers, needed=needed, terms=self.terms, entries=self.entries)
        for server in servers:
            self.connect(server, others=servers - {server})
        self.watch(History)
        self.faults = crashes(self.crashes, recover=True)

    @invariant
    def election_safety(self) -> bool:
        """At most one leader in a term."""
        return not self[History].twice

    @invariant
    def log_matching(self) -> bool:
        """Logs that have an entry in common have all in common that comes before it."""
        logs = [server.log for server in self[Server]]
        return all(a[:at] == b[:at] for a in logs for b in logs for at in range(min(len(a), len(b))) if a[at] == b[at])

    @invariant
    def leader_completeness(self) -> bool:
        """A leader has every entry that was committed in an earlier term."""
        return all(
            leader.log[: len(log)] == log
            for leader in self[Server]
            if leader.role is Role.LEADER
            for term, log in self[History].committed.items()
            if term < leader.term
        )

    @invariant
    def state_machine_safety(self) -> bool:
        """No two servers ever commit different entries at a position."""
        logs = [*self[History].committed.values(), *(server.log[: server.committed] for server in self[Server])]
        longest = max(logs, key=len)
        return all(longest[: len(log)] == log for log in logs)

    @can
    def all_logs_fill(self) -> bool:
        return all(server.committed == self.entries for server in self[Server])

    @can
    def leaders_change(self) -> bool:
        return len(self[History].won) == self.terms
