"""`told-approximate`: a bit array may take a new state for a known one. To draw: `store="bitstate"`."""

from quorate import Process, System, invariant, step

RULE = "told-approximate"
OPTIONS: dict[str, object] = {"store": "bitstate"}


class Counter(Process):
    n: int = 0

    @step(when=lambda self: self.n < 5)
    def count(self) -> None:
        self.n += 1


class Model(System):
    def build(self) -> None:
        self.spawn(Counter)

    @invariant
    def small(self) -> bool:
        return all(counter.n < 9 for counter in self[Counter])
