"""A property that tells processes apart by their place in a list is not symmetric, though it is read by parts."""

from quorate import Process, System, check, invariant, start


class Worker(Process):
    x: int = 0

    @start
    def work(self) -> None:
        self.x = 1


class Line(System):
    def build(self) -> None:
        for _ in range(3):
            self.spawn(Worker)

    @invariant
    def first_comes_first(self) -> bool:
        return [worker.x for worker in self[Worker]] != [0, 1, 0]

    @invariant
    def last_comes_first(self) -> bool:
        return [worker.x for worker in self[Worker]] != [0, 0, 1]

    @invariant
    def middle_comes_first(self) -> bool:
        return [worker.x for worker in self[Worker]] != [1, 0, 0]


def test_each_place_counts() -> None:
    for name in ("first_comes_first", "last_comes_first", "middle_comes_first"):
        result = check(Line, property=name)
        assert result.property == name
        assert result.trace is not None
        assert len(result.trace) == 1
