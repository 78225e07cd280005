"""Symmetry where the closure has not ended (docs/soundness.md, rule 10): answers are compared as a search asks.

The closure has no budget here, so that every search is one of this kind.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from typing import Any
from unittest.mock import patch

import pytest

import corpus
import test_parts_order
import test_symmetry_models as models
from generator import Protocol, without_claims
from orbits import orbits
from quorate import (
    Event,
    Message,
    Monitor,
    Peers,
    Pid,
    Process,
    Result,
    System,
    can,
    check,
    crashes,
    fifo,
    invariant,
    on,
    quorum,
    start,
    step,
)
from quorate.model.define import define
from quorate.options import Options
from quorate.reduce import reductions, share
from quorate.reduce.open_symmetry import OpenSymmetries
from quorate.search import safety
from quorate.search.plan import plan
from small_instances import small
from test_against_reference import all_names, follow
from test_optimistic import no_closure as no_plain_search
from test_symmetry import PLAIN, SYMMETRIC, everything, families_of, symmetric_system

pytestmark = pytest.mark.usefixtures("taken_to_be_pure")


@contextmanager
def no_closure() -> Iterator[None]:
    with (
        patch.object(safety, "FIRST_BEHAVIOURS", 0),
        patch.object(reductions, "FEW_BEHAVIOURS", 0),
        patch.object(share, "TRANSITIONS_PER_BEHAVIOUR", 1 << 60),
    ):
        yield


def searched(made: System | type[System], **options: Any) -> Result:
    with no_closure():
        return check(made, **options)


@pytest.mark.parametrize("name", ["regular-storage", "lock", "raft", "safe-storage"])
def test_counts_are_orbit_counts_on_bundled_protocols(name: str) -> None:
    definition = define(small(name))
    families = families_of(small(name))
    states, _ = everything(definition)
    found = searched(small(name), property="assertions")
    figures = found.reductions["symmetry"]
    assert families
    assert figures["ran"]
    assert not found.reductions["closure"]["ran"]
    assert figures["stands_for"] == len(states)
    # What the closure tells apart, no run need.
    assert found.states <= len(orbits(definition, families, states))
    for options in ({"threads": 3}, {"search": "dfs"}):
        again = searched(small(name), property="assertions", **options)
        assert (again.states, again.transitions) == (found.states, found.transitions)


@corpus.each(SYMMETRIC, 12)
def test_answers_are_the_same_on_generated_symmetric_protocols(protocol: Protocol, dice: Random) -> None:
    made = symmetric_system(protocol)
    for name in all_names(define(made)):
        plain = check(made, property=name, symmetry="none", **PLAIN)
        result = searched(made, property=name)
        assert result.verdict == plain.verdict
        assert (result.trace is None) == (plain.trace is None)
        if result.trace is not None and plain.trace is not None:
            assert len(result.trace) == len(plain.trace)
            follow(result.trace)
        with no_plain_search():
            assert check(made, property=name).verdict == plain.verdict


@corpus.each(SYMMETRIC, 12, first=25)
def test_orbits_are_counted_on_generated_protocols(protocol: Protocol, dice: Random) -> None:
    made = corpus.built(without_claims(protocol)._replace(invariants=(), cans=(), final=None))
    states, _ = everything(define(made))
    found = searched(made, property="assertions")
    assert found.reductions["symmetry"].get("stands_for", len(states)) == len(states)


TOLD_APART: list[tuple[type[System], str, str]] = [
    (
        models.FirstOfASet,
        "never",
        "3 of Voter: Favourite.hear does something else when voter1 and voter2 are exchanged",
    ),
    (models.OneInParticular, "last_is_quiet", "2 of Named: the property `last_is_quiet`"),
    (models.NamedLater, "last_is_quiet", "2 of Named: the property `last_is_quiet`"),
    (models.EndsWell, "deadlock", "the property `all_but_the_first`"),
    (models.Race, "never", ""),  # the referee's favourite was none of a family from the beginning
    (models.Photo, "not_the_second", "3 of Runner: the property `not_the_second`"),
    (models.OneBegins, "never", "3 of Waiting: Picky.hear does something else"),
]


@pytest.mark.parametrize(("system", "name", "why"), TOLD_APART)
def test_a_family_that_is_told_apart_is_left_out(system: type[System], name: str, why: str) -> None:
    for options in ({}, {"threads": 2}, {"search": "dfs"}):
        result = searched(system, **options)
        assert (result.verdict, result.property) == ("violated", name)
        assert result.trace is not None
        follow(result.trace)
    figures = searched(system).reductions["symmetry"]
    assert why in "; ".join(figures.get("left_out", [])) + str(figures["why"])
    with no_plain_search():
        assert check(system).verdict == "violated"


class Ask(Message):
    round: int


class Answer(Message):
    round: int


class Asker(Process):
    """Counts without an end, and remembers who was late."""

    others: Peers
    rounds: int
    round: int = 0
    late: frozenset[Pid] = frozenset()

    @step(when=lambda self: self.round < self.rounds)
    def ask(self) -> None:
        self.round += 1
        self.send(self.others, Ask(self.round))

    @quorum(Answer, size=2, where=lambda self, m: m.round == self.round)
    def hear(self, answers: frozenset[Answer]) -> None:
        self.late = self.others - {m.sender for m in answers}


class Answerer(Process):
    seen: tuple[int, ...] = ()

    @on(Ask)
    def answer(self, m: Ask) -> None:
        self.seen += (m.round,)
        self.reply(Answer(m.round))


class Rounds(System):
    rounds: int = 2
    lost: bool = False

    def build(self) -> None:
        if self.lost:
            self.network, self.faults = fifo(losses=1), crashes(1, of=Answerer)
        self.spawn(Asker, others=self.spawn(Answerer, 3), rounds=self.rounds)

    @invariant
    def in_order(self) -> bool:
        return all(list(each.seen) == sorted(each.seen) for each in self[Answerer]) or not self.lost

    @invariant
    def one_is_late(self) -> bool:
        return all(len(each.late) <= 1 for each in self[Asker])


@pytest.mark.parametrize("lost", [False, True])
def test_what_grows_takes_no_symmetry_away(lost: bool) -> None:
    """Closed, `seen` has no end: before, that was the end of symmetry as well."""
    plain = check(Rounds(lost=lost), symmetry="none", **PLAIN)
    result = check(Rounds(lost=lost))
    figures = result.reductions["symmetry"]
    assert plain.verdict == result.verdict == "holds"
    assert not result.reductions["closure"]["ran"]
    assert figures["group"] == "3! Answerer"
    assert figures["stands_for"] == plain.states
    assert result.states < plain.states / 3


def test_a_plan_says_so() -> None:
    found = plan(Rounds(), Options())
    assert not found.closed
    assert found.symmetry_classes == [
        {"class": "Answerer", "members": ["answerer1", "answerer2", "answerer3"], "why_not": None}
    ]
    assert "as the search asks" in found.reductions["symmetry"]["why"]


def test_in_an_optimistic_universe() -> None:
    plain = check(Rounds(), symmetry="none", **PLAIN)
    with no_plain_search():
        result = check(Rounds())
        alone = check(Rounds(), symmetry="none")
    assert plain.verdict == result.verdict == "holds"
    assert result.reductions["universe"]["ran"]
    assert result.reductions["symmetry"]["ran"]
    assert result.states < alone.states / 3


class Picking(Process):
    """Which of two looks first is nothing that the closure has come to."""

    others: Peers
    turn: int = 0
    first: Pid | None = None

    @start
    def begin(self) -> None:
        self.turn = 1

    @step(when=lambda self: 0 < self.turn < 3)
    def go_on(self) -> None:
        self.turn += 1
        if self.turn == 3:
            self.first = next(iter(self.others))


class Picked(System):
    def build(self) -> None:
        self.spawn(Picking, others=self.spawn(models.Runner, 3))

    @invariant
    def not_the_first(self) -> bool:
        return not any(each.first == self[models.Runner][0].pid for each in self[Picking])


def test_what_is_told_apart_late() -> None:
    result = searched(Picked)
    assert (result.verdict, result.property) == ("violated", "not_the_first")
    assert not result.reductions["symmetry"]["ran"]


class Call(Message): ...


class Ballot(Message):
    known: Peers
    last: bool


def liked(known: Peers, last: bool) -> Pid:
    """Somebody in particular."""
    return tuple(known)[-1 if last else 0]


class Voter(Process):
    last: bool
    known: Peers = Peers()

    @on(Call)
    def vote(self, m: Call) -> None:
        self.reply(Ballot(self.known, self.last))


class Caller(Process):
    """Calls some voters. What it does with their ballots is the same for all; not so which ones it takes."""

    voters: Peers
    way: str
    last: bool
    heard: bool = False

    @start
    def call(self) -> None:
        one = self.choose(tuple(self.voters))
        self.send(self.voters - {one} if self.way == "same" else one, Call())

    @quorum(
        Ballot,
        size=1,
        where=lambda self, m: m.sender == liked(m.known, m.last),
        when=lambda self: self.way == "where",
    )
    def by_filter(self, ballots: frozenset[Ballot]) -> None:
        self.heard = True

    @quorum(Ballot, size=2, same=lambda m: m.sender == liked(m.known, m.last), when=lambda self: self.way == "same")
    def by_group(self, ballots: frozenset[Ballot]) -> None:
        self.heard = True

    @quorum(Ballot, each=lambda self: {liked(self.voters, self.last)}, when=lambda self: self.way == "each")
    def by_sender(self, ballots: frozenset[Ballot]) -> None:
        self.heard = True


class Likes(System):
    way: str = "where"
    last: bool = False

    def build(self) -> None:
        voters = self.spawn(Voter, 3, last=self.last)
        self.connect(voters, known=voters)
        self.spawn(Caller, voters=voters, way=self.way, last=self.last)

    @invariant
    def nobody_is_heard(self) -> bool:
        return not any(each.heard for each in self[Caller])


@pytest.mark.parametrize("way", ["where", "same", "each"])
def test_which_messages_a_quorum_takes_is_compared_as_well(way: str) -> None:
    """Which one stands for the others nobody knows: so it is once the first that is liked, and once the last."""
    for last in (False, True):
        assert searched(Likes(way=way, last=last)).verdict == "violated"
        with no_plain_search():
            assert check(Likes(way=way, last=last)).verdict == "violated"


class Told(Message):
    who: Pid


class Heard(Event):
    who: Pid


class FirstHeard(Monitor):
    who: Pid | None = None

    @on(Heard)
    def hear(self, e: Heard) -> None:
        if self.who is None:
            self.who = e.who


class Hub(Process):
    who: Pid | None = None

    @on(Told)
    def hear(self, m: Told) -> None:
        if self.who is None:
            self.who = m.who


class Pupil(Process):
    called: bool = False

    @on(Call)
    def come(self, m: Call) -> None:
        self.called = True


class Teacher(Process):
    """Calls one, which are three states that differ in names only; then it names all in an order."""

    pupils: Peers
    hub: Pid
    last: bool
    calls: int = 1

    @start
    def call(self) -> None:
        self.send(self.choose(tuple(self.pupils)), Call())
        self.calls = 0

    @start(when=lambda self: self.calls == 0)
    def name(self) -> None:
        for each in tuple(self.pupils)[:: -1 if self.last else 1]:
            self.send(self.hub, Told(each))
            self.emit(Heard(each))


class Lesson(System):
    watched: bool = False
    last: bool = False

    def build(self) -> None:
        if self.watched:
            self.watch(FirstHeard)
        else:
            self.network = fifo()
        self.spawn(Teacher, pupils=self.spawn(Pupil, 3), hub=self.spawn(Hub), last=self.last)

    @invariant
    def not_the_first(self) -> bool:
        first = self[FirstHeard].who if self.watched else self[Hub][0].who
        return not any(each.called and each.pid == first for each in self[Pupil])


@pytest.mark.parametrize("watched", [False, True])
def test_the_order_in_which_something_is_sent_or_told_is_compared_as_well(watched: bool) -> None:
    for last in (False, True):
        assert searched(Lesson(watched=watched, last=last)).verdict == "violated"
        with no_plain_search():
            assert check(Lesson(watched=watched, last=last)).verdict == "violated"


PLACES: list[tuple[type[System], str]] = [
    (test_parts_order.Line, "first_comes_first"),
    (test_parts_order.Line, "last_comes_first"),
    (test_parts_order.Line, "middle_comes_first"),
    (test_parts_order.Equals, "not_true"),
    (test_parts_order.Equals, "not_one"),
    (test_parts_order.FirstOf, "not_one"),
    (test_parts_order.FirstOf, "not_two"),
    (test_parts_order.Picking, "another"),
    (test_parts_order.Picking, "the_first"),
]


@pytest.mark.parametrize(("system", "name"), PLACES)
def test_what_properties_ask_may_tell_processes_apart(system: type[System], name: str) -> None:
    plain = check(system, property=name, symmetry="none", **PLAIN)
    for result in (searched(system, property=name), searched(system, property=name, search="dfs")):
        assert result.verdict == plain.verdict
    with no_plain_search():
        assert check(system, property=name).verdict == plain.verdict


def place(caller: test_parts_order.Caller) -> int:
    """Which of the others was picked: an exchange of names exchanges places."""
    return -1 if caller.picked is None else tuple(caller.others).index(caller.picked)


class OnlyOne(test_parts_order.Picking):
    """Its bound tells who was picked, and the property does not."""

    only: int = 0

    def within(self) -> bool:
        return sum(place(each) for each in self[test_parts_order.Caller]) in (-1, self.only)

    @can
    def pinged(self) -> bool:
        return any(each.pinged for each in self[test_parts_order.Callee])


def test_a_bound_may_tell_processes_apart() -> None:
    for only in range(3):
        assert searched(OnlyOne(only=only), property="pinged").verdict == "holds"


class Climber(Process):
    others: Peers
    height: int = 0
    leader: Pid | None = None

    @step(when=lambda self: True)
    def climb(self) -> None:
        self.height += 1

    @step(when=lambda self: self.leader is None and self.height == 2)
    def follow(self) -> None:
        self.leader = self.choose(list(self.others))


class OneToFollow(System):
    """Its bound says the same of all names until somebody follows."""

    def build(self) -> None:
        climbers = self.spawn(Climber, 3)
        self.connect(climbers, others=climbers)

    def within(self) -> bool:
        followed = {str(each.leader) for each in self[Climber] if each.leader is not None}
        return sum(each.height for each in self[Climber]) <= 5 and followed <= {"climber1"}

    @can
    def two_follow(self) -> bool:
        return sum(each.leader is not None for each in self[Climber]) == 2


def test_a_bound_may_come_to_tell_processes_apart() -> None:
    assert searched(OneToFollow).verdict == check(OneToFollow, symmetry="none").verdict == "holds"


def test_images_are_admitted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    admitted: list[tuple[int, int]] = []
    real = OpenSymmetries._compare_elements

    def note(self: OpenSymmetries, index: int, number: int, images: Any) -> None:
        admitted.append((index, number))
        real(self, index, number, images)

    monkeypatch.setattr(OpenSymmetries, "_compare_elements", note)
    searched(Rounds)
    assert len(admitted) == len(set(admitted)) > 10
