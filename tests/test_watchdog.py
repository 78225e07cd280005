import _thread
import itertools
import multiprocessing
import threading
import time

import pytest

from quorate import Message, Process, System, invariant, quorum, start
from quorate.base import watchdog
from quorate.base.failures import Failure
from quorate.language.message import stamped
from quorate.language.pid import Pid
from quorate.model.define import define
from quorate.model.outcome import Request
from quorate.model.run import fire, prepare
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

    @quorum(Note, size=1, when=lambda self: any(False for _ in itertools.count()))
    def guard(self, notes: frozenset[Note]) -> None: ...


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


def test_a_handler_that_is_merely_slow_is_not() -> None:
    runs: list[int] = []

    class Slow(Process):
        n: int = 0

        @start
        def wait_for_the_patrol(self) -> None:
            runs.append(self.n)
            while len(runs) == 1:
                pass
            self.n = 1

    (outcome,) = run(Slow, "wait_for_the_patrol")
    assert outcome.failure is None
    assert outcome.local is not None
    assert outcome.local[0] == 1
    assert set(runs) == {0}


# --- whenever the patrol strikes, it hits the run that it is meant for, or nothing --------------------------------


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> watchdog.Watch:
    """A watch without a patrol: the test strikes itself."""
    watch = watchdog.Watch()
    watch.patrolling = True
    monkeypatch.setattr(watchdog, "watch", watch)
    return watch


def strike(watch: watchdog.Watch, blows: int = 1) -> None:
    """What the patrol does when it finds a run that it has seen before."""

    def patrol(serial: int, thread: int) -> None:
        for _ in range(blows):
            watchdog._interrupt(watch, serial, thread)

    other = threading.Thread(target=patrol, args=(watch.serial, watch.thread))
    other.start()
    other.join()


def nothing_falls(watch: watchdog.Watch) -> bool:
    """Whether no blow is to come. Otherwise it comes here."""
    for _ in range(1000):
        abs(0)
    return not (watch.thread or watch.struck or watch.striking)


@pytest.mark.parametrize("blows", [1, 2, 3])
def test_a_run_that_is_struck_is_run_again_and_counted(watch: watchdog.Watch, blows: int) -> None:
    runs: list[int] = []

    def struck() -> str:
        runs.append(len(runs))
        if len(runs) == 1:
            strike(watch, blows)
            while True:
                pass
        return "done"

    assert watchdog.supervised(struck) == "done"
    assert runs == [0, 1]
    assert nothing_falls(watch)


def test_a_blow_that_falls_before_the_run_stands_down(watch: watchdog.Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_down = watchdog._stand_down

    def late() -> None:
        monkeypatch.setattr(watchdog, "_stand_down", stand_down)
        strike(watch)
        stand_down()

    monkeypatch.setattr(watchdog, "_stand_down", late)
    assert watchdog.supervised(lambda: "done") == "done"
    assert nothing_falls(watch)


def test_a_patrol_that_is_held_up_while_it_strikes_is_waited_for(watch: watchdog.Watch) -> None:
    def held_up(thread: int) -> None:
        while watch.thread:
            time.sleep(0.001)
        watch.struck = True
        watchdog._raise_in(thread)
        watch.striking = False

    other = threading.Thread(target=held_up, args=(_thread.get_ident(),))

    runs: list[str] = []

    def ends() -> str:
        runs.append("done")
        if len(runs) == 1:
            watch.striking = True  # it has looked whether this run is still under way
            other.start()
        return runs[-1]

    assert watchdog.supervised(ends) == "done"
    other.join()
    assert nothing_falls(watch)


def test_a_blow_for_a_run_that_has_ended_is_not_dealt(watch: watchdog.Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    dealt: list[int] = []
    monkeypatch.setattr(watchdog, "_raise_in", dealt.append)
    before, thread = watch.serial, _thread.get_ident()
    watchdog.supervised(lambda: watchdog._interrupt(watch, before, thread))
    watchdog._interrupt(watch, watch.serial, thread)
    assert dealt == []
    assert nothing_falls(watch)


def test_a_patrol_that_is_about_to_leave_stays_if_a_run_has_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    """The run may have found it still there, and called no other."""

    class BeginsJustThen(watchdog.Watch):
        def __setattr__(self, name: str, value: object) -> None:
            super().__setattr__(name, value)
            if (name, value) == ("patrolling", False) and hasattr(self, "patrol_called"):
                self.serial, self.thread = self.serial + 1, 1

        patrol_called: bool

    class StruckError(Exception): ...

    def struck(*run: object) -> None:
        raise StruckError

    seen = BeginsJustThen()
    seen.patrolling = seen.patrol_called = True
    monkeypatch.setattr(watchdog, "PATROL_SECONDS", 0)
    monkeypatch.setattr(watchdog, "_interrupt", struck)
    with pytest.raises(StruckError):
        watchdog._patrol(seen)
    assert seen.patrolling


def test_a_fork_calls_a_patrol_of_its_own() -> None:
    watchdog.supervised(lambda: None)
    with multiprocessing.get_context("fork").Pool(1) as forked:
        assert forked.apply(_is_endless_there)


def _is_endless_there() -> bool:
    return is_endless(failure(Endless, "loop"))
