"""Echo Multicast: no two honest receivers deliver different messages of one initiator (Reiter 1994).

An initiator sends its text to all receivers. Each signs the first text that it gets from an initiator and sends this
echo back. With the echoes of (2n + 1) / 3 of the n receivers, rounded up, the initiator convinces everyone: two such
sets have an honest receiver in common, as long as less than a third of the receivers is Byzantine, and an honest one
signs only once. How many initiators are Byzantine does not matter.

A signed echo is the received message itself: who hands it on can change neither its sender nor its content. The
attackers follow the strategies of Bokor's thesis (2011, section 3.6.2). With `switching` they may, in every step, also
do what an honest process would do (table 4.1 there).
"""

from math import ceil

from quorate import Map, Message, Peers, Pid, Process, System, invariant, on, quorum, start


class Init(Message):
    text: str


class Echo(Message):  # signed by its sender
    initiator: Pid
    text: str


class Commit(Message):
    text: str
    echoes: frozenset[Echo]


class Initiator(Process):
    receivers: Peers
    needed: int
    text: str
    committed: bool = False

    @start
    def multicast(self) -> None:
        self.send(self.receivers, Init(self.text))

    @quorum(
        Echo,
        size="needed",
        when=lambda self: not self.committed,
        where=lambda self, m: m.sender in self.receivers and (m.initiator, m.text) == (self.pid, self.text),
    )
    def commit(self, echoes: frozenset[Echo]) -> None:
        self.committed = True
        self.send(self.receivers, Commit(self.text, echoes))


class Receiver(Process):
    needed: int
    receivers: Peers = Peers()
    echoed: frozenset[Pid] = frozenset()
    delivered: Map[Pid, str] = Map()

    @on(Init, when=lambda self, m: m.sender not in self.echoed)
    def echo(self, m: Init) -> None:
        self.echoed |= {m.sender}
        self.reply(Echo(m.sender, m.text))

    @on(Commit, when=lambda self, m: m.sender not in self.delivered and self.is_proven(m))
    def deliver(self, m: Commit) -> None:
        self.delivered |= {m.sender: m.text}

    def is_proven(self, m: Commit) -> bool:
        signers = {echo.sender for echo in m.echoes if (echo.initiator, echo.text) == (m.sender, m.text)}
        return len(signers & self.receivers) >= self.needed


class ByzantineInitiator(Process):
    """Tells each of two groups something else, and the Byzantine receivers both."""

    groups: Map[str, Peers]  # text -> the honest receivers who are to deliver it
    accomplices: Peers
    needed: int

    @start
    def multicast(self) -> None:
        for text in self.groups:
            self.send(self.audience(text) | self.accomplices, Init(text))

    @quorum(Echo, size="needed", same="text", where=lambda self, m: m.initiator == self.pid)
    def commit(self, echoes: frozenset[Echo]) -> None:
        (text,) = {echo.text for echo in echoes}
        self.send(self.audience(text), Commit(text, echoes))

    def audience(self, text: str) -> frozenset[Pid]:
        return self.groups[text]


class ByzantineReceiver(Process):
    """Signs whatever a Byzantine initiator sends, and for an honest one what it did not send."""

    accomplices: Peers

    @on(Init)
    def confirm(self, m: Init) -> None:
        self.reply(Echo(m.sender, m.text if m.sender in self.accomplices else self.confirmation(m.text)))

    def confirmation(self, text: str) -> str:
        return f"not {text}"

    @on(Commit, when=lambda self, m: False)
    def deliver(self, _: Commit) -> None:
        """It has no use for these and leaves them lying."""


class SwitchingInitiator(ByzantineInitiator):
    """May also tell everyone the same. That it may fall silent goes without saying: nobody has to take a step."""

    def audience(self, text: str) -> frozenset[Pid]:
        return self.choose((self.groups[text], frozenset().union(*self.groups.values())))


class SwitchingReceiver(ByzantineReceiver):
    """May also sign what an honest initiator did send."""

    def confirmation(self, text: str) -> str:
        return self.choose((f"not {text}", text))


class EchoMulticast(System):
    """Honest receivers deliver the same, unless a third of the receivers or more is Byzantine."""

    honest_receivers: int = 3
    honest_initiators: int = 0
    byzantine_receivers: int = 1
    byzantine_initiators: int = 1
    switching: bool = False  # between honest and Byzantine behaviour

    def build(self) -> None:
        self.require(self.honest_receivers > 0, "there must be an honest receiver")
        number = self.honest_receivers + self.byzantine_receivers
        size = ceil((2 * number + 1) / 3)
        honest = self.spawn(Receiver, self.honest_receivers, needed=size)
        byzantine = self.spawn(SwitchingReceiver if self.switching else ByzantineReceiver, self.byzantine_receivers)
        self.connect(honest, receivers=honest | byzantine)
        for i in range(1, self.honest_initiators + 1):
            self.spawn(Initiator, receivers=honest | byzantine, needed=size, text=f"text {i}")
        half = tuple(honest)[: (len(honest) + 1) // 2]
        initiators = self.spawn(
            SwitchingInitiator if self.switching else ByzantineInitiator,
            self.byzantine_initiators,
            groups=Map({"this": Peers(half), "that": Peers(honest - set(half))}),
            accomplices=byzantine,
            needed=size,
        )
        self.connect(byzantine, accomplices=initiators)

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
