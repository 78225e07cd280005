"""Dining philosophers (Dijkstra 1971) whose forks are shared variables.

A philosopher takes one fork as soon as it is free, then the other, eats, and puts both down. If everybody takes the
left one first, everybody may end up with one fork. If one of them takes the right one first, there is no such circle.
To see that a fork is free and to take it is one step; with `atomic=false` two may take the same fork.
"""

from quorate import Constant, Process, Shared, System, final, invariant, leads_to, step


class Philosopher(Process):
    forks: Constant[tuple[Shared[bool], ...]]  # whether each is taken; in the order in which it takes them
    atomic: Constant[bool]
    has: int = 0
    free: bool = False  # it has seen that the next fork is
    hungry: bool = False

    @step(when=lambda self: not self.hungry, fair=False)  # it may think for ever
    def become_hungry(self) -> None:
        self.hungry = True

    @step(when=lambda self: self.atomic and self.hungry and self.has < 2 and not self.next_fork(), fair="strong")
    def take(self) -> None:
        self.forks[self.has].value = True
        self.has += 1

    @step(when=lambda self: not self.atomic and self.hungry and self.has < 2 and not self.free and not self.next_fork())
    def look(self) -> None:
        self.free = True

    @step(when=lambda self: self.free)
    def grab(self) -> None:
        self.forks[self.has].value = True
        self.free = False
        self.has += 1

    @step(when=lambda self: self.has == 2)
    def put_down(self) -> None:
        for fork in self.forks:
            fork.value = False
        self.has, self.hungry = 0, False

    def next_fork(self) -> bool:
        return self.forks[self.has].value


class SharedPhilosophers(System):
    """Nobody starves; with `left_first=true` they deadlock, with `atomic=false` neighbours may eat together."""

    philosophers: int = 3
    left_first: bool = False  # everybody takes the left fork first; else the last one the right one
    atomic: bool = True  # to see that a fork is free and to take it is one step

    def build(self) -> None:
        self.require(self.philosophers > 1, "a philosopher has a neighbour")
        forks = self.share("fork", False, each=range(self.philosophers))
        for i in range(self.philosophers):
            left, right = forks[i], forks[(i + 1) % self.philosophers]
            turned = not self.left_first and i == self.philosophers - 1
            self.spawn(Philosopher, forks=(right, left) if turned else (left, right), atomic=self.atomic)

    @invariant
    def neighbours_do_not_eat_together(self) -> bool:
        eating = [p.has == 2 for p in self[Philosopher]]
        return not any(eating[i] and eating[i - 1] for i in range(len(eating)))

    @final
    def nobody_is_hungry(self) -> bool:
        return not any(p.hungry for p in self[Philosopher])

    @leads_to("eats", each=Philosopher)
    def hungry(self, one: Philosopher) -> bool:
        """Nobody starves."""
        return one.hungry

    def eats(self, one: Philosopher) -> bool:
        return one.has == 2
