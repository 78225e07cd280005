"""`quotient-crash`, `quotient-recovery`, `dead-recovery`: what matters only after a recovery.

A process picks a number, keeps it durably, and shows it only after it has crashed and come back; so two local states
differ in nothing but where crash and recovery lead. And a message is taken only after a recovery: it must stay alive in
a local state from which no step leads to one that takes it. To draw: recovery, a durable field that is written, and
guards that need a volatile field back at its default.
"""

from quorate import Message, Pid, Process, System, can, crashes, on, start, step

RULE = "quotient-crash quotient-recovery dead-recovery"
OPTIONS: dict[str, object] = {}


class Ping(Message):
    pass


class Go(Message):
    pass


class Sender(Process):
    to: Pid

    @start
    def send_both(self) -> None:
        self.send(self.to, Ping())
        self.send(self.to, Go())


class Picker(Process):
    durable = ("picked",)
    picked: int = 0
    fresh: bool = True
    shown: int = 0
    got: bool = False

    @on(Go)
    def pick(self, m: Go) -> None:
        self.picked = self.choose((1, 2))
        self.fresh = False

    @step(when=lambda self: self.picked > 0 and self.fresh)
    def show(self) -> None:
        self.shown = self.picked
        self.fresh = False

    @on(Ping, when=lambda self, m: self.picked > 0 and self.fresh)
    def hear(self, m: Ping) -> None:
        self.got = True


class Model(System):
    faults = crashes(1, of=Picker, recover=True)

    def build(self) -> None:
        picker = self.spawn(Picker)
        self.spawn(Sender, to=picker)

    @can
    def one(self) -> bool:
        return any(picker.shown == 1 for picker in self[Picker])

    @can
    def two(self) -> bool:
        return any(picker.shown == 2 for picker in self[Picker])

    @can
    def heard(self) -> bool:
        return any(picker.got for picker in self[Picker])
