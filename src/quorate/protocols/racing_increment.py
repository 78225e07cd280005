"""An increment that races: threads read a counter, add one, and write it back.

Each access is a step of its own, as on a processor. Two threads that read the same value write the same value, and one
increment is lost. With `atomic=true` a thread reads and writes in one step, as a fetch-and-add instruction does.
"""

from quorate import Constant, Process, Shared, System, final, invariant, step


class Thread(Process):
    counter: Constant[Shared[int]]
    atomic: Constant[bool]
    read: int | None = None
    left: int = 1

    @step(when=lambda self: not self.atomic and self.read is None and self.left > 0)
    def load(self) -> None:
        self.read = self.counter.value

    @step(when=lambda self: self.read is not None)
    def store(self) -> None:
        assert self.read is not None
        self.counter.value = self.read + 1
        self.read = None
        self.left -= 1

    @step(when=lambda self: self.atomic and self.left > 0)
    def increment(self) -> None:
        self.counter.value += 1
        self.left -= 1


class RacingIncrement(System):
    """No increment is lost if it is one step; with `atomic=false` two threads may write the same value."""

    threads: int = 2
    increments: int = 1  # of each thread
    atomic: bool = True  # a thread reads and writes in one step

    def build(self) -> None:
        counter = self.share("counter", 0, access="atomic" if self.atomic else "single")
        self.spawn(Thread, self.threads, counter=counter, atomic=self.atomic, left=self.increments)

    @invariant
    def nothing_is_lost(self) -> bool:
        done = all(thread.left == 0 for thread in self[Thread])
        return not done or self.shared("counter") == self.threads * self.increments

    @final
    def all_are_done(self) -> bool:
        return all(thread.left == 0 for thread in self[Thread])
