"""The models of tests/spin once more, in Quorate: process for process and step for step."""

from __future__ import annotations

from benchmarks.protocols.lock import Client
from benchmarks.protocols.lock import Lock as TheLock

from liveness_models import StopAndWait
from quorate import Message, Peers, Pid, Process, System, fifo, on, step

# ping_pong.pml


class Ping(Message): ...


class Pong(Message): ...


class Left(Process):
    right: Pid
    started: bool = False
    even: bool = True

    @step(when=lambda self: not self.started)
    def begin(self) -> None:
        self.started = True
        self.send(self.right, Ping())

    @on(Pong)
    def hit(self, m: Pong) -> None:
        self.even = not self.even
        self.reply(Ping())


class Right(Process):
    @on(Ping)
    def hit(self, m: Ping) -> None:
        self.reply(Pong())


class PingPong(System):
    def build(self) -> None:
        self.spawn(Left, right=self.spawn(Right))

    def even(self) -> bool:
        return self[Left][0].even


# toggles.pml


class Toggle(Process):
    on_: bool = False

    @step(when=lambda self: True)
    def toggle(self) -> None:
        self.on_ = not self.on_


class Toggles(System):
    def build(self) -> None:
        self.spawn(Toggle, 2)

    def x(self) -> bool:
        return self[Toggle][0].on_

    def y(self) -> bool:
        return self[Toggle][1].on_


# lock.pml


class Lock(System):
    def build(self) -> None:
        self.spawn(Client, 2, lock=self.spawn(TheLock))

    def waiting(self) -> bool:
        return self[Client][0].at == 1

    def inside(self) -> bool:
        return self[Client][0].at == 2

    def other(self) -> bool:
        return self[Client][1].at == 2

    def held(self) -> bool:
        return self[TheLock][0].held


# token_ring.pml


class Token(Message): ...


class Member(Process):
    number: int
    next: Pid
    started: bool = False
    has: bool = False

    @step(when=lambda self: self.number == 0 and not self.started)
    def begin(self) -> None:
        self.started = True
        self.has = True

    @on(Token)
    def take(self, m: Token) -> None:
        self.has = True

    @step(when=lambda self: self.has)
    def hand_on(self) -> None:
        self.has = False
        self.send(self.next, Token())


class Idler(Process):
    noise: bool = False

    @step(when=lambda self: True)
    def idle(self) -> None:
        self.noise = not self.noise


class TokenRing(System):
    def build(self) -> None:
        ring = [self.spawn(Member, number=number) for number in range(3)]
        for number, pid in enumerate(ring):
            self.connect(pid, next=ring[(number + 1) % 3])
        self.spawn(Idler)

    def first(self) -> bool:
        return self[Member][0].has

    def second(self) -> bool:
        return self[Member][1].has

    def noise(self) -> bool:
        return self[Idler][0].noise


# philosophers.pml and philosophers_ordered.pml


class Take(Message): ...


class Given(Message): ...


class Put(Message): ...


class Fork(Process):
    taken: bool = False

    @on(Take, when=lambda self, m: not self.taken)
    def give(self, m: Take) -> None:
        self.taken = True
        self.reply(Given())

    @on(Put)
    def back(self, m: Put) -> None:
        self.taken = False


class Philosopher(Process):
    one: Pid
    two: Pid
    at: int = 0

    @step(when=lambda self: self.at == 0)
    def hunger(self) -> None:
        self.at = 1
        self.send(self.one, Take())

    @on(Given, when=lambda self, m: self.at == 1 and m.sender == self.one)
    def second(self, m: Given) -> None:
        self.at = 2
        self.send(self.two, Take())

    @on(Given, when=lambda self, m: self.at == 2 and m.sender == self.two)
    def eat(self, m: Given) -> None:
        self.at = 3

    @step(when=lambda self: self.at == 3)
    def think(self) -> None:
        self.at = 0
        self.send(self.one, Put())
        self.send(self.two, Put())


class Philosophers(System):
    ordered: bool = False

    def build(self) -> None:
        a, b = self.spawn(Fork, 2)
        self.spawn(Philosopher, one=a, two=b)
        self.spawn(Philosopher, one=a if self.ordered else b, two=b if self.ordered else a)

    def hungry(self) -> bool:
        return self[Philosopher][0].at in (1, 2)

    def eats(self) -> bool:
        return self[Philosopher][0].at == 3

    def other_eats(self) -> bool:
        return self[Philosopher][1].at == 3


class PhilosophersOrdered(Philosophers):
    ordered: bool = True


# election.pml


class Claim(Message):
    name: int


class Candidate(Process):
    name: int
    next: Pid
    started: bool = False
    leader: bool = False

    @step(when=lambda self: not self.started)
    def begin(self) -> None:
        self.started = True
        self.send(self.next, Claim(self.name))

    @on(Claim)
    def claimed(self, m: Claim) -> None:
        if m.name > self.name:
            self.send(self.next, m)
        elif m.name == self.name:
            self.leader = True


class Election(System):
    def build(self) -> None:
        ring = [self.spawn(Candidate, name=number) for number in range(3)]
        for number, pid in enumerate(ring):
            self.connect(pid, next=ring[(number + 1) % 3])

    def elected(self) -> bool:
        return self[Candidate][2].leader

    def wrong(self) -> bool:
        return self[Candidate][0].leader or self[Candidate][1].leader

    def all_started(self) -> bool:
        return all(each.started for each in self[Candidate])


