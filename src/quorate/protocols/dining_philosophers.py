"""Dining philosophers (Dijkstra 1971), with forks that answer messages.

A philosopher asks for one fork, then for the other, eats, and puts both down. If everybody asks for the left one first,
everybody may end up with one fork, waiting for the other. If one asks for the right one first, there is no such circle;
but it takes forks that serve their neighbours in turn for every hungry philosopher to eat.
"""

from quorate import Message, Pid, Process, System, final, invariant, leads_to, on, step


class Ask(Message): ...


class Take(Message): ...


class Put(Message): ...


class Philosopher(Process):
    forks: tuple[Pid, ...]  # in the order in which it asks for them
    has: int = 0
    hungry: bool = False

    @step(when=lambda self: not self.hungry, fair=False)  # it may think for ever
    def become_hungry(self) -> None:
        self.hungry = True
        self.send(self.forks[0], Ask())

    @on(Take, when=lambda self, m: self.has < 2)
    def take(self, _: Take) -> None:
        self.has += 1
        if self.has == 1:
            self.send(self.forks[1], Ask())

    @step(when=lambda self: self.has == 2)
    def put_down(self) -> None:
        self.has, self.hungry = 0, False
        self.send(self.forks, Put())


class Fork(Process):
    queue: tuple[Pid, ...] = ()  # the first one has it

    @on(Ask, when=lambda self, m: m.sender not in self.queue)
    def give(self, m: Ask) -> None:
        self.queue += (m.sender,)
        if len(self.queue) == 1:
            self.reply(Take())

    @on(Put)
    def give_to_the_next(self, _: Put) -> None:
        self.queue = self.queue[1:]
        if self.queue:
            self.send(self.queue[0], Take())


class PlainFork(Process):
    taken: bool = False

    @on(Ask, when=lambda self, m: not self.taken)
    def give(self, m: Ask) -> None:
        self.taken = True
        self.reply(Take())

    @on(Put)
    def come_back(self, _: Put) -> None:
        self.taken = False


class DiningPhilosophers(System):
    """Every hungry philosopher eats; with `left_first=true` they deadlock, with `queues=false` one may starve."""

    philosophers: int = 3
    left_first: bool = False  # everybody asks for the left fork first; else the last one for the right one
    queues: bool = True  # forks are given in the order in which they are asked for

    def build(self) -> None:
        self.require(self.philosophers > 1, "a philosopher has a neighbour")
        forks = [self.spawn(Fork) if self.queues else self.spawn(PlainFork) for _ in range(self.philosophers)]
        for i, left in enumerate(forks):
            right = forks[(i + 1) % self.philosophers]
            turned = not self.left_first and i == self.philosophers - 1
            self.spawn(Philosopher, forks=(right, left) if turned else (left, right))

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
