"""Raft as one writes it down first: it holds, and has far more states than it needs. docs/modelling.md says why.

Everything is as in an implementation. A handler takes every message, looks whether it is of use, and answers, be it
with a refusal. Votes and acknowledgements are counted in fields, a leader keeps an index for each follower, entries
carry their commands, and a monitor writes down what happens.
"""

from typing import NamedTuple

from quorate import Event, Map, Message, Monitor, Peers, Pid, Process, System, can, invariant, on, step


class Entry(NamedTuple):
    term: int
    command: str


class RequestVote(Message):
    term: int
    last_term: int
    last_index: int


class VoteReply(Message):
    term: int
    granted: bool


class AppendEntries(Message):
    term: int
    previous_index: int
    previous_term: int
    entries: tuple[Entry, ...]
    commit: int


class AppendReply(Message):
    term: int
    success: bool
    match: int


class Log(Event):
    text: str
    term: int
    entries: tuple[Entry, ...]


class Server(Process):
    peers: Peers
    terms: int
    entries: int
    term: int = 0
    voted_for: Pid | None = None
    log: tuple[Entry, ...] = ()
    role: str = "follower"
    votes: frozenset[Pid] = frozenset()
    commit: int = 0
    next_index: Map[Pid, int] = Map()
    match_index: Map[Pid, int] = Map()

    def last_term(self, index: int) -> int:
        return self.log[index - 1].term if index > 0 else 0

    def follow(self, term: int) -> None:
        if term > self.term:
            self.term, self.voted_for = term, None
        self.role = "follower"

    @step(when=lambda self: self.role != "leader" and self.term < self.terms)
    def time_out(self) -> None:
        self.term += 1
        self.role, self.voted_for, self.votes = "candidate", self.pid, frozenset({self.pid})
        self.send(self.peers, RequestVote(self.term, self.last_term(len(self.log)), len(self.log)))

    @on(RequestVote)
    def request_vote(self, m: RequestVote) -> None:
        if m.term < self.term:
            self.reply(VoteReply(self.term, False))
            return
        if m.term > self.term:
            self.follow(m.term)
        up_to_date = (m.last_term, m.last_index) >= (self.last_term(len(self.log)), len(self.log))
        if self.voted_for in (None, m.sender) and up_to_date:
            self.voted_for = m.sender
            self.reply(VoteReply(self.term, True))
        else:
            self.reply(VoteReply(self.term, False))

    @on(VoteReply)
    def vote_reply(self, m: VoteReply) -> None:
        if m.term > self.term:
            self.follow(m.term)
            return
        if m.term < self.term or self.role != "candidate" or not m.granted:
            return
        self.votes |= {m.sender}
        if len(self.votes) > (len(self.peers) + 1) // 2:
            self.role = "leader"
            self.next_index = Map({peer: len(self.log) + 1 for peer in self.peers})
            self.match_index = Map(dict.fromkeys(self.peers, 0))
            self.emit(Log("elected", self.term, self.log))

    @step(when=lambda self: self.role == "leader" and len(self.log) < self.entries)
    def request(self) -> None:
        self.log += (Entry(self.term, "command"),)

    @step(when=lambda self: self.role == "leader")
    def heartbeat(self) -> None:
        peer = self.choose(self.peers)
        previous = self.next_index[peer] - 1
        entries = self.log[previous : previous + 1]
        self.send(peer, AppendEntries(self.term, previous, self.last_term(previous), entries, self.commit))

    @on(AppendEntries)
    def append_entries(self, m: AppendEntries) -> None:
        if m.term < self.term:
            self.reply(AppendReply(self.term, False, 0))
            return
        self.follow(m.term)
        if len(self.log) < m.previous_index or self.last_term(m.previous_index) != m.previous_term:
            self.reply(AppendReply(self.term, False, 0))
            return
        index = m.previous_index + len(m.entries)
        if self.log[m.previous_index : index] != m.entries:
            self.log = self.log[: m.previous_index] + m.entries
        self.commit = max(self.commit, min(m.commit, index))
        self.reply(AppendReply(self.term, True, index))

    @on(AppendReply)
    def append_reply(self, m: AppendReply) -> None:
        if m.term > self.term:
            self.follow(m.term)
            return
        if m.term < self.term or self.role != "leader":
            return
        if not m.success:
            self.next_index |= {m.sender: max(1, self.next_index[m.sender] - 1)}
            return
        self.match_index |= {m.sender: max(self.match_index[m.sender], m.match)}
        self.next_index |= {m.sender: self.match_index[m.sender] + 1}
        for index in range(len(self.log), self.commit, -1):
            stored = 1 + sum(match >= index for match in self.match_index.values())
            if stored > (len(self.peers) + 1) // 2 and self.last_term(index) == self.term:
                self.commit = index
                self.emit(Log("committed", self.term, self.log[:index]))
                break


class History(Monitor):
    events: tuple[Log, ...] = ()

    @on(Log)
    def write(self, e: Log) -> None:
        self.events += (e,)


class NaiveRaft(System):
    """Raft as one writes it down first."""

    servers: int = 3
    terms: int = 2
    entries: int = 1

    server = Server  # so that variants can differ in one thing

    def build(self) -> None:
        servers = self.spawn(self.server, self.servers, terms=self.terms, entries=self.entries)
        for server in servers:
            self.connect(server, peers=servers - {server})
        self.watch(History)

    @invariant
    def election_safety(self) -> bool:
        won = [e.term for e in self[History].events if e.text == "elected"]
        return len(won) == len(set(won))

    @invariant
    def leader_completeness(self) -> bool:
        events = self[History].events
        committed = [(e.term, e.entries) for e in events if e.text == "committed"]
        elected = [(e.term, e.entries) for e in events if e.text == "elected"]
        return all(b[: len(a)] == a for old, a in committed for new, b in elected if old < new)

    @invariant
    def state_machine_safety(self) -> bool:
        logs = [server.log[: server.commit] for server in self[Server]]
        return all(a[: len(b)] == b[: len(a)] for a in logs for b in logs)

    @can
    def all_logs_fill(self) -> bool:
        return all(server.commit == self.entries for server in self[Server])
