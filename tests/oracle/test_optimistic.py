"""The optimistic universe (docs/soundness.md, rule 24): the closure has no budget, so that everything rests on it.

Verdicts, deadlocks and observations against the reference explorer, and models that get a wrong answer when the rule is
broken which keeps it sound.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from random import Random
from typing import Any
from unittest.mock import patch

import pytest

import corpus
from agreement import PLAIN
from generator import Protocol, without_claims
from quorate import (
    Message,
    Pid,
    Process,
    Result,
    System,
    _core,
    can,
    check,
    fifo,
    invariant,
    multiset,
    on,
    start,
    step,
    unordered,
)
from quorate.model.define import define
from quorate.native.backend import Found
from quorate.protocols import CATALOGUE
from quorate.reduce import optimistic, reductions, share
from quorate.reduce.optimistic import Universe
from quorate.search import safety as checking
from reference import Exploration, explore
from small_instances import small
from test_against_reference import (
    Recorder,
    all_names,
    compare_verdict,
    expect,
    follow,
    look_around,
    run_of,
)

pytestmark = pytest.mark.usefixtures("taken_to_be_pure")

COMBINATIONS: list[dict[str, Any]] = [
    {"quotient": "on", "dead_messages": "off"},
    {"quotient": "off", "dead_messages": "on"},
    {"quotient": "on", "dead_messages": "on"},
    {"quotient": "on", "dead_messages": "on", "search": "dfs"},
    {"quotient": "off", "dead_messages": "off", "por": "lpor-net"},
    {"quotient": "on", "dead_messages": "on", "por": "lpor-net"},
    {"quotient": "on", "dead_messages": "on", "por": "lpor"},
    {"quotient": "on", "dead_messages": "on", "por": "lpor-net", "search": "dfs"},
]

REDUCIBLE = corpus.on("reducible", [unordered(), unordered(), multiset(), fifo(), fifo(head="skip")])
"""Networks for which there have always been relations between steps, and no crashes."""
Limits = tuple[tuple[int, int], int]


@contextmanager
def no_closure(seed: tuple[int, int] = (0, 0), most: int = 60_000) -> Iterator[None]:
    """No closure, no plain search that is over before, a seed of a few walks, and void searches that stop at once."""
    with (
        patch.object(checking, "FIRST_BEHAVIOURS", 0),
        patch.object(checking, "FIRST_STATES", 1),
        patch.object(reductions, "MOST_BEHAVIOURS", 0),
        patch.object(share, "TRANSITIONS_PER_BEHAVIOUR", 1_000_000),
        patch.object(checking, "WORTH_DROPPING", 0),
        patch.object(checking, "VOID_STATES", 0),
        patch.object(optimistic, "WALKS", seed[0]),
        patch.object(optimistic, "WALK_STEPS", seed[1]),
        patch.object(optimistic, "MOST_BEHAVIOURS", most),
        patch.object(optimistic, "LITTLE", 0),
    ):
        yield


def checked(make: Callable[[], System], seed: tuple[int, int] = (0, 0), **options: Any) -> Result:
    with no_closure(seed):
        return check(make(), **options)


def checked_one(model: System) -> Result:
    return checked(lambda: model, symmetry="none")


# Against the reference explorer


def compare_verdicts(
    make: Callable[[], System], found: Exploration, limits: Limits, ways: Iterable[dict[str, Any]] = COMBINATIONS
) -> None:
    definition = define(make())
    deadlock = definition.final is not None
    names = all_names(definition)
    questions: list[tuple[list[str], bool]] = [(names, deadlock), *(([name], False) for name in names)]
    if deadlock:
        questions.append(([], True))
    for wanted, ends in questions:
        expected = expect(definition, found, wanted, ends)
        asked = [*wanted, "deadlock"] if ends else wanted
        for options in ways:
            with no_closure(*limits):
                result = check(make(), property=asked, **options)
                if "por" not in options and "search" not in options:
                    compare_verdict(result, expected)
                    again = check(make(), property=asked, threads=3, **options)
                    assert run_of(result) == run_of(again)
                    assert result.reductions == again.reductions
            assert result.verdict == ("violated" if expected.broken or expected.missed else "holds"), options
            for run in ([] if result.trace is None else [result.trace]) + list(result.witnesses.values()):
                follow(run)


def compare_observations(known: System, limits: Limits, ways: Iterable[dict[str, Any]] = COMBINATIONS) -> list[Result]:
    """In the last search, the one that counts: the same observations, also of deadlocks, as all states together."""
    definition, _, sight = look_around(known)
    seen, stuck = sight.seen, sight.stuck
    prepare = Universe.prepare
    results: list[Result] = []
    for options in ways:
        recorder = Recorder(definition, sight)

        def afresh(universe: Universe, figures: Any, recorder: Recorder = recorder) -> None:
            recorder.seen.clear()
            recorder.stuck.clear()
            universe.model.engine.clear_answers()
            prepare(universe, figures)

        with no_closure(*limits), patch.object(Universe, "prepare", afresh):
            result = recorder.check(property=("noted", "deadlock"), **options)
        assert result.verdict == "holds"
        assert seen <= set(recorder.seen), options
        assert set(recorder.seen) - seen <= set(recorder.seen[:1]), options  # the first may be void (rule 8)
        assert set(recorder.stuck) == stuck, options
        results.append(result)
    return results


# Seeds of so many walks of so many steps, and budgets of which the smaller ones leave processes as they are.
def limits(dice: Random) -> Limits:
    return dice.choice([(0, 0), (1, 1), (1, 3), (2, 6)]), dice.choice([60_000, 60_000, 60, 20])


@corpus.each(corpus.sized, 50)
def test_verdicts_on_generated_protocols(protocol: Protocol, dice: Random) -> None:
    compare_verdicts(lambda: corpus.built(protocol), corpus.explored(protocol), limits(dice))


@corpus.each(REDUCIBLE, 50)
def test_verdicts_where_partial_orders_are_reduced(protocol: Protocol, dice: Random) -> None:
    compare_verdicts(lambda: corpus.built(protocol), corpus.explored(protocol), limits(dice))


@corpus.each(corpus.sized, 25, first=50)
def test_observations_and_deadlocks_on_generated_protocols(protocol: Protocol, dice: Random) -> None:
    compare_observations(corpus.built(without_claims(protocol)), limits(dice))


@corpus.each(REDUCIBLE, 25, first=50)
def test_observations_and_deadlocks_where_partial_orders_are_reduced(protocol: Protocol, dice: Random) -> None:
    compare_observations(corpus.built(without_claims(protocol)), limits(dice))


@pytest.mark.parametrize("name", CATALOGUE)
def test_bundled_protocols(name: str) -> None:
    found = explore(define(small(name)), max_states=100_000)
    compare_verdicts(lambda: small(name), found, ((1, 3), 60_000))


@pytest.mark.parametrize("name", ["paxos", "raft-election", "two-phase-commit", "multi-paxos"])
def test_the_universe_is_used_at_all(name: str) -> None:
    """And with everything known of it, a search visits as many states as with the closure, which holds all of it."""
    with_closure = check(small(name), symmetry="none")
    result = checked(lambda: small(name), symmetry="none")
    assert result.reductions["universe"]["ran"]
    assert result.reductions["universe"]["searches"] + result.reductions["universe"]["extensions"] > 1
    assert result.reductions["universe"]["local_states"] <= with_closure.reductions["closure"]["local_states"]
    assert result.states == with_closure.states


# What was met is not enough: models in which nobody ever meets what was reduced away


class Late(Message): ...


class Sender(Process):
    to: Pid

    @start
    def tell(self) -> None:
        self.send(self.to, Late())


class Ready(Process):
    """Takes the message only after a step of its own. Taken for dead, it never lies there when it could be taken."""

    ready: bool = False
    bad: bool = False

    @step(when=lambda self: not self.ready)
    def get_ready(self) -> None:
        self.ready = True

    @on(Late, when=lambda self, m: self.ready)
    def take(self, m: Late) -> None:
        self.bad = True


class DeadTooSoon(System):
    def build(self) -> None:
        self.spawn(Sender, to=self.spawn(Ready))

    @invariant
    def good(self) -> bool:
        return not any(process.bad for process in self[Ready])


class Chooser(Process):
    """Two local states that differ only in what they do with a message. Merged, one of them never gets it."""

    way: int = 0
    bad: bool = False

    @step(when=lambda self: self.way == 0)
    def choose_way(self) -> None:
        self.way = self.choose((1, 2))

    @on(Late, when=lambda self, m: self.way == 1)
    def fine(self, m: Late) -> None:
        pass

    @on(Late, when=lambda self, m: self.way == 2)
    def take(self, m: Late) -> None:
        self.bad = True


class Waiting(Process):
    """Sends when it is told to, so that the message is late."""

    to: Pid
    told: bool = False

    @step(when=lambda self: not self.told)
    def tell(self) -> None:
        self.told = True
        self.send(self.to, Late())


class MergedTooSoon(System):
    def build(self) -> None:
        self.spawn(Waiting, to=self.spawn(Chooser))

    @invariant
    def good(self) -> bool:
        return not any(process.bad for process in self[Chooser])


class Impatient(Process):
    """Takes the message only as long as it has not gone on. If nobody knows that it could, going on is all it does."""

    gone: bool = False
    bad: bool = False

    @step(when=lambda self: not self.gone)
    def go(self) -> None:
        self.gone = True

    @on(Late, when=lambda self, m: not self.gone)
    def take(self, m: Late) -> None:
        self.bad = True


class PassedOver(System):
    def build(self) -> None:
        self.spawn(Sender, to=self.spawn(Impatient))

    @invariant
    def good(self) -> bool:
        return not any(process.bad for process in self[Impatient])


@pytest.mark.parametrize(
    ("model", "options"),
    [
        (DeadTooSoon, {"quotient": "off", "dead_messages": "on"}),
        (MergedTooSoon, {"quotient": "on", "dead_messages": "off"}),
        (PassedOver, {"quotient": "off", "dead_messages": "off", "por": "lpor-net"}),
    ],
)
def test_what_was_met_is_not_enough(model: type[System], options: dict[str, Any]) -> None:
    assert check(model, **PLAIN).verdict == "violated"
    assert checked(model, (1, 1), **options).verdict == "violated"

    def only_met(universe: Universe, most: int) -> _core.UniverseReport:
        return universe.model.engine.evaluate_universe(universe.model, most, only_met=True)

    with patch.object(Universe, "evaluate", only_met):
        assert checked(model, (1, 1), **options).verdict == "holds"


# Searches that go on in a larger universe


class Step(Message):
    n: int


class Counter(Process):
    """Counts in its messages and in its own field. Nothing that it has met is merged or dropped later."""

    to: Pid | None = None
    most: int = 0
    n: int = 0
    last: bool = False

    @step(when=lambda self: self.to is not None and self.n == 0)
    def begin(self) -> None:
        assert self.to is not None
        self.n = 1
        self.send(self.to, Step(1))

    @on(Step, when=lambda self, m: m.n > self.n)
    def count(self, m: Step) -> None:
        self.n = m.n
        self.last = m.n >= self.most
        if not self.last:
            self.reply(Step(m.n + 1))


class Counting(System):
    most: int = 20

    def build(self) -> None:
        one, two = self.spawn(Counter, most=self.most), self.spawn(Counter, most=self.most)
        self.connect(one, to=two)

    @invariant
    def bounded(self) -> bool:
        return all(counter.n <= self.most for counter in self[Counter])

    @can
    def counted(self) -> bool:
        return any(counter.last for counter in self[Counter])


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("dead_messages", ["on", "off"])
def test_a_search_goes_on_where_what_was_decided_stands(threads: int, dead_messages: Any) -> None:
    result = checked(Counting, threads=threads, dead_messages=dead_messages, symmetry="none")
    assert result.ok
    assert result.witnesses["counted"].shortest
    universe = result.reductions["universe"]
    assert (universe["searches"], universe["extensions"]) == (1, 21)
    assert result.states == check(Counting, **PLAIN).states


def test_a_search_that_goes_on_too_often_is_void() -> None:
    with no_closure(), patch.object(optimistic, "MOST_EXTENSIONS", 5):
        result = check(Counting, symmetry="none")
    assert result.ok
    assert result.reductions["universe"]["searches"] > 1


@pytest.mark.parametrize("search", [{"search": "dfs"}, {"por": "lpor-net"}, {"self_check": True}])
def test_other_searches_start_over(search: Any) -> None:
    result = checked(Counting, symmetry="none", **search)
    assert result.ok
    assert result.reductions["universe"]["extensions"] == 0
    assert result.reductions["universe"]["searches"] > 1


class Patient(Process):
    """Sends itself a message that it takes three steps later. Until then nothing in the universe does."""

    n: int = 0
    bad: bool = False

    @step(when=lambda self: self.n < 3)
    def wait(self) -> None:
        if self.n == 0:
            self.send(self.pid, Late())
        self.n += 1

    @on(Late, when=lambda self, m: self.n == 3)
    def take(self, m: Late) -> None:
        self.bad = True


class AliveLater(System):
    def build(self) -> None:
        self.spawn(Patient)

    @invariant
    def good(self) -> bool:
        return not self[Patient][0].bad


class Go(Message): ...


class Slow(Process):
    """Sends the message some time after it was told to."""

    to: Pid | None = None
    n: int = 0

    @on(Go)
    def go(self, m: Go) -> None:
        self.n = 1

    @step(when=lambda self: 0 < self.n < 3)
    def wait(self) -> None:
        self.n += 1
        if self.n == 3:
            assert self.to is not None
            self.send(self.to, Late())


class Early(Process):
    """Goes one of two ways before there is a message that tells them apart. Merged, only one of them is left."""

    slow: Pid | None = None
    wrong: int = 1
    way: int = 0
    bad: bool = False

    @step(when=lambda self: self.way == 0)
    def choose_way(self) -> None:
        assert self.slow is not None
        self.way = self.choose((1, 2))
        self.send(self.slow, Go())

    @on(Late)
    def take(self, m: Late) -> None:
        self.bad = self.way == self.wrong


class ApartLater(System):
    wrong: int = 1

    def build(self) -> None:
        slow, early = self.spawn(Slow), self.spawn(Early, wrong=self.wrong)
        self.connect(slow, to=early)
        self.connect(early, slow=slow)

    @invariant
    def good(self) -> bool:
        return not self[Early][0].bad


@pytest.mark.parametrize("models", [[AliveLater()], [ApartLater(wrong=1), ApartLater(wrong=2)]])
def test_a_search_does_not_go_on_where_something_else_is_decided(models: list[System]) -> None:
    went_on: list[bool] = []
    outgrown = Universe.outgrown

    def noted(universe: Universe) -> bool:
        went_on.append(outgrown(universe))
        return went_on[-1]

    with patch.object(Universe, "outgrown", noted):
        for model in models:
            assert checked_one(model).verdict == "violated"
    assert {True, False} == set(went_on)

    def regardless(universe: Universe) -> bool:
        outgrown(universe)
        return True

    with patch.object(Universe, "outgrown", regardless):
        assert "holds" in [checked_one(model).verdict for model in models]


def test_a_search_that_has_left_the_universe_does_not_count() -> None:
    """The message was dropped before a local state was met that takes it."""
    ends: list[tuple[str, object]] = []
    grow = Universe.grow

    def noted(universe: Universe, found: Found) -> None:
        ends.append((found.stop, found.violation))
        grow(universe, found)

    with patch.object(Universe, "grow", noted):
        assert checked(AliveLater).verdict == "violated"
    assert ends
    assert set(ends) == {("outgrown", None)}


# What it may cost


class Number(Message):
    n: int


class Player(Process):
    """Counts without end in the messages it sends, though not in its own fields."""

    to: Pid | None = None
    begun: bool = False
    big: bool = False

    @step(when=lambda self: self.to is not None and not self.begun)
    def begin(self) -> None:
        assert self.to is not None
        self.begun = True
        self.send(self.to, Number(1))

    @on(Number)
    def hear(self, m: Number) -> None:
        self.big = m.n >= 5_000
        self.reply(Number(m.n + 1))


class Endless(System):
    def build(self) -> None:
        one, two = self.spawn(Player), self.spawn(Player)
        self.connect(one, to=two)

    @invariant
    def small(self) -> bool:
        return not any(player.big for player in self[Player])


@pytest.mark.parametrize("search", ["bfs", "dfs"])
def test_a_universe_that_never_ends_is_given_up(search: Any) -> None:
    with no_closure(), patch.object(optimistic, "MOST_ROUNDS", 2):
        result = check(Endless, search=search, max_states=4_500)
    assert (result.verdict, result.stopped_by) == ("incomplete", "states")
    assert result.reductions["universe"] == {"ran": False, "why": "it still grew after 2 searches"}
    assert result.reductions["quotient"] == {
        "ran": False,
        "why": "no universe is known: it still grew after 2 searches",
    }


def test_void_searches_are_limited_by_their_states_too() -> None:
    with no_closure(), patch.object(optimistic, "MOST_VOID_STATES", 1_500):
        result = check(Endless, max_states=4_500)
    assert result.reductions["universe"]["why"].startswith("it still grew after ")
    assert result.reductions["universe"]["why"].endswith(" states")


def test_a_violation_beyond_the_first_universes_is_found() -> None:
    with no_closure():
        result = check(Endless)
    assert (result.verdict, result.property) == ("violated", "small")
    assert result.trace is not None
    assert (len(result.trace), result.trace.shortest) == (5_001, True)
    assert result.reductions["universe"]["ran"]


def test_a_limit_on_states_is_kept() -> None:
    with no_closure():
        result = check(Endless, max_states=100)
    assert (result.verdict, result.stopped_by, result.trace) == ("incomplete", "states", None)


def test_a_process_that_is_too_large_is_taken_as_it_is() -> None:
    with no_closure((2, 5), most=20):
        result = check(small("paxos"), por="lpor-net")
    universe = result.reductions["universe"]
    assert universe["ran"]
    assert universe["why"].endswith("too large for it, so taken as it is: acceptor1")
    assert result.reductions["por"]["based_on"] == "types"  # see test_flows.py
    assert result.ok


def test_if_all_processes_are_too_large_nothing_is_reduced() -> None:
    with no_closure(most=0):
        result = check(small("paxos"))
    assert result.reductions["universe"] == {"ran": False, "why": "it would ask more of Python than it could save"}
    assert result.states == check(small("paxos"), **PLAIN).states
