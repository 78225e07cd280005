"""A run of a system whose processes were taken apart, as the run of the whole system that it is."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from quorate.properties import explain
from quorate.reduce.decomposition import Whole
from quorate.results.trace import Trace
from quorate.search.rebuild import ReplayError
from quorate.semantics.follow import Differs, follow
from quorate.semantics.state import State, Step, initial_states


def recompose(trace: Trace, joined: Whole) -> Trace:
    """Follow the run in the whole system, step by step."""
    whole = joined.whole
    initial = joined.state(trace.initial)
    if trace.start == "initial" and initial not in initial_states(whole):
        raise _disagree("the first state is not initial")
    run = follow(whole, initial, [_Joined(joined, step) for step in trace.steps])
    if isinstance(run, Differs):
        raise _disagree(f"step {run.number} leads nowhere")
    state = run.last
    reason = trace.reason
    names = {prop.name: prop for prop in whole.properties}
    if trace.loop_from is not None:
        pass  # it is the run as a whole that shows something
    elif trace.property in names:
        reason = explain(whole, names[trace.property], state.locals)
    elif trace.property == "deadlock" and whole.final is not None:
        reason = explain(whole, whole.final, state.locals)
    return replace(trace, reason=reason, definition=whole, initial=initial, steps=run.steps)


class _Joined(NamedTuple):
    """The step of the whole process that a step of one of its roles is."""

    joined: Whole
    step: Step

    def matches(self, step: Step, before: State) -> bool:
        wanted = None if self.step.next is None else self.joined.state(self.step.next)
        return step.column == self.joined.column(self.step.column) and step.next == wanted and _alike(step, self.step)


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
