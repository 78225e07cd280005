"""A shorter run that shows the same.

Two ways, both through the plain semantics: leave out steps that are not needed, and search again from the start, level
by level, which ends at the shortest run of all if it gets there. Runs of a depth-first, stateless or bitstate search
are often ten times as long as they need to be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from quorate.base.errors import QuorateError
from quorate.base.watchdog import Halted
from quorate.properties import explain
from quorate.results.claim import Claim
from quorate.semantics.follow import Differs, find, follow
from quorate.semantics.identity import Identity
from quorate.semantics.state import State, Step

if TYPE_CHECKING:
    from quorate.results.trace import Trace

MOST_REPEATS = 200_000
"""How many steps are taken again at most: some seconds. Counted, not timed, so that the answer is always the same."""


def shorten(trace: Trace, search: Callable[[str], Trace | None] | None = None) -> Trace:
    """The shortest run that leaving out steps leads to, or that `search` finds when it is asked for the property."""
    if trace.shortest or trace.loop_from is not None:
        return trace
    best = without_needless_steps(trace)
    found = search(trace.property) if search is not None else None
    if found is not None and _same_end(found, trace) and (found.shortest or len(found) < len(best)):
        best = found
    best = verified(best)
    return replace(best, shortened_from=len(trace) if len(best) < len(trace) else None)


def _same_end(one: Trace, two: Trace) -> bool:
    """Whether two runs show the same: of a failing handler there may be several kinds."""
    if Claim.of(one)[1:] != Claim.of(two)[1:]:
        return False
    ends = [trace.steps[-1] if trace.steps else None for trace in (one, two)]
    failures = [(end.transition and str(end.transition), end.failure.kind) for end in ends if end and end.failure]
    return len(set(failures)) < 2


def without_needless_steps(trace: Trace) -> Trace:
    """Leave out whatever the run does not need, until every step is needed for those that follow it.

    Long stretches are tried first, as in delta debugging (Zeller and Hildebrandt 2002): a step that is left out takes
    with it the later ones that are no longer possible. If the model's code is stopped, what was left out by then is.
    """
    claim = Claim.of(trace)
    steps = trace.steps
    try:
        for fewer in _with_fewer_and_fewer(claim, trace):
            steps = fewer
    except Halted:
        pass
    return replace(trace, steps=steps) if len(steps) < len(trace.steps) else trace


def _with_fewer_and_fewer(claim: Claim, trace: Trace) -> Iterator[tuple[Step, ...]]:
    steps = trace.steps
    size = max(1, len(steps) // 2)
    left = MOST_REPEATS
    while left > 0:
        start, shorter = len(steps) - size, False
        while start > -size and left > 0:
            left -= len(steps)
            # From the end: what comes late has less that depends on it.
            first = max(0, start)
            attempt = _until_shown(claim, trace.initial, (*steps[:first], *steps[start + size :]))
            if attempt is not None and len(attempt) < len(steps):
                steps, shorter = attempt, True
                yield steps
                start = min(start, len(steps)) - size
            else:
                start -= size
        if not shorter and size == 1:
            break
        size = size if shorter else max(1, size // 2)


def _until_shown(claim: Claim, initial: State, wanted: tuple[Step, ...]) -> tuple[Step, ...] | None:
    """Take what can be taken of these steps up to where the claim is shown; None if it is not."""
    if claim.shown_in(initial):
        return ()
    taken: list[Step] = []
    state = initial
    for step in wanted:
        again = find(claim.definition, state, Identity.of(step))
        if again is None or (again.next is None and not claim.shown_by(again)):
            continue
        if again.next is not None and again.next == state:
            continue  # it changes nothing
        taken.append(again)
        if claim.shown_by(again):
            return tuple(taken)
        assert again.next is not None
        state = again.next
    return None


def verified(trace: Trace) -> Trace:
    """The run taken once more from its initial state, with the reason as it is at its end now."""
    claim = Claim.of(trace)
    found = follow(trace.definition, trace.initial, map(Identity.of, trace.steps))
    steps = () if isinstance(found, Differs) else found.steps
    if isinstance(found, Differs) or not (claim.shown_by(steps[-1]) if steps else claim.shown_in(trace.initial)):
        raise QuorateError(
            "the shortened run does not show what the longer one did",
            hint="this is a defect of Quorate; please report it with the model, and leave --shorten out",
            code="Q901",
        )
    last = steps[-1].next if steps else trace.initial
    reason = trace.reason
    if last is not None and claim.property is not None:
        reason = explain(trace.definition, claim.property, last.locals, last.pending)
    return replace(trace, steps=steps, reason=reason)
