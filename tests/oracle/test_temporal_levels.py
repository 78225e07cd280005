"""What each level of fairness rules out, on small systems and on bundled protocols with their known answers."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from byzantine_models import Multicast, Receiver
from liveness_models import NEVER, UNANSWERED, Counting, Filling, Locking, Serving, StopAndWait
from quorate import System, _core, crashes
from quorate._core import Finding, Temporal
from quorate.base.places import location_of
from quorate.model.define import define
from quorate.model.definition import Property
from quorate.model.environment import Environment
from quorate.native.model import Model
from quorate.native.temporal import assumption
from quorate.properties.temporal.fairness import fairness_of
from quorate.protocols import (
    atomic_storage,
    fd_consensus,
    lamport_mutex,
    paxos,
    three_phase_commit,
    two_phase_commit,
    two_phase_commit_recovery,
)
from quorate.protocols.regular_storage import Base
from temporal_semantics import UNFAIR, WEAK, Automaton, Fairness, assumed, for_core
from test_temporal_engine import LEVELS, native


def asked(predicate: Callable[[Any], bool]) -> Property:
    location = location_of(predicate)
    assert location is not None
    return Property(predicate.__name__, "can", "", predicate, location)


Steps = Sequence[Sequence[int]]


def explored_and_answered(
    made: System,
    predicate: Callable[[Any], bool],
    automaton: Automaton,
    *,
    level: str = "message",
    fair: Steps = (),
    environment: Environment | None = None,
    **options: Any,
) -> tuple[_core.Exploration, _core.TemporalAnswer]:
    model, graph, explored = native(define(made, environment or Environment()), [asked(predicate)], reduced=True)
    assert explored.stop == _core.Stop.finished
    return explored, checked(model, graph, automaton, level, fair, **options)


def checked(
    model: Model,
    graph: Temporal,
    automaton: Automaton,
    level: str = "message",
    fair: Steps = (),
    recoveries: int = UNFAIR,
    **options: Any,
) -> _core.TemporalAnswer:
    given = assumed(Fairness(level, tuple(map(tuple, fair)), recoveries=recoveries))
    return graph.check(model, for_core(automaton), [graph.predicate(0)], given, **options)


def answer(*arguments: Any, **options: Any) -> _core.TemporalAnswer:
    return explored_and_answered(*arguments, **options)[1]


def kind(found: _core.TemporalAnswer) -> str:
    lasso = found.violation
    if lasso is None:
        return "holds" if found.bounded is None else "bounded"
    return "stops" if lasso.loop_from == len(lasso.steps) else "loops"


@pytest.mark.parametrize(
    ("made", "predicate", "automaton", "wanted"),
    [
        # In the order of LEVELS: what is assumed grows, what is violated shrinks.
        (StopAndWait(), StopAndWait.done, NEVER, "stops loops loops holds holds holds"),
        (StopAndWait(lossy=True), StopAndWait.done, NEVER, "stops loops loops loops loops holds"),
        (Serving(), Serving.waiting, UNANSWERED, "stops loops loops loops holds holds"),
        (Locking(), Locking.waiting, UNANSWERED, "stops loops loops loops loops holds"),
        (Counting(), Counting.far, NEVER, "stops bounded bounded bounded bounded bounded"),
        (Filling(), Filling.sent, NEVER, "stops bounded bounded bounded bounded bounded"),
    ],
    ids=["stop-and-wait", "lossy", "serving", "locking", "cut", "blocked"],
)
def test_levels(made: System, predicate: Callable[[Any], bool], automaton: Automaton, wanted: str) -> None:
    assert " ".join(kind(answer(made, predicate, automaton, level=level)) for level in LEVELS) == wanted


def test_a_transition_may_be_less_fair_than_the_rest_or_more() -> None:
    # Columns: lock, holder 1, holder 2. Strong fairness of `grant` alone is enough.
    weak = [[1, 1], [1, 1, 1], [1, 1, 1]]
    strong = [[2, 1], [1, 1, 1], [1, 1, 1]]
    assert kind(answer(Locking(), Locking.waiting, UNANSWERED, fair=weak)) == "loops"
    assert kind(answer(Locking(), Locking.waiting, UNANSWERED, fair=strong)) == "holds"
    # A client need not ask again, so that the first one's request is all that happens.
    lazy = [[1], [0, 1], [0, 1]]
    assert kind(answer(Serving(), Serving.waiting, NEVER)) == "holds"
    assert kind(answer(Serving(), Serving.waiting, NEVER, fair=lazy)) == "stops"


def test_fairness_is_said_of_single_transitions() -> None:
    model, graph, _ = native(define(Locking()), [asked(Locking.waiting)], reduced=True)
    lock, holder = model.definition.columns[0], model.definition.columns[1]
    grant, ask = model.definition.transitions(lock)[0], model.definition.transitions(holder)[0]
    assert (grant.name, ask.name) == ("grant", "ask")

    def answered(automaton: Automaton, **strengths: int) -> str:
        fair = [
            [] if column.is_monitor else [strengths.get(each.name, 1) for each in model.definition.transitions(column)]
            for column in model.definition.columns
        ]
        return kind(checked(model, graph, automaton, fair=fair))

    assert answered(UNANSWERED) == "loops"
    assert answered(UNANSWERED, grant=2) == "holds"
    assert answered(NEVER, grant=2) == "holds"
    assert answered(NEVER, grant=2, ask=0) == "stops"


def test_the_loop_says_what_it_starves() -> None:
    found = answer(Locking(), Locking.waiting, UNANSWERED)
    assert found.violation is not None
    starved = {(each.act.column, each.act.transition, each.always) for each in found.violation.starved}
    assert (0, 0, False) in starved, "the lock could grant, again and again, but not all the time"


def learned(self: Any) -> bool:
    return bool(self[paxos.Learner][0].learned)


@pytest.mark.parametrize(("faulty", "wanted", "states"), [(0, "holds", 93), (1, "holds", 489), (2, "stops", None)])
def test_paxos_with_one_proposer_learns_while_a_majority_is_up(faulty: int, wanted: str, states: int | None) -> None:
    class Crashing(paxos.Paxos):
        faults = crashes(faulty, of=paxos.Acceptor, cut_short=False)

    explored, found = explored_and_answered(Crashing(proposers=1, acceptors=3), learned, NEVER)
    assert kind(found) == wanted
    if states is not None and not faulty:
        assert explored.states <= states, "with the reductions there are fewer"


def decided(self: Any) -> bool:
    return all(p.committed is not None for p in self[two_phase_commit.Participant])


@pytest.mark.parametrize(("faulty", "wanted"), [(0, "holds"), (1, "stops")])
def test_two_phase_commit_waits_for_its_coordinator(faulty: int, wanted: str) -> None:
    assert kind(answer(two_phase_commit.TwoPhaseCommit(crashes=faulty), decided, NEVER)) == wanted


def recovered(self: Any) -> bool:
    return all(p.committed is not None for p in self[two_phase_commit_recovery.Participant])


def test_a_recovery_is_fair_only_if_somebody_says_so() -> None:
    made = two_phase_commit_recovery.TwoPhaseCommitRecovery(participants=1, crashes=1)
    assert kind(answer(made, recovered, NEVER)) == "stops"
    assert kind(answer(made, recovered, NEVER, recoveries=WEAK)) == "holds"


def outcome(self: Any) -> bool:
    return all(p.state not in three_phase_commit.OPEN or p.crashed for p in self[three_phase_commit.Participant])


def agreed(self: Any) -> bool:
    return all(p.decision is not None or p.crashed for p in self[fd_consensus.Participant])


def outside(self: Any) -> bool:
    return self[lamport_mutex.Member][0].request is not None


@pytest.mark.parametrize(
    ("made", "predicate", "automaton", "wanted"),
    [
        (three_phase_commit.ThreePhaseCommit(participants=2, crashes=1), outcome, NEVER, "holds"),
        (three_phase_commit.ThreePhaseCommit(participants=2, crashes=2), outcome, NEVER, "holds"),
        (fd_consensus.DetectorConsensus(processes=2, crashes=0), agreed, NEVER, "holds"),
        (lamport_mutex.LamportMutex(), outside, UNANSWERED, "holds"),
    ],
    ids=["3pc, one crash", "3pc, two crashes", "consensus", "mutex"],
)
def test_bundled_protocols_end(
    made: System, predicate: Callable[[Any], bool], automaton: Automaton, wanted: str
) -> None:
    assert kind(answer(made, predicate, automaton)) == wanted
    assert kind(answer(made, predicate, automaton, level="none")) == "stops"


def echoed(self: Any) -> bool:
    return any(receiver.echoed for receiver in self[Receiver])


def test_an_attacker_may_be_silent() -> None:
    model, graph, _ = native(define(Multicast(receivers=2)), [asked(echoed)], reduced=True)
    for level in ("progress", "process", "transition", "message", "strong"):
        given = assumption(fairness_of(model.definition, level))
        found = graph.check(model, for_core(NEVER), [graph.predicate(0)], given)
        assert kind(found) == "stops", level
        assert found.violation is not None
        assert found.violation.starved == [], "what an attacker does not say starves nobody"


def test_a_graph_is_void_once_the_model_is_reduced_anew() -> None:
    model, graph, _ = native(define(StopAndWait()), [asked(StopAndWait.done)], reduced=True)
    model.engine.reduce(False, False)
    with pytest.raises(RuntimeError, match="reduced anew"):
        graph.state(0)


def read(self: Any) -> bool:
    return self[atomic_storage.Reader][0].result is not None


@pytest.mark.parametrize(("faulty", "wanted"), [(0, "holds"), (1, "holds"), (2, "stops")])
def test_implicit_crashes_answer_as_explicit_ones_for_a_register(faulty: int, wanted: str) -> None:
    class Crashing(atomic_storage.AtomicStorage):
        def build(self) -> None:
            super().build()
            self.faults = crashes(faulty, of=Base, cut_short=False)

    in_steps, explicit = explored_and_answered(Crashing(bases=3, readers=1), read, NEVER)
    without, implicit = explored_and_answered(
        atomic_storage.AtomicStorage(bases=3, readers=1),
        read,
        NEVER,
        crashable=[0, 1, 2],
        crashes=faulty,
        even_if_acyclic=True,
    )
    assert kind(explicit) == kind(implicit) == wanted
    assert without.states < in_steps.states or faulty == 0
    assert implicit.passes == (0 if wanted == "stops" else 1 if faulty == 0 else 4)
    if wanted == "stops":
        assert implicit.violation is not None
        assert len(implicit.violation.stopped) == 2


def test_implicit_crashes_stop_whoever_would_answer() -> None:
    assert kind(answer(Serving(), Serving.waiting, UNANSWERED)) == "holds"
    found = answer(Serving(), Serving.waiting, UNANSWERED, crashable=[0], crashes=1)
    assert found.violation is not None
    assert kind(found) == "stops" or found.violation.stopped == [0]


def test_a_predicate_that_raises_and_a_handler_that_fails_are_reported() -> None:
    def raising(self: Any) -> bool:
        if self[paxos.Learner][0].learned:
            raise ValueError("odd")
        return True

    model = Model(define(paxos.Paxos(proposers=1, acceptors=1)), [asked(raising)])
    found = Temporal(model.engine, [0]).explore(model)
    assert found.stop == _core.Stop.violation
    assert found.violation is not None
    assert found.violation.finding is Finding.raises
    assert len(found.violation.path) == found.violation.length + 1 == 6


def test_limits_end_the_exploration_and_nothing_holds_then() -> None:
    model = Model(define(paxos.Paxos(proposers=2, acceptors=3)), [asked(learned)])
    graph = Temporal(model.engine, [0])
    assert graph.explore(model, states=100).stop == _core.Stop.states
    found = checked(model, graph, NEVER)
    assert (found.stop, found.complete, found.violation) == (_core.Stop.finished, False, None)
    assert found.bounded is not None, "a state that was not expanded is no end"
    # What lies inside of the part that is known is a violation all the same.
    assert kind(checked(model, graph, NEVER, "none")) == "stops"


def test_the_user_can_stop_the_exploration() -> None:
    model = Model(define(paxos.Paxos(proposers=2, acceptors=3)), [asked(learned)], stop=lambda *_: True)
    assert Temporal(model.engine, [0]).explore(model).stop == _core.Stop.interrupt


def test_memory_and_time_are_kept() -> None:
    model = Model(define(paxos.Paxos(proposers=2, acceptors=3, ballots=2)), [asked(learned)])
    assert Temporal(model.engine, [0]).explore(model, memory=1 << 20).stop == _core.Stop.memory
    model = Model(define(paxos.Paxos(proposers=2, acceptors=3, ballots=2)), [asked(learned)])
    assert Temporal(model.engine, [0]).explore(model, seconds=0.1).stop == _core.Stop.time


@pytest.mark.parametrize(
    "automaton",
    [
        (1, 1, 0, []),
        (1, 0, 0, [(0, 0, 0, 1, 0)]),
        (1, 0, 0, [(0, 0, 0, 0, 1)]),
        (0, 0, 0, []),
    ],
)
def test_automata_that_make_no_sense_are_refused(automaton: Automaton) -> None:
    with pytest.raises(ValueError, match="automaton"):
        answer(StopAndWait(), StopAndWait.done, automaton)


def test_a_graph_can_be_explored_in_parts() -> None:
    model = Model(define(paxos.Paxos(proposers=2, acceptors=3)), [asked(learned)])
    whole = Temporal(model.engine, [0]).explore(model)
    graph = Temporal(model.engine, [0])
    pauses: list[int] = []
    while (found := graph.explore(model, pause=1_000 * (len(pauses) + 1))).paused:
        assert found.expanded < found.states
        pauses.append(found.states)
    assert len(pauses) > 3
    assert pauses == sorted(set(pauses))
    assert (found.states, found.transitions, found.depth) == (whole.states, whole.transitions, whole.depth)
    with pytest.raises(RuntimeError, match="has been explored"):
        graph.explore(model)


SCRIPT = """
from liveness_models import *
from test_temporal_levels import answer
for found in (
    answer(Locking(), Locking.waiting, UNANSWERED).violation,
    answer(Serving(clients=3), Serving.waiting, UNANSWERED, level="transition").violation,
):
    print(found.path, found.loop_from, [(each.column, each.transition, each.messages) for each in found.steps])
"""


def test_the_lasso_is_the_same_under_every_hash_seed() -> None:
    outputs = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in ("0", "1", "12345")
    }
    assert len(outputs) == 1
