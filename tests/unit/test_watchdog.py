"""How a limit gets into code of the model, and that nothing else is hit by it."""

import _thread
import contextlib
import ctypes
import itertools
import multiprocessing
import signal
import sys
import threading
import time
import weakref
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from endless import FOREVER, Unmet, forever
from quorate import Message, Process, System, check, invariant, on, quorum, start
from quorate.base import echo, watchdog
from quorate.base.watchdog import Halted, Watch, supervised
from quorate.properties import explanation
from quorate.search import limits
from quorate.search.limits import Watcher
from support import failure, here, run


class Note(Message): ...


class MuteError(Exception):
    def __str__(self) -> str:
        return str(forever())

    __repr__ = __str__


class Looping(Process):
    where: str
    n: int = 0

    @start
    def begin(self) -> None:
        while self.where == "handler":
            self.n += 1
        while self.where == "one line": pass  # fmt: skip  # noqa: E701  # here: one line
        if self.where == "called":
            forever()
        if self.where == "generator":
            any(False for _ in itertools.count())  # here: generator
        self.send(self.pid, Note())

    @on(Note, when=lambda self, m: self.where != "guard" or forever())
    def note(self, m: Note) -> None:
        self.n = 1

    @quorum(Note, size=lambda self: 1 if self.where != "size" or forever() else 2, same=lambda m: 0)
    def notes(self, notes: frozenset[Note]) -> None: ...

    def within(self) -> bool:
        return self.where != "within" or self.n == 0 or forever()


class Loops(System):
    where: str = "handler"

    def build(self) -> None:
        while self.where == "build": pass  # fmt: skip  # noqa: E701  # here: build
        self.spawn(Looping, where=self.where)

    @invariant
    def fine(self) -> bool:
        if self.where == "text of an error":
            raise MuteError
        if self.where == "text of a value":
            return MuteError()  # type: ignore[return-value]  # what is told then is the value
        return self.where != "property" or all(each.n == 0 for each in self[Looping]) or forever()


PLACES = {
    "handler": ("Looping.begin", None),
    "one line": ("Looping.begin", here("one line")),
    "called": ("Looping.begin", FOREVER),
    "generator": ("Looping.begin", here("generator")),
    "guard": ("Looping.<lambda>", FOREVER),
    "size": ("Looping.<lambda>", FOREVER),
    "within": ("Looping.within", FOREVER),
    "build": ("Loops.build", here("build")),
    "property": ("Loops.fine", FOREVER),
    "text of an error": ("MuteError.__str__", FOREVER),
    "text of a value": ("MuteError.__str__", FOREVER),
}


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watchdog, "PATROL_SECONDS", 0.02)


@pytest.fixture
def endless(monkeypatch: pytest.MonkeyPatch) -> list[Callable[[], object]]:
    """Time goes by in a call of the model that does not end, and nowhere else, whatever else the machine does.

    Also what is to be done once such a call runs.
    """
    is_over, seen, then = Watcher._is_over, defaultdict[tuple[Watcher, int], int](int), list[Callable[[], object]]()

    def visited(self: Watcher) -> bool:
        call = self, self._watch.serial
        seen[call] += self._watch.is_in_model()
        if seen[call] == 5:
            if self.timeout is not None:
                self.started = -1e9
            for each in then:
                each()
        return is_over(self)

    def seconds(self: Watcher) -> float:
        return 1e9 if self.started < 0 else 0.0

    monkeypatch.setattr(Watcher, "_is_over", visited)
    monkeypatch.setattr(Watcher, "seconds", property(seconds))
    return then


