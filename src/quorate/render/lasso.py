"""How runs without an end, and runs from anywhere, are told: the same words in text, pictures and pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quorate.base.words import count
from quorate.model.outcome import is_crashed

if TYPE_CHECKING:
    from quorate.model.definition import Definition
    from quorate.results.trace import Trace
    from quorate.semantics.state import State

AGAIN = "from here on, again and again"
STOPS = "and then nothing happens any more"
ANYWHERE = "a state that need not be reachable"


def how_it_goes_on(trace: Trace) -> str:
    """Of a run without an end: which of its steps come again."""
    if trace.loop_from is None:
        return ""
    if trace.stops:
        return f", {STOPS}"
    higher = "" if trace.states[trace.loop_from] == trace.states[-1] else ", with higher ranks each time"
    if trace.loop_from == 0:
        return f", again and again{higher}"
    last = "the last one" if len(trace.loop) == 1 else f"the last {count(len(trace.loop), 'step')}"
    return f", {last} again and again{higher}"


def nothing_more(definition: Definition, state: State | None) -> str:
    """Of a state in which the protocol has no step: a process that has crashed may still come back."""
    crashed = state is not None and any(is_crashed(state.locals[column.index]) for column in definition.processes)
    back = " unless a crashed process recovers" if crashed and definition.faults.recover else ""
    return f"nothing more can happen{back}"
