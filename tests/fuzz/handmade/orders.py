"""`por-skip`, some rules of twins, `absorb-then-fragile`, `proviso-outcomes`.

Small systems in which the order of two steps of one process matters, or what is left over when one message was taken
for another. To draw: handlers that take the same messages at different values of a counter.
"""

from quorate import Message, Peers, Pid, Process, System, can, fifo, final, multiset, on, quorum, start, step

RULE = "por-skip twins-fifo twins-copies twins-everywhere twins-reliable absorb-then-fragile proviso-outcomes"
OPTIONS: dict[str, object] = {"por": "lpor-net", "symmetry": "none", "property": ["deadlock"]}


class Vote(Message):
    a: int


class Sender(Process):
    """Sends all its votes at once."""

    to: frozenset[Pid] = frozenset()
    votes: tuple[int, ...] = ()

    @start
    def go(self) -> None:
        for each in self.votes:
            self.send(self.to, Vote(each))


class Taker(Process):
    u: int = 0
    uu: int = 0


class Drawn(System):
    """One taker, and a sender for each list of votes."""

    def wire(self, cls: type[Taker], *votes: tuple[int, ...]) -> None:
        taker = self.spawn(cls)
        for each in votes:
            self.spawn(Sender, to=Peers([taker]), votes=each)


class Picky(Taker):
    """After the other step an earlier message passes the filter, and hides the one that is wanted."""

    @quorum(Vote, where=lambda self, m: m.a != 0 or self.u == 1, enough=lambda self, ms: all(m.a == 1 for m in ms))
    def take(self, ms: frozenset[Vote]) -> None:
        self.uu = 1

    @start
    def move(self) -> None:
        self.u = 1


class Skipping(Drawn):
    network = fifo(head="skip")

    def build(self) -> None:
        self.wire(Picky, (0, 1))

    @final
    def done(self) -> bool:
        return self[Taker][0].uu == 0


class Waiting(Taker):
    """What is left over at the head of a channel stands in the way of what is wanted next."""

    @on(Vote, when=lambda self, m: self.u == 0 and m.a == 0)
    def early(self, m: Vote) -> None:
        self.u = 1

    @on(Vote, when=lambda self, m: self.u == 1 and m.a == 2)
    def late(self, m: Vote) -> None:
        self.u = 2


class InTheWay(Drawn):
    network = fifo()

    def build(self) -> None:
        self.wire(Waiting, (0, 1), (0, 2))

    @final
    def done(self) -> bool:
        return self[Taker][0].u == 1


class Pairing(Taker):
    @on(Vote, when=lambda self, m: self.u == 0)
    def early(self, m: Vote) -> None:
        self.u = 1

    @quorum(Vote, size=2, when=lambda self: self.u == 1)
    def late(self, ms: frozenset[Vote]) -> None:
        self.u = 2


class Copies(Drawn):
    """Of two equal messages one is still there."""

    network = multiset()

    def build(self) -> None:
        self.wire(Pairing, (1, 1), (0,))

    @final
    def done(self) -> bool:
        return self[Taker][0].u == 2


class Moody(Taker):
    """One message does something else, after another step."""

    v: int = 0

    @on(Vote, when=lambda self, m: self.v == 0)
    def take(self, m: Vote) -> None:
        self.v = 1
        if self.u == 1 and m.a == 2:
            self.uu = 1

    @start
    def move(self) -> None:
        self.u = 1


class Somewhere(Drawn):
    def build(self) -> None:
        self.wire(Moody, (1, 2))

    @final
    def done(self) -> bool:
        return self[Taker][0].uu == 0


class Bounded(Taker):
    @on(Vote, when=lambda self, m: self.u == 0)
    def take(self, m: Vote) -> None:
        self.u = self.choose((1, 2))
        self.uu = m.a

    def within(self) -> bool:
        return self.u < 2


class Cut(Drawn):
    """Both steps may be cut off, but what they do otherwise is not the same."""

    def build(self) -> None:
        self.wire(Bounded, (1, 0))

    @final
    def done(self) -> bool:
        return self[Taker][0].uu == 1


class Touchy(Taker):
    @on(Vote, when=lambda self, m: m.a == 1 and self.u == 0)
    def low(self, m: Vote) -> None:
        self.u = 1

    @on(Vote, when=lambda self, m: m.a == 2 and self.u < 2)
    def high(self, m: Vote) -> None:
        assert self.u != 1
        self.u = 2


class Failing(Drawn):
    """The higher vote makes up for the lower one, but fails after it."""

    def build(self) -> None:
        self.wire(Touchy, (1, 2))

    @final
    def done(self) -> bool:
        return True


class Dice(Taker):
    """One outcome comes back, the other one leaves for good; only after the first is `mark` still possible."""

    @step(when=lambda self: self.u == 0)
    def roll(self) -> None:
        if self.uu == 0:
            self.u = self.choose((0, 1))

    @step(when=lambda self: self.u == 0 and self.uu == 0)
    def mark(self) -> None:
        self.uu = 1


class Rolling(Drawn):
    def build(self) -> None:
        self.wire(Dice)

    @final
    def done(self) -> bool:
        return True

    @can
    def marked(self) -> bool:
        return self[Taker][0].uu == 1


Model = Skipping
SYSTEM = {
    "por-skip": Skipping,
    "twins-fifo": InTheWay,
    "twins-copies": Copies,
    "twins-everywhere": Somewhere,
    "twins-reliable": Cut,
    "absorb-then-fragile": Failing,
    "proviso-outcomes": Rolling,
}
BY_RULE = {"proviso-outcomes": {**OPTIONS, "property": ["marked"]}}
