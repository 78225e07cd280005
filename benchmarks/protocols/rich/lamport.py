"""Lamport's mutual exclusion with logical clocks over FIFO channels."""

from quorate import Map, Message, Peers, Pid, Process, System, can, fifo, invariant, on, step


class Req(Message):
    clock: int


class Ack(Message): ...


class Rel(Message): ...


class Site(Process):
    number: int
    bound: int
    numbers: Map[Pid, int] = Map()  # of everybody, itself included
    clock: int = 1
    req: Map[Pid, int] = Map()  # 0 is left out
    ack: Peers = Peers()
    crit: bool = False

    def others(self) -> Peers:
        return Peers(self.numbers) - {self.pid}

    @step(when=lambda self: self.pid not in self.req)
    def request(self) -> None:
        self.req |= {self.pid: self.clock}
        self.ack = Peers([self.pid])
        self.send(self.others(), Req(self.clock))

    @on(Req)
    def asked(self, m: Req) -> None:
        self.req |= {m.sender: m.clock}
        self.clock = max(m.clock, self.clock) + 1
        self.reply(Ack())

    @on(Ack)
    def acked(self, m: Ack) -> None:
        self.ack |= {m.sender}

    @step(
        when=lambda self: (
            self.ack == Peers(self.numbers)
            and all((self.req[self.pid], self.number) <= (clock, self.numbers[pid]) for pid, clock in self.req.items())
        )
    )
    def enter(self) -> None:
        self.crit = True

    @step(when=lambda self: self.crit)
    def leave(self) -> None:
        self.crit = False
        self.req = Map({pid: clock for pid, clock in self.req.items() if pid != self.pid})
        self.ack = Peers()
        self.send(self.others(), Rel())

    @on(Rel)
    def released(self, m: Rel) -> None:
        self.req = Map({pid: clock for pid, clock in self.req.items() if pid != m.sender})

    def within(self) -> bool:
        return self.clock <= self.bound


class Mutex(System):
    sites: int = 3
    bound: int = 6
    network = fifo()

    def build(self) -> None:
        sites = [self.spawn(Site, number=i, bound=self.bound) for i in range(self.sites)]
        self.connect(sites, numbers=Map({pid: i for i, pid in enumerate(sites)}))

    @invariant
    def exclusive(self) -> bool:
        return sum(s.crit for s in self[Site]) <= 1

    @can
    def enters(self) -> bool:
        return any(s.crit for s in self[Site])
