"""A lock for clients that come again and again, and the difference between weak and strong fairness.

With a queue, whoever asks is served in turn. Without one, the lock grants any request that it finds when it is free.
To grant the request of one client is then possible again and again, whenever the lock is free, but not all the time:
that every step that *stays* possible is taken (weak fairness) does not help it. Strong fairness does.
"""

from quorate import Message, Pid, Process, System, invariant, leads_to, on, step


class Request(Message): ...


class Grant(Message): ...


class Release(Message): ...


class Client(Process):
    lock: Pid
    waiting: bool = False
    inside: bool = False

    @step(when=lambda self: not self.waiting and not self.inside, fair=False)  # it may ask again, but need not
    def ask(self) -> None:
        self.waiting = True
        self.send(self.lock, Request())

    @on(Grant)
    def enter(self, _: Grant) -> None:
        self.waiting, self.inside = False, True

    @step(when=lambda self: self.inside)
    def leave(self) -> None:
        self.inside = False
        self.send(self.lock, Release())


class Lock(Process):
    holder: Pid | None = None

    @on(Request, when=lambda self, m: self.holder is None)
    def grant(self, m: Request) -> None:
        self.holder = m.sender
        self.reply(Grant())

    @on(Release)
    def free(self, _: Release) -> None:
        self.holder = None


class QueueingLock(Process):
    queue: tuple[Pid, ...] = ()  # the first one holds the lock

    @on(Request, when=lambda self, m: m.sender not in self.queue)
    def enqueue(self, m: Request) -> None:
        self.queue += (m.sender,)
        if len(self.queue) == 1:
            self.reply(Grant())

    @on(Release)
    def free(self, _: Release) -> None:
        self.queue = self.queue[1:]
        if self.queue:
            self.send(self.queue[0], Grant())


class Locking(System):
    """One client at a time holds the lock, and each gets its turn; with `queue=false` a client may starve."""

    clients: int = 2
    queue: bool = True  # requests are served in the order in which they arrive

    def build(self) -> None:
        lock = self.spawn(QueueingLock) if self.queue else self.spawn(Lock)
        self.spawn(Client, self.clients, lock=lock)

    @invariant
    def mutual_exclusion(self) -> bool:
        return sum(client.inside for client in self[Client]) <= 1

    @leads_to("inside", each=Client)
    def waiting(self, client: Client) -> bool:
        """Nobody starves."""
        return client.waiting

    def inside(self, client: Client) -> bool:
        return client.inside
