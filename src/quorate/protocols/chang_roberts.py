"""Electing a leader on a ring: the highest number wins (Chang and Roberts 1979).

Whoever wants an election sends its number around the ring. A node passes on what is higher than its own number, and
stops what is lower; if it has sent nothing yet, it sends its own instead. A number that comes back to its owner has met
no higher one: its owner is the leader, and says so to all. How numbers are spread over the ring is open.
"""

from itertools import permutations

from quorate import Constant, Message, Pid, Process, System, can, eventually, final, invariant, on, start


class Candidate(Message):
    number: int


class Elected(Message):
    number: int


class Node(Process):
    next: Constant[Pid]
    number: int
    takes_part: bool = False
    leader: int | None = None

    @start(when=lambda self: not self.takes_part)
    def begin(self) -> None:
        self.propose(self.number)

    def propose(self, number: int) -> None:
        self.takes_part = True
        self.send(self.next, Candidate(number))

    @on(Candidate, when=lambda self, m: m.number > self.number)
    def pass_on(self, m: Candidate) -> None:
        self.propose(m.number)

    @on(Candidate, when=lambda self, m: m.number < self.number)
    def stop(self, m: Candidate) -> None:
        if not self.takes_part:
            self.propose(self.number)

    @on(Candidate, when=lambda self, m: m.number == self.number)
    def win(self, m: Candidate) -> None:
        self.leader = self.number
        self.send(self.next, Elected(self.number))

    @on(Elected, when=lambda self, m: self.leader is None)
    def learn(self, m: Elected) -> None:
        self.leader = m.number
        self.send(self.next, Elected(m.number))


class Polite(Node):
    @on(Candidate, when=lambda self, m: m.number < self.number)
    def stop(self, m: Candidate) -> None:
        self.propose(m.number)


class ChangRoberts(System):
    """The node with the highest number is elected; with `stop=false` or `distinct=false` others are as well."""

    nodes: int = 4
    stop: bool = True  # lower numbers are stopped
    distinct: bool = True  # no two nodes have the same number

    def build(self) -> None:
        self.require(self.nodes > 1, "a ring has two nodes at least")
        numbers = range(1, self.nodes + 1) if self.distinct else (*range(2, self.nodes + 1), self.nodes)
        ring = [self.spawn(Node if self.stop else Polite, number=number) for number in self.choose(around(numbers))]
        for node, following in zip(ring, ring[1:] + ring[:1], strict=True):
            self.connect(node, next=following)

    def highest(self) -> int:
        return max(node.number for node in self[Node])

    @invariant
    def the_highest_is_elected(self) -> bool:
        return all(node.leader in (None, self.highest()) for node in self[Node])

    @invariant
    def one_leader(self) -> bool:
        return sum(node.leader == node.number for node in self[Node]) <= 1

    @can
    def elected_before_anybody_else_knows(self) -> bool:
        return [node.leader for node in self[Node] if node.leader is not None] == [self.highest()]

    @final
    def elected(self) -> bool:
        return all(node.leader is not None for node in self[Node])

    @eventually
    def all_know_the_leader(self) -> bool:
        return self.elected()


def around(numbers: range | tuple[int, ...]) -> list[tuple[int, ...]]:
    """All ways to spread numbers over a ring; where it begins makes no difference."""
    first, *others = numbers
    return sorted({(first, *rest) for rest in permutations(others)})
