"""Stop-and-wait: a sender repeats a message until it is acknowledged, then sends the next one.

Messages may be lost without limit. Nothing can arrive over a channel that loses everything. A *fair-lossy* channel
delivers what is sent again and again (Basu, Charron-Bost and Toueg 1996), and the protocol turns it into a reliable
one. Messages carry their number, so that a late copy is not taken for a new message; `alternating-bit` does with less.
"""

from quorate import Message, Pid, Process, System, eventually, invariant, on, step, unordered


class Data(Message):
    number: int


class Ack(Message):
    number: int


class Sender(Process):
    receiver: Pid
    messages: int
    number: int = 1

    @step(when=lambda self: self.number <= self.messages)
    def transmit(self) -> None:
        self.send(self.receiver, Data(self.number))

    @on(Ack)
    def go_on(self, m: Ack) -> None:
        if m.number == self.number:
            self.number += 1


class TrustingSender(Sender):
    sent: int = 0

    @step(when=lambda self: self.sent < self.number <= self.messages)
    def transmit(self) -> None:
        self.sent = self.number
        self.send(self.receiver, Data(self.number))


class Receiver(Process):
    delivered: int = 0

    @on(Data)
    def receive(self, m: Data) -> None:
        if m.number == self.delivered + 1:
            self.delivered = m.number
        self.reply(Ack(m.number))


class StopAndWait(System):
    """Everything arrives over a fair-lossy channel; with `fair=false` the channel may lose a message for ever."""

    messages: int = 2
    fair: bool = True  # what is sent again and again arrives
    repeats: bool = True  # the sender sends a message more than once; without that no channel is fair enough

    def build(self) -> None:
        sender = Sender if self.repeats else TrustingSender
        self.spawn(sender, receiver=self.spawn(Receiver), messages=self.messages)
        self.network = unordered(losses="any", fair=self.fair)

    @invariant
    def one_at_a_time(self) -> bool:
        """The sender is never more than one message ahead of the receiver, and never behind."""
        return self[Sender][0].number - 1 <= self[Receiver][0].delivered <= self[Sender][0].number

    @eventually
    def all_arrive(self) -> bool:
        return self[Receiver][0].delivered == self.messages
