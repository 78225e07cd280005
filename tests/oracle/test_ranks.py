"""Ranks in a search, held against two explorations in plain Python.

One takes `later` for the next rank or a place before it, and normalises each state: the core has to come to as many
states. The other takes plain numbers, as far as it goes: each state that it comes to has to be, in its order, one of
those.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from quorate import (
    Message,
    Peers,
    Pid,
    Process,
    Rank,
    System,
    check,
    crashes,
    fifo,
    invariant,
    ltl,
    on,
    start,
    unordered,
)
from quorate.model.define import define
from quorate.model.definition import Definition
from quorate.model.renumbering import normal_form
from quorate.properties.evaluate import evaluate
from quorate.semantics.state import State, initial_states
from quorate.semantics.steps import steps
from rank_models import Acceptor, Cell, Duel, Endless, Register


def normal(state: State) -> State:
    form = normal_form((state.locals, state.pending))
    assert form is not None
    locals, pending = form
    return State(locals, pending, state.budget)


def explored(definition: Definition, form: Callable[[State], State], most: int) -> set[State]:
    """States that can be reached, breadth first, as `form` leaves each; so many at the most."""
    found = set(initial_states(definition))
    level = list(found)
    while level and len(found) < most:
        following: list[State] = []
        for state in level:
            for step in steps(definition, state):
                if step.next is not None and (after := form(step.next)) not in found:
                    found.add(after)
                    following.append(after)
        level = following
    return found


def by_places(system: System) -> set[State]:
    definition = define(system)
    columns = tuple(replace(column, ranks="places") for column in definition.columns)
    return explored(replace(definition, columns=columns), normal, 1_000_000)


SMALL = [
    Register(writers=1),
    Register(writers=2),
    Duel(),
    Duel(proposers=1, acceptors=2),
    Endless(),
    Endless(cells=2, size=2),
]


@pytest.mark.parametrize("system", SMALL, ids=str)
def test_the_core_comes_to_the_states_of_plain_python(system: System) -> None:
    result = check(system, symmetry="none")
    assert result.verdict == "holds"
    assert result.states == len(by_places(system))


@pytest.mark.parametrize("system", SMALL, ids=str)
def test_every_state_with_numbers_is_one_with_places(system: System) -> None:
    known = by_places(system)
    numbers = explored(define(system), lambda state: state, 2_500)
    assert {normal(state) for state in numbers} <= known


def test_a_violation_is_a_run_with_numbers() -> None:
    """With quorums of one of two acceptors both proposers get their values chosen; ballots have no bound."""
    result = check(Duel(acceptors=2, quorum=1))
    assert (result.verdict, result.property) == ("violated", "agreement")
    assert result.trace is not None
    assert "rank 1" in str(result.trace)


class Tick(Message):
    stamp: Rank


class Clock(Process):
    low: Rank = Rank()
    high: Rank = Rank()
    between: bool = False

    @on(Tick)
    def tick(self, m: Tick) -> None:
        self.between = self.between or self.low < m.stamp < self.high
        if m.stamp > self.high:
            self.low, self.high = self.high, m.stamp
        self.reply(Tick(self.low))


class Ticker(Process):
    other: Pid

    @start
    def begin(self) -> None:
        self.send(self.other, Tick(Rank().later()))

    @on(Tick)
    def again(self, m: Tick) -> None:
        self.send(self.other, Tick(m.stamp.later()))


class NextOnly(System):
    """`later` gives few numbers, and none between two of them; with places there seems to be one."""

    network = unordered(capacity=1, full="replace")

    def build(self) -> None:
        self.spawn(Ticker, 2, other=self.spawn(Clock))

    @invariant
    def nothing_between(self) -> bool:
        return not any(clock.between for clock in self[Clock])


def test_a_search_with_numbers_that_ends_decides() -> None:
    result = check(NextOnly())
    assert (result.verdict, result.states) == ("holds", 12)


class Letter(Message):
    kind: int
    stamp: Rank


class Player(Process):
    """Does what a table says, by its mode and by where the stamp of a message stands among its own two ranks."""

    other: Pid
    table: tuple[tuple[int, int, int, int], ...]
    mode: int = 0
    one: Rank = Rank()
    two: Rank = Rank()

    @start
    def begin(self) -> None:
        self.send(self.other, Letter(0, Rank()))

    @on(Letter)
    def take(self, m: Letter) -> None:
        above = (m.stamp > self.one) + (m.stamp > self.two)
        keep, grow, mode, reply = self.table[(self.mode * 2 + m.kind) * 3 + above]
        if keep & 1:
            self.one = m.stamp
        if keep & 2:
            self.two = min(self.one, self.two)
        grown = (self.one, self.two, m.stamp, max(self.one, self.two, m.stamp))[grow].later()
        if reply & 1:
            self.one = grown
        self.mode = mode
        self.send(self.other, Letter(reply >> 1 & 1, grown if reply & 4 else self.two))


DICE = random.Random(18)
TABLES = [
    tuple((DICE.randrange(4), DICE.randrange(4), DICE.randrange(2), DICE.randrange(6)) for _ in range(3 * 2 * 2))
    for _ in range(100)
]


class Played(System):
    seed: int = 0
    network = unordered(capacity=1, full="replace")

    def build(self) -> None:
        pids = self.spawn(Player, 2, other=None, table=())
        for at, pid in enumerate(pids):
            self.connect(pid, table=TABLES[2 * self.seed + at], other=next(each for each in pids if each != pid))

    @invariant
    def apart(self) -> bool:
        one, two = self[Player]
        return not (one.mode == two.mode == 1 and one.one == two.one > Rank())

    def high(self) -> bool:
        one, two = self[Player]
        return one.one > two.one

    settles = ltl("F G high | F G !high")


@pytest.mark.parametrize("seed", range(15))
def test_generated_protocols(seed: int) -> None:
    """Every state with numbers is one of the search, and every violation of theirs is one of the search's."""
    system = Played(seed=seed)
    definition = define(system)
    known = by_places(system)
    result = check(system, property="apart")
    numbers = explored(definition, lambda state: state, 600)
    assert {normal(state) for state in numbers} <= known
    wrong = any(not evaluate(definition, definition.invariants[0], state.locals).value for state in numbers)
    assert result.verdict in (("violated",) if wrong else ("violated", "incomplete", "holds"))
    if result.verdict == "holds":
        assert result.states == len(known)


