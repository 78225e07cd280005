"""Models on which the engine once gave a wrong answer, each the smallest that was found."""

from __future__ import annotations

from functools import partial

import pytest

from orbits import orbits
from quorate import (
    Message,
    Peers,
    Pid,
    Process,
    System,
    can,
    check,
    fifo,
    final,
    invariant,
    on,
    quorum,
    start,
    step,
    unordered,
)
from quorate.model.define import define
from quorate.model.environment import Environment
from quorate.protocols.two_phase_commit import TwoPhaseCommit
from quorate.reduce.families import proposed
from quorate.semantics.state import State
from reference import explore


class Both(System):
    """Its one initial state breaks the invariant and shows what can happen."""

    def build(self) -> None:
        self.spawn(Idle)

    @invariant
    def never(self) -> bool:
        return self[Idle][0].x != 0

    @can
    def at_once(self) -> bool:
        return self[Idle][0].x == 0


class Idle(Process):
    x: int = 0


def test_goals_of_an_initial_state_that_breaks_an_invariant_are_reported() -> None:
    result = check(Both())
    assert result.property == "never"
    assert {outcome.name: outcome.verdict for outcome in result.properties} == {"never": "violated", "at_once": "holds"}
    assert len(result.witnesses["at_once"]) == 0


class Number(Message):
    n: int


class After(Message):
    pass


class Patient(Process):
    """Its quorum is never asked for, but the filter alone keeps the head of a channel from being dropped."""

    wanted: int = 0
    asks: bool = False
    got: bool = False

    @start
    def want(self) -> None:
        self.wanted = self.choose((0, 1))

    @quorum(Number, size=1, when=lambda self: self.asks, where=lambda self, m: m.n == self.wanted)
    def take(self, ms: frozenset[Number]) -> None:
        pass

    @on(After)
    def end(self, m: After) -> None:
        self.got = True
        self.wanted = 0


class Sender(Process):
    """Sends only after some steps of its own, when the closure has asked about all local states of the receiver."""

    patient: Pid

    @start
    def begin(self) -> None:
        self.send(self.pid, Number(0))

    @on(Number, when=lambda self, m: m.n < 3)
    def go_on(self, m: Number) -> None:
        self.send(self.pid, Number(m.n + 1))

    @on(Number, when=lambda self, m: m.n == 3)
    def finish(self, m: Number) -> None:
        self.send(self.patient, Number(0))
        self.send(self.patient, After())


class Dropping(System):
    """Who wants 1 drops the Number(0) and gets what stands behind it; who wants 0 waits for ever."""

    network = fifo(head="drop")

    def build(self) -> None:
        self.spawn(Sender, patient=self.spawn(Patient))

    @can
    def gets_it(self) -> bool:
        return self[Patient][0].got

    @final
    def got_it(self) -> bool:
        return self[Patient][0].got


@pytest.mark.parametrize("quotient", ["off", "on"])
def test_the_quotient_keeps_apart_what_only_differs_in_which_heads_are_dropped(quotient: str) -> None:
    result = check(Dropping(), property=("gets_it", "deadlock"), quotient=quotient)
    assert result.property == "deadlock"
    assert check(Dropping(), property="gets_it", quotient=quotient).ok


def _keep(states: list[State], state: State, *_: object) -> None:
    states.append(state)


def test_symmetry_with_processes_that_have_no_fields() -> None:
    """Channels of delivery events are such; looking at the first field of a local state failed."""
    for environment in (Environment(network_model="grm"), Environment(byzantine={"Coordinator": 1})):
        definition = define(TwoPhaseCommit(participants=2), environment)
        states: list[State] = []
        explore(definition, visit=partial(_keep, states))
        found = check(
            TwoPhaseCommit(participants=2),
            property="assertions",
            symmetry="auto",
            quotient="off",
            dead_messages="off",
            **environment.to_json(),
        )
        assert found.states == len(orbits(definition, proposed(definition), states)) < len(states)


class Talker(Process):
    """Sends two messages; on a channel with room for one the second replaces the first."""

    listener: Peers
    said: int = 0

    @step(when=lambda self: self.said < 2)
    def talks(self) -> None:
        self.said += 1
        self.send(self.listener, Number(1) if self.said == 1 else After())


class Listener(Process):
    heard: bool = False

    @on(Number)
    def hears(self, m: Number) -> None:
        self.heard = True

    @on(After, when=lambda self, m: False)
    def never(self, m: After) -> None:
        pass


class Overrun(System):
    network = unordered(capacity=1, full="replace")

    def build(self) -> None:
        listener = self.spawn(Listener, 1)
        self.spawn(Talker, listener=listener)

    @final
    def heard_the_first(self) -> bool:
        return self[Listener][0].heard


@pytest.mark.parametrize("por", ["none", "lpor", "lpor-net"])
def test_partial_orders_know_that_a_message_may_be_replaced(por: str) -> None:
    """To take a message at once is not enough: it might have been replaced before."""
    result = check(Overrun(), por=por)
    assert (result.verdict, result.property) == ("violated", "deadlock")
