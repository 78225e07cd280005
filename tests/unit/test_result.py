import json
from collections.abc import Callable
from textwrap import dedent
from typing import Any

import pytest

from handmade import result, violation, witness
from models import Everything
from quorate import Process, System, check, prove, simulate
from quorate.base.errors import TargetError
from quorate.protocols.paxos import Paxos
from quorate.protocols.two_phase_commit import TwoPhaseCommit
from quorate.render.report import report
from quorate.results.result import CheckFailed, PropertyOutcome, Result


def lines(outcome: Result, **how: Any) -> list[str]:
    return report(outcome, **how).plain().splitlines()


def test_the_report_of_a_result_that_holds() -> None:
    assert (
        str(result())
        == dedent(
            """
            ✓ Paxos(proposers=2, acceptors=3) holds

              ✓ agreement  in every state
              ✓ validity   in every state

              states         1,005
              transitions    2,340
              depth          14
              time           0.25 s (4,020 states/s), and 50 ms to set up
              memory         43.0 MB at most
              tables         340 cells and 57 messages from 812 calls into Python
              search         breadth-first
              quotient       factor 3.4: 120 local states in 35 classes
              dead messages  ran: 14 of 57 messages are never consumed
              left out       symmetry: not asked for
            """
        ).strip()
    )


def test_a_violation_leads_with_the_verdict_then_why_then_the_run_then_the_figures_then_replay() -> None:
    shown = lines(result(violation(Everything(), "one_busy"), properties=(), target="everything"))
    assert shown[:6] == [
        "✗ Everything(helpers=3, colour=Colour.RED, lossy=True) violates one_busy",
        "  helper1.busy = True",
        "  helper2.busy = True",
        "  helper3.busy = False",
        "",
        "The shortest run that breaks one_busy: 3 steps",
    ]
    assert shown.index("  ✗ one_busy fails here") < shown.index("  states         1,005")
    assert shown[-1] == "Keep it: --save run.json, then quorate replay run.json"


def test_a_saved_run_says_how_to_replay_it() -> None:
    outcome = result(violation(Everything(), "one_busy"))
    assert lines(outcome, saved="run.json")[-1] == "Replay it: quorate replay run.json"
    assert 'result.trace.save("run.json")' in lines(outcome)[-1]


def test_the_run_can_be_left_out() -> None:
    assert "shortest run" not in report(result(violation(Everything(), "one_busy")), trace=None).plain()


def test_a_deadlock_and_a_failure_have_verdicts_in_words() -> None:
    assert lines(result(verdict="violated", property="deadlock"))[0].endswith(" can deadlock")
    failed = result(violation(Everything(), "assertion"))
    assert lines(failed)[0].endswith(" fails in asker1.complain")


def test_bytes_a_state_are_told_where_they_mean_something() -> None:
    assert "  memory         16 bytes a state, 43.0 MB at most" in lines(result(states=20_000))


def test_many_parameters_move_below_the_verdict() -> None:
    shown = lines(result(parameters={f"parameter{n}": 100 * n for n in range(12)}))
    assert shown[0] == "✓ Paxos holds"
    assert shown[1].startswith("  with parameter0=0 parameter1=100 ")
    assert all(len(line) <= 80 for line in shown)


def test_a_parameter_without_a_value_is_not_mentioned() -> None:
    assert lines(result(parameters={"a": 1, "b": None}))[0] == "✓ Paxos(a=1) holds"


def test_a_search_that_stopped_says_what_it_covered() -> None:
    stopped = result(verdict="incomplete", stopped_by="time", frontier=90, properties=())
    assert lines(stopped)[:3] == [
        "? Paxos(proposers=2, acceptors=3) is not decided",
        "  the time was up: nothing was violated in 1,005 states up to depth 14",
        "  90 states were found but not yet expanded",
    ]


def test_something_that_cannot_happen_is_said_so() -> None:
    never = result(
        verdict="violated",
        property="served",
        properties=(PropertyOutcome("served", "can", "violated", "no run gets there"),),
    )
    assert lines(never)[:2] == ["✗ Paxos(proposers=2, acceptors=3) violates served", "  no run gets there"]


def test_what_can_happen_tells_how_soon_and_shows_the_run_on_demand() -> None:
    reached = witness(Everything(), "served")
    shows = result(properties=(PropertyOutcome("served", "can", "holds"),), witnesses={"served": reached})
    assert "  ✓ served  can happen, first after 4 steps" in lines(shows)
    assert "served is reached" not in str(shows)
    assert "  ✓ served is reached here" in lines(shows, witnesses=True)


