"""Folklore broadcast with a crash, and an invariant that only says what a field may hold."""

from enum import Enum

from quorate import Message, Peers, Process, System, can, crashes, invariant, on, step


class Echo(Message): ...


class Control(Enum):
    V0 = 0
    V1 = 1
    AC = 2


class Member(Process):
    control: Control
    everyone: Peers = Peers()
    received: Peers = Peers()

    @on(Echo)
    def receive(self, m: Echo) -> None:
        self.received |= {m.sender}

    @step(when=lambda self: self.control is Control.V1 or (self.control is Control.V0 and self.received))
    def accept(self) -> None:
        self.control = Control.AC
        self.send(self.everyone, Echo())


class Folklore(System):
    n: int = 4
    f: int = 1

    def build(self) -> None:
        members = [self.spawn(Member, control=self.choose((Control.V0, Control.V1))) for _ in range(self.n)]
        self.connect(members, everyone=Peers(members))
        self.faults = crashes(self.f, cut_short=False)

    @invariant
    def typed(self) -> bool:
        return all(len(m.received) <= self.n for m in self[Member])

    @can
    def all_accept(self) -> bool:
        return all(m.control is Control.AC for m in self[Member])
