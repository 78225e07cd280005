import copy
import json
from typing import Any

import pytest

from handmade import violation, witness
from models import Everything, Helper, Starts
from quorate import invariant
from quorate.base.errors import QuorateError
from quorate.model.define import define
from quorate.results.replay import replay
from quorate.results.trace import Trace


def recorded(trace: Trace) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(json.dumps(trace.to_json()))
    return document


@pytest.mark.parametrize("name", ["never_blue", "one_busy", "all_there", "assertion"])
def test_a_run_can_be_followed_again(name: str) -> None:
    trace = violation(Everything(), name)
    again = replay(define(Everything()), recorded(trace))
    assert recorded(again) == recorded(trace)
    assert str(again) == str(trace)


def test_a_witness_can_be_followed_again() -> None:
    trace = witness(Everything(), "served")
    assert str(replay(define(Everything()), recorded(trace))) == str(trace)


def test_a_run_from_one_of_several_initial_states() -> None:
    trace = violation(Starts(), "idle")
    assert str(replay(define(Starts()), recorded(trace))) == str(trace)


def test_other_parameters_have_other_initial_states() -> None:
    with pytest.raises(QuorateError, match="does not start in an initial state of the model"):
        replay(define(Everything(helpers=2)), recorded(violation(Everything(), "one_busy")))


def test_a_step_that_is_not_possible_names_what_is() -> None:
    document = recorded(violation(Everything(lossy=False), "one_busy"))
    document["steps"][1]["transition"] = "nap"
    with pytest.raises(QuorateError, match=r"step 2 of the run, helper1 nap .* can do: help on Ask from asker1"):
        replay(define(Everything(lossy=False)), document)


def test_a_step_with_another_effect() -> None:
    document = recorded(violation(Everything(lossy=False), "one_busy"))
    document["steps"][1]["changes"] = []
    with pytest.raises(QuorateError, match=r"step 2 .* has another effect now"):
        replay(define(Everything(lossy=False)), document)


class Repaired(Everything):
    @invariant
    def one_busy(self) -> bool:
        return sum(helper.busy for helper in self[Helper]) < 3


def test_a_property_that_holds_now() -> None:
    with pytest.raises(QuorateError, match="but one_busy holds at its end"):
        replay(define(Repaired()), recorded(violation(Everything(), "one_busy")))


def test_a_property_that_is_gone() -> None:
    document = recorded(violation(Everything(), "one_busy"))
    document["property"] = "old_name"
    with pytest.raises(QuorateError, match="the property old_name, which the model no longer has"):
        replay(define(Everything()), document)


def test_a_run_that_does_not_end_in_a_deadlock() -> None:
    document = recorded(violation(Everything(), "one_busy"))
    document["property"] = "deadlock"
    with pytest.raises(QuorateError, match="does not end in a deadlock"):
        replay(define(Everything()), document)


def test_nothing_follows_a_failing_step() -> None:
    document = recorded(violation(Everything(), "assertion"))
    document["steps"].append(copy.deepcopy(document["steps"][0]))
    with pytest.raises(QuorateError, match=r"step 6 .* the step before it fails now"):
        replay(define(Everything()), document)
