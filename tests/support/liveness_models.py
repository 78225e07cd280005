"""Small systems that tell the levels of fairness apart, and what is asked of them."""

from __future__ import annotations

import benchmarks.protocols.lock

from quorate import Message, Peers, Pid, Process, System, on, step, unordered
from quorate.language.network import Network
from temporal_semantics import Automaton

NEVER: Automaton = (1, 0, 0, [(0, 0, 1, 0, 0)])
"""Violates F p0."""
UNANSWERED: Automaton = (2, 0, 1, [(0, 0, 0, 0, 0), (0, 1, 0, 1, 0), (1, 1, 0, 1, 1)])
"""Violates G(p0 -> F !p0)."""


class Data(Message): ...


class Ack(Message): ...


class Sender(Process):
    receiver: Pid
    done: bool = False

    @step(when=lambda self: not self.done)
    def send_again(self) -> None:
        self.send(self.receiver, Data())

    @on(Ack)
    def stop(self, _: Ack) -> None:
        self.done = True


class Receiver(Process):
    @on(Data)
    def acknowledge(self, _: Data) -> None:
        self.reply(Ack())


class StopAndWait(System):
    """The sender repeats its message until it is acknowledged."""

    lossy: bool = False

    def build(self) -> None:
        self.network: Network = unordered(losses="any" if self.lossy else 0)
        self.spawn(Sender, receiver=self.spawn(Receiver))

    def done(self) -> bool:
        return self[Sender][0].done


class Request(Message): ...


class Reply(Message): ...


class Client(Process):
    server: Pid
    waiting: bool = False

    @step(when=lambda self: not self.waiting)
    def ask(self) -> None:
        self.waiting = True
        self.send(self.server, Request())

    @on(Reply)
    def answered(self, _: Reply) -> None:
        self.waiting = False


class Server(Process):
    @on(Request)
    def serve(self, _: Request) -> None:
        self.reply(Reply())


class Serving(System):
    """Clients that ask again and again."""

    clients: int = 2

    def build(self) -> None:
        self.spawn(Client, self.clients, server=self.spawn(Server))

    def waiting(self) -> bool:
        return self[Client][0].waiting


class Locking(benchmarks.protocols.lock.Locking):
    """A lock that is given to whoever comes first: the other may starve."""

    clients: int = 2


class Counter(Process):
    n: int = 0

    def within(self) -> bool:
        return self.n < 3

    @step(when=lambda self: True)
    def count(self) -> None:
        self.n += 1


class Counting(System):
    """Goes on for ever, but for a bound."""

    def build(self) -> None:
        self.spawn(Counter)

    def far(self) -> bool:
        return self[Counter][0].n >= 5


class Filler(Process):
    to: Pid
    sent: int = 0

    @step(when=lambda self: self.sent < 2)
    def fill(self) -> None:
        self.sent += 1
        self.send(self.to, Numbered(self.sent))


class Numbered(Message):
    n: int


class Sink(Process):
    peers: Peers = Peers()

    @on(Ack)
    def take(self, _: Ack) -> None: ...


class Filling(System):
    """A channel with room for one message, which nobody takes."""

    def build(self) -> None:
        self.network: Network = unordered(capacity=1)
        self.spawn(Filler, to=self.spawn(Sink))

    def sent(self) -> bool:
        return self[Filler][0].sent == 2
