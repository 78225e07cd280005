"""The elections of Raft: at most one leader in every term (Ongaro and Ousterhout 2014, section 5.2).

Servers may crash and come back with what they have written to disk: the term and whom they voted for in it. Two
majorities share a server, and a server votes once in a term, so two candidates cannot both win it. The log, and with
it the restriction on whom to vote for, is left out.

Terms rise without end, so something has to bound what is explored: the terms themselves, or, with `elections`, how many
elections each server starts, and then the terms have no bound of their own.
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


class Role(Enum):
    FOLLOWER = 1
    CANDIDATE = 2
    LEADER = 3


class RequestVote(Message):
    term: int


class Vote(Message):
    term: int


class Heartbeat(Message):
    term: int


class Elected(Event):
    term: int


class Server(Process):
    durable: ClassVar[tuple[str, ...]] = ("term", "voted_for")
    others: Constant[Peers]
    terms: Constant[int]
    term: int = 0
    voted_for: Pid | None = None
    role: Role = Role.FOLLOWER

    @step(when=lambda self: self.role is not Role.LEADER)
    def time_out(self) -> None:
        self.term, self.voted_for, self.role = self.term + 1, self.pid, Role.CANDIDATE
        self.send(self.others, RequestVote(self.term))

    @on(RequestVote, when=lambda self, m: m.term == self.term and self.voted_for in (None, m.sender))
    def vote(self, m: RequestVote) -> None:
        self.voted_for = m.sender
        self.reply(Vote(m.term))

    @on(RequestVote, when=lambda self, m: m.term > self.term)
    def vote_in_new_term(self, m: RequestVote) -> None:
        self.term, self.voted_for, self.role = m.term, m.sender, Role.FOLLOWER
        self.reply(Vote(m.term))

    @quorum(
        Vote,
        size=lambda self: majority(len(self.others) + 1) - 1,  # and its own
        when=lambda self: self.role is Role.CANDIDATE,
        where=lambda self, m: m.term == self.term,
    )
    def win(self, votes: frozenset[Vote]) -> None:
        self.role = Role.LEADER
        self.emit(Elected(self.term))
        self.send(self.others, Heartbeat(self.term))

    @on(Heartbeat, when=lambda self, m: m.term >= self.term)
    def follow(self, m: Heartbeat) -> None:
        self.voted_for = self.voted_for if m.term == self.term else None
        self.term, self.role = m.term, Role.FOLLOWER

    def within(self) -> bool:
        return self.term <= self.terms


class ForgetfulServer(Server):
    durable = ("term",)


class CountingServer(Server):
    durable = ("term", "voted_for", "started")
    elections: Constant[int]
    started: int = 0

    @step(when=lambda self: self.role is not Role.LEADER)
    def time_out(self) -> None:
        self.started += 1
        self.term, self.voted_for, self.role = self.term + 1, self.pid, Role.CANDIDATE
        self.send(self.others, RequestVote(self.term))

    def within(self) -> bool:
        return self.started <= self.elections


class Leaders(Monitor):
    of: Map[int, frozenset[Pid]] = Map()

    @on(Elected)
    def elected(self, e: Elected) -> None:
        self.of |= {e.term: self.of.get(e.term, frozenset()) | {e.source}}


class RaftElection(System):
    """At most one leader per term; with `forgetful=true` servers do not write their vote to disk, and there are two."""

    servers: int = 3
    terms: int = 2  # how many are explored
    crashes: int = 1
    forgetful: bool = False  # a server that comes back may vote again
    elections: int | None = None  # how many each server starts, in place of a bound on terms

    def build(self) -> None:
        self.require(self.elections is None or not self.forgetful, "forgetful=true goes with a bound on terms")
        if self.elections is not None:
            servers = self.spawn(CountingServer, self.servers, terms=self.terms, elections=self.elections)
        else:
            servers = self.spawn(ForgetfulServer if self.forgetful else Server, self.servers, terms=self.terms)
        for server in servers:
            self.connect(server, others=servers - {server})
        self.watch(Leaders)
        self.faults = crashes(self.crashes, recover=True)

    @invariant
    def at_most_one_leader_per_term(self) -> bool:
        return all(len(leaders) == 1 for leaders in self[Leaders].of.values())

    @can
    def every_term_has_a_leader(self) -> bool:
        return len(self[Leaders].of) == self.terms

    def elected(self) -> bool:
        return len(self[Leaders].of) > 0
