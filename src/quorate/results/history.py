"""The operations of a run as intervals, and why they break a property about histories."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from quorate.base.values import encode, show
from quorate.histories.intervals import pictured, told
from quorate.histories.linearizability import History, Linearizability
from quorate.histories.order import Call, find_misplaced
from quorate.histories.sequential import Sequentially
from quorate.language.declared import WATCH_MARK
from quorate.language.operation import Invoked, Returned
from quorate.language.shared import Written
from quorate.properties.explanation import Part

if TYPE_CHECKING:
    from quorate.language.message import Event
    from quorate.model.definition import Definition, Property
    from quorate.results.trace import Trace
    from quorate.semantics.state import Step


def announced(event: Event) -> str:
    """What a handler tells the monitors, in words."""
    identity = getattr(event, "identity", None)
    which = f" ({show(identity)})" if identity is not None else ""
    if isinstance(event, Invoked):
        return f"begins {show(event.operation)}{which}"
    if isinstance(event, Returned):
        return f"returns {show(event.value)}{which}"
    if isinstance(event, Written):
        return f"writes {event.cell} = {show(event.value)}"
    return f"emits {show(event)}"


def announcements(definition: Definition, step: Step) -> list[str]:
    """What a step has read of shared cells, what it writes, and what it tells the monitors; and what it has consumed
    and a crash leaves where it was."""
    reads = step.outcome.reads if step.outcome is not None else ()
    events = step.outcome.events if step.outcome is not None else ()
    again = [f"leaves {show(message)} in flight" for message in step.consumed if step.redelivered]
    said = [f"reads {definition.columns[index].name} = {show(value)}" for index, value in reads]
    return said + [announced(event) for event in events] + again


def calls_of(trace: Trace) -> list[Call]:
    """The operations of a run; places are the numbers of events, `lines` the steps in which they begin and end."""
    found: list[Call] = []
    under_way: dict[bytes, int] = {}
    place = 0
    for number, step in enumerate(trace.steps, start=1):
        for event in step.outcome.events if step.outcome is not None and step.failure is None else ():
            place += 1
            if isinstance(event, Invoked):
                under_way[encode((event.source, event.identity))] = len(found)
                found.append(Call(str(event.source), event.operation, place, lines=(number, None)))
            elif isinstance(event, Returned):
                at = under_way.pop(encode((event.source, event.identity)), None)
                if at is not None:
                    call = found[at]
                    found[at] = Call(
                        call.process, call.operation, call.begin, place, event.value, (call.lines[0], number)
                    )
    return found


def explained(trace: Trace, prop: Property) -> Part | None:
    """Which operation has no place, and the history as intervals; None if the property is not about a history."""
    monitor: Any = getattr(prop.function, WATCH_MARK, None)
    if monitor is None or not issubclass(monitor, History) or trace.kind != "violation":
        return None
    calls = calls_of(trace)
    last = max((call for call in calls if call.end is not None), key=lambda call: call.end or 0, default=None)
    if last is None:
        return None
    why = f"{last.process} ends {told(last)}, which is not what such a register may return"
    if issubclass(monitor, Sequentially):
        why = "no order of all operations keeps to the order of each process"
        last = None
    if issubclass(monitor, Linearizability):
        found = find_misplaced(monitor.specification, calls)
        if found is None:
            return None
        last = found.call
        values = ", ".join(map(show, found.expected)) or "nothing: it would have to wait"
        why = f"no order of the operations explains {told(last)} of {last.process}; it could have returned {values}"
    return Part(why, tuple(Part(line) for line in pictured(calls, last, "steps")))
