"""Of several shortest runs that break a property, the one with the fewest faults is shown."""

import pytest

from quorate import Process, System, check, crashes, invariant, step


class Worker(Process):
    level: int
    done: int = 0

    @step(when=lambda self: self.done == 0)
    def work(self) -> None:
        self.done = self.level


class Crashing(System):
    """Broken after one step, by work or by a crash."""

    level: int = 1
    faults = crashes(1, of=Worker)

    def build(self) -> None:
        self.spawn(Worker, 2, level=self.level)

    @invariant
    def idle(self) -> bool:
        return not any(worker.crashed or worker.done for worker in self[Worker])


@pytest.mark.parametrize("level", range(1, 9))
def test_work_is_shown_rather_than_a_crash(level: int) -> None:
    trace = check(Crashing(level=level), symmetry="none").trace
    assert trace is not None
    assert [each.kind for each in trace.steps] == ["step"]
