"""Lamport's bakery (Lamport 1974): mutual exclusion by tickets, with variables that are read and written one at a time.

Who wants to enter looks at the tickets of all others and takes one with a higher number. Meanwhile it says that it is
choosing: somebody who waits for its turn must not overlook a ticket that is just being written. Without that
(`choosing=false`) two may be inside. Where two have the same number, the one that was spawned first goes first.

Numbers grow as long as there is always somebody with a ticket, so a check stops at the highest: a process that would
draw a higher one waits.
"""

from enum import Enum

from quorate import Constant, Map, Pid, Process, Shared, System, invariant, step


class At(Enum):
    OUTSIDE = 0
    LOOKING = 1  # at the tickets of others
    WRITING = 2  # its own
    DRAWN = 3
    WAITING = 4
    INSIDE = 5


class Customer(Process):
    place: Constant[int]
    customers: Constant[tuple[Pid, ...]]  # in the order of their places
    choosing: Constant[Map[Pid, Shared[bool]]]
    number: Constant[Map[Pid, Shared[int]]]
    says_so: Constant[bool]  # that it is choosing
    highest: Constant[int]
    at: At = At.OUTSIDE
    other: int = 0  # at whose variables it looks next
    chosen: bool = False  # the other one was not choosing
    ticket: int = 0

    @step(when=lambda self: self.at is At.OUTSIDE)
    def begin(self) -> None:
        self.at = At.LOOKING
        if self.says_so:
            self.choosing[self.pid].value = True

    @step(when=lambda self: self.at is At.LOOKING)
    def look(self) -> None:
        self.ticket = max(self.ticket, self.number[self.customers[self.other]].value)
        self.other += 1
        if self.other == len(self.customers):
            self.at, self.other = At.WRITING, 0

    @step(when=lambda self: self.at is At.WRITING and self.ticket < self.highest)
    def draw(self) -> None:
        self.ticket += 1
        self.number[self.pid].value = self.ticket
        self.at = At.DRAWN

    @step(when=lambda self: self.at is At.DRAWN)
    def end(self) -> None:
        self.at = At.WAITING
        if self.says_so:
            self.choosing[self.pid].value = False

    @step(when=lambda self: self.at is At.WAITING and self.says_so and not self.chosen and not self.is_choosing())
    def see_that_it_has_chosen(self) -> None:
        self.chosen = True

    @step(when=lambda self: self.at is At.WAITING and (self.chosen or not self.says_so) and self.is_before())
    def pass_by(self) -> None:
        self.other, self.chosen = self.other + 1, False
        if self.other == len(self.customers):
            self.at, self.other = At.INSIDE, 0

    @step(when=lambda self: self.at is At.INSIDE)
    def leave(self) -> None:
        self.at, self.ticket = At.OUTSIDE, 0
        self.number[self.pid].value = 0

    def is_choosing(self) -> bool:
        return self.choosing[self.customers[self.other]].value

    def is_before(self) -> bool:
        """Whether its turn comes before that of the other one."""
        number = self.number[self.customers[self.other]].value
        return number == 0 or (self.ticket, self.place) <= (number, self.other)


class Bakery(System):
    """One customer at a time is served; with `choosing=false` two may be."""

    customers: int = 2
    highest: int = 4  # the highest number of a ticket
    choosing: bool = True  # a customer says that it is choosing a ticket

    def build(self) -> None:
        pids = tuple(self.spawn(Customer, place=place) for place in range(self.customers))
        choosing = self.share("choosing", False, each=pids, access="single")
        number = self.share("number", 0, each=pids, access="single")
        self.connect(
            pids, customers=pids, choosing=choosing, number=number, says_so=self.choosing, highest=self.highest
        )

    @invariant
    def mutual_exclusion(self) -> bool:
        return sum(customer.at is At.INSIDE for customer in self[Customer]) <= 1