# commit.pml


class Yes(Message): ...


class No(Message): ...


class Decision(Message):
    what: int


class Participant(Process):
    coordinator: Pid
    voted: bool = False
    outcome: int = 0

    @step(when=lambda self: not self.voted)
    def vote_yes(self) -> None:
        self.voted = True
        self.send(self.coordinator, Yes())

    @step(when=lambda self: not self.voted)
    def vote_no(self) -> None:
        self.voted = True
        self.send(self.coordinator, No())

    @on(Decision)
    def decided(self, m: Decision) -> None:
        self.outcome = m.what


class Coordinator(Process):
    participants: Peers
    said: frozenset[Pid] = frozenset()
    decision: int = 0
    left: bool = False

    @on(Yes, when=lambda self, m: not self.left)
    def yes(self, m: Yes) -> None:
        self.said |= {m.sender}

    @on(No, when=lambda self, m: not self.left)
    def no(self, m: No) -> None:
        if self.decision == 0:
            self.decision = 2
            self.send(self.participants, Decision(2))

    @step(when=lambda self: not self.left and len(self.said) == 2 and self.decision == 0)
    def commit(self) -> None:
        self.decision = 1
        self.send(self.participants, Decision(1))

    @step(when=lambda self: not self.left and self.decision == 0)
    def leave(self) -> None:
        self.left = True


class Commit(System):
    def build(self) -> None:
        coordinator = self.spawn(Coordinator)
        self.connect(coordinator, participants=self.spawn(Participant, 2, coordinator=coordinator))

    def decided(self) -> bool:
        return all(each.outcome for each in self[Participant])

    def split(self) -> bool:
        return sorted(each.outcome for each in self[Participant]) == [1, 2]

    def gone(self) -> bool:
        return self[Coordinator][0].left

    def committed(self) -> bool:
        return self[Participant][0].outcome == 1


# arbiter.pml


class Want(Message): ...


class Go(Message): ...


class Leave(Message): ...


class Visitor(Process):
    arbiter: Pid
    at: int = 0

    @step(when=lambda self: self.at == 0)
    def ask(self) -> None:
        self.at = 1
        self.send(self.arbiter, Want())

    @on(Go)
    def enter(self, m: Go) -> None:
        self.at = 2

    @step(when=lambda self: self.at == 2)
    def depart(self) -> None:
        self.at = 0
        self.send(self.arbiter, Leave())


class TheArbiter(Process):
    one: Pid
    two: Pid
    flags: tuple[bool, bool] = (False, False)
    busy: bool = False
    turn: int = 0

    @on(Want)
    def wanted(self, m: Want) -> None:
        self.flags = (self.flags[0] or m.sender == self.one, self.flags[1] or m.sender == self.two)

    @on(Leave)
    def left(self, m: Leave) -> None:
        self.busy = False

    @step(when=lambda self: not self.busy and self.flags[0] and (self.turn == 0 or not self.flags[1]))
    def first(self) -> None:
        self.flags = (False, self.flags[1])
        self.busy = True
        self.turn = 1
        self.send(self.one, Go())

    @step(when=lambda self: not self.busy and self.flags[1] and (self.turn == 1 or not self.flags[0]))
    def second(self) -> None:
        self.flags = (self.flags[0], False)
        self.busy = True
        self.turn = 0
        self.send(self.two, Go())


class Arbiter(System):
    def build(self) -> None:
        arbiter = self.spawn(TheArbiter)
        one, two = self.spawn(Visitor, 2, arbiter=arbiter)
        self.connect(arbiter, one=one, two=two)

    def waiting(self) -> bool:
        return self[Visitor][0].at == 1

    def inside(self) -> bool:
        return self[Visitor][0].at == 2

    def other(self) -> bool:
        return self[Visitor][1].at == 2

    def known(self) -> bool:
        return self[TheArbiter][0].flags[0]


# window.pml


class Item(Message):
    bit: int


class Credit(Message): ...


class Producer(Process):
    consumer: Pid
    left: int = 2
    next: int = 0

    @step(when=lambda self: self.left > 0)
    def produce(self) -> None:
        self.send(self.consumer, Item(self.next))
        self.next = 1 - self.next
        self.left -= 1

    @on(Credit)
    def credit(self, m: Credit) -> None:
        self.left += 1


class Consumer(Process):
    last: int = 1
    odd: bool = False

    @on(Item)
    def consume(self, m: Item) -> None:
        self.odd = m.bit == self.last
        self.last = m.bit
        self.reply(Credit())


class Window(System):
    network = fifo()

    def build(self) -> None:
        self.spawn(Producer, consumer=self.spawn(Consumer))

    def odd(self) -> bool:
        return self[Consumer][0].odd

    def zero(self) -> bool:
        return self[Consumer][0].last == 0

    def empty_handed(self) -> bool:
        return self[Producer][0].left == 0


MODELS: dict[str, type[System]] = {
    "ping_pong": PingPong,
    "toggles": Toggles,
    "stop_and_wait": StopAndWait,
    "lock": Lock,
    "token_ring": TokenRing,
    "philosophers": Philosophers,
    "philosophers_ordered": PhilosophersOrdered,
    "election": Election,
    "commit": Commit,
    "arbiter": Arbiter,
    "window": Window,
}
