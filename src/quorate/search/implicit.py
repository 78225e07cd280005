"""Where a crash need not be a step: theorem 2 of the thesis, and what it does not cover.

A process that crashes sends part of a step's messages and then takes no further step. Without explicit crashes there
is a run with the same local states: the process sends all of them, nobody consumes the rest, and it is never scheduled
again. The theorem needs labels that do not show who has crashed, a system that may idle, and channels in which one more
message hinders nobody. What needs more than that is refused here (docs/soundness.md, rule 11).

Temporal properties need another argument, since a fair run consumes what it is sent: `unlike_crashes`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from quorate.base.errors import QuorateError
from quorate.language.message import Crash
from quorate.language.shared import Cell
from quorate.model.definition import Definition, Property
from quorate.model.environment import wrong
from quorate.model.views import CRASH_FLAG
from quorate.native.model import Model
from quorate.properties import evaluate
from quorate.properties.asked import Asked
from quorate.semantics.channels import channels


def refuse_what_implicit_crashes_miss(definition: Definition, asked: Asked) -> None:
    """Raise, with the reason, if implicit crashes were asked for and explicit ones might give another answer."""
    if definition.environment.crash != "implicit":
        return
    if asked.deadlock:
        others = [each.name for each in asked.properties if each.kind != "final"]
        only = ", ".join(map(repr, others)) or "'assertions'"
        raise _refused(
            "a crash can leave others waiting, so deadlocks differ",
            f"check the other properties alone: property=[{only}]",
        )
    for reason in _reasons(definition):
        raise _refused(reason)
    predicates = [prop for each in asked.temporal for prop in each.predicates.values()]
    for prop in (*asked.properties, *predicates):
        for state in definition.initials:
            if any(field == CRASH_FLAG for _, field in evaluate(definition, prop, state).reads):
                raise _reads_flag(prop)


def refuse_crash_flags(model: Model) -> None:
    """The same for a property that looked at crash flags only later in the search."""
    if model.definition.environment.crash == "implicit" and any(fields[0] for fields in model.observed):
        raise _reads_flag(None)


def unlike_crashes(model: Model, crashable: Sequence[int], *, blocked: bool) -> str:
    """Why a process that stops for ever does not stand for one that crashes, along whole runs; empty if it does.

    A crash between two steps shows in nothing but the crash flag, which `refuse_crash_flags` is about. A crash that
    cuts a step short has moved the process, consumed messages, told monitors and written shared cells, and sent all
    messages but one at least. If the step sends one message, none was sent. The process then might as well have stopped
    before the step, if nobody sees what else the step does. `blocked`: somewhere a step waits for room in a channel, as
    it might wait for what the process has not consumed.
    """
    definition = model.definition
    if not definition.declared.cut_short:
        return ""
    for column in (definition.columns[index] for index in crashable):
        transitions = definition.transitions(column)
        for sending in model.engine.sending(column.index):
            transition = transitions[sending.transition]
            cut = f"a crash may cut {transition} short, which"
            if sending.messages > 1:
                return f"{cut} sends several messages"
            for told in (definition.columns[index] for index in sending.told):
                if told.cls is Cell:
                    return f"{cut} writes a shared cell and sends a message"
                if any(model.observed[told.index]):
                    return f"{cut} sends a message and an event to {told.name}, which a predicate reads"
            removes = transition.message is not None and not channels(definition).stays(transition)
            if removes and blocked:
                return f"{cut} sends a message, when what it consumed has made room for another"
            if sending.shows:
                return f"{cut} sends a message and changes what a predicate reads of {column.name}"
    return ""


def _reasons(definition: Definition) -> Iterator[str]:
    network = definition.network
    if network.replaces:
        yield (
            "a full channel of this network replaces messages: a process that crashes before it has sent all leaves "
            "messages in place that it would have replaced (section 3.2.3)"
        )
    if network.bounded and network.duplicates and not network.copies_for_ever:
        yield "unsent messages of a crashed process would take up the room of duplicates in bounded channels"
    if definition.declared.recover:
        yield "crashed processes may recover without their volatile fields, and no run without crashes shows that"
    for column in definition.processes:
        for transition in definition.transitions(column):
            if transition.message is not None and issubclass(transition.message, Crash):
                yield f"{transition} is notified of crashes, so the protocol itself depends on them"
            if transition.mode == "maximal":
                yield f"{transition} takes maximal sets, so a message that a crash would suppress gets in its way"


def _reads_flag(prop: Property | None) -> QuorateError:
    name = f"the property `{prop.name}`" if prop is not None else "a property"
    return _refused(f"{name} reads which processes have crashed")


def _refused(reason: str, instead: str = "") -> QuorateError:
    explicit = "make crashes steps of their own: crash='explicit', crashes=1 (--crash explicit --crashes 1)"
    return wrong(
        f"crash='implicit' could give another answer than explicit crashes: {reason}",
        f"{instead}; or {explicit}" if instead else explicit,
    )
