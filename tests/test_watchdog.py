import itertools
import time

import pytest

from quorate import Message, Process, System, invariant, quorum, start
from quorate.language import watchdog
from quorate.language.definition import define
from quorate.language.message import stamped
from quorate.language.outcome import Failure, Request
from quorate.language.pid import Pid
from quorate.language.run import fire, prepare
from quorate.properties import evaluate
from support import alone, failure, here, run, transition


class Note(Message): ...


class Endless(Process):
    n: int = 0

    @start
    def loop(self) -> None:
        while True:
            self.n += 1  # here: loop

    @start
    def one_line(self) -> None:
        while True: pass  # fmt: skip  # noqa: E701  # here: pass

    @start
    def inside(self) -> None:
        any(False for _ in itertools.count())

    @start
    def long_but_finite(self) -> None:
        work_for(0.15)
        self.n = 1

    @quorum(Note, size=1, when=lambda self: any(False for _ in itertools.count()))
    def guard(self, notes: frozenset[Note]) -> None: ...


def work_for(seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watchdog, "PATROL_SECONDS", 0.05)
    monkeypatch.setattr(watchdog, "MAX_STEPS", 100_000)


def is_endless(found: Failure) -> bool:
    return (found.kind, found.code) == ("exception", "Q114") and found.text.startswith("did not come to an end")


def test_a_handler_without_end_is_a_failure_where_it_loops() -> None:
    found = failure(Endless, "loop")
    assert is_endless(found)
    assert "a loop whose condition never becomes false" in found.hint
    assert found[2:4] in (here("loop"), (here("loop")[0], here("loop")[1] - 1))
    assert failure(Endless, "loop") == found


def test_a_loop_within_one_line() -> None:
    found = failure(Endless, "one_line")
    assert is_endless(found)
    assert found[2:4] == here("pass")
    assert is_endless(failure(Endless, "inside"))


def test_a_guard_without_end() -> None:
    definition = alone(Endless)
    where, guard, local = definition.columns[0], transition(definition, "guard"), definition.initials[0][0]
    assert prepare(where, guard, local) == Request(size=1)
    (outcome,) = fire(where, guard, local, (stamped(Note(), Pid(0, "endless1")),))
    assert outcome.failure is not None
    assert is_endless(outcome.failure)


def test_a_property_without_end() -> None:
    class Looping(System):
        def build(self) -> None:
            self.spawn(Endless)

        @invariant
        def never(self) -> bool:
            while True:
                pass

    definition = define(Looping())
    found = evaluate(definition, definition.invariants[0], definition.initials[0]).failure
    assert found is not None
    assert is_endless(found)


def test_a_handler_that_is_merely_slow_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watchdog, "MAX_STEPS", 10**9)
    (outcome,) = run(Endless, "long_but_finite")
    assert outcome.failure is None


def test_a_blow_that_comes_late_hits_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs that end just when the patrol strikes: whatever the timing, no Suspicion gets out."""
    monkeypatch.setattr(watchdog, "MAX_STEPS", 10**9)
    for extra in range(20):
        watchdog.supervised(lambda extra=extra: work_for(0.09 + 0.001 * extra))  # type: ignore[misc]
