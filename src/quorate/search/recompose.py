"""A run of a system whose processes were taken apart, as the run of the whole system that it is."""

from __future__ import annotations

from quorate.properties import explain
from quorate.reduce.decomposition import Whole
from quorate.results.trace import Trace
from quorate.search.rebuild import ReplayError
from quorate.semantics.steps import Step, initial_states, steps


def recompose(trace: Trace, joined: Whole) -> Trace:
    """Follow the run in the whole system, step by step."""
    whole = joined.whole
    state = initial = joined.state(trace.initial)
    if initial not in initial_states(whole):
        raise _disagree("the first state is not initial")
    taken: list[Step] = []
    for step in trace.steps:
        offered = [other for other in steps(whole, state) if other.column == joined.column(step.column)]
        wanted = None if step.next is None else joined.state(step.next)
        step_there = next((other for other in offered if other.next == wanted and _alike(other, step)), None)
        if step_there is None:
            raise _disagree(f"step {len(taken) + 1} leads nowhere")
        taken.append(step_there)
        state = step_there.next or state
    reason = trace.reason
    names = {prop.name: prop for prop in whole.properties}
    if trace.property in names:
        reason = explain(whole, names[trace.property], state.locals)
    elif trace.property == "deadlock" and whole.final is not None:
        reason = explain(whole, whole.final, state.locals)
    return Trace(trace.kind, trace.property, reason, whole, initial, tuple(taken), trace.shortest)


def _alike(one: Step, two: Step) -> bool:
    if one.kind != two.kind or (one.failure is None) != (two.failure is None):
        return False
    if one.failure is not None and two.failure is not None:
        return (one.failure.kind, one.failure.line) == (two.failure.kind, two.failure.line)
    return one.transition is None or two.transition is None or one.transition.name == two.transition.name


def _disagree(what: str) -> ReplayError:
    return ReplayError(
        f"the counterexample does not replay with whole processes: {what}",
        hint="this is a defect of Quorate; please report it with the model. --symmetry naive may work around it",
    )
