"""`quotient-consumed`, `quotient-events`, `quotient-transition`, `quotient-order`.

Each pair of local states differs in one thing only: which message is taken, what is emitted and in which order, whether
the message is kept. To draw: a field that no property reads, and guards or arguments that depend on it.
"""

from quorate import Event, Message, Monitor, Pid, Process, System, can, on, start, step

RULE = "quotient-consumed quotient-events quotient-transition quotient-order"
OPTIONS: dict[str, object] = {}


class Ping(Message):
    n: int


class Note(Event):
    n: int


class Chooser(Process):
    """What it takes depends on what it chose."""

    want: int = 0
    got: int = 0

    @start
    def pick(self) -> None:
        self.want = self.choose((1, 2))

    @on(Ping, when=lambda self, m: m.n == self.want)
    def hear(self, m: Ping) -> None:
        self.got = 1
        self.want = 0


class Emitter(Process):
    """What it emits, and in which order, depends on what it chose."""

    kind: int = 0

    @start
    def pick(self) -> None:
        self.kind = self.choose((1, 2, 3, 4))

    @step(when=lambda self: self.kind > 0)
    def tell(self) -> None:
        for number in {1: (1,), 2: (2,), 3: (3, 4), 4: (4, 3)}[self.kind]:
            self.emit(Note(number))
        self.kind = 0


class Keeper(Process):
    """Whether it keeps what it reads depends on what it chose."""

    kind: int = 0
    count: int = 0

    @start
    def pick(self) -> None:
        self.kind = self.choose((1, 2))

    @on(Ping, when=lambda self, m: self.kind == 1 and self.count < 2)
    def take(self, m: Ping) -> None:
        self.count += 1

    @on(Ping, keep=True, when=lambda self, m: self.kind == 2 and self.count < 2)
    def read(self, m: Ping) -> None:
        self.count += 1


class Sender(Process):
    to: Pid
    also: Pid
    sent: int = 0

    @start
    def send_it(self) -> None:
        self.sent = self.choose((1, 2))
        self.send(self.to, Ping(self.sent))
        self.send(self.also, Ping(1))


class Last(Monitor):
    last: int = 0

    @on(Note)
    def note(self, e: Note) -> None:
        self.last = e.n


class Model(System):
    def build(self) -> None:
        self.spawn(Emitter)
        self.spawn(Sender, to=self.spawn(Chooser), also=self.spawn(Keeper))
        self.watch(Last)

    @can
    def heard_one(self) -> bool:
        return any(chooser.got == 1 for chooser in self[Chooser]) and any(each.sent == 1 for each in self[Sender])

    @can
    def heard_two(self) -> bool:
        return any(chooser.got == 1 for chooser in self[Chooser]) and any(each.sent == 2 for each in self[Sender])

    @can
    def two(self) -> bool:
        return self[Last].last == 2

    @can
    def three(self) -> bool:
        return self[Last].last == 3

    @can
    def one(self) -> bool:
        return self[Last].last == 1

    @can
    def four(self) -> bool:
        return self[Last].last == 4

    @can
    def twice(self) -> bool:
        return any(keeper.count == 2 for keeper in self[Keeper])
