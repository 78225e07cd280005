"""Temporal properties of systems with ranks: loops that go on with higher numbers, and what is fair there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from quorate import Message, Pid, Process, Rank, System, check, ltl, on, start, step, unordered
from quorate.language.rank import rank
from quorate.model.define import define
from quorate.model.renumbering import moved_by
from quorate.results.replay import replay
from rank_models import Duel, Proposer


class TimedDuel(Duel):
    def done(self) -> bool:
        return any(each.chosen is not None for each in self[Proposer])

    def both_wait(self) -> bool:
        return all(each.waiting for each in self[Proposer])

    chosen = ltl("F done")


@pytest.mark.parametrize("acceptors", [1, 2])
def test_a_duel_without_a_bound_on_ballots_need_not_end(acceptors: int, tmp_path: Path) -> None:
    result = check(TimedDuel(acceptors=acceptors), property="chosen")
    assert (result.verdict, result.property) == ("violated", "chosen")
    assert result.states == {1: 110, 2: 8_614}[acceptors]
    trace = result.trace
    assert trace is not None
    assert trace.loop_from is not None
    first, last = trace.states[trace.loop_from], trace.states[-1]
    assert first != last
    assert moved_by((first.locals, first.pending), (last.locals, last.pending)) == 2
    assert "again and again, with higher ranks each time" in " ".join(str(result).split())
    trace.save(tmp_path / "run.json")
    recorded = json.loads((tmp_path / "run.json").read_text())["trace"]
    assert replay(define(TimedDuel(acceptors=acceptors)), recorded).loop_from == trace.loop_from


def test_no_stronger_fairness_ends_the_duel() -> None:
    assert check(TimedDuel(), property="chosen", fairness="strong").verdict == "violated"


def test_one_proposer_gets_its_value_chosen() -> None:
    for acceptors in (1, 2, 3):
        assert check(TimedDuel(proposers=1, acceptors=acceptors), property="chosen").verdict == "holds"


def test_safety_and_liveness_in_one_check() -> None:
    result = check(TimedDuel())
    assert {each.name: each.verdict for each in result.properties} == {"agreement": "holds", "chosen": "violated"}


class Beat(Message):
    stamp: Rank


class Sender(Process):
    """Sends again and again, each time with a later stamp, and every other time remembers an older one."""

    to: Pid
    stamp: Rank = Rank()
    older: Rank | None = None

    @step(when=lambda self: True)
    def beat(self) -> None:
        self.older = self.stamp if self.older is None else None
        self.stamp = self.stamp.later()
        self.send(self.to, Beat(self.stamp))


class Receiver(Process):
    got: bool = False

    @on(Beat)
    def receive(self, _: Beat) -> None:
        self.got = True


class Beats(System):
    network = unordered(capacity=1, full="replace")

    def build(self) -> None:
        self.spawn(Sender, to=self.spawn(Receiver))

    def got(self) -> bool:
        return all(each.got for each in self[Receiver])

    received = ltl("F got")


def test_a_message_that_is_always_there_is_received_whatever_its_rank() -> None:
    """In the order of the whole state its stamp is now the first, now the second: that is no reason to let it lie."""
    assert check(Beats()).verdict == "holds"
    result = check(Beats(), fairness="progress")
    assert result.verdict == "violated"
    assert result.fairness is not None
    assert "whatever the ranks" in check(Beats()).fairness["assuming"]  # type: ignore[index]


class High(Message):
    stamp: Rank


class Climber(Process):
    """Climbs from the first rank to one that is given, step by step: with numbers it arrives."""

    goal: Rank | None = None
    at: Rank = Rank()

    @on(High)
    def hear(self, m: High) -> None:
        self.goal = m.stamp

    @step(when=lambda self: self.goal is not None and self.at < self.goal)
    def climb(self) -> None:
        self.at = self.at.later()


class Guide(Process):
    to: Pid
    stamp: Rank = Rank()
    steps: int = 0

    @step(when=lambda self: self.steps < 3)
    def rise(self) -> None:
        self.stamp, self.steps = self.stamp.later(), self.steps + 1

    @step(when=lambda self: self.steps == 3)
    def tell(self) -> None:
        self.steps = 4
        self.send(self.to, High(self.stamp))


class Climbing(System):
    def build(self) -> None:
        self.spawn(Guide, to=self.spawn(Climber))

    def arrived(self) -> bool:
        return all(each.goal is not None and each.at == each.goal for each in self[Climber])

    def told(self) -> bool:
        return all(each.goal is not None for each in self[Climber])

    arrives = ltl("F arrived")
    is_told = ltl("F told")


def test_a_loop_that_numbers_do_not_have_decides_nothing() -> None:
    """By the order alone there is always room between two ranks; between two numbers there is not."""
    result = check(Climbing())
    assert {each.name: each.verdict for each in result.properties} == {"arrives": "incomplete", "is_told": "holds"}
    assert result.trace is None
    assert "was not found with numbers" in str(result)


class Ticket(Message):
    stamp: Rank


class Served(Message): ...


class Customer(Process):
    server: Pid
    stamp: Rank = Rank()
    waits: bool = False

    @step(when=lambda self: not self.waits)
    def ask(self) -> None:
        self.stamp, self.waits = self.stamp.later(), True
        self.send(self.server, Ticket(stamp=self.stamp))

    @on(Served)
    def leave(self, m: Served) -> None:
        self.waits = False


class Counter(Process):
    highest: Rank = Rank()

    @on(Ticket)
    def serve(self, m: Ticket) -> None:
        self.highest = max(self.highest, m.stamp)
        self.reply(Served())


class Serving(System):
    def build(self) -> None:
        self.spawn(Customer, 2, server=self.spawn(Counter))

    def behind(self) -> bool:
        return self[Customer][0].stamp < self[Counter][0].highest


@pytest.mark.parametrize("level", ["transition", "message"])
def test_a_loop_that_is_fairer_than_needed_may_have_numbers(level: str) -> None:
    """The first loop for a weak level is one that leaves a customer alone, and has no numbers."""
    result = check(Serving(), ltl="F behind", fairness=level)
    assert result.verdict == "violated"
    assert result.trace is not None


class Ticking(Process):
    stamp: Rank = Rank()
    ticked: bool = False

    @start
    def begin(self) -> None:
        self.stamp = self.stamp.later()

    @step(when=lambda self: True)
    def tick(self) -> None:
        self.ticked = not self.ticked


class Steady(System):
    def build(self) -> None:
        self.spawn(Ticking)

    def rests(self) -> bool:
        return not any(each.ticked for each in self[Ticking])

    at_rest = ltl("F G rests")


def test_a_loop_may_come_back_to_the_same_numbers() -> None:
    result = check(Steady())
    assert result.verdict == "violated"
    assert result.trace is not None
    assert result.trace.loop_from is not None
    assert result.trace.states[result.trace.loop_from] == result.trace.states[-1]


def test_moved_by() -> None:
    assert moved_by((rank(2), rank(5)), (rank(4), rank(7))) == 2
    assert moved_by((rank(2), rank(5)), (rank(4), rank(8))) is None
    assert moved_by((Rank(), rank(5)), (Rank(), rank(7))) == 2
    assert moved_by((rank(2), 3), (rank(4), 5)) is None
    assert moved_by((1,), (1,)) is None