def test_bounds_and_bitstate_qualify_the_verdict() -> None:
    bounded = lines(result(bounds=("Server.within",)))
    assert bounded[0].endswith(" holds within its bounds")
    assert bounded[1] == "  bounded by Server.within: what lies beyond was not searched"
    seen = lines(result(store="bitstate", coverage=0.99987))
    assert seen[0].endswith(" holds in every state that was seen")
    assert "  coverage       99.9870% of the states are expected to have been seen" in seen
    stopped = " ".join(str(result(verdict="incomplete", store="bitstate", expected_omissions=3.2)).split())
    assert "coverage unknown, since the search did not end; of what it came to, 3 states are expected" in stopped
    assert "%" not in stopped


@pytest.mark.parametrize(
    ("options", "whole"), [({}, True), ({"max_states": 300}, False), ({"timeout": 1e-9}, False)], ids=str
)
def test_only_a_bitstate_search_that_ends_has_a_coverage(options: dict[str, Any], whole: bool) -> None:
    found = check(Paxos(), symmetry="none", quotient="off", dead_messages="off", store="bitstate", **options)
    assert (found.coverage is not None) == whole
    assert found.expected_omissions is not None
    assert 0 <= found.expected_omissions < 1


def test_warnings_are_shown() -> None:
    assert "  warning: Ping is sent to server1, but nobody takes it" in lines(
        result(warnings=("Ping is sent to server1, but nobody takes it",))
    )


def test_ok_bool_and_check_agree() -> None:
    good, bad = result(), result(violation(Everything(), "one_busy"))
    assert good.ok
    assert good
    assert good.check() is good
    assert not bad.ok
    assert not bad
    with pytest.raises(CheckFailed, match="violates one_busy") as caught:
        bad.check()
    assert str(caught.value) == str(bad)
    assert caught.value.result is bad


def test_undecided_is_not_ok() -> None:
    assert not result(verdict="incomplete", stopped_by="states").ok


def test_repr_is_short_enough_for_pytest_to_show_it_whole() -> None:
    bad = result(violation(Everything(), "one_busy"))
    assert repr(bad) == "<Result Everything, violated, one_busy, 3 steps; 1,005 states>"


def test_json_has_every_key_that_scripts_rely_on() -> None:
    document = json.loads(json.dumps(result(violation(Everything(), "one_busy")).to_json()))
    promised = (
        "schema system parameters verdict property states transitions depth seconds setup_seconds setup "
        "peak_memory_bytes bytes_per_state python_calls repeated_calls cells messages reductions trace properties "
        "deadlocks search store threads workers stopped_by running frontier coverage expected_omissions "
        "miss_probability warnings bounds witnesses target environment self_check fairness "
        "product_states covered violations checkpoint graph"
    )
    assert set(document) == set(promised.split())
    assert document["schema"] == 1
    assert document["trace"]["property"] == "one_busy"
    assert document["properties"][1] == {"name": "validity", "kind": "invariant", "verdict": "incomplete", "note": ""}


class Alone(Process):
    """Does nothing."""


class Idle(System):
    def build(self) -> None:
        self.spawn(Alone)


def test_figures_of_a_system_in_which_nothing_happens() -> None:
    """They read "1 local states" and "0 of 0 dead, factor 0.0"."""
    text = " ".join(str(check(Idle)).split())
    assert "1 local state, 0 messages, 0 behaviours: bounds" in text
    assert "dead messages 0 of 0 dead: drops" in text


def test_every_answer_shows_its_report_and_is_short_where_pytest_explains_it() -> None:
    walked = simulate(TwoPhaseCommit(), runs=2)
    assert str(walked).startswith("? TwoPhaseCommit(")
    assert repr(walked) == "<Simulation TwoPhaseCommit, nothing found; 2 runs>"
    proved = prove(TwoPhaseCommit(participants=1))
    assert str(proved).startswith("✓ TwoPhaseCommit(")
    assert repr(proved) == "<Proof TwoPhaseCommit, proved; agreement, validity>"


@pytest.mark.parametrize("command", [check, simulate, prove], ids=lambda each: each.__name__)
@pytest.mark.parametrize("given", ["paxos", None, 3, dict])
def test_what_is_no_system_is_refused_by_its_value(command: Callable[[Any], object], given: object) -> None:
    with pytest.raises(TargetError, match=r"system=.* is not a System") as refused:
        command(given)
    assert refused.value.code == "Q304"
