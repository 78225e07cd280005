"""A ticket lock (Reed and Kanodia 1979; Mellor-Crummey and Scott 1991).

A thread draws a ticket, waits until its number is called, and calls the next number when it leaves. To draw is one
step, a fetch-and-add: with `atomic=false` two threads may draw the same ticket. Numbers count modulo their range; with
fewer numbers than threads, two tickets are the same.
"""

from quorate import Constant, Process, Shared, System, final, invariant, leads_to, step


class Thread(Process):
    next_ticket: Constant[Shared[int]]
    now_serving: Constant[Shared[int]]
    numbers: Constant[int]
    atomic: Constant[bool]
    seen: int | None = None
    ticket: int | None = None
    inside: bool = False

    @step(when=lambda self: self.atomic and self.ticket is None, fair=False)  # it may draw again, but need not
    def draw(self) -> None:
        self.ticket = self.next_ticket.value
        self.next_ticket.value = (self.ticket + 1) % self.numbers

    @step(when=lambda self: not self.atomic and self.ticket is None and self.seen is None, fair=False)
    def look(self) -> None:
        self.seen = self.next_ticket.value

    @step(when=lambda self: self.seen is not None)
    def take(self) -> None:
        assert self.seen is not None
        self.ticket = self.seen
        self.next_ticket.value = (self.seen + 1) % self.numbers
        self.seen = None

    @step(when=lambda self: self.ticket is not None and not self.inside and self.now_serving.value == self.ticket)
    def enter(self) -> None:
        self.inside = True

    @step(when=lambda self: self.inside)
    def leave(self) -> None:
        assert self.ticket is not None
        self.now_serving.value = (self.ticket + 1) % self.numbers
        self.ticket, self.inside = None, False


class TicketLock(System):
    """One thread at a time, in the order of tickets; with `atomic=false`, or too few `numbers`, two may be inside."""

    threads: int = 3
    numbers: int | None = None  # how many there are; by default one for each thread
    atomic: bool = True  # to draw a ticket is one step

    def build(self) -> None:
        self.require(self.numbers is None or self.numbers > 0, "there must be a number")
        numbers = self.threads if self.numbers is None else self.numbers
        next_ticket = self.share("next_ticket", 0)
        now_serving = self.share("now_serving", 0)
        self.spawn(
            Thread,
            self.threads,
            next_ticket=next_ticket,
            now_serving=now_serving,
            numbers=numbers,
            atomic=self.atomic,
        )

    @invariant
    def mutual_exclusion(self) -> bool:
        return sum(thread.inside for thread in self[Thread]) <= 1

    @final
    def nobody_waits(self) -> bool:
        return all(thread.ticket is None for thread in self[Thread])

    @leads_to("inside", each=Thread)
    def waiting(self, thread: Thread) -> bool:
        """Nobody starves."""
        return thread.ticket is not None

    def inside(self, thread: Thread) -> bool:
        return thread.inside
