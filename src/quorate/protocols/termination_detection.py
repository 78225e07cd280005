"""Safra's detection of termination on a ring (Dijkstra 1987, EWD998).

Nodes work, send each other messages, and stop working; a message makes a node work again. All is over when nobody works
and no message is under way. The first node finds that out with a token that goes around the ring. Every node counts
what it has sent less what it has received, and the token adds up the counts of the nodes it has passed. That alone can
be wrong: a node that the token has passed may receive what one counts that it has not. So a node that receives turns
black, a black node makes the token black, and only a white token with a sum of zero means the end.
"""

from quorate import Constant, Message, Peers, Pid, Process, System, can, invariant, leads_to, multiset, on, start, step


class Work(Message): ...


class Token(Message):
    count: int
    black: bool


class Node(Process):
    next: Constant[Pid]
    others: Constant[Peers]
    colours: Constant[bool]
    counts: Constant[bool]
    all_messages: Constant[int]  # that anybody can send
    messages: int  # it may still send
    works: bool = True
    count: int = 0  # sent less received
    black: bool = False

    @step(when=lambda self: self.works and self.messages > 0, fair=False)
    def send_work(self) -> None:
        self.messages, self.count = self.messages - 1, self.count + 1
        self.send(self.choose(self.others), Work())

    @step(when=lambda self: self.works, fair=False)
    def stop(self) -> None:
        self.works = False

    @on(Work)
    def receive(self, m: Work) -> None:
        self.works, self.count, self.black = True, self.count - 1, self.colours

    def counted(self) -> int:
        return self.count if self.counts else 0

    @on(Token, when=lambda self, m: not self.works)
    def pass_on(self, m: Token) -> None:
        self.send(self.next, Token(m.count + self.counted(), m.black or self.black))
        self.black = False

    def within(self) -> bool:
        return abs(self.count) <= self.all_messages  # as it is in every run: this is for those who look ahead


class First(Node):
    detected: bool = False

    @start
    def probe(self) -> None:
        self.black = False
        self.send(self.next, Token(0, False))

    @on(Token, when=lambda self, m: not self.works and not self.detected)
    def pass_on(self, m: Token) -> None:
        self.detected = m.count + self.counted() == 0 and not m.black and not self.black
        if not self.detected:
            self.probe()


class TerminationDetection(System):
    """Termination is detected, and never too early; with `colours=false` or `counts=false` it may be."""

    nodes: int = 3
    messages: int = 1  # each node may send
    colours: bool = True  # who receives a message turns black
    counts: bool = True  # messages are counted

    network = multiset()

    def build(self) -> None:
        self.require(self.nodes > 1, "a ring has two nodes at least")
        ring = [self.spawn(First if i == 0 else Node, messages=self.messages) for i in range(self.nodes)]
        self.connect(ring, colours=self.colours, counts=self.counts, all_messages=self.nodes * self.messages)
        for each, following in zip(ring, ring[1:] + ring[:1], strict=True):
            self.connect(each, next=following, others=Peers(ring) - {each})

    @invariant
    def no_false_alarm(self) -> bool:
        """What is detected has happened."""
        return not self[First][0].detected or self.terminated()

    def terminated(self) -> bool:
        """Nobody works, and nothing is under way: whatever was sent has been received."""
        return not any(node.works for node in self[Node]) and sum(node.count for node in self[Node]) == 0

    @leads_to("detected")
    def over(self) -> bool:
        """What has happened is detected."""
        return self.terminated()

    @can
    def detected(self) -> bool:
        return self[First][0].detected

    @can
    def detected_after_work(self) -> bool:
        return self.detected() and all(node.messages == 0 for node in self[Node])
