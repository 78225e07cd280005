"""Registers whose clients write and then read, with and without a history: what linearizability costs a search."""

from __future__ import annotations

from typing import NamedTuple

from quorate import Message, Peers, Pid, Process, System, majority, on, quorum, step
from quorate.histories import Read, Register, Write, linearizable


class Put(Message):
    value: int


class PutDone(Message): ...


class Get(Message): ...


class Got(Message):
    value: int


class Server(Process):
    value: int = 0

    @on(Put)
    def put(self, m: Put) -> None:
        self.value = m.value
        self.reply(PutDone())

    @on(Get)
    def get(self, _: Get) -> None:
        self.reply(Got(self.value))


class Client(Process):
    server: Pid
    number: int
    phase: int = 0

    @step(when=lambda self: self.phase == 0)
    def write(self) -> None:
        self.phase = 1
        self.invoke(Write(self.number))
        self.send(self.server, Put(self.number))

    @on(PutDone)
    def written(self, _: PutDone) -> None:
        self.phase = 2
        self.returns()

    @step(when=lambda self: self.phase == 2)
    def read(self) -> None:
        self.phase = 3
        self.invoke(Read())
        self.send(self.server, Get())

    @on(Got)
    def got(self, m: Got) -> None:
        self.phase = 4
        self.returns(m.value)


class SingleCopy(System):
    """A register in one process."""

    clients: int = 4

    def build(self) -> None:
        server = self.spawn(Server)
        for number in range(self.clients):
            self.spawn(Client, server=server, number=number + 1)


class SingleCopyHistory(SingleCopy):
    atomic = linearizable(Register(0))


class Stamp(NamedTuple):
    time: int = 0
    writer: int = 0


class Ask(Message):
    op: int


class Answer(Message):
    op: int
    stamp: Stamp
    value: int


class Store(Message):
    op: int
    stamp: Stamp
    value: int


class Stored(Message):
    op: int


class Base(Process):
    highest: int  # there are no more writes than that, which no process can see for itself
    stamp: Stamp = Stamp()
    value: int = 0

    def within(self) -> bool:
        return self.stamp.time <= self.highest

    @on(Ask)
    def answer(self, m: Ask) -> None:
        self.reply(Answer(m.op, self.stamp, self.value))

    @on(Store)
    def store(self, m: Store) -> None:
        if m.stamp > self.stamp:
            self.stamp, self.value = m.stamp, m.value
        self.reply(Stored(m.op))


class AbdClient(Process):
    """Writes its number and then reads, each in two rounds (Lynch and Shvartsman 1997)."""

    bases: Peers
    majority: int
    number: int
    op: int = 0
    found: int | None = None
    asking: bool = False

    @step(when=lambda self: self.op < 2 and not self.asking and self.found is None)
    def begin(self) -> None:
        self.op, self.asking = self.op + 1, True
        self.invoke(Write(self.number) if self.op == 1 else Read())
        self.send(self.bases, Ask(self.op))

    @quorum(Answer, size="majority", when=lambda self: self.asking, where=lambda self, m: m.op == self.op)
    def collect(self, answers: frozenset[Answer]) -> None:
        newest = max(answers, key=lambda m: m.stamp)
        self.asking = False
        stamp, self.found = newest.stamp, newest.value
        if self.op == 1:
            stamp, self.found = Stamp(newest.stamp.time + 1, self.number), self.number
        self.send(self.bases, Store(self.op, stamp, self.found))

    @quorum(Stored, size="majority", when=lambda self: self.found is not None, where=lambda self, m: m.op == self.op)
    def end(self, _: frozenset[Stored]) -> None:
        self.returns(None if self.op == 1 else self.found)
        self.found = None


class Abd(System):
    """A register replicated over several servers."""

    servers: int = 3
    clients: int = 2

    def build(self) -> None:
        bases = self.spawn(Base, self.servers, highest=self.clients)
        for number in range(self.clients):
            self.spawn(AbdClient, bases=bases, majority=majority(self.servers), number=number + 1)


class AbdHistory(Abd):
    atomic = linearizable(Register(0))
