"""What must not be reduced, and is not: each combination that the rules forbid, with a system for which it is wrong.

Three things of each: the true verdict, by the reference; that a check says the same, also where every reduction is
asked for, and why it left them out; and that the reduced graph gives another verdict.
"""

from __future__ import annotations

from typing import Any

import pytest

from quorate import Message, Pid, Process, System, check, multiset, on, quorum, step
from quorate.properties.kinds import Kept
from quorate.reduce.partial_orders import PartialOrders
from quorate.reduce.symmetry import Symmetry
from quorate.results.result import Result
from temporal_reduced import Question

EVERYTHING: dict[str, Any] = {"por": "lpor-net", "split": "combined", "symmetry": "auto"}
UNFAIR_POR = "it does not keep whole runs, branching time and fairness"


def checked(made: System, formula: str, level: str) -> list[Result]:
    """With the options as they are, with every reduction there is, and with none."""
    none = {"quotient": "off", "dead_messages": "off", "symmetry": "none"}
    return [check(made, ltl=formula, fairness=level, **options) for options in ({}, EVERYTHING, none)]


def assert_right(made: System, formula: str, level: str, verdict: str) -> None:
    """The reference says so, and every check does."""
    assert Question(made, formula).verdict(level) == verdict
    results = checked(made, formula, level)
    assert [each.verdict for each in results] == [verdict] * 3
    told = results[1].reductions
    assert (told["por"]["ran"], told["por"]["why"]) == (False, UNFAIR_POR)
    assert (told["split"]["ran"], told["split"]["why"]) == (False, UNFAIR_POR)
    assert (told["symmetry"]["ran"], told["symmetry"]["why"]) == (False, "it does not keep fairness")
    assert len({each.states for each in results[:2]}) == 1


# Partial orders with weak fairness of transitions or messages: what is put off makes a step enabled for ever.


class Item(Message): ...


class Credit(Message): ...


class Producer(Process):
    consumer: Pid
    credits: int = 2

    @step(when=lambda self: self.credits > 0)
    def produce(self) -> None:
        self.credits -= 1
        self.send(self.consumer, Item())

    @on(Credit)
    def credit(self, m: Credit) -> None:
        self.credits = min(2, self.credits + 1)  # so that its values are bounded whatever comes


class Consumer(Process):
    done: bool = False

    @on(Item, when=lambda self, m: not self.done)
    def use(self, m: Item) -> None:
        self.reply(Credit())

    @on(Item, when=lambda self, m: not self.done)
    def finish(self, m: Item) -> None:
        self.done = True


class Supply(System):
    """Whoever produces first keeps an item in stock, so that `finish` is always possible; who does not, does not."""

    network = multiset()

    def build(self) -> None:
        self.spawn(Producer, consumer=self.spawn(Consumer))

    def done(self) -> bool:
        return self[Consumer][0].done


@pytest.mark.parametrize("level", ["transition", "message"])
def test_partial_orders_with_weak_fairness_of_transitions(level: str) -> None:
    assert_right(Supply(), "F done", level, "violated")
    question = Question(Supply(), "F done")
    assert question.verdict(level, question.ample(question.columns(Producer))) == "holds", "a violation is missed"


@pytest.mark.parametrize("level", ["none", "progress"])
def test_the_same_partial_orders_are_right_without_it(level: str) -> None:
    """So it is fairness that they do not keep."""
    question = Question(Supply(), "F done")
    reduced = (question.ample(question.columns(Producer)), question.stubborn())
    assert [question.verdict(level, each) for each in (None, *reduced)] == ["violated"] * 3


# Partial orders with strong fairness: the order that never makes it possible is left out.


class Token(Message): ...


class Back(Message): ...


class Toggling(Process):
    judge: Pid
    has: bool = True

    @step(when=lambda self: self.has)
    def offer(self) -> None:
        self.has = False
        self.send(self.judge, Token())

    @on(Back)
    def take_back(self, m: Back) -> None:
        self.has = True


class Judge(Process):
    done: bool = False

    @on(Token, when=lambda self, m: not self.done)
    def refuse(self, m: Token) -> None:
        self.reply(Back())

    @quorum(Token, size=2, when=lambda self: not self.done)
    def accept(self, ms: frozenset[Token]) -> None:
        self.done = True


class Both(System):
    """The judge accepts if both offers are there together, which need never be so."""

    def build(self) -> None:
        self.spawn(Toggling, 2, judge=self.spawn(Judge))

    def done(self) -> bool:
        return self[Judge][0].done


def test_partial_orders_with_strong_fairness() -> None:
    assert_right(Both(), "F done", "strong", "violated")
    question = Question(Both(), "F done")
    reduced = question.ample(question.columns(Toggling))
    assert question.verdict("strong", reduced) == "holds", "a violation is missed"
    assert question.verdict("progress", reduced) == question.verdict("progress") == "violated"


