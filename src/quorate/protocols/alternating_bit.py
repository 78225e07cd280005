"""The alternating bit protocol (Bartlett, Scantlebury and Wilkinson 1969): stop-and-wait with one bit for a number.

The sender has an endless stream of items. It repeats a frame until the acknowledgement has the bit of the frame, then
flips the bit and takes the next item. The receiver delivers a frame if its bit is the expected one. Channels may lose
anything, but they keep the order: a frame that is overtaken by two others has the right bit again. The items are
numbered modulo 3, which is enough to notice that one is left out, delivered twice or out of order.
"""

from quorate import Message, Pid, Process, System, fifo, invariant, leads_to, ltl, on, step, unordered

ITEMS = 3


class Frame(Message):
    bit: int
    item: int


class Ack(Message):
    bit: int


class Sender(Process):
    receiver: Pid
    bit: int = 0
    item: int = 0

    @step(when=lambda self: True)
    def transmit(self) -> None:
        self.send(self.receiver, Frame(self.bit, self.item))

    @on(Ack)
    def go_on(self, m: Ack) -> None:
        if m.bit == self.bit:
            self.bit, self.item = 1 - self.bit, (self.item + 1) % ITEMS


class Receiver(Process):
    expected: int = 0  # the bit of the next item
    delivered: int = ITEMS - 1  # the last item

    @on(Frame)
    def receive(self, m: Frame) -> None:
        if m.bit == self.expected:
            self.expected, self.delivered = 1 - self.expected, m.item
        self.reply(Ack(m.bit))


class AlternatingBit(System):
    """One bit is enough over lossy channels that keep the order; with `ordered=false` an old frame seems new."""

    capacity: int = 2  # of a channel; a full one loses its oldest message
    fair: bool = True  # what is sent again and again arrives
    ordered: bool = True  # channels keep the order

    def build(self) -> None:
        self.spawn(Sender, receiver=self.spawn(Receiver))
        if self.ordered:
            self.network = fifo(capacity=self.capacity, full="replace", losses="any", fair=self.fair)
        else:
            self.network = unordered(losses="any", fair=self.fair)

    @invariant
    def in_order(self) -> bool:
        """What was delivered last is the sender's item or the one before."""
        item, delivered = self[Sender][0].item, self[Receiver][0].delivered
        return delivered in (item, (item - 1) % ITEMS)

    @leads_to("arrived")
    def under_way(self) -> bool:
        """Every item arrives."""
        return not self.arrived()

    def arrived(self) -> bool:
        return self[Sender][0].item == self[Receiver][0].delivered

    the_stream_goes_on = ltl("G F arrived & G F !arrived")
