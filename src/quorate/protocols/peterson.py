"""Mutual exclusion for n processes by Peterson's algorithm (Peterson 1981), on shared variables.

A process goes through n - 1 rounds. In each it says in which round it is, and that it is the last one to have come
there; then it waits until nobody else is as far, or somebody came after it. In every round one process at least stays
behind, so one at most comes to the end.

By default a process looks at the variables of all others in one step, as the model that comes with Murphi does. With
`one_by_one=true` it looks at one after the other, as the model that comes with Spin does; that is enough as well. It is
not enough to say first who came last and then in which round (`swapped=true`).
"""

from enum import Enum

from quorate import Constant, Map, Peers, Pid, Process, Shared, System, invariant, leads_to, step


class At(Enum):
    IDLE = 0
    ROUND = 1
    TURN = 2
    WAIT = 3
    INSIDE = 4


class Contender(Process):
    others: Constant[Peers]
    round: Constant[Map[Pid, Shared[int]]]  # in which round each process is
    last: Constant[Map[int, Shared[Pid | None]]]  # by round: who came there last
    one_by_one: Constant[bool]
    swapped: Constant[bool]
    at: At = At.IDLE
    level: int = 0
    looked: int = 0  # at so many of the others in this round

    @step(when=lambda self: self.at is At.IDLE, fair=False)
    def begin(self) -> None:
        self.at, self.level = At.ROUND, 1

    @step(when=lambda self: self.at is At.ROUND)
    def announce(self) -> None:
        if self.swapped:
            self.last[self.level].value = self.pid
        else:
            self.round[self.pid].value = self.level
        self.at = At.TURN

    @step(when=lambda self: self.at is At.TURN)
    def come_last(self) -> None:
        if self.swapped:
            self.round[self.pid].value = self.level
        else:
            self.last[self.level].value = self.pid
        self.at = At.WAIT

    @step(when=lambda self: self.at is At.WAIT and self.may_pass())
    def go_on(self) -> None:
        if self.one_by_one and self.looked + 1 < len(self.others):
            self.looked += 1
            return
        self.level, self.looked = self.level + 1, 0
        self.at = At.ROUND if self.level <= len(self.others) else At.INSIDE

    @step(when=lambda self: self.at is At.INSIDE)
    def leave(self) -> None:
        self.round[self.pid].value = 0
        self.at, self.level = At.IDLE, 0

    def may_pass(self) -> bool:
        others = tuple(self.others)
        looked_at = others[self.looked : self.looked + 1] if self.one_by_one else others
        if all(self.round[other].value < self.level for other in looked_at):
            return True
        return self.last[self.level].value != self.pid


class Peterson(System):
    """One process at a time is inside, and nobody starves; with `swapped=true` two may be."""

    processes: int = 3
    one_by_one: bool = False  # a process looks at the others one after the other
    swapped: bool = False  # it says who came last before it says how far it is

    def build(self) -> None:
        self.require(self.processes > 1, "there must be somebody to exclude")
        processes = self.spawn(Contender, self.processes, one_by_one=self.one_by_one, swapped=self.swapped)
        rounds = self.share("round", 0, each=processes)
        nobody: Pid | None = None
        last = self.share("last", nobody, each=range(1, self.processes))
        for pid in processes:
            self.connect(pid, others=processes - {pid}, round=rounds, last=last)

    @invariant
    def mutual_exclusion(self) -> bool:
        return sum(each.at is At.INSIDE for each in self[Contender]) <= 1

    @leads_to("inside", each=Contender)
    def contending(self, one: Contender) -> bool:
        """Nobody starves."""
        return one.at is not At.IDLE

    def inside(self, one: Contender) -> bool:
        return one.at is At.INSIDE
