"""Chain replication: writes enter at the head, reads at the tail (van Renesse and Schneider 2004).

The head orders the updates and every server passes them on to the next. What the tail has applied, all have: it
answers writes and reads, and the store behaves like a single copy. Servers may crash, all but one, and crashes are
noticed reliably; the chain closes the gap, and whoever has a new successor repeats its updates. Updates are numbered,
so that they may arrive in any order and more than once.
"""

from itertools import pairwise

from quorate import Crash, Event, Map, Message, Monitor, Pid, Process, System, can, crashes, final, invariant, on, step


class Write(Message):
    value: int


class Update(Message):
    position: int
    value: int


class Written(Message):
    value: int


class Read(Message): ...


class Answer(Message):
    value: int


class Completed(Event):  # a write
    value: int


class Asked(Event): ...


class Answered(Event):
    value: int


class Server(Process):
    chain: tuple[Pid, ...]  # the servers that are up
    writer: Pid
    history: tuple[int, ...] = ()

    @on(Write, when=lambda self, m: self.pid == self.chain[0])
    def write(self, m: Write) -> None:
        if m.value not in self.history:
            self.apply(m.value)

    @on(Update, when=lambda self, m: m.position == len(self.history))
    def update(self, m: Update) -> None:
        self.apply(m.value)

    def apply(self, value: int) -> None:
        self.history += (value,)
        self.pass_on(len(self.history) - 1)

    def pass_on(self, position: int) -> None:
        value = self.history[position]
        later = self.chain[self.chain.index(self.pid) + 1 :]
        if later:
            self.send(later[0], Update(position, value))
        else:
            self.send(self.writer, Written(value))

    @on(Read)
    def read(self, m: Read) -> None:
        self.reply(Answer(self.history[-1] if self.history else 0))

    @on(Crash)
    def close_gap(self, m: Crash) -> None:
        here, gone = self.chain.index(self.pid), self.chain.index(m.sender)
        self.chain = self.chain[:gone] + self.chain[gone + 1 :]
        if gone == here + 1:
            for position in range(len(self.history)):
                self.pass_on(position)


class Client(Process):
    chain: tuple[Pid, ...]
    asked: Pid | None = None

    @on(Crash)
    def close_gap(self, m: Crash) -> None:
        self.chain = tuple(server for server in self.chain if server != m.sender)
        if self.asked == m.sender:
            self.ask()

    def ask(self) -> None:
        raise NotImplementedError


class Writer(Client):
    writes: int
    value: int = 0

    @step(when=lambda self: self.asked is None and self.value < self.writes)
    def write(self) -> None:
        self.value += 1
        self.ask()

    def ask(self) -> None:
        self.asked = self.chain[0]
        self.send(self.asked, Write(self.value))

    @on(Written, when=lambda self, m: self.asked is not None and m.value == self.value)
    def complete(self, m: Written) -> None:
        self.asked = None
        self.emit(Completed(m.value))


class Reader(Client):
    reads: int
    anywhere: bool

    @step(when=lambda self: self.asked is None and self.reads > 0)
    def read(self) -> None:
        self.reads -= 1
        self.emit(Asked())
        self.ask()

    def ask(self) -> None:
        self.asked = self.choose(self.chain) if self.anywhere else self.chain[-1]
        self.send(self.asked, Read())

    @on(Answer, when=lambda self, m: m.sender == self.asked)
    def learn(self, m: Answer) -> None:
        self.asked = None
        self.emit(Answered(m.value))


class SingleCopy(Monitor):
    """Values grow, so a read is in order if its value is no older than what was known to anybody when it was asked."""

    known: int = 0
    when_asked: Map[Pid, int] = Map()
    stale: bool = False

    @on(Completed)
    def completed(self, e: Completed) -> None:
        self.known = max(self.known, e.value)

    @on(Asked)
    def asked(self, e: Asked) -> None:
        self.when_asked |= {e.source: self.known}

    @on(Answered)
    def answered(self, e: Answered) -> None:
        self.stale |= e.value < self.when_asked[e.source]
        self.known = max(self.known, e.value)


class ChainReplication(System):
    """A chain of servers serves like a single copy; with `anywhere=true` reads ask any server, and it does not."""

    servers: int = 3
    readers: int = 1
    writes: int = 2
    reads: int = 2  # of each reader
    crashes: int = 1  # of servers
    anywhere: bool = False  # ask any server, not just the tail

    def build(self) -> None:
        self.require(self.crashes < self.servers, "one server must be left")
        chain = tuple(self.spawn(Server) for _ in range(self.servers))
        writer = self.spawn(Writer, chain=chain, writes=self.writes)
        self.spawn(Reader, self.readers, chain=chain, reads=self.reads, anywhere=self.anywhere)
        self.connect(chain, chain=chain, writer=writer)
        self.watch(SingleCopy)
        self.faults = crashes(self.crashes, of=Server)

    @invariant
    def single_copy(self) -> bool:
        """A read returns nothing older than what was written, or read by anybody, before it was asked."""
        return not self[SingleCopy].stale

    @invariant
    def update_propagation(self) -> bool:
        """What a server has applied, its predecessors have applied before: the invariant of the paper."""
        histories = [server.history for server in self[Server] if not server.crashed]
        return all(later == earlier[: len(later)] for earlier, later in pairwise(histories))

    @can
    def served_after_a_crash(self) -> bool:
        crashed = self.crashes == 0 or any(server.crashed for server in self[Server])
        return crashed and self.all_served() and self[SingleCopy].known == self.writes

    @final
    def all_served(self) -> bool:
        return all(client.asked is None for client in self[Client])