class Hub(Process):
    """Answers letters by a table, and keeps a rank and who it had the highest one from."""

    table: tuple[tuple[int, int, int, int], ...]
    players: Peers
    held: Rank = Rank()
    best: Pid | None = None
    named: bool = False

    @on(Letter)
    def take(self, m: Letter) -> None:
        keep, grow, mode, reply = self.table[(m.kind + 2 * (self.best == m.sender)) * 3 + (m.stamp >= self.held)]
        if m.stamp > self.held:
            self.held, self.best = (m.stamp, m.sender) if keep else (self.held, m.sender)
        if self.named and mode:
            self.best = next(iter(self.players))
        stamp = max(self.held, m.stamp).later() if grow == 0 else (self.held, m.stamp, self.held)[grow - 1]
        self.reply(Letter(reply & 1, stamp))


class Court(System):
    """Players of one table around a hub, which can be exchanged, unless the hub names one of them."""

    seed: int = 0
    players: int = 2
    named: bool = False
    network = unordered(capacity=1, full="replace")

    def build(self) -> None:
        tables = TABLES[2 * self.seed], TABLES[2 * self.seed + 1]
        (hub,) = self.spawn(Hub, 1, table=tables[0], players=Peers(), named=self.named)
        self.connect(hub, players=self.spawn(Player, self.players, other=hub, table=tables[1]))

    @invariant
    def apart(self) -> bool:
        stamps = [each.one for each in self[Player] if each.mode == 1 and each.one > Rank()]
        return len({*stamps}) == len(stamps)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("named", [False, True])
def test_processes_that_can_be_exchanged(seed: int, named: bool) -> None:
    system = Court(seed=seed, named=named)
    plain, found = check(system, symmetry="none"), check(system)
    assert found.verdict == plain.verdict
    symmetry = found.reductions["symmetry"]
    if found.verdict == "holds":
        assert plain.states == (symmetry["stands_for"] if symmetry["ran"] else found.states)
        assert found.reductions.get("ranks") == plain.reductions.get("ranks")
    elif found.trace is not None:
        assert plain.trace is not None
        assert len(found.trace.steps) == len(plain.trace.steps)


@pytest.mark.parametrize(
    ("system", "environment"),
    [
        (Duel(acceptors=3, proposers=1), {"faults": crashes(1, of=Acceptor, recover=True)}),
        (Duel(acceptors=2, proposers=1), {"network": unordered(capacity=1, full="replace", losses=1)}),
        (Duel(acceptors=3, proposers=1), {"network": fifo(capacity=1, full="replace")}),
        (Endless(cells=2, size=2), {"faults": crashes(1, of=Cell)}),
    ],
    ids=str,
)
def test_processes_that_can_be_exchanged_and_fail(system: System, environment: dict[str, Any]) -> None:
    made = type("Failing", (type(system),), environment)(**system.parameters)
    plain, found = check(made, symmetry="none"), check(made)
    assert (plain.verdict, found.verdict) == ("holds", "holds")
    assert plain.states == found.reductions["symmetry"]["stands_for"] > found.states


def test_symmetry_of_ranks_gains() -> None:
    result = check(Duel(acceptors=2))
    assert (result.verdict, result.states) == ("holds", 4_378)
    assert result.reductions["symmetry"]["stands_for"] == 8_614
    courts = [check(Court(seed=seed, named=named)) for seed in range(12) for named in (False, True)]
    ran = [court.reductions["symmetry"]["ran"] for court in courts if court.verdict == "holds"]
    assert {*ran} == {True, False}


@pytest.mark.parametrize(
    ("system", "atomic", "regular"),
    [
        (Endless(cells=3, size=2), "holds", "holds"),
        (Endless(cells=2, size=2, readers=2, back=True), "holds", "holds"),
        (Endless(cells=2, size=1), "violated", "violated"),
        (Endless(cells=3, size=2, readers=2), "violated", None),
    ],
    ids=str,
)
def test_a_register_whose_writes_never_stop(system: System, atomic: str, regular: str | None) -> None:
    result = check(system, property="atomic")
    assert result.verdict == atomic
    if regular is not None:
        assert check(system, property="regular").verdict == regular
    if result.trace is not None:
        assert "no order of the operations explains Read()" in " ".join(str(result).split())
