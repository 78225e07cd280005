"""What a chart shows of a run: who takes part, what each step does, and which message goes where.

Which send a consumed message came from, and what became of each that was sent, the semantics says (provenance.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from quorate.base.values import field_names, show
from quorate.base.words import count
from quorate.histories.intervals import told as operation_told
from quorate.language.pid import column_of
from quorate.language.shared import Cell
from quorate.render.lasso import ANYWHERE, how_it_goes_on, nothing_more
from quorate.results.diff import Difference, changed_fields, told
from quorate.results.history import announcements, calls_of
from quorate.semantics.provenance import Letter, Passage, passages
from quorate.semantics.waiting import waiting

if TYPE_CHECKING:
    from quorate.language.message import Message
    from quorate.model.definition import Definition
    from quorate.results.trace import Trace
    from quorate.semantics.state import State, Step

End = Literal["received", "kept", "delivered", "lost", "discarded", "replaced", "merged", "later", "never"]

MOST_REASONS = 9

_DOES = {
    "lose": "lost",
    "duplicate": "duplicated",
    "deliver": "delivered",
    "crash": "crashes",
    "recover": "recovers",
    "discard": "discards",
}


@dataclass
class Lane:
    """A process that takes part."""

    column: int
    name: str
    role: str
    byzantine: bool = False
    read: bool = False
    """The property looked at it in the last state."""


@dataclass(eq=False)  # two equal messages are two
class Arrow:
    """A message on its way. It may come from a copy that the network made, and it may never arrive."""

    message: Message
    sender: int
    receiver: int
    sent: int
    """The step that sent it, or that made the copy; 0 if it was in flight when the run began."""
    copy: bool = False
    """It starts beside its receiver, where the network duplicated or delivered it."""
    end: End = "never"
    ended: int | None = None
    """The step that consumed or lost it; None if it is in flight to the end."""
    byzantine: bool = False
    at_will: bool = False
    """An attacker's message, which it can send at any time: it is drawn as sent when it is consumed."""


