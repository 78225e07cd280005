"""The same run in another order: never another run."""

import itertools
from collections import Counter
from dataclasses import replace

from hypothesis import given

from handmade import violation
from models import Everything
from quorate import check
from quorate.base.values import encode
from quorate.protocols.faulty_paxos import FaultyPaxos
from quorate.protocols.faulty_paxos_2 import FaultyPaxos2
from quorate.results.regroup import LONGEST, _Order, regroup
from quorate.results.trace import Trace
from quorate.semantics.follow import Run, follow
from quorate.semantics.identity import Identity
from quorate.semantics.state import Step
from walks import traces


def label(step: Step) -> tuple[object, ...]:
    outcome = encode(step.outcome[:4]) if step.outcome is not None else b""
    return step.kind, step.column, str(step.transition), encode(step.consumed), outcome, step.failure


def turns(trace: Trace) -> int:
    columns = [step.column for step in trace.steps]
    return sum(one != two for one, two in itertools.pairwise(columns))


def assert_same_meaning(one: Trace, two: Trace) -> None:
    assert Counter(map(label, one.steps)) == Counter(map(label, two.steps))
    assert one.states[-1] == two.states[-1]
    again = follow(two.definition, two.initial, map(Identity.of, two.steps))
    assert isinstance(again, Run)
    assert [step.next for step in again.steps] == [step.next for step in two.steps]
    for column in one.definition.processes:  # what one process does, it does in the same order
        orders = [[label(step) for step in each.steps if step.column == column.index] for each in (one, two)]
        assert orders[0] == orders[1]


@given(traces())
def test_it_is_the_same_run(trace: Trace) -> None:
    regrouped = regroup(trace)
    order = _Order(trace)
    order.improve()
    # What the dependencies allow, the semantics allows: otherwise the run would have been left as it was.
    assert [label(step) for step in regrouped.steps] == [label(trace.steps[place]) for place in order.places]
    assert_same_meaning(trace, regrouped)
    assert turns(regrouped) <= turns(trace)
    assert regroup(regrouped).steps == regrouped.steps


def names(trace: Trace) -> list[str]:
    return [f"{trace.definition.columns[step.column].name}.{step.transition}" for step in trace.steps]


def test_one_process_does_all_it_can() -> None:
    found = check(FaultyPaxos(), regroup=False).trace
    shown = check(FaultyPaxos()).trace
    assert found is not None
    assert shown is not None
    assert_same_meaning(found, shown)
    assert (turns(found), turns(shown)) == (10, 8)
    assert names(shown)[2:6] == ["acceptor1.Acceptor.promise"] * 2 + ["acceptor2.Acceptor.promise"] * 2


def test_an_earlier_turn_may_be_put_off() -> None:
    found = check(FaultyPaxos2(), regroup=False).trace
    assert found is not None
    assert (turns(found), turns(regroup(found))) == (14, 12)


def test_a_failing_step_stays_the_last() -> None:
    trace = violation(Everything(), "assertion")
    assert trace.steps[-1].failure is not None
    assert regroup(trace).steps[-1] is trace.steps[-1]


def test_what_a_run_shows_is_not_shown_before_its_end() -> None:
    """helper1 and helper2 are busy after the third step; asking for one of them would show that sooner."""
    trace = violation(Everything(lossy=False), "one_busy")
    assert [step.next for step in regroup(trace).steps][-1] == trace.states[-1]


def test_very_long_runs_are_left_alone() -> None:
    trace = violation(Everything(), "one_busy")
    long = replace(trace, steps=trace.steps * (LONGEST // len(trace.steps) + 1))
    assert regroup(long) is long
