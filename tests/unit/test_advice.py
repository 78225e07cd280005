"""What the explorer says about reductions: the engine's choice, and reasons that hold in the plain semantics."""

import time
from collections.abc import Iterator
from typing import Any

import pytest

from quorate import Message, Pid, Process, System, on
from quorate.explore.advice import Advice, Adviser
from quorate.explore.consult import Consultation
from quorate.explore.session import Path, Session
from quorate.model.define import define
from quorate.model.environment import Environment
from quorate.model.target import load
from quorate.protocols import CATALOGUE
from quorate.protocols.faulty_paxos import FaultyPaxos
from quorate.protocols.paxos import Paxos
from quorate.protocols.regular_storage import RegularStorage
from quorate.protocols.two_phase_commit import TwoPhaseCommit
from quorate.search.rebuild import ReplayError
from quorate.semantics.follow import find
from quorate.semantics.identity import Identity
from quorate.semantics.state import State, Step


def walk(session: Session, length: int = 25) -> Iterator[tuple[State, tuple[Step, ...]]]:
    """Some states along a run, and what can happen in each."""
    path: Path = (0,)
    for turn in range(length):
        position = session.at(path)
        offered = session.steps(position.state) if position.failed is None else ()
        yield position.state, offered
        if not offered:
            return
        path = (*path, (7 * turn + 3) % len(offered))


def advice(session: Session, path: Path) -> dict[str, Advice]:
    state = session.at(path).state
    return {each.name: each for each in Adviser(session.definition).advice(state, session.steps(state))}


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_step_is_taken_or_has_a_reason_that_holds(name: str) -> None:
    """What is put off stays possible and does the same: both orders of it and a step taken end in the same state."""
    session = Session(define(load(name)()))
    adviser = Adviser(session.definition)
    for state, offered in walk(session):
        every = adviser.advice(state, offered)
        for each in every:
            assert sorted([*each.takes, *each.others]) == list(range(len(offered)))
            assert each.why
            assert each.runs or not each.others
            assert each.takes or not offered, "a reduction takes at least one step where there is one"

        por = every[-1]
        for late in por.others:
            for early in por.takes:
                assert commute(session, offered[early], offered[late])


def commute(session: Session, one: Step, two: Step) -> bool:
    if one.next is None or two.next is None:
        return False
    there = find(session.definition, one.next, Identity.of(two))
    back = find(session.definition, two.next, Identity.of(one))
    return there is not None and back is not None and there.next == back.next and there.next is not None


def test_partial_order_reduction_in_paxos() -> None:
    por = advice(Session(define(Paxos())), (0, 0))["por"]
    assert por.takes == (3,)
    assert por.why.startswith("the steps of proposer2 are enough")
    assert set(por.others) == {0, 1, 2}


def test_symmetry_in_paxos() -> None:
    symmetry = advice(Session(define(Paxos())), (0, 0))["symmetry"]
    assert symmetry.takes == (0, 3)
    assert symmetry.others == dict.fromkeys((1, 2), "as step 1: the same with other names among acceptor1..3")


def test_dead_messages_and_equal_states() -> None:
    session = Session(define(RegularStorage()))
    adviser = Adviser(session.definition)
    found = [each for state, offered in walk(session) for each in adviser.advice(state, offered)]
    assert any("nobody will ever consume" in each.why for each in found if each.name == "dead-messages")
    reasons = [why for each in found if each.name != "por" for why in each.others.values()]
    assert any(why.startswith("as step ") for why in reasons)


def test_a_step_that_the_engine_does_not_know_is_not_passed_over() -> None:
    session = Session(define(Paxos()))
    state = session.at((0, 0)).state
    with pytest.raises(ReplayError, match="disagree about what can happen"):
        Adviser(session.definition).advice(state, session.steps(state)[1:])


class Ball(Message):
    number: int


class Player(Process):
    other: Pid
    last: int = 0

    @on(Ball, when=lambda self, m: m.number > self.last)
    def hit(self, m: Ball) -> None:
        self.last = m.number + 1
        self.send(self.other, Ball(m.number + 1))


class Endless(System):
    """Two counters that feed on each other, so that the closure has no end."""

    def build(self) -> None:
        one, two = self.spawn(Player), self.spawn(Player)
        self.connect(one, other=two)
        self.connect(two, other=one)
        self.send(one, Ball(1), sender=two)


def test_a_reduction_that_does_not_run_says_why() -> None:
    found = advice(Session(define(Endless())), (0,))
    assert not found["quotient"].runs
    assert "closure" in found["quotient"].why


def test_the_answer_of_a_process_of_its_own() -> None:
    session = Session(define(FaultyPaxos()))
    consultation = Consultation(session)
    assert consultation.to_json((0,)) == {
        "status": "known",
        "reductions": [],
        "error": None,
    }  # nobody was asked to answer
    consultation.start()
    try:
        said: dict[Path, dict[str, Any]] = {}
        for path in ((0, 0), (0, 99)):  # the second leads nowhere
            said[path] = consultation.to_json(path)
            while said[path]["status"] == "asking":
                time.sleep(0.05)
                said[path] = consultation.to_json(path)
        assert said[0, 0]["reductions"] == [each.to_json() for each in advice(session, (0, 0)).values()]
        assert said[0, 99] == {"status": "known", "reductions": [], "error": "after 0 steps there is no step 99"}
    finally:
        consultation.stop()


@pytest.mark.parametrize(
    "environment",
    [
        Environment(byzantine={"Coordinator": 1}),
        Environment(network_model="grm"),
        Environment(network_model="rm"),
        Environment("explicit", 1),
    ],
    ids=lambda environment: "-".join(environment.to_json()),
)
def test_engine_and_semantics_agree_whatever_may_go_wrong(environment: Environment) -> None:
    session = Session(define(TwoPhaseCommit(participants=2), environment))
    adviser = Adviser(session.definition)
    for state, offered in walk(session):
        assert len(adviser.advice(state, offered)) == 4
