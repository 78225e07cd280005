"""Echo broadcast: receivers deliver the same, even if the initiator tells them different things (Reiter 1994).

Every receiver echoes the first text that it gets to all receivers, and delivers what a majority has echoed. The
initiator here says both to everyone, so that each receiver may hear either one first. No signatures: a receiver
believes what it gets from others, who may crash but do not lie.
"""

from enum import Enum

from quorate import Constant, Message, Peers, Process, System, crashes, invariant, majority, on, quorum, start


class Text(Enum):
    THIS = 1
    THAT = 2


class Init(Message):
    text: Text


class Echo(Message):
    text: Text


class Initiator(Process):
    receivers: Peers

    @start
    def multicast(self) -> None:
        self.send(self.receivers, Init(Text.THIS))
        self.send(self.receivers, Init(Text.THAT))


class Receiver(Process):
    receivers: Constant[Peers]
    needed: Constant[int]
    echoed: Text | None = None
    delivered: Text | None = None

    @on(Init, when=lambda self, m: self.echoed is None)
    def echo(self, m: Init) -> None:
        self.echoed = m.text
        self.send(self.receivers, Echo(m.text))

    @quorum(Echo, size="needed", same="text")
    def deliver(self, echoes: frozenset[Echo]) -> None:
        (self.delivered,) = {m.text for m in echoes}


class EchoBroadcast(System):
    """Agreement of receivers; with `needed` of less than a majority there is none."""

    receivers: int = 3
    short: int = 0  # so many less than a majority
    crashes: int = 0

    def build(self) -> None:
        receivers = self.spawn(Receiver, self.receivers, needed=max(1, majority(self.receivers) - self.short))
        self.connect(receivers, receivers=receivers)
        self.spawn(Initiator, receivers=receivers)
        self.faults = crashes(self.crashes, of=Receiver)

    @invariant
    def agreement(self) -> bool:
        return len({r.delivered for r in self[Receiver]} - {None}) <= 1