@pytest.mark.usefixtures("endless")
@pytest.mark.parametrize("where", PLACES)
@pytest.mark.parametrize("search", ["bfs", "dfs"])
def test_time_is_up_wherever_the_model_loops(where: str, search: Any) -> None:
    found = check(Loops(where=where), timeout=0.5, search=search)
    assert (found.verdict, found.stopped_by) == ("incomplete", "time")
    what, place = PLACES[where]
    assert found.running is not None
    assert found.running.what == what
    if place is not None:
        assert found.running[1:] == place
    assert f"{what} was running, in {found.running.file}:{found.running.line}" in " ".join(str(found).split())
    assert found.to_json()["running"] == found.running._asdict()


@pytest.mark.parametrize("where", PLACES)
def test_ctrl_c_reaches_the_model(where: str, endless: list[Callable[[], object]]) -> None:
    endless.append(lambda: signal.raise_signal(signal.SIGINT))
    found = check(Loops(where=where))
    assert (found.verdict, found.stopped_by) == ("incomplete", "interrupt")
    assert found.running is not None
    assert found.running.what == PLACES[where][0]


@pytest.mark.usefixtures("endless")
def test_other_threads_have_limits_too() -> None:
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(check(Loops(where="called"), timeout=0.2)))
    thread.start()
    assert check(Loops(where="called"), timeout=0.2).running == check(Loops(where="called"), timeout=0.3).running
    thread.join()
    assert found[0].stopped_by == "time"
    assert found[0].running[1:] == FOREVER


@pytest.mark.usefixtures("endless")
def test_what_ended_before_is_reported() -> None:
    found = check(Loops(where="property"), timeout=0.2, quotient="off", dead_messages="off", symmetry="none")
    assert found.states > 0
    assert found.python_calls > 0


class Slow(Process):
    n: int = 0

    @start
    def count(self) -> None:
        for _ in range(3_000_000):
            pass
        self.n = 1


class Patient(System):
    def build(self) -> None:
        self.spawn(Slow)

    @invariant
    def fine(self) -> bool:
        return True


def test_a_handler_that_is_merely_slow_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    """However slow: nothing but a limit that was asked for ends it, and that is no finding about the protocol."""
    visits: list[bool] = []

    def visited(self: Watcher) -> bool:
        visits.append(False)
        return False

    monkeypatch.setattr(watchdog, "PATROL_SECONDS", 0.001)
    monkeypatch.setattr(Watcher, "_is_over", visited)
    found = check(Patient())
    assert (found.verdict, found.states) == ("holds", 2)
    assert visits  # the patrol has come by


def test_a_recursion_without_end_is_a_mistake_of_the_model() -> None:
    class Deep(Process):
        @start
        def dive(self) -> None:
            self.dive()

    found = failure(Deep, "dive")
    assert (found.kind, found.code) == ("model", "Q114")


# --- memory ------------------------------------------------------------------------------------------------------


class Greedy(Process):
    how: str
    n: int = 0

    @start
    def take(self) -> None:
        if self.how == "at once":
            bytes(1 << 60)  # here: at once
        kept: list[Any] = []
        while self.how == "bit by bit":
            kept.append(bytes(1 << 16))
        self.n = 1


class Large(System):
    how: str = "at once"

    def build(self) -> None:
        self.spawn(Greedy, how=self.how)

    @invariant
    def fine(self) -> bool:
        return self.how != "property" or len(bytes(1 << 60)) > 0


def test_a_model_that_takes_more_than_there_is_stops_the_check() -> None:
    found = check(Large())
    assert (found.verdict, found.stopped_by) == ("incomplete", "memory")
    assert found.running == ("Greedy.take", *here("at once"))
    found = check(Large(how="property"))
    assert (found.verdict, found.stopped_by) == ("incomplete", "memory")


def test_a_model_that_takes_more_and_more_is_stopped() -> None:
    from quorate import _core

    limit = _core.resident_bytes() + (64 << 20)
    found = check(Large(how="bit by bit"), max_memory=limit)
    assert (found.verdict, found.stopped_by) == ("incomplete", "memory")
    assert found.running is not None
    assert found.running.what == "Greedy.take"


