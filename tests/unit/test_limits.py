"""Limits are kept also while Python answers questions, however long each answer takes."""

from typing import Any

import pytest

from quorate import Message, Pid, Process, System, _core, can, check, invariant, on, start, step
from quorate.language.domains import Evidence
from quorate.model.attacker import Arsenal
from quorate.native.model import Model
from quorate.protocols.echo_multicast import EchoMulticast
from quorate.protocols.paxos import Paxos
from quorate.search.limits import Watcher
from quorate.search.self_check import SelfCheck

NUMBERS = 200


class Number(Message):
    value: int


class Teacher(Process):
    pupil: Pid

    @start
    def dictate(self) -> None:
        for value in range(NUMBERS):
            self.send(self.pupil, Number(value))


class Pupil(Process):
    total: int = 0

    @on(Number, when=lambda self, m: sum(range(400_000)) < 0)  # takes its time, and wants none of them
    def add(self, m: Number) -> None: ...


class School(System):
    def build(self) -> None:
        self.spawn(Teacher, pupil=self.spawn(Pupil))

    @invariant
    def fine(self) -> bool:
        return True


@pytest.mark.parametrize("reductions", ["on", "off"])
def test_time_is_up_between_the_answers_to_one_round_of_questions(reductions: str) -> None:
    result = check(School(), timeout=0.3, quotient=reductions, dead_messages=reductions)
    assert (result.verdict, result.stopped_by) == ("incomplete", "time")
    assert 0 < result.python_calls < NUMBERS


def test_time_is_up_while_the_reductions_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search is over by then; but that the reductions hold was asked for as well."""

    def late(self: SelfCheck, model: Model, final: bool) -> None:
        model.stop.reason = "time"  # type: ignore[attr-defined]
        raise _core.StoppedError

    monkeypatch.setattr(SelfCheck, "verify", late)
    result = check(Paxos(acceptors=5), timeout=60, self_check=True, por="lpor-net")
    assert (result.verdict, result.stopped_by) == ("incomplete", "time")
    assert result.states > 0


def test_memory_counts_while_python_answers() -> None:
    result = check(School(), max_memory=1)
    assert (result.verdict, result.stopped_by, result.states) == ("incomplete", "memory", 0)
    assert result.python_calls < NUMBERS


def test_the_watcher_says_why_it_stops() -> None:
    watcher = Watcher(None, None, 1000)
    assert not watcher(1, 1, 1, 1, 1000)
    assert watcher(1, 1, 1, 1, 1001)
    assert watcher.reason == "memory"


def test_an_attacker_that_thinks_for_long_is_stopped_too(monkeypatch: pytest.MonkeyPatch) -> None:
    think = Arsenal.more
    thoughts: list[bool] = []

    def thinking(self: Arsenal, before: Evidence | None, after: Evidence) -> list[tuple[Pid, Message]]:
        thoughts.append(before is not None)
        while thoughts[-1]:  # the first time is before any step
            pass
        return think(self, before, after)

    monkeypatch.setattr(Arsenal, "more", thinking)
    small = EchoMulticast(honest_receivers=1, honest_initiators=1, byzantine_receivers=0, byzantine_initiators=0)
    result = check(small, byzantine={"initiator": 1}, timeout=0.5)
    assert (result.verdict, result.stopped_by) == ("incomplete", "time")
    assert any(thoughts)


def test_the_analysis_gets_the_budget_it_is_given() -> None:
    """Paxos has 223 behaviours; without them all it is not known what may happen, and only symmetry goes without."""
    result = check(Paxos(), max_behaviours=100)
    assert (result.verdict, result.states) == ("holds", 1_589)
    assert result.reductions["quotient"]["why"].startswith("the closure is not complete")
    assert check(Paxos(), max_behaviours=100, symmetry="none").states == 8_649
    assert check(Paxos(), max_behaviours=223).states == check(Paxos()).states == 266


def test_a_budget_beyond_the_usual_one_is_spent_before_the_search() -> None:
    """Nine acceptors make 6,154 behaviours: more than are tried before a first search."""
    result = check(Paxos(acceptors=9), max_behaviours=7_000, max_states=100)
    assert result.reductions["closure"]["ran"]
    assert not check(Paxos(acceptors=9), max_states=100).reductions["closure"]["ran"]


class Counting(Process):
    n: int = 0

    @step(when=lambda self: True)
    def up(self) -> None:
        self.n += 1


class Reachable(System):
    """Without an end, and what is asked for comes soon."""

    counters: int = 2

    def build(self) -> None:
        self.spawn(Counting, self.counters)

    @can
    def five(self) -> bool:
        return any(each.n == 5 for each in self[Counting])


class Stopping(Counting):
    def within(self) -> bool:
        return self.n < 9


class ReachableAndBounded(Reachable):
    def build(self) -> None:
        self.spawn(Stopping, self.counters)


class Failing(Stopping):
    @step(when=lambda self: self.n == 8)
    def fail(self) -> None:
        raise AssertionError


class ReachableAndFailing(Reachable):
    def build(self) -> None:
        self.spawn(Failing, self.counters)


@pytest.mark.parametrize("search", ["bfs", "dfs"])
@pytest.mark.parametrize("reduce", ["on", "off"])
def test_what_was_shown_ends_the_search_if_it_is_the_only_question(search: Any, reduce: str) -> None:
    options: dict[str, Any] = {"search": search, "quotient": reduce, "dead_messages": reduce, "symmetry": "none"}
    found = check(ReachableAndBounded, property="five", **options)
    assert found.ok
    assert found.states < 81
    assert "five" in found.witnesses
    # That handlers may fail is a question too, and so is what is not asked for by name.
    assert check(ReachableAndFailing, property="five", **options).property == "assertions"
    assert check(ReachableAndBounded, property=["five", "deadlock"], **options).states == 81
    assert check(ReachableAndBounded, **options).states == 81


@pytest.mark.parametrize("limit", [{"max_states": 2000}, {"timeout": 0.3}, {}], ids=["states", "time", "none"])
def test_what_was_shown_stays_shown_when_the_search_is_stopped(limit: Any) -> None:
    found = check(Reachable(counters=3), property="five", **limit)
    assert found.ok
    assert found.stopped_by is None
    assert len(found.witnesses["five"]) == 5
    if limit:  # nobody knows whether a handler fails further on, and without a name that is asked too
        found = check(Reachable(counters=3), **limit)
        assert found.verdict == "incomplete"
        assert [each.verdict for each in found.properties] == ["holds"]


def test_figures_that_a_limit_cut_short_are_told_to_be_so() -> None:
    found = check(ReachableAndBounded, max_states=60, symmetry="none", quotient="off")
    assert (found.verdict, found.stopped_by) == ("holds", None)
    assert found.states < 81
    assert found.properties[0].note == "a run shows it; the search ended there"
    whole = check(ReachableAndBounded, max_states=90, symmetry="none", quotient="off")
    assert (whole.states, whole.properties[0].note) == (81, "a run shows it")
