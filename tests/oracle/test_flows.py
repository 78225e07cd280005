"""Partial orders by flows: no closure and no universe, only which classes of messages were seen to go to whom.

Verdicts, deadlocks and observations against the reference explorer, and for every rule of
`src/core/reduce/por/flows.hpp` and `src/core/reduce/por/persistent.hpp` a model that gets a wrong answer without it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from typing import Any
from unittest.mock import patch

import pytest

import corpus
from agreement import PLAIN
from byzantine_models import Voting
from generator import Protocol, without_claims
from quorate import (
    Event,
    Message,
    Monitor,
    Pid,
    Process,
    Result,
    System,
    check,
    fifo,
    invariant,
    multiset,
    on,
    quorum,
    start,
    step,
    unordered,
)
from quorate.reduce import optimistic
from quorate.search import safety as checking
from small_instances import small
from test_optimistic import Impatient, Late, Limits, compare_observations, compare_verdicts, no_closure

pytestmark = pytest.mark.usefixtures("taken_to_be_pure")

WAYS: list[dict[str, Any]] = [
    {"por": "lpor"},
    {"por": "lpor-net", "threads": 2},
    {"por": "lpor", "search": "dfs"},
]


@contextmanager
def only_flows(seed: tuple[int, int] = (0, 0)) -> Iterator[None]:
    """Neither a closure nor a universe; flows begin with what a few random walks have met, if any."""
    with no_closure(seed, most=0):
        yield


def by_flows(made: System | type[System], **options: Any) -> Result:
    with only_flows():
        result = check(made, **{"por": "lpor-net", **options})
    assert result.reductions["por"]["ran"], result.reductions["por"]["why"]
    assert result.reductions["por"]["based_on"] == "types"
    return result


# A pipeline whose closure does not end


class Item(Message):
    n: int


class Source(Process):
    to: Pid
    left: int

    @step(when=lambda self: self.left > 0)
    def produce(self) -> None:
        self.left -= 1
        self.send(self.to, Item(self.left))


class Stage(Process):
    """For all that is known of it alone, it may count up to any number."""

    to: Pid
    count: int = 0

    @on(Item)
    def pass_on(self, m: Item) -> None:
        self.count += 1
        self.send(self.to, Item(self.count + m.n))


class Sink(Process):
    count: int = 0

    @on(Item)
    def take(self, m: Item) -> None:
        self.count += 1


class Pipeline(System):
    stages: int = 2
    items: int = 3

    def build(self) -> None:
        to = self.spawn(Sink)
        for _ in range(self.stages):
            to = self.spawn(Stage, to=to)
        self.spawn(Source, to=to, left=self.items)

    @invariant
    def not_too_many(self) -> bool:
        return self[Sink][0].count <= self.items

    @invariant
    def all_but_one(self) -> bool:
        return self[Sink][0].count < self.items


def test_a_pipeline_that_has_no_closure() -> None:
    """As a user would meet it, but with a fraction of the patience that the checker has."""
    made = Pipeline(items=4)
    plain = check(made, property="not_too_many", **PLAIN)
    with (
        patch.object(checking, "FIRST_BEHAVIOURS", 500),
        patch.object(checking, "FIRST_STATES", 50),
        patch.object(checking, "WORTH_DROPPING", 0),
        patch.object(optimistic, "MOST_BEHAVIOURS", 0),
    ):
        result = check(made, property="not_too_many", por="lpor-net", split="combined", max_behaviours=500)
    assert (result.verdict, plain.verdict) == ("holds", "holds")
    assert result.deadlocks == plain.deadlocks
    assert (result.states, plain.states) == (1_053, 2_032)
    figures = result.reductions
    assert figures["closure"]["ran"] is False
    assert figures["universe"]["ran"] is False
    assert figures["por"]["based_on"] == "types"
    assert "by the classes of messages that they were seen to send to whom" in figures["por"]["why"]
    assert figures["split"]["ran"] is False
    assert figures["split"]["why"].startswith("only whole processes are chosen or left out")


@pytest.mark.parametrize("network", [unordered(), multiset(), fifo()], ids=str)
def test_a_pipeline_is_searched_as_without(network: Any) -> None:
    made = type("Pipeline", (Pipeline,), {"network": network})(stages=1, items=2)
    plain = check(made, property="not_too_many", **PLAIN)
    for ways in WAYS:
        result = by_flows(made, property="not_too_many", **ways)
        assert (result.verdict, result.deadlocks) == (plain.verdict, plain.deadlocks)
        assert result.states < plain.states
        assert by_flows(made, property="all_but_one", **ways).verdict == "violated"


# Without a rule, each of these gets a wrong answer


class Slow(Process):
    """Nobody has seen it send anything before its last step, and it is put off for as long as another can do more."""

    to: Pid
    turn: int = 0

    @step(when=lambda self: self.turn < 3)
    def wait(self) -> None:
        self.turn += 1
        if self.turn == 3:
            self.send(self.to, Late())


class LateFlow(System):
    def build(self) -> None:
        self.spawn(Slow, to=self.spawn(Impatient))

    @invariant
    def good(self) -> bool:
        return not self[Impatient][0].bad


class Twice(Process):
    to: Pid
    left: int = 2

    @step(when=lambda self: self.left > 0)
    def tell(self) -> None:
        self.left -= 1
        self.send(self.to, Late())


class Counter(Process):
    count: int = 0

    @on(Late)
    def take(self, m: Late) -> None:
        self.count += 1


class Resent(System):
    """On a set, what is sent twice arrives twice only if it is consumed in between."""

    def build(self) -> None:
        self.spawn(Twice, to=self.spawn(Counter))

    @invariant
    def good(self) -> bool:
        return self[Counter][0].count < 2


class Came(Event):
    second: bool


class Racer(Process):
    second: bool
    turn: int = 0

    @step(when=lambda self: self.turn == 0)
    def get_ready(self) -> None:
        self.turn = 1

    @step(when=lambda self: self.turn == 1)
    def come(self) -> None:
        self.turn = 2
        self.emit(Came(self.second))


class Order(Monitor):
    come: bool = False

    @on(Came)
    def note(self, e: Came) -> None:
        assert self.come or not e.second
        self.come = True


class SharedMonitor(System):
    """Processes that never send to each other, in the order that is right, and the other."""

    def build(self) -> None:
        self.spawn(Racer, second=False)
        self.spawn(Racer, second=True)
        self.watch(Order)


class Mover(Process):
    moved: bool = False

    @step(when=lambda self: not self.moved)
    def move(self) -> None:
        self.moved = True


class TwoSeen(System):
    """No process of a property may go first, for the property sees who does."""

    def build(self) -> None:
        for _ in range(2):
            self.spawn(Mover)

    @invariant
    def good(self) -> bool:
        first, second = self[Mover]
        return first.moved or not second.moved


class Restless(Process):
    side: bool = False

    @step(when=lambda self: True)
    def turn(self) -> None:
        self.side = not self.side


class Ignored(System):
    """One process never stops, and there is always a reason to let it go first."""

    def build(self) -> None:
        self.spawn(Restless)
        self.spawn(Mover)

    @invariant
    def good(self) -> bool:
        return not self[Mover][0].moved


class Voter(Process):
    to: Pid

    @start
    def vote(self) -> None:
        self.send(self.to, Late())


class Teller(Process):
    alone: bool = False

    @quorum(Late, enough=lambda self, ms: True, sets="maximal")
    def tell(self, ms: frozenset[Late]) -> None:
        self.alone = self.alone or len(ms) == 1


class OneMore(System):
    """Where as many votes are taken as there are, one more makes a difference to a step that was possible before."""

    def build(self) -> None:
        teller = self.spawn(Teller)
        for _ in range(2):
            self.spawn(Voter, to=teller)

    @invariant
    def good(self) -> bool:
        return not self[Teller][0].alone


class Bound(Process):
    """Its only step is cut: that is possible for ever, and leads nowhere."""

    moved: bool = False

    @step(when=lambda self: True)
    def move(self) -> None:
        self.moved = True

    def within(self) -> bool:
        return not self.moved


class CutOff(System):
    def build(self) -> None:
        self.spawn(Bound)
        for _ in range(2):
            self.spawn(Mover)


@pytest.mark.parametrize("model", [LateFlow, Resent, SharedMonitor, TwoSeen, Ignored, OneMore])
@pytest.mark.parametrize("ways", WAYS, ids=str)
def test_no_rule_can_be_left_out(model: type[System], ways: dict[str, Any]) -> None:
    assert check(model, **PLAIN).verdict == "violated"
    with only_flows():
        result = check(model, **ways)
    assert result.verdict == "violated"


def test_what_is_cut_stands_for_nothing() -> None:
    """Chosen, it would be a set after which nothing comes; the search would notice, and take all steps."""
    result = by_flows(CutOff, property=(), self_check=True)
    assert result.states == 3
    assert result.bounds
    assert check(CutOff, property=(), **PLAIN).states == 4


def test_resends_need_a_rule_on_sets_only() -> None:
    on_set = by_flows(Resent, property=())
    made = type("Resent", (Resent,), {"network": multiset()})
    on_multiset = by_flows(made, property=())
    assert on_set.deadlocks == 2
    assert (on_multiset.deadlocks, on_multiset.states) == (1, 5)


class Deaf(Process):
    moved: bool = False

    @step(when=lambda self: not self.moved)
    def move(self) -> None:
        self.moved = True


class Unheard(System):
    def build(self) -> None:
        deaf = [self.spawn(Deaf) for _ in range(3)]
        self.spawn(Twice, to=deaf[0])


@pytest.mark.filterwarnings("ignore")
def test_what_nobody_takes_binds_nobody() -> None:
    """Three steps, then two: one order of them all."""
    assert check(Unheard, property=(), **PLAIN).states == 24
    assert by_flows(Unheard, property=()).states == 6


# Generated protocols


def linked(protocol: Protocol, dice: Random) -> Protocol:
    """In which not everybody knows everybody, on networks for which flows are argued."""
    networks = [unordered(), unordered(), multiset(), fifo(), fifo(head="skip"), unordered(duplicates="any")]
    number = sum(role.number for role in protocol.roles)
    links = [dice.choices(range(number), k=dice.choice((0, 1, 2))) for _ in range(number)]
    upward = dice.random() < 0.5  # nobody answers, but for a reply
    made = protocol._replace(
        network=dice.choice(networks),
        crashes=0,
        links=tuple(
            tuple(other for other in known if other > this or (other < this and not upward))
            for this, known in enumerate(links)
        ),
    )
    return corpus.smaller(made, corpus.MOST_STATES)


LINKED = corpus.Kind("linked", linked)
SEEDS = [(0, 0), (0, 0), (1, 1), (2, 6)]


@corpus.each(LINKED)
def test_verdicts_on_generated_protocols(protocol: Protocol, dice: Random) -> None:
    limits: Limits = (dice.choice(SEEDS), 0)
    compare_verdicts(lambda: corpus.built(protocol), corpus.explored(protocol), limits, WAYS)


@corpus.each(LINKED)
def test_observations_and_deadlocks_on_generated_protocols(protocol: Protocol, dice: Random) -> None:
    compare_observations(corpus.built(without_claims(protocol)), (dice.choice(SEEDS), 0), WAYS)


@corpus.each(LINKED)
def test_every_deadlock_on_generated_protocols(protocol: Protocol, dice: Random) -> None:
    """One by one, with all that is pending, and all that a bound cuts; and the sets hold against their definition."""
    small, seed = corpus.built(without_claims(protocol)), dice.choice(SEEDS)
    plain = check(small, property=(), **PLAIN)
    for ways in WAYS:
        with only_flows(seed):
            # A monitor is closed over the events alone, so that its local states may be merged even here.
            result = check(small, property=(), self_check=True, quotient="off", **ways)
        assert result.deadlocks == plain.deadlocks
        assert result.bounds == plain.bounds
        assert result.states <= plain.states


@pytest.mark.parametrize("quorum", [2, 3])
def test_attackers(quorum: int) -> None:
    """What they may say at any time is there from the beginning, and no step sends it."""
    made = Voting(voters=3, byzantine=1, quorum=quorum)
    results = compare_observations(made, ((0, 0), 0), WAYS)
    assert all(result.reductions["por"]["ran"] for result in results)


def test_generated_protocols_are_reduced_at_all() -> None:
    ran: list[bool] = []

    @corpus.each(LINKED, 40)
    def look(protocol: Protocol, dice: Random) -> None:
        made = corpus.built(without_claims(protocol))
        with only_flows():
            result = check(made, property=(), por="lpor")
        ran.append(result.reductions["por"]["ran"] and result.states < check(made, property=(), **PLAIN).states)

    look()
    assert sum(ran) >= 10


# What is told


def test_the_self_check_holds_flows_against_their_definition() -> None:
    result = by_flows(Pipeline(stages=2, items=4), property="not_too_many", self_check=True)
    assert result.self_check is not None
    assert result.self_check["sets"] > 10
    assert result.self_check["compared"]


def test_runs_are_the_same_for_any_number_of_threads() -> None:
    results = [by_flows(Pipeline, property="not_too_many", threads=threads) for threads in (1, 2, 3)]
    assert len({(each.states, each.transitions, each.depth) for each in results}) == 1


def test_where_all_wait_for_all_nothing_is_paid() -> None:
    with only_flows((2, 30)):
        result = check(small("two-phase-commit"), por="lpor", split="combined")
    figures = result.reductions
    assert figures["por"]["ran"] is False
    assert "every one of them may have to wait for every other" in figures["por"]["why"]
    assert "based_on" not in figures["por"]
    assert figures["split"]["why"] == figures["por"]["why"]
    assert result.states == check(small("two-phase-commit"), **PLAIN).states


@pytest.mark.parametrize(
    ("network", "why"),
    [
        (unordered(capacity=2), "bounded channels"),
        (unordered(losses=1), "lost, repeated or dropped"),
        (unordered(losses="any"), "lost, repeated or dropped"),
        (multiset(duplicates=1), "lost, repeated or dropped"),
        (fifo(head="drop"), "lost, repeated or dropped"),
    ],
    ids=str,
)
def test_networks_for_which_nothing_is_proven(network: Any, why: str) -> None:
    made = type("Pipeline", (Pipeline,), {"network": network})(stages=1, items=2)
    with only_flows():
        result = check(made, property="not_too_many", por="lpor")
    assert result.reductions["por"]["ran"] is False
    assert why in result.reductions["por"]["why"]


def test_faults_for_which_nothing_is_proven() -> None:
    for faults, why in (
        ({"crash": "explicit", "crashes": 1}, "crashes"),
        ({"network_model": "grm"}, "delivery events"),
    ):
        with only_flows():
            result = check(Pipeline(stages=0, items=2), property="not_too_many", por="lpor", **faults)
        assert result.reductions["por"]["ran"] is False
        assert why in result.reductions["por"]["why"]


def test_flows_that_never_settle_are_given_up() -> None:
    with only_flows(), patch.object(optimistic, "MOST_ROUNDS", 1):
        result = check(LateFlow, por="lpor")
    assert result.verdict == "violated"
    assert result.reductions["por"] == {
        "ran": False,
        "why": "no universe is known, nor what processes send to whom: it still grew after 1 searches",
    }


def test_what_partial_orders_are_based_on() -> None:
    assert check(small("paxos"), por="lpor-net").reductions["por"]["based_on"] == "closure"
    with no_closure():
        assert check(small("paxos"), por="lpor-net").reductions["por"]["based_on"] == "universe"
    assert "based_on" not in check(small("paxos"), por="none").reductions["por"]


def test_beside_a_universe_of_some_processes() -> None:
    """The others are taken as they are, so it is not known what they may do; quotient and dead messages run as well."""
    with no_closure((2, 5), most=20):
        without = check(small("paxos"))
        result = check(small("paxos"), por="lpor-net")
    assert result.reductions["universe"]["ran"]
    assert result.reductions["quotient"]["ran"]
    assert result.reductions["por"]["based_on"] == "types"
    assert (result.verdict, without.verdict) == ("holds", "holds")
    assert result.states < without.states
