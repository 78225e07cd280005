"""Lamport's mutual exclusion with logical clocks (Lamport 1978): no faults, but channels must keep the order.

A process that wants to enter tells all others, with the time of its clock. It enters when its request is the earliest
it knows of and it has heard from everybody at a later time: what it has not heard of yet is then later as well. That
last step needs channels that keep the order.
"""

from typing import NamedTuple

from quorate import (
    Event,
    Map,
    Message,
    Monitor,
    Peers,
    Process,
    System,
    can,
    fifo,
    final,
    invariant,
    on,
    step,
    unordered,
)


class Stamp(NamedTuple):
    time: int
    number: int  # of the process, for ties


class Request(Message):
    stamp: Stamp


class Acknowledge(Message):
    stamp: Stamp


class Release(Message):
    stamp: Stamp


class Entered(Event):
    request: Stamp


class Member(Process):
    number: int
    others: Peers
    requests: int  # still to be made
    clock: int = 0
    queue: frozenset[Stamp] = frozenset()  # the requests it knows of
    heard: Map[int, int] = Map()  # the time of the last message from each
    request: Stamp | None = None
    inside: bool = False

    @step(when=lambda self: self.requests > 0 and self.request is None)
    def ask(self) -> None:
        self.requests -= 1
        self.request = self.now()
        self.queue |= {self.request}
        self.send(self.others, Request(self.request))

    @on(Request)
    def acknowledge(self, m: Request) -> None:
        self.hear(m.stamp)
        self.queue |= {m.stamp}
        self.reply(Acknowledge(self.now()))

    @on(Acknowledge)
    def note(self, m: Acknowledge) -> None:
        self.hear(m.stamp)

    @on(Release)
    def forget(self, m: Release) -> None:
        self.hear(m.stamp)
        self.queue = frozenset(r for r in self.queue if r.number != m.stamp.number)

    @step(when=lambda self: not self.inside and self.is_next())
    def enter(self) -> None:
        assert self.request is not None
        self.inside = True
        self.emit(Entered(self.request))

    @step(when=lambda self: self.inside)
    def leave(self) -> None:
        self.inside, self.queue, self.request = False, self.queue - {self.request}, None
        self.send(self.others, Release(self.now()))

    def is_next(self) -> bool:
        return (
            self.request is not None
            and self.request == min(self.queue)
            and len(self.heard) == len(self.others)
            and all(Stamp(time, number) > self.request for number, time in self.heard.items())
        )

    def hear(self, stamp: Stamp) -> None:
        self.clock = max(self.clock, stamp.time)
        self.heard |= {stamp.number: max(stamp.time, self.heard.get(stamp.number, 0))}

    def now(self) -> Stamp:
        self.clock += 1
        return Stamp(self.clock, self.number)


class Turns(Monitor):
    last: Stamp = Stamp(0, 0)
    in_order: bool = True

    @on(Entered)
    def entered(self, e: Entered) -> None:
        self.in_order &= e.request > self.last
        self.last = e.request


class LamportMutex(System):
    """At most one process is inside, in the order of requests; with `ordered=false` messages overtake, and it fails."""

    processes: int = 2
    requests: int = 2  # of each process
    ordered: bool = True  # messages of a channel arrive in the order in which they are sent

    def build(self) -> None:
        members = [self.spawn(Member, number=i, requests=self.requests) for i in range(1, self.processes + 1)]
        for member in members:
            self.connect(member, others=Peers(members) - {member})
        self.watch(Turns)
        self.network = fifo() if self.ordered else unordered()

    @invariant
    def mutual_exclusion(self) -> bool:
        return sum(member.inside for member in self[Member]) <= 1

    @invariant
    def in_the_order_of_requests(self) -> bool:
        """Requests are granted in the order of their time stamps."""
        return self[Turns].in_order

    @can
    def somebody_waits(self) -> bool:
        return any(a.inside and b.request for a in self[Member] for b in self[Member] if a is not b)

    @final
    def all_have_been_inside(self) -> bool:
        return all(member.requests == 0 and member.request is None for member in self[Member])

    def first_asks(self) -> bool:
        return self[Member][0].request is not None

    def first_is_inside(self) -> bool:
        return self[Member][0].inside