# Partial orders with fairness of processes are right only if what is not explored counts as enabled.


class Clock(Process):
    at: int = 0

    @step(when=lambda self: self.at < 2)
    def tick(self) -> None:
        self.at += 1


class Idler(Process):
    phase: int = 0

    @step(when=lambda self: True)
    def turn(self) -> None:
        self.phase = 1 - self.phase


class Idle(System):
    def build(self) -> None:
        self.spawn(Idler)
        self.spawn(Clock)

    def two(self) -> bool:
        return self[Clock][0].at == 2


def test_what_is_enabled_is_not_what_was_explored() -> None:
    assert_right(Idle(), "F two", "process", "holds")
    question = Question(Idle(), "F two")
    assert question.verdict("process", question.stubborn()) == "holds"
    assert question.verdict("process", question.stubborn(explored_only=True)) == "violated", "a lasso that is not fair"


# Symmetry with fairness of processes: two processes that take turns look like one that moves.


class Wanderer(Process):
    at: int = 0

    @step(when=lambda self: self.at == 0)
    def out(self) -> None:
        self.at = 2

    @step(when=lambda self: self.at == 2)
    def home(self) -> None:
        self.at = 0

    @step(when=lambda self: self.at == 0)
    def commit(self) -> None:
        self.at = 1

    @step(when=lambda self: self.at == 1)
    def finish(self) -> None:
        self.at = 3


class Wandering(System):
    def build(self) -> None:
        self.spawn(Wanderer, 2)

    def committed(self) -> bool:
        return any(each.at == 1 for each in self[Wanderer])

    def finished(self) -> bool:
        return any(each.at == 3 for each in self[Wanderer])


def test_symmetry_with_fairness_of_processes() -> None:
    formula = "G(committed -> F finished)"
    assert_right(Wandering(), formula, "process", "holds")
    question = Question(Wandering(), formula)
    assert question.verdict("process", question.renamed(question.columns(Wanderer))) == "violated", (
        "a lasso that is not fair"
    )


@pytest.mark.parametrize("level", ["none", "progress"])
def test_symmetry_is_right_with_symmetric_fairness(level: str) -> None:
    formula = "G(committed -> F finished)"
    question = Question(Wandering(), formula)
    assert (
        question.verdict(level, question.renamed(question.columns(Wanderer))) == question.verdict(level) == "violated"
    )


# A run that ends goes on for ever where it is.


class Once(Process):
    at: int = 0

    @step(when=lambda self: self.at == 0)
    def left(self) -> None:
        self.at = 1

    @step(when=lambda self: self.at == 0)
    def right(self) -> None:
        self.at = 2


class Choice(System):
    def build(self) -> None:
        self.spawn(Once)

    def lucky(self) -> bool:
        return self[Once][0].at == 2


@pytest.mark.parametrize("level", ["none", "progress", "process", "transition", "message", "strong"])
def test_a_run_that_ends_is_a_run(level: str) -> None:
    assert_right(Choice(), "F lucky", level, "violated")
    assert Question(Choice(), "F lucky").without_ends(level) == "holds", "a violation is missed"


# What a bound ends has not ended.


class Bounded(Process):
    at: int = 0

    def within(self) -> bool:
        return self.at < 3

    @step(when=lambda self: True)
    def count(self) -> None:
        self.at += 1


class Counting(System):
    def build(self) -> None:
        self.spawn(Bounded)

    def far(self) -> bool:
        return self[Bounded][0].at >= 5


def test_a_run_that_a_bound_ends_decides_nothing() -> None:
    assert_right(Counting(), "F far", "message", "incomplete")
    question = Question(Counting(), "F far")
    assert question.verdict("message", question.without_bounds()) == "violated", "a run that does not end"


class Slow(Process):
    to: Pid
    sent: int = 0

    @step(when=lambda self: self.sent < 2)
    def fill(self) -> None:
        self.sent += 1
        self.send(self.to, Item())


class Deaf(Process):
    heard: bool = False

    @on(Credit)
    def hear(self, m: Credit) -> None:
        self.heard = True


class Filling(System):
    network = multiset(capacity=1)

    def build(self) -> None:
        self.spawn(Slow, to=self.spawn(Deaf))

    def sent(self) -> bool:
        return self[Slow][0].sent == 2


def test_a_run_that_a_full_channel_ends_decides_nothing() -> None:
    assert_right(Filling(), "F sent", "message", "incomplete")
    question = Question(Filling(), "F sent")
    assert question.verdict("message", question.without_bounds()) == "violated"


@pytest.mark.parametrize("reduction", [PartialOrders, Symmetry])
def test_these_tests_see_a_rule_that_is_lifted(reduction: type, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reduction, "keeps", frozenset(Kept))
    with pytest.raises(AssertionError):
        assert_right(Wandering(), "G(committed -> F finished)", "process", "holds")
