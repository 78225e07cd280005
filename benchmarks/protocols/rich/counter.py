"""A lock, and a monitor that counts without a bound: the processes are reduced as if it were not there."""

from quorate import Event, Message, Monitor, Pid, Process, System, invariant, on, start, step


class Acquire(Message): ...


class Granted(Message): ...


class Release(Message): ...


class Entered(Event): ...


class Server(Process):
    free: bool = True

    @on(Acquire, when=lambda self, m: self.free)
    def grant(self, m: Acquire) -> None:
        self.free = False
        self.reply(Granted())

    @on(Release)
    def take_back(self, m: Release) -> None:
        self.free = True


class Client(Process):
    server: Pid
    holds: bool = False

    @start
    def ask(self) -> None:
        self.send(self.server, Acquire())

    @on(Granted)
    def enter(self, m: Granted) -> None:
        self.holds = True
        self.emit(Entered())

    @step(when=lambda self: self.holds)
    def leave(self) -> None:
        self.holds = False
        self.send(self.server, Release())


class Entries(Monitor):
    count: int = 0

    @on(Entered)
    def entered(self, e: Entered) -> None:
        self.count += 1


class Lock(System):
    clients: int = 4

    def build(self) -> None:
        self.spawn(Client, self.clients, server=self.spawn(Server))

    @invariant
    def exclusive(self) -> bool:
        return sum(c.holds for c in self[Client]) <= 1


class Counted(Lock):
    def build(self) -> None:
        super().build()
        self.watch(Entries)

    @invariant
    def each_enters_once(self) -> bool:
        return self[Entries].count <= self.clients
