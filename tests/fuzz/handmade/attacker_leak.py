"""`attacker-leak`: attackers share what they learn.

The signer shows its signature to one attacker only; two votes with it, from different senders, need the other one too.
To draw: two attackers of one class, one of which is sent a signed value, and a quorum of two over messages with it.
"""

from typing import Annotated

from quorate import Among, Message, Pid, Process, Signed, System, can, quorum, start

RULE = "attacker-leak"
OPTIONS: dict[str, object] = {}


class Vote(Message):
    what: Signed[Annotated[int, Among(1)]]


class Signer(Process):
    to: Pid

    @start
    def say(self) -> None:
        self.send(self.to, Vote(self.sign(1)))


class Receiver(Process):
    signer: Pid
    done: bool = False

    @quorum(Vote, size=2, where=lambda self, m: m.what.signer == self.signer)
    def count(self, votes: frozenset[Vote]) -> None:
        self.done = True


class Crook(Process):
    pass


class Model(System):
    def build(self) -> None:
        crooks = [self.spawn(Crook) for _ in range(2)]
        signer = self.spawn(Signer, to=crooks[0])
        self.spawn(Receiver, signer=signer)
        self.corrupt(crooks)

    @can
    def convinced(self) -> bool:
        return any(receiver.done for receiver in self[Receiver])