@dataclass
class Happening:
    """One step as it is drawn."""

    number: int
    column: int
    kind: str
    title: str
    incoming: list[Arrow] = field(default_factory=list)
    outgoing: list[Arrow] = field(default_factory=list)
    changes: list[Difference] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What it chose, told the monitors, and what that changed there."""
    failure: str | None = None
    quorum: bool = False
    byzantine: bool = False

    @property
    def by_network(self) -> bool:
        return self.kind in ("lose", "duplicate", "deliver")


@dataclass
class Interval:
    """An operation of a process, drawn along its lifeline."""

    column: int
    began: int
    ended: int | None
    """The steps; None if it is under way to the end."""
    text: str


@dataclass
class Chart:
    """A run ready to be laid out."""

    name: str
    subtitle: str
    lanes: list[Lane]
    happenings: list[Happening]
    arrows: list[Arrow]
    verdict: str
    """What the run ends in, in a line."""
    reasons: list[str]
    bad: bool
    left_out: list[str]
    """Processes that do nothing here, and hear of nothing."""
    loop: int | None = None
    """The number of the first step of those that come again and again; one more than there are if none does."""
    waiting: dict[int, str] = field(default_factory=dict)
    """Where nothing happens any more: by column, what a process still waits for."""
    intervals: list[Interval] = field(default_factory=list)

    @property
    def stops(self) -> bool:
        """Whether the run goes on for ever without a step."""
        return self.loop is not None and self.loop > len(self.happenings)

    def lane(self, column: int) -> int | None:
        """The place of a process from the left."""
        return next((place for place, lane in enumerate(self.lanes) if lane.column == column), None)


def chart(trace: Trace) -> Chart:
    """Read a run."""
    return _Reader(trace).read()


def is_byzantine(definition: Definition, column: int) -> bool:
    """Whether a process does not follow the protocol."""
    described = definition.columns[column]
    return column in definition.attackers or bool(getattr(described.cls, "_byzantine", False))


class _Reader:
    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.definition = trace.definition
        self.arrows: list[Arrow] = []
        self.arrow_of: dict[Letter, Arrow] = {}
        ended = waiting(self.definition, trace.states[-1]) if trace.stops else []
        self.waiting = {each.column.index: str(each) for each in ended}

    def read(self) -> Chart:
        state = self.trace.initial
        happenings: list[Happening] = []
        for passage in passages(self.definition, state, self.trace.steps, self.trace.loop_from):
            happenings.append(self._happening(passage, state))
            state = passage.step.next if passage.step.next is not None else state
        lanes, left_out = self._lanes(happenings)
        known = {lane.column for lane in lanes}
        verdict, reasons, bad = _verdict(self.trace)
        arrows = [arrow for arrow in self.arrows if arrow.sender in known and arrow.receiver in known]
        found = Chart(
            self.definition.name, _subtitle(self.trace), lanes, happenings, arrows, verdict, reasons, bad, left_out
        )
        if self.trace.loop_from is not None:
            found.loop = self.trace.loop_from + 1
        found.waiting = self.waiting
        columns = {column.name: column.index for column in self.definition.processes}
        for call in calls_of(self.trace):
            if columns.get(call.process) in known:
                found.intervals.append(Interval(columns[call.process], *call.lines, operation_told(call)))
        return found

    # --- steps -------------------------------------------------------------------------------------------------

    def _happening(self, passage: Passage, before: State) -> Happening:
        step = passage.step
        name = step.transition.name if step.transition is not None else ""
        kind = step.kind if self._home(step.column) == step.column else "deliver"
        seen = Happening(
            passage.number,
            self._home(step.column),
            kind,
            f"crashes in {name}" if kind == "crash" and name else _DOES.get(kind, name),
            quorum=step.transition is not None and step.transition.kind == "quorum",
            byzantine=is_byzantine(self.definition, step.column),
        )
        self._consume(seen, passage)
        if step.outcome is not None and step.outcome.choices:
            seen.notes.append("chooses " + ", ".join(show(choice) for choice in step.outcome.choices))
        if step.failure is not None:
            seen.failure = step.failure.text
        elif step.outcome is not None:
            self._send(seen, passage)
            seen.notes.extend(announcements(self.definition, step))
        if step.next is not None:
            self._changes(seen, step, before, step.next)
        return seen

    def _home(self, column: int) -> int:
        """The process that a column of the state belongs to: with delivery events, channels are columns too."""
        return self.definition.receiver(column).index

    def _consume(self, seen: Happening, passage: Passage) -> None:
        for letter in passage.consumed:
            sender, number = column_of(letter.message.sender), seen.number
            if letter.at_will:
                arrow = Arrow(letter.message, sender, seen.column, number, end="received", ended=number, byzantine=True)
                arrow.at_will = True
                self.arrows.append(arrow)
            elif number in letter.read:
                # It stays in flight: draw this reading of it beside the message itself.
                arrow = replace(self._arrow(letter), end="kept", ended=number)
                self.arrows.append(arrow)
            else:
                arrow = self._arrow(letter)
            seen.incoming.append(arrow)
        if passage.copied is not None:
            self._arrow(passage.copied)

    def _send(self, seen: Happening, passage: Passage) -> None:
        for letter in passage.sent:
            if letter.at_will:
                continue  # from now on the attacker can say it; it is drawn when it does
            arrow = self._arrow(letter)
            arrow.byzantine = seen.byzantine
            arrow.copy = seen.kind == "deliver"
            seen.outgoing.append(arrow)

    def _arrow(self, letter: Letter) -> Arrow:
        """The arrow of a letter, which it has from when it is first seen."""
        known = self.arrow_of.get(letter)
        if known is None:
            known = self.arrow_of[letter] = Arrow(
                letter.message,
                column_of(letter.message.sender),
                self._home(letter.column),
                letter.sent,
                copy=letter.copy_of is not None,
                end="received" if letter.fate == "consumed" else letter.fate,
                ended=letter.ended,
            )
            self.arrows.append(known)
        return known

    def _changes(self, seen: Happening, step: Step, before: State, after: State) -> None:
        for index, name, old, new in changed_fields(self.definition, before, after):
            if index == step.column:
                seen.changes.extend(told(name, old, new))
            elif self.definition.columns[index].cls is not Cell:
                label = f"{self.definition.columns[index].name}.{name}"
                seen.notes.extend(_noted(difference) for difference in told(label, old, new))

    # --- lanes -------------------------------------------------------------------------------------------------

    def _lanes(self, happenings: list[Happening]) -> tuple[list[Lane], list[str]]:
        """Roles by who acts first, so that a run reads from left to right; within a role, by number."""
        active = {seen.column for seen in happenings if not seen.by_network}
        active |= {arrow.receiver for seen in happenings for arrow in seen.incoming}
        active |= {arrow.sender for seen in happenings for arrow in seen.incoming}
        active |= set(self.waiting)  # what they wait for is the point
        first: dict[type, int] = {}
        for seen in happenings:
            first.setdefault(self.definition.columns[seen.column].cls, seen.number)
        read = self._read_columns()
        named = [column for column in self.definition.processes if self._home(column.index) == column.index]
        columns = [column for column in named if column.index in active | read]
        late = len(happenings) + 1
        columns.sort(key=lambda column: (first.get(column.cls, late), column.index))
        lanes = [
            Lane(
                column.index,
                column.name,
                column.cls.__name__,
                is_byzantine(self.definition, column.index),
                column.index in read,
            )
            for column in columns
        ]
        left_out = [column.name for column in named if column not in columns]
        return lanes, left_out

    def _read_columns(self) -> set[int]:
        from quorate.properties import evaluate
        from quorate.results.claim import Claim

        claim = Claim.of(self.trace)
        if claim.property is None or claim.fails:
            return set()
        last = self.trace.states[-1]
        return {index for index, _ in evaluate(self.definition, claim.property, last.locals, last.pending).reads}


def _noted(difference: Difference) -> str:
    from quorate.results.diff import line

    return line(difference)


def _subtitle(trace: Trace) -> str:
    """The instance, and how long the run is."""
    given = {name: value for name, value in trace.definition.parameters.items() if value is not None}
    parameters = ", ".join(f"{name}={show(value)}" for name, value in given.items())
    length = count(len(trace.steps), "step") + (", the fewest there can be" if trace.shortest else "")
    length += how_it_goes_on(trace) + (f", from {ANYWHERE}" if trace.start == "any" else "")
    return f"{parameters} · {length}" if parameters else length


def _verdict(trace: Trace) -> tuple[str, list[str], bool]:
    if trace.steps and trace.steps[-1].failure is not None:
        return "the last step fails", [trace.steps[-1].failure.text], True
    lines = list(_reasons(trace))
    if len(lines) > MOST_REASONS:
        lines = [*lines[: MOST_REASONS - 1], f"and {len(lines) - MOST_REASONS + 1} more"]
    if trace.kind == "witness":
        # A run that is shown for nothing in particular ends, and that is all.
        return f"{trace.property} is reached" if trace.property else "", lines, False
    if trace.property == "deadlock" and trace.loop_from is None:
        return nothing_more(trace.definition, trace.states[-1]), lines, True
    return f"{trace.property} fails", lines, True


def _reasons(trace: Trace) -> Iterator[str]:
    """The explanation, and the values that it does not mention."""
    said: set[str] = set()
    if trace.explanation is not None:
        for line in trace.explanation.lines():
            said.add(line.strip())
            yield line
    for line in trace.reason:
        if line.replace(" = ", " is ", 1) not in said:
            yield line


def forms(message: Any) -> tuple[str, ...]:
    """A message with the names of its fields, and without."""
    return tuple(dict.fromkeys((show(message), compact(message))))


def compact(value: Any) -> str:
    """A value without the names of fields: `Accept(Vote(2, 2))`."""
    names = getattr(value, "_fields", None) if isinstance(value, tuple) else None
    if hasattr(type(value), "__dataclass_fields__"):
        names = field_names(type(value))
    if names is not None:
        return f"{type(value).__name__}({', '.join(compact(getattr(value, name)) for name in names)})"
    if isinstance(value, tuple):
        return "(" + ", ".join(map(compact, value)) + ("," if len(value) == 1 else "") + ")"
    if isinstance(value, frozenset):
        return "{" + ", ".join(map(compact, value)) + "}"
    return show(value)