def test_a_value_that_doubles_at_every_step() -> None:
    class Doubling(Process):
        items: tuple[int, ...] = (1,)

        @on(Note)
        def double(self, m: Note) -> None:
            self.items += self.items
            self.send(self.pid, Note())

        @start
        def begin(self) -> None:
            self.send(self.pid, Note())

    class Growing(System):
        def build(self) -> None:
            self.spawn(Doubling)

        @invariant
        def fine(self) -> bool:
            return True

    began = time.process_time()
    found = check(Growing(), timeout=0.5)
    assert (found.verdict, found.stopped_by) == ("incomplete", "time")
    assert time.process_time() - began < 5


# --- choices without end -----------------------------------------------------------------------------------------


class Choosing(Process):
    case: str
    n: int = 0

    @start
    def begin(self) -> None:
        while self.case == "deep":
            self.n = self.choose((0, 1))
        if self.case == "wide":
            self.n = self.choose(range(200_000))
        if self.case == "set":
            self.n = self.choose(frozenset(range(200_000)))
        if self.case == "endless":
            self.n = self.choose(itertools.count())


@pytest.mark.parametrize("case", ["deep", "wide", "set", "endless"])
def test_too_many_choices_are_a_limit_that_is_found_at_once(case: str) -> None:
    began = time.process_time()
    (outcome,) = run(Choosing, "begin", case=case)
    assert outcome.failure is not None
    assert (outcome.failure.kind, outcome.failure.code) == ("model", "Q501")
    assert time.process_time() - began < 5


# --- explanations ------------------------------------------------------------------------------------------------


class Explained(System):
    how: str = "loop"

    def build(self) -> None:
        self.spawn(Slow)

    @invariant
    def fine(self) -> bool:
        asked: list[int] = []
        if self.how == "iterator":
            return next(itertools.count(5)) < 3
        if self.how == "any":
            return not any(itertools.count(0))
        return all(each.n == 0 for each in self[Slow]) or _ends_once(asked)


def _ends_once(asked: list[int]) -> bool:
    """Asked a second time with the same list, which only an explanation does, it has no end."""
    asked.append(1)
    while len(asked) > 1:
        pass
    return False


@pytest.mark.parametrize("how", ["loop", "iterator", "any"])
def test_a_property_that_loops_while_it_is_explained(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explanation, "PATIENCE", 0.3)
    began = time.process_time()
    found = check(Explained(how=how))
    assert found.verdict == "violated"
    assert "violates fine" in str(found)
    assert time.process_time() - began < 5


# --- whenever the patrol strikes, it hits the model's code, or nothing -----------------------------------------------


@pytest.fixture
def watch() -> Iterator[Watch]:
    """A watch whose patrol wants nothing: the test strikes itself."""
    watch = Watch(lambda: False)
    watch.begin()
    yield watch
    watch.end()


def strike(watch: Watch, blows: int = 1) -> None:
    def patrol() -> None:
        watch.wanted = lambda: True
        for _ in range(blows):
            watch.strike()
        watch.wanted = lambda: False

    other = threading.Thread(target=patrol)
    other.start()
    other.join()


def nothing_falls(watch: Watch) -> bool:
    """Whether no blow is to come. Otherwise it comes here."""
    for _ in range(1000):
        abs(0)
    return not (watch.running or watch.struck or watch.striking)


@pytest.mark.parametrize("blows", [1, 2, 3])
def test_a_run_that_is_struck_is_halted(watch: Watch, blows: int) -> None:
    def struck() -> None:
        strike(watch, blows)
        while True:
            pass

    with pytest.raises(Halted) as caught:
        supervised(struck)
    assert caught.value.running is not None
    assert caught.value.running.what.endswith("struck")
    assert nothing_falls(watch)


