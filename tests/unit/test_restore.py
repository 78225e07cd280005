"""A state that was written as JSON is read back as the same state."""

import json

from hypothesis import given

from handmade import violation
from models import Everything, Starts
from quorate import check
from quorate.model.define import define
from quorate.model.definition import Definition
from quorate.protocols.faulty_paxos import FaultyPaxos
from quorate.results.json import state_to_json
from quorate.results.restore import state_from_json
from quorate.results.trace import Trace
from quorate.semantics.state import State, initial_states
from walks import traces


def assert_restored(definition: Definition, state: State) -> None:
    assert state_from_json(definition, json.loads(json.dumps(state_to_json(definition, state)))) == state


@given(traces())
def test_every_state_of_a_run(trace: Trace) -> None:
    for state in trace.states:
        assert_restored(trace.definition, state)


def test_states_with_all_kinds_of_values() -> None:
    definition = define(Everything())
    for name in ("one_busy", "never_blue"):
        for state in violation(Everything(), name).states:
            assert_restored(definition, state)
    definition = define(Starts())
    for state in initial_states(definition):
        assert_restored(definition, state)


def test_states_with_messages_that_are_delivered_already() -> None:
    trace = check(FaultyPaxos(), network_model="grm").trace
    assert trace is not None
    for state in trace.states:
        assert_restored(trace.definition, state)


def test_what_is_no_state_of_the_model_is_none() -> None:
    definition = define(Everything())
    state = violation(Everything(), "one_busy").states[-1]
    written = state_to_json(definition, state)
    assert state_from_json(definition, written) is not None
    assert state_from_json(definition, written | {"processes": {}}) is None
    assert state_from_json(definition, written | {"budget": [1]}) is None
    unknown = {"to": "helper1", "message": {"type": "Unheard", "fields": {}, "sender": "helper2"}}
    assert state_from_json(definition, written | {"in_flight": [unknown]}) is None
