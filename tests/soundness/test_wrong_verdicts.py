"""Models that once got a wrong verdict from a reduction, or a wrong alarm: a class each, named after the rule it pins.

Whatever the options, the answer is that of the search without reductions.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from quorate import (
    Event,
    Message,
    Monitor,
    Peers,
    Pid,
    Process,
    System,
    _core,
    can,
    check,
    fifo,
    invariant,
    on,
    quorum,
    start,
    step,
    unordered,
)
from quorate.reduce import optimistic, reductions
from quorate.search import safety as checking

PLAIN: dict[str, Any] = {"quotient": "off", "dead_messages": "off", "symmetry": "none"}
PARTIAL_ORDERS: list[dict[str, Any]] = [
    {"por": por, "split": split, "search": search, "dead_messages": dead, "quotient": quotient}
    for por, split, search, dead, quotient in product(
        ("lpor", "lpor-net"), ("none", "combined"), ("bfs", "dfs"), ("on", "off"), ("on", "off")
    )
]


class B(Message):
    pass


class Vote(Message):
    n: int


class First(Message):
    pass


class Second(Message):
    pass


class E(Event):
    pass


class OnlyTheKeyKeepsTheRest(System):
    """In s=0 the set is {idle, leave} with the key `idle`; `other` is not possible after `leave`."""

    class P(Process):
        s: int = 0
        y: int = 0

        @step(when=lambda self: self.s in (0, 3))
        def idle(self) -> None:
            pass

        @step(when=lambda self: self.s == 0)
        def leave(self) -> None:
            self.s = 2

        @step(when=lambda self: self.s == 0)
        def other(self) -> None:
            self.s, self.y = 3, 1

    def build(self) -> None:
        self.spawn(self.P)

    @can
    def reached(self) -> bool:
        return self[self.P][0].y == 1


class OnlyAllOutcomesOfTheKeyKeepTheRest(System):
    """`pick` leads back, or to where `other` is not possible any more: to get further by one way is no progress."""

    class P(Process):
        s: int = 0
        y: int = 0

        @step(when=lambda self: self.s in (0, 1, 3))
        def pick(self) -> None:
            if self.s == 0:
                self.s = self.choose((0, 2))

        @step(when=lambda self: self.s == 0)
        def other(self) -> None:
            self.s, self.y = 3, 1

    def build(self) -> None:
        self.spawn(self.P)

    @can
    def reached(self) -> bool:
        return self[self.P][0].y == 1


class WhatMakesUpForAStepMayFail(System):
    """`hear` leads to the same with and without `move` before it, if it leads anywhere."""

    class Sender(Process):
        to: Pid

        @start
        def go(self) -> None:
            self.send(self.to, B())

    class Receiver(Process):
        moved: bool = False

        @start
        def move(self) -> None:
            self.moved = True

        @on(B)
        def hear(self, m: Any) -> None:
            assert not self.moved

    def build(self) -> None:
        self.spawn(self.Sender, to=self.spawn(self.Receiver))


class OneMoreMessageMakesASetNotMaximal(System):
    """The vote of `low` disables the quorum of `high` alone, though that set does not hold it."""

    class Voter(Process):
        n: int
        to: Peers = Peers()

        @start
        def vote(self) -> None:
            self.send(self.to, Vote(self.n))

    class Counter(Process):
        n: int = 0

        @quorum(Vote, enough=lambda self, ms: any(m.n == 1 for m in ms), sets="maximal")
        def count(self, ms: frozenset[Any]) -> None:
            self.n = len(ms)

    def build(self) -> None:
        low, high = self.spawn(self.Voter, n=0), self.spawn(self.Voter, n=1)
        self.connect([low, high], to=Peers([self.spawn(self.Counter)]))

    @can
    def alone(self) -> bool:
        return self[self.Counter][0].n == 1


class AStepIsVisibleWhereverItMayBeTaken(System):
    """`over` shows nothing at first, and overwrites what `show` would have shown before it."""

    class P(Process):
        y: int = 0
        z: int = 0

        @start
        def over(self) -> None:
            self.z = 1
            if self.y == 1:
                self.y = 2

        @start
        def show(self) -> None:
            self.y = 2 if self.z == 1 else 1

    def build(self) -> None:
        self.spawn(self.P)

    @can
    def reached(self) -> bool:
        return self[self.P][0].y == 1


class ACopyIsLostInItsPlace(System):
    """`answer` sends Second, First to where a First is pending: a First that is lost before that is the first one."""

    network = fifo(losses="any", head="drop")

    class Asker(Process):
        to: Peers = Peers()

        @start
        def ask(self) -> None:
            self.send(self.to, B())

        @start
        def ask_again(self) -> None:
            self.send(self.to, B())

    class Answerer(Process):
        @on(B)
        def answer(self, m: B) -> None:
            self.reply(Second())
            self.reply(First())

    def build(self) -> None:
        self.connect(self.spawn(self.Asker), to=Peers([self.spawn(self.Answerer)]))


PARTIAL_ORDER_MODELS = [
    ACopyIsLostInItsPlace,
    OnlyTheKeyKeepsTheRest,
    OnlyAllOutcomesOfTheKeyKeepTheRest,
    WhatMakesUpForAStepMayFail,
    OneMoreMessageMakesASetNotMaximal,
    AStepIsVisibleWhereverItMayBeTaken,
]


@pytest.mark.parametrize("model", PARTIAL_ORDER_MODELS)
def test_partial_orders_do_not_change_the_answer(model: type[System]) -> None:
    wanted = check(model, **PLAIN)
    for options in PARTIAL_ORDERS:
        assert check(model, **options).verdict == wanted.verdict, options
    assert check(model, por="lpor-net", self_check=True).verdict == wanted.verdict


class WhatIsDeadIsNotRepeated(System):
    """`leave` makes the pending message dead, so it is not duplicated any more: what is left of the budget differs."""

    class Sender(Process):
        to: Pid

        @start
        def go(self) -> None:
            self.send(self.to, B())

    class Receiver(Process):
        s: int = 0

        @start
        def leave(self) -> None:
            self.s = 1
            self.send(self.pid, B())

        @quorum(B, size=2, when=lambda self: self.s == 0)
        def both(self, ms: frozenset[Any]) -> None:
            pass

    network = unordered(duplicates=1)

    def build(self) -> None:
        self.spawn(self.Sender, to=self.spawn(self.Receiver))

    @can
    def left(self) -> bool:
        return self[self.Receiver][0].s == 1


class AMonitorFailsAtTheChosenStep(System):
    """What a chosen step leads to need not keep anything where it leads nowhere: the search is over there."""

    class Failing(Process):
        @step(when=lambda self: True)
        def fail(self) -> None:
            raise AssertionError

    class Emitting(Process):
        @step(when=lambda self: True)
        def tell(self) -> None:
            self.emit(E())

    class Watch(Monitor):
        k: int = 0

        @on(E)
        def told(self, e: Any) -> None:
            self.k = min(self.k + 1, 2)
            assert self.k < 2

    def build(self) -> None:
        self.spawn(self.Failing)
        self.spawn(self.Emitting)
        self.watch(self.Watch)


@pytest.mark.parametrize("model", [WhatIsDeadIsNotRepeated, AMonitorFailsAtTheChosenStep])
def test_the_self_check_raises_no_false_alarm(model: type[System]) -> None:
    for por, split in product(("lpor", "lpor-net"), ("none", "combined")):
        found = check(model, por=por, split=split, self_check=True)
        assert found.verdict == check(model, **PLAIN).verdict
        assert found.self_check is not None


class AUniverseThatIsNotFinal(System):
    """The search ends with a violation before it has met all that belongs to the optimistic universe."""

    class Alpha(Process):
        @quorum(B, enough=lambda self, ms: True)
        def hear(self, ms: frozenset[Any]) -> None:
            self.reply(First())

    class Beta(Process):
        u: int = 0
        to: Peers = Peers()

        @start
        def go(self) -> None:
            self.send(self.to, B())

        @on(First)
        def told(self, m: First) -> None:
            self.u = 1

    def build(self) -> None:
        alpha = self.spawn(self.Alpha)
        betas = self.spawn(self.Beta, 3)
        self.connect(betas, to=Peers([alpha]))
        self.corrupt(betas, 1)

    @invariant
    def untold(self) -> bool:
        return all(p.u <= 0 for p in self[self.Beta])


def test_the_self_check_expects_nothing_of_a_universe_that_is_not_final(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name, value in (
        (checking, "FIRST_BEHAVIOURS", 1),
        (checking, "FIRST_STATES", 6),
        (checking, "WORTH_DROPPING", 0),
        (reductions, "MOST_BEHAVIOURS", 9),
        (optimistic, "WALKS", 0),
        (optimistic, "LITTLE", 0),
    ):
        monkeypatch.setattr(module, name, value)
    found = check(AUniverseThatIsNotFinal, por="lpor-net", self_check=True)
    assert "universe" in found.reductions
    assert found.property == "untold"


class TwoProcessesFailDifferently(System):
    """After the first step both may fail, one by an assertion and one by an accident: which is which is only a name."""

    told: int = 1

    class Teller(Process):
        told: int
        u: int = 0
        to: Peers = Peers()

        @on(B)
        def hear(self, m: B) -> None:
            if self.u == self.told:
                raise ValueError
            raise AssertionError

        @start
        def go(self) -> None:
            self.send(self.to, B())
            self.u = self.told

    def build(self) -> None:
        tellers = self.spawn(self.Teller, 2, told=self.told)
        self.connect(tellers, to=tellers)


def test_a_result_names_the_failure_that_its_run_ends_in() -> None:
    for told in range(1, 9):  # which of them stands for the other follows from the values
        found = check(TwoProcessesFailDifferently(told=told))
        assert found.trace is not None
        assert found.trace.property == found.property, told


class AMonitorThatGrowsMayFail(System):
    """The goal is reached at once; that is not all, since nobody knows beforehand whether the monitor fails."""

    class Watch(Monitor):
        heard: int = 0

        @on(E)
        def told(self, e: E) -> None:
            self.heard += 1
            assert self.heard < 2

    class P(Process):
        @start
        def go(self) -> None:
            self.emit(E())

    def build(self) -> None:
        self.spawn(self.P, 2)
        self.watch(self.Watch)

    @can
    def reached(self) -> bool:
        return True


@pytest.mark.parametrize("most", [0, 1, 2, 10_000])
def test_a_monitor_that_grows_may_fail_after_the_goal(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_core.thresholds, "most_reactions", most)
    found = check(AMonitorThatGrowsMayFail(), property="reached")
    assert (found.verdict, found.property) == ("violated", "assertions")