class Careless:
    """What code of a model may make of an exception, once it was struck."""

    def __init__(self, struck: Callable[[], None]) -> None:
        self.struck = struck

    def suppresses(self) -> str:
        with contextlib.suppress(BaseException):
            self.struck()
        return "something else"

    def makes_another_of_it(self) -> None:
        try:
            self.struck()
        except BaseException:
            raise ValueError("of the model") from None

    def asks_again(self) -> str:
        """As the search does while the model's code runs: what is kept in between must not be kept."""
        with contextlib.suppress(BaseException):
            kept.append(supervised(self.suppresses))
        return "something else"


kept: list[str] = []


@pytest.mark.parametrize("how", [name for name in vars(Careless) if not name.startswith("_")])
@pytest.mark.parametrize("by", ["patrol", "interrupt"])
def test_what_was_struck_has_no_answer(how: str, by: str) -> None:
    kept.clear()
    with Watcher(None, None) as watcher:

        def struck() -> None:
            if by == "patrol":
                strike(watcher._watch)
            else:
                signal.raise_signal(signal.SIGINT)
            while True:
                pass

        with pytest.raises(Halted):
            supervised(getattr(Careless(struck), how))
        assert kept == []
        watcher._interrupted = False
        assert supervised(lambda: "the next one") == "the next one"


class Lost(Watch):
    """Its patrol strikes as soon as something was begun in which the blow is lost."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        super().__init__(lambda: bool(self.begun))

    def loses(self) -> None:
        self.begun.append("begun")
        while True:
            pass


class Finalized:
    def __init__(self, loses: Callable[[], None]) -> None:
        self.loses = loses

    def __del__(self) -> None:
        self.loses()


class Named: ...


def _in_a_weak_reference(loses: Callable[[], None]) -> None:
    gone = Named()
    kept = weakref.ref(gone, lambda _: loses())
    del gone, kept


LOSING: dict[str, Callable[[Callable[[], None]], object]] = {
    "finalizer": lambda loses: str(Finalized(loses)),
    "weak reference": _in_a_weak_reference,
    "call-back of C": lambda loses: ctypes.CFUNCTYPE(None)(loses)(),  # as z3 calls Python
}


@pytest.mark.parametrize("where", LOSING)
def test_a_blow_that_is_lost_is_dealt_again(where: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Python prints it for the user, and pytest takes it for an error of the test; nobody can do anything about it."""
    watch = Lost()
    watch.begin()

    def struck() -> None:
        LOSING[where](watch.loses)
        while True:
            pass

    with pytest.raises(Halted):
        supervised(struck)
    watch.begun.clear()
    assert nothing_falls(watch)
    watch.end()
    assert capsys.readouterr().err == ""


