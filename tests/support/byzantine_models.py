"""Small protocols that Byzantine processes attack: one with plain votes, one with signed echoes, one with a courier."""

from enum import Enum
from math import ceil
from typing import Annotated

from quorate import Message, Peers, Pid, Process, Signed, Sized, System, can, invariant, on, quorum, start


class Value(Enum):
    A = 1
    B = 2


class Vote(Message):
    value: Value


class Voter(Process):
    """Votes once, and decides on what a quorum votes for."""

    value: Value
    needed: int
    peers: Peers = Peers()
    decided: Value | None = None

    @start
    def vote(self) -> None:
        self.send(self.peers, Vote(self.value))

    @quorum(Vote, size="needed", same="value", when=lambda self: self.decided is None)
    def decide(self, votes: frozenset[Vote]) -> None:
        (self.decided,) = {vote.value for vote in votes}


class Voting(System):
    """Agreement holds as long as two quorums have an honest voter in common: 2 * quorum > voters + byzantine."""

    voters: int = 4
    byzantine: int = 1
    quorum: int = 3

    def build(self) -> None:
        values = [Value.A if number % 2 else Value.B for number in range(self.voters)]
        voters = [self.spawn(Voter, needed=self.quorum, value=value) for value in values]
        self.connect(voters, peers=Peers(voters))
        self.corrupt(voters, self.byzantine)

    @invariant
    def agreement(self) -> bool:
        return len({voter.decided for voter in self[Voter]} - {None}) <= 1

    @can
    def decides(self) -> bool:
        return any(voter.decided is not None for voter in self[Voter])


# Reiter's echo multicast, for one message of one initiator, which is Byzantine


class Init(Message):
    value: Value


class Echo(Message):
    value: Signed[Value]


class Commit(Message):
    value: Value
    proof: Annotated[frozenset[Signed[Value]], Sized(lambda system: system.needed)]


class Receiver(Process):
    initiator: Pid
    needed: int
    everyone: Peers = Peers()
    echoed: bool = False
    delivered: Value | None = None

    @on(Init, when=lambda self, m: m.sender == self.initiator and not self.echoed)
    def echo(self, m: Init) -> None:
        self.echoed = True
        self.reply(Echo(self.sign(m.value)))

    @on(Commit, when=lambda self, m: self.delivered is None and m.sender == self.initiator and self.is_proven(m))
    def deliver(self, m: Commit) -> None:
        self.delivered = m.value

    def is_proven(self, m: Commit) -> bool:
        signers = {one.signer for one in m.proof if one.value == m.value}
        return len(signers & self.everyone) >= self.needed


class Gullible(Receiver):
    """Forgets that the initiator is no receiver, so that its own signature counts too."""

    def is_proven(self, m: Commit) -> bool:
        return len({one.signer for one in m.proof if one.value == m.value}) >= self.needed


class Initiator(Process):
    receivers: Peers = Peers()


class Multicast(System):
    receivers: int = 3
    byzantine: int = 0  # receivers, besides the initiator
    receiver = Receiver

    @property
    def needed(self) -> int:
        return ceil((2 * self.receivers + 1) / 3)

    def build(self) -> None:
        initiator = self.spawn(Initiator)
        receivers = self.spawn(self.receiver, self.receivers, needed=self.needed, initiator=initiator)
        self.connect(receivers, everyone=receivers)
        self.corrupt(initiator)
        self.corrupt(receivers, self.byzantine)

    @invariant
    def agreement(self) -> bool:
        return len({receiver.delivered for receiver in self[Receiver]} - {None}) <= 1

    @can
    def delivers(self) -> bool:
        return any(receiver.delivered is not None for receiver in self[Receiver])


class GullibleMulticast(Multicast):
    receiver = Gullible


# What one attacker hears the other can use. The evidence is a message that is handed on.


class Order(Message):
    pay: bool


class Receipt(Message):
    order: Order


class Client(Process):
    broker: Pid

    @start
    def ask(self) -> None:
        self.send(self.broker, Order(True))


class Bank(Process):
    teller: Pid
    client: Pid
    paid: bool = False

    @on(Receipt, when=lambda self, m: m.sender == self.teller and m.order.sender == self.client and m.order.pay)
    def pay(self, m: Receipt) -> None:
        self.paid = True


class Broker(Process): ...


class Teller(Process): ...


class Payment(System):
    """The bank pays on an order of the client that the teller shows it; the client tells only the broker."""

    broker: bool = True  # is Byzantine

    def build(self) -> None:
        broker, teller = self.spawn(Broker), self.spawn(Teller)
        client = self.spawn(Client, broker=broker)
        self.spawn(Bank, teller=teller, client=client)
        self.corrupt(teller)
        if self.broker:
            self.corrupt(broker)

    @invariant
    def nothing_is_paid(self) -> bool:
        return not any(bank.paid for bank in self[Bank])
