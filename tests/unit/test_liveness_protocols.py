"""What the bundled protocols do in the end: every verdict of docs/protocols/liveness.json, and every lasso."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import quorate
from quorate import crashes, on, unordered
from quorate.base.errors import ParameterError
from quorate.model.define import define
from quorate.model.target import load
from quorate.options import LEVELS
from quorate.properties.temporal.fairness import assumed
from quorate.protocols import lock, paxos_duel
from quorate.protocols.paxos import Acceptor, Paxos
from quorate.protocols.two_phase_commit import Coordinator, Participant, TwoPhaseCommit
from quorate.results.json import trace_to_json
from quorate.results.replay import ReplayError, replay
from reference import explore
from small_instances import without_temporal

PAGES = Path(__file__).parents[2] / "docs" / "protocols"
ROWS: list[tuple[str, dict[str, Any]]] = [
    (name, row) for name, rows in json.loads((PAGES / "liveness.json").read_text()).items() for row in rows
]
PLAIN: dict[str, Any] = {"quotient": "off", "dead_messages": "off", "symmetry": "none"}


def asked(name: str, row: dict[str, Any], **options: Any) -> quorate.Result:
    questions = {key: row[key] for key in ("ltl", "ctl", "property") if key in row}
    return quorate.check(load(name)(**row["parameters"]), **questions, **row["options"], **options)


def told(result: quorate.Result) -> list[str]:
    """The steps of a run in short, the loop behind a bar."""
    trace = result.trace
    assert trace is not None
    assert trace.loop_from is not None
    columns = trace.definition.columns
    steps = [
        f"{columns[each.column].name}.{each.transition.name if each.transition and each.kind == 'step' else each.kind}"
        for each in trace.steps
    ]
    return [*steps[: trace.loop_from], "|", *steps[trace.loop_from :]]


def row_id(value: Any) -> str | None:
    if not isinstance(value, dict):
        return None
    question = next(value[key] for key in ("ltl", "ctl", "property") if key in value)
    return " ".join([question, *(f"{key}={each}" for key, each in (value["parameters"] | value["options"]).items())])


@pytest.mark.parametrize(("name", "row"), ROWS, ids=row_id)
def test_the_verdicts_on_the_pages(name: str, row: dict[str, Any]) -> None:
    result = asked(name, row)
    found: dict[str, Any] = {"verdict": result.verdict, "states": result.states}
    if result.trace is not None:
        found |= {"steps": len(result.trace.steps), "loop": len(result.trace.loop)}
        again = replay(result.trace.definition, json.loads(json.dumps(trace_to_json(result.trace))))
        assert (again.steps, again.loop_from) == (result.trace.steps, result.trace.loop_from)
    assert found == {key: row[key] for key in ("verdict", "states", "steps", "loop") if key in row}


@pytest.mark.parametrize(("name", "row"), [each for each in ROWS if each[1]["states"] < 10_000], ids=row_id)
def test_the_verdicts_without_reductions(name: str, row: dict[str, Any]) -> None:
    assert asked(name, row, trace=False, **PLAIN).verdict == row["verdict"]


# --- known figures -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("number", "states", "verdict"), [(0, 93, "holds"), (1, 489, "holds"), (2, 1_032, "violated")])
def test_paxos_ends_if_a_majority_is_left(number: int, states: int, verdict: str) -> None:
    class Crashing(Paxos):
        faults = crashes(number, of=Acceptor)

    result = quorate.check(Crashing(proposers=1), ltl="F learned", **PLAIN)
    assert (result.states, result.verdict) == (states, verdict)
    if verdict == "violated":
        assert len(told(result)) == 5
        assert told(result)[-1] == "|", "and then nothing happens any more"


@pytest.mark.parametrize(("losses", "level", "verdict"), [
    (1, "message", "holds"),
    ("any", "message", "violated"),
    ("any", "strong", "violated"),
])  # fmt: skip
def test_paxos_sends_nothing_again(losses: Any, level: str, verdict: str) -> None:
    class Lossy(Paxos):
        network = unordered(losses=losses)

    assert quorate.check(Lossy(proposers=1), ltl="F learned", fairness=level).verdict == verdict


def test_a_coordinator_that_crashed_is_waited_for() -> None:
    result = quorate.check(TwoPhaseCommit(participants=2, crashes=1), ltl="F decided")
    assert told(result) == ["coordinator1.crash", "|"]
    assert result.fairness is not None
    assert result.fairness["would_hold"] is None


def test_ben_or_says_that_it_need_not_end() -> None:
    page = (PAGES / "ben-or.md").read_text(encoding="utf-8")
    assert "Termination is not to be expected here" in page
    row = next(row for name, row in ROWS if name == "ben-or")
    assert asked("ben-or", row | {"options": {"fairness": "strong"}}).verdict == "violated"


def test_implicit_crashes_have_a_number() -> None:
    """Without one it was taken for none, and what a crash prevents was said to hold."""
    result = quorate.check(TwoPhaseCommit(participants=2), ltl="F decided", crash="implicit")
    assert result.verdict == "incomplete"
    assert result.properties[0].note.endswith("it has to be said how many processes may crash: --crashes 1")

    class Between(TwoPhaseCommit):
        def build(self) -> None:
            super().build()
            self.faults = crashes(0, of=Coordinator, cut_short=False)

    system = Between(participants=2)
    assert quorate.check(system, ltl="F decided", crash="implicit", crashes=1).verdict == "violated"
    assert quorate.check(system, ltl="F decided", crash="explicit", crashes=1).verdict == "violated"


def test_one_step_may_be_strongly_fair() -> None:
    class Just(lock.Lock):
        @on(lock.Request, when=lambda self, m: self.holder is None, fair="strong")
        def grant(self, m: lock.Request) -> None:
            super().grant(m)

    class Fair(lock.Locking):
        def build(self) -> None:
            self.spawn(lock.Client, self.clients, lock=self.spawn(Just))

    result = quorate.check(Fair())
    assert result.ok
    assert "Just.grant also if possible again and again" in str(result)


# --- protocols whose graphs have cycles --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "parameters", "states"),
    [
        ("stop-and-wait", {}, 33),
        ("stop-and-wait", {"messages": 3}, 105),
        ("stop-and-wait", {"repeats": False}, 11),
        ("alternating-bit", {}, 192),
        ("alternating-bit", {"capacity": 3}, 450),
        ("token-ring", {}, 44),
        ("token-ring", {"members": 4}, 112),
        ("lock", {}, 28),
        ("lock", {"queue": False}, 20),
        ("dining-philosophers", {}, 1_002),
        ("dining-philosophers", {"queues": False}, 560),
        ("paxos-duel", {}, 116),
        ("paxos-duel", {"retries": 1}, 92),
    ],
)
def test_counts(name: str, parameters: dict[str, Any], states: int) -> None:
    system = without_temporal(load(name))
    known = explore(define(system(**parameters)))
    found = quorate.check(system(**parameters), **PLAIN)
    assert known.ok
    assert found.verdict == "holds"
    assert (found.states, found.transitions, found.depth) == (known.states, known.transitions, known.depth)
    assert found.states == states


@pytest.mark.parametrize(
    ("name", "parameters", "wanted"),
    [
        # In the order of LEVELS: none, progress, process, transition, message, strong.
        ("stop-and-wait", {}, "violated holds holds holds holds holds"),
        ("stop-and-wait", {"fair": False}, "violated violated violated violated violated holds"),
        ("stop-and-wait", {"repeats": False}, "violated violated violated violated violated violated"),
        ("alternating-bit", {}, "violated holds holds holds holds holds"),
        ("alternating-bit", {"fair": False}, "violated violated violated violated violated holds"),
        ("token-ring", {}, "violated holds holds holds holds holds"),
        ("token-ring", {"greedy": True}, "violated violated violated violated violated violated"),
        ("lock", {}, "violated violated violated violated holds holds"),
        ("lock", {"queue": False}, "violated violated violated violated violated holds"),
        ("dining-philosophers", {}, "violated violated violated violated holds holds"),
        ("dining-philosophers", {"queues": False}, "violated violated violated violated violated holds"),
        ("paxos-duel", {}, "violated violated violated violated violated violated"),
    ],
)
def test_what_has_to_be_assumed(name: str, parameters: dict[str, Any], wanted: str) -> None:
    system = load(name)(**parameters)
    found = [quorate.check(system, fairness=level, trace=False).verdict for level in LEVELS]
    assert found == wanted.split()


@pytest.mark.parametrize(
    ("name", "parameters", "broken"),
    [
        ("alternating-bit", {"ordered": False}, "in_order"),
        ("dining-philosophers", {"left_first": True}, "deadlock"),
    ],
)
def test_mistakes_that_a_state_shows(name: str, parameters: dict[str, Any], broken: str) -> None:
    assert quorate.check(load(name)(**parameters)).property == broken


# --- the lassos ----------------------------------------------------------------------------------------------------


def test_a_message_is_lost_each_time() -> None:
    result = quorate.check(load("stop-and-wait")(messages=1, fair=False))
    assert told(result) == ["|", "sender1.transmit", "receiver1.lose"]
    assert result.fairness is not None
    assert result.fairness["starved"] == ["receiver1.receive (again and again)"]
    assert result.fairness["would_hold"] == "strong"


def test_what_is_sent_once_is_lost() -> None:
    result = quorate.check(load("stop-and-wait")(repeats=False))
    assert told(result) == ["trustingsender1.transmit", "receiver1.lose", "|"]


def test_the_other_client_is_always_faster() -> None:
    result = quorate.check(load("lock")(queue=False))
    assert result.property == "waiting[client1]"
    loop = ["lock1.grant", "client2.enter", "client2.leave", "lock1.free", "client2.ask"]
    assert told(result) == ["client1.ask", "client2.ask", "|", *loop]


def test_one_member_keeps_the_token() -> None:
    result = quorate.check(load("token-ring")(greedy=True))
    assert told(result) == ["member1.begin", "member1.ask", "member2.ask", "member2.take", "|", "member2.leave"]
    assert result.fairness is not None
    assert result.fairness["starved"] == ["member3.ask (all the time; it need not be)"]


def test_everybody_has_one_fork() -> None:
    result = quorate.check(load("dining-philosophers")(left_first=True), property="hungry")
    assert told(result)[-1] == "|"
    assert result.trace is not None
    assert result.trace.steps[-1].next is not None
    report = str(result)
    assert "and then nothing happens any more" in report
    assert "philosopher2 waits for Take" in report


def test_a_philosopher_starves_beside_one_that_eats() -> None:
    result = quorate.check(load("dining-philosophers")(queues=False), property="hungry")
    trace = told(result)
    loop = trace[trace.index("|") + 1 :]
    assert {each.partition(".")[0] for each in loop} == {"philosopher2", "plainfork2", "plainfork3"}
    assert loop.count("philosopher2.put_down") == 1


# --- the duel ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cycle", [4, 6, 8])
def test_the_duel_is_the_same_whatever_ballots_are_counted_modulo(cycle: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paxos_duel, "CYCLE", cycle)
    result = quorate.check(paxos_duel.PaxosDuel())
    assert result.property == "chosen"
    assert result.trace is not None
    # In a round each of them is rejected once, and takes its next ballot: eight steps.
    assert len(result.trace.loop) == 8 * cycle // 2


def test_more_than_two_proposers_or_one_acceptor_need_a_bound() -> None:
    for parameters in ({"proposers": 3}, {"acceptors": 2}):
        with pytest.raises(ParameterError, match="`retries` bounds the ballots"):
            quorate.check(paxos_duel.PaxosDuel(**parameters))


def test_the_assertion_notices_ballots_that_are_too_far_apart() -> None:
    assert paxos_duel.is_ahead(0, 3, 4)
    assert not paxos_duel.is_ahead(3, 0, 4)
    with pytest.raises(AssertionError, match="not clear"):
        paxos_duel.is_ahead(3, 1, 4)


def test_a_bound_on_retries_leaves_the_duel_open_and_that_is_said() -> None:
    """Within the bound one of the two comes to its end. Without it they go on for ever."""
    result = quorate.check(paxos_duel.PaxosDuel(retries=1))
    assert result.bounds == ("Proposer.within",)
    (outcome,) = [each for each in result.properties if each.name == "chosen"]
    note = "not decided: Proposer.within ends a run on which it is still open"
    assert (result.verdict, outcome.verdict, outcome.note) == ("incomplete", "incomplete", note)
    # The same if nothing else is asked, so that no other search has met the bound.
    asked_for = quorate.check(paxos_duel.PaxosDuel(retries=1), ltl="F chosen")
    assert (asked_for.verdict, asked_for.bounds) == ("incomplete", ("Proposer.within",))
    assert asked_for.cells > 0


def test_a_run_that_a_bound_ends_is_neither_proof_nor_counterexample() -> None:
    row = next(row for name, row in ROWS if name == "raft-election")
    result = asked("raft-election", row)
    assert result.verdict == "incomplete"
    assert result.properties[0].note == "not decided: Server.within ends a run on which it is still open"
    assert "not every property could be decided: nothing was violated in 83 states" in str(result)


def test_a_run_that_no_longer_breaks_its_property_does_not_replay() -> None:
    result = quorate.check(TwoPhaseCommit(participants=2, crashes=1), ltl="F decided")
    assert result.trace is not None
    saved = json.loads(json.dumps(trace_to_json(result.trace)))
    definition = result.trace.definition
    assert replay(definition, saved | {"property": "A F decided"}).property == "A F decided"
    with pytest.raises(ReplayError, match="G !decided holds on it"):
        replay(definition, saved | {"property": "G !decided"})
    for gone in ("F decide", "A G E F decided"):
        with pytest.raises(ReplayError, match="which the model no longer has"):
            replay(definition, saved | {"property": gone})


# --- Byzantine processes -------------------------------------------------------------------------------------------


class Suspect(Coordinator, byzantine=True):
    """Does what the others do, if it likes."""


class Suspicious(TwoPhaseCommit):
    def build(self) -> None:
        self.spawn(Suspect, participants=self.spawn(Participant, self.participants))


def test_a_byzantine_process_need_not_do_anything() -> None:
    result = quorate.check(Suspicious(participants=1), ltl="F decided")
    assert result.verdict == "violated"
    assert told(result) == ["|"]
    definition = define(Suspicious(participants=1))
    assert assumed(definition, "message").endswith("; Byzantine processes need not do anything")
