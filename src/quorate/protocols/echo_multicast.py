"""Echo Multicast: no two honest receivers deliver different messages of one initiator (Reiter 1994).

An initiator sends its text to all receivers. Each signs the first text that it gets from an initiator and sends this
echo back. With the echoes of (2n + 1) / 3 of the n receivers, rounded up, the initiator convinces everyone: two such
sets have an honest receiver in common, as long as less than a third of the receivers is Byzantine, and an honest one
signs only once. How many initiators are Byzantine does not matter.

The attackers follow the strategies of Bokor's thesis (2011, section 3.6.2). With `switching` they may, in every step,
also do what an honest process would do (table 4.1 there). Attackers that may do anything take the place of honest
processes with `--byzantine receiver=1 --byzantine initiator=1`.
"""

from enum import Enum
from math import ceil
from typing import Annotated, NamedTuple

from quorate import Map, Message, Peers, Pid, Process, Signed, Sized, System, invariant, on, quorum, start


class Text(Enum):
    THIS = 1
    THAT = 2


class Claim(NamedTuple):  # this is what the initiator says
    initiator: Pid
    text: Text


class Init(Message):
    text: Text


class Echo(Message):
    claim: Signed[Claim]


class Commit(Message):
    text: Text
    proof: Annotated[frozenset[Signed[Claim]], Sized(lambda system: system.needed)]


class Initiator(Process):
    receivers: Peers
    needed: int
    text: Text
    committed: bool = False

    @start
    def multicast(self) -> None:
        self.send(self.receivers, Init(self.text))

    @quorum(
        Echo,
        size="needed",
        when=lambda self: not self.committed,
        where=lambda self, m: m.claim.signer == m.sender in self.receivers and m.claim.value == (self.pid, self.text),
    )
    def commit(self, echoes: frozenset[Echo]) -> None:
        self.committed = True
        self.send(self.receivers, Commit(self.text, frozenset(echo.claim for echo in echoes)))


class Receiver(Process):
    needed: int
    receivers: Peers = Peers()
    initiators: Peers = Peers()
    echoed: frozenset[Pid] = frozenset()
    delivered: Map[Pid, Text] = Map()

    @on(Init, when=lambda self, m: m.sender in self.initiators - self.echoed)
    def echo(self, m: Init) -> None:
        self.echoed |= {m.sender}
        self.reply(Echo(self.sign(Claim(m.sender, m.text))))

    @on(Commit, when=lambda self, m: m.sender in self.initiators - set(self.delivered) and self.is_proven(m))
    def deliver(self, m: Commit) -> None:
        self.delivered |= {m.sender: m.text}

    def is_proven(self, m: Commit) -> bool:
        signers = {claim.signer for claim in m.proof if claim.value == (m.sender, m.text)}
        return len(signers & self.receivers) >= self.needed


class ByzantineInitiator(Process, byzantine=True):
    """Tells each of two groups something else, and the Byzantine receivers both."""

    groups: Map[Text, Peers]  # the honest receivers who are to deliver it
    accomplices: Peers
    needed: int

    @start
    def multicast(self) -> None:
        for text in self.groups:
            self.send(self.audience(text) | self.accomplices, Init(text))

    @quorum(
        Echo, size="needed", same=lambda m: m.claim.value, where=lambda self, m: m.claim.value.initiator == self.pid
    )
    def commit(self, echoes: frozenset[Echo]) -> None:
        (text,) = {echo.claim.value.text for echo in echoes}
        self.send(self.audience(text), Commit(text, frozenset(echo.claim for echo in echoes)))

    def audience(self, text: Text) -> frozenset[Pid]:
        return self.groups[text]


class ByzantineReceiver(Receiver, byzantine=True):
    """Signs whatever a Byzantine initiator sends, and for an honest one what it did not send."""

    accomplices: Peers

    @on(Init)
    def echo(self, m: Init) -> None:
        self.reply(Echo(self.sign(Claim(m.sender, m.text if m.sender in self.accomplices else self.answer(m.text)))))

    def answer(self, text: Text) -> Text:
        return Text.THIS if text == Text.THAT else Text.THAT


class SwitchingInitiator(ByzantineInitiator):
    """May also tell everyone the same. That it may fall silent goes without saying: nobody has to take a step."""

    def audience(self, text: Text) -> frozenset[Pid]:
        return self.choose((self.groups[text], frozenset().union(*self.groups.values())))


class SwitchingReceiver(ByzantineReceiver):
    """May also sign what an honest initiator did send."""

    def answer(self, text: Text) -> Text:
        return self.choose(Text)


class EchoMulticast(System):
    """Honest receivers deliver the same, unless a third of the receivers or more is Byzantine."""

    honest_receivers: int = 3
    honest_initiators: int = 0
    byzantine_receivers: int = 1
    byzantine_initiators: int = 1
    switching: bool = False  # between honest and Byzantine behaviour

    @property
    def needed(self) -> int:
        return ceil((2 * (self.honest_receivers + self.byzantine_receivers) + 1) / 3)

    def build(self) -> None:
        self.require(self.honest_receivers > 0, "there must be an honest receiver")
        receiver = SwitchingReceiver if self.switching else ByzantineReceiver
        initiator = SwitchingInitiator if self.switching else ByzantineInitiator
        honest = self.spawn(Receiver, self.honest_receivers, needed=self.needed)
        byzantine = self.spawn(receiver, self.byzantine_receivers, needed=self.needed)
        everyone = honest | byzantine
        loyal = self.spawn(Initiator, self.honest_initiators, receivers=everyone, needed=self.needed, text=Text.THIS)
        half = Peers(tuple(honest)[: ceil(len(honest) / 2)])
        groups = Map({Text.THIS: half, Text.THAT: Peers(honest - half)})
        traitors = self.spawn(
            initiator, self.byzantine_initiators, groups=groups, accomplices=byzantine, needed=self.needed
        )
        self.connect(everyone, receivers=everyone, initiators=loyal | traitors)
        self.connect(byzantine, accomplices=traitors)

    @invariant
    def agreement(self) -> bool:
        """What honest receivers deliver of an initiator is the same."""
        delivered = [receiver.delivered for receiver in self[Receiver]]
        return all(a[i] == b[i] for a in delivered for b in delivered for i in a if i in b)

    @invariant
    def integrity(self) -> bool:
        """Of an honest initiator only what it sent is delivered."""
        sent = {initiator.pid: initiator.text for initiator in self[Initiator]}
        return all(r.delivered.get(i, sent[i]) == sent[i] for r in self[Receiver] for i in sent)