def test_an_interrupt_that_is_lost_is_dealt_again(capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted() -> None:
        signal.raise_signal(signal.SIGINT)

    def struck() -> None:
        str(Finalized(interrupted))
        while True:
            pass

    with Watcher(None, None) as watcher:
        with pytest.raises(Halted):
            supervised(struck)
        watcher._interrupted = False
        assert nothing_falls(watcher._watch)
    assert capsys.readouterr().err == ""


def test_other_errors_of_finalizers_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[BaseException | None] = []

    def tell(lost: Any) -> None:
        told.append(lost.exc_value)

    def fails() -> None:
        raise ValueError("of the model")

    monkeypatch.setattr(sys, "unraisablehook", tell)
    watch = Watch(lambda: False)
    watch.begin()
    supervised(lambda: str(Finalized(fails)))
    watch.end()
    assert [str(each) for each in told] == ["of the model"]
    assert sys.unraisablehook is tell


def test_lost_blows_are_silent_whoever_else_is_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, over = threading.Event(), threading.Event()

    def another() -> None:
        watch = Watch(lambda: False)
        watch.begin()
        begun.set()
        over.wait()
        watch.end()

    thread = threading.Thread(target=another)
    thread.start()
    begun.wait()
    told: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", told.append)
    watch = Watch(lambda: False)
    watch.begin()

    def fails() -> None:
        raise Halted

    supervised(lambda: str(Finalized(fails)))
    watch.end()
    over.set()
    thread.join()
    assert told == []


def test_a_blow_that_falls_after_the_run(watch: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_down = Watch.stand_down

    def late(self: Watch) -> None:
        monkeypatch.setattr(Watch, "stand_down", stand_down)
        strike(self)
        stand_down(self)

    monkeypatch.setattr(Watch, "stand_down", late)
    with pytest.raises(Halted):
        supervised(lambda: "done")
    assert nothing_falls(watch)


def test_a_blow_upon_another_leaves_the_place_known() -> None:
    second = Halted()
    try:
        raise Halted  # here: struck
    except Halted as first:
        second.__context__ = first
    found = watchdog._place(second)
    assert found is not None
    assert found[1:] == here("struck")


def test_a_patrol_that_is_held_up_while_it_strikes_is_waited_for(watch: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Watch, "strike", lambda self: None)  # the true patrol, which would say that it is done

    def held_up(thread: int) -> None:
        while watch.running:
            time.sleep(0.001)
        watch.struck = True
        watchdog._raise_in(thread)
        watch.striking = False

    other = threading.Thread(target=held_up, args=(_thread.get_ident(),))

    def ends() -> str:
        watch.striking = True  # it has looked whether something is under way
        other.start()
        return "done"

    assert supervised(ends) == "done"
    other.join()
    assert nothing_falls(watch)


def test_between_two_runs_nothing_is_struck(watch: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    dealt: list[int] = []
    monkeypatch.setattr(watchdog, "_raise_in", dealt.append)
    strike(watch)
    supervised(lambda: None)
    strike(watch)
    assert dealt == []
    assert nothing_falls(watch)


def test_a_watch_within_another_gives_its_place_back() -> None:
    outer, inner = Watch(lambda: False), Watch(lambda: False)
    outer.begin()
    inner.begin()
    assert supervised(lambda: (inner.running, outer.running)) == (True, False)
    inner.end()
    assert supervised(lambda: (inner.running, outer.running)) == (False, True)
    outer.end()
    assert supervised(lambda: (inner.running, outer.running)) == (False, False)


def test_two_interrupts_at_once_are_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(echo, "SECONDS", 1e9)
    with Watcher(None, None) as watcher:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)  # to the process, and to its group
        assert watcher(0, 0, 0, 0, 0)
        echo.forget()  # what comes much later is no echo
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert watcher.reason == "interrupt"


def _forked(ask: Callable[[], Any]) -> Any:
    with multiprocessing.get_context("fork").Pool(1) as forked:
        return forked.apply(ask)


def test_a_fork_has_watches_of_its_own() -> None:
    with Watcher(None, None):
        assert _forked(_stopped_there) == "time"


def _stopped_there() -> str | None:
    return check(Loops(where="called"), timeout=1).stopped_by


# --- what no run meets -----------------------------------------------------------------------------------------


class Meeting(System):
    def build(self) -> None:
        self.spawn(Unmet)

    @invariant
    def fine(self) -> bool:
        return True


def test_a_handler_without_end_where_no_run_gets_costs_the_reductions_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "ANALYSIS_SECONDS", 0.3)
    found = check(Meeting(), timeout=60)
    assert (found.verdict, found.stopped_by) == ("holds", None)
    assert found.states == check(Meeting(), quotient="off", dead_messages="off", symmetry="none").states
    (warning,) = found.warnings
    assert "Unmet.take ran for long" in warning
    assert check(Loops(where="called"), timeout=1).stopped_by == "time"  # where runs do get there


def test_a_run_that_was_found_is_replayed_although_the_time_is_up() -> None:
    with Watcher(0.001, None) as watcher:
        time.sleep(0.01)
        with watcher.lifted():
            assert supervised(lambda: sum(1 for _ in range(1_000_000))) == 1_000_000
        with pytest.raises(Halted):
            supervised(forever)
