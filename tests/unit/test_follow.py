"""Making a run again: all of it, or up to the first step that differs."""

import json

from hypothesis import given

from handmade import violation
from models import Everything
from quorate import fifo
from quorate.model.define import define
from quorate.model.definition import Definition
from quorate.render.exports.regression import regression_test
from quorate.results.json import trace_to_json
from quorate.results.replay import replay
from quorate.results.trace import Trace
from quorate.semantics.follow import Differs, Run, follow
from quorate.semantics.identity import Identity
from quorate.semantics.state import State, Step, initial_states
from quorate.semantics.steps import steps
from test_semantics import talk
from walks import traces


@given(traces())
def test_a_run_is_followed_to_its_end(trace: Trace) -> None:
    run = follow(trace.definition, trace.initial, map(Identity.of, trace.steps))
    assert isinstance(run, Run)
    assert [(step.next, step.failure) for step in run.steps] == [(step.next, step.failure) for step in trace.steps]
    assert run.last == trace.states[-1]


def test_no_steps_lead_to_where_one_is() -> None:
    definition = define(Everything())
    initial = initial_states(definition)[0]
    run = follow(definition, initial, ())
    assert run == Run(initial, ())
    assert isinstance(run, Run)
    assert run.last is initial


def test_the_first_step_that_differs_is_told() -> None:
    trace = violation(Everything(), "one_busy")
    wanted = [Identity.of(step) for step in trace.steps]
    found = follow(trace.definition, trace.initial, [wanted[0], wanted[0], *wanted[1:]])
    assert isinstance(found, Differs)
    assert (found.number, found.wanted) == (2, wanted[0])
    assert [step.next for step in found.taken] == [trace.steps[0].next]
    assert found.state == trace.steps[0].next


def test_nothing_follows_a_step_that_fails() -> None:
    trace = violation(Everything(), "assertion")
    wanted = [Identity.of(step) for step in trace.steps]
    found = follow(trace.definition, trace.initial, [*wanted, wanted[0]])
    assert isinstance(found, Differs)
    assert (found.number, found.state) == (len(trace) + 1, None)


class To:
    """Any step to that state."""

    def __init__(self, state: State | None) -> None:
        self.state = state

    def matches(self, step: Step, before: State) -> bool:
        return step.next is not None and step.next == self.state


@given(traces())
def test_what_is_wanted_of_a_step_may_be_where_it_leads_to(trace: Trace) -> None:
    if trace.steps[-1].next is None:
        return
    run = follow(trace.definition, trace.initial, [To(step.next) for step in trace.steps])
    assert isinstance(run, Run)
    assert [step.next for step in run.steps] == [step.next for step in trace.steps]


def taking(definition: Definition, *wanted: tuple[str, int]) -> Trace:
    """The run that takes, in every state, the step of that kind or transition and that place."""
    state = initial = initial_states(definition)[0]
    taken: list[Step] = []
    for name, place in wanted:
        offered = [step for step in steps(definition, state) if step.place == place]
        named = [step for step in offered if name == (step.transition.name if step.transition else step.kind)]
        taken.append(named[0])
        assert named[0].next is not None
        state = named[0].next
    return Trace("violation", "deadlock", (), definition, initial, tuple(taken), shortest=False)


def test_a_saved_run_says_which_of_several_equal_messages_in_a_queue_was_lost() -> None:
    """Without that the first one was taken: then what is heard is 2 and 1, and the run cannot be followed."""
    definition = talk(fifo(losses=1), (1, 2, 1))
    trace = taking(definition, *[("say", 0)] * 3, ("lose", 1), ("take", 0), ("take", 0))
    assert trace.states[-1].locals[0][0] == (1, 2)
    document = json.loads(json.dumps(trace_to_json(trace)))
    assert [entry.get("place") for entry in document["steps"]] == [None, None, None, 1, None, None]
    assert [step.next for step in replay(definition, document).steps] == [step.next for step in trace.steps]
    test = regression_test(trace, "test_it.py", "model.py:Talk")
    assert '"place": 1' in test


def test_a_run_that_was_saved_without_places_is_followed_as_before() -> None:
    definition = talk(fifo(losses=1), (1, 2, 1))
    trace = taking(definition, *[("say", 0)] * 3, ("lose", 0), ("take", 0), ("take", 0))
    document = json.loads(json.dumps(trace_to_json(trace)))
    assert all("place" not in entry for entry in document["steps"])
    assert [step.next for step in replay(definition, document).steps] == [step.next for step in trace.steps]
