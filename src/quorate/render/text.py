"""A run as a person reads it: who did what on which messages, and only what changed.

    4. acceptor2  promise  ← Prepare(ballot=2) from proposer2
         promised: 1 → 2
         sends Promise(ballot=2, vote=None) to proposer2
         in flight: 3 Prepare · 2 Promise

Steps of the environment (a message lost or duplicated, a crash) carry a `!`.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal

from quorate.base.values import show
from quorate.base.words import count, names
from quorate.language.shared import Cell
from quorate.render.lasso import AGAIN, ANYWHERE, STOPS, how_it_goes_on, nothing_more
from quorate.render.layout import WIDTH, Content, Page, Piece, length, pieces, wrap
from quorate.results.diff import changed_fields
from quorate.results.history import announcements
from quorate.semantics.provenance import never_received
from quorate.semantics.state import in_flight as pending
from quorate.semantics.waiting import waiting

if TYPE_CHECKING:
    from quorate.language.message import Message
    from quorate.model.definition import Column, Definition
    from quorate.results.diff import Difference
    from quorate.results.trace import Trace
    from quorate.semantics.state import State, Step

Form = Literal["auto", "chart", "text"]

_ENVIRONMENT = {"lose": "loses", "duplicate": "duplicates", "crash": "crashes", "recover": "recovers"}


def run(trace: Trace, width: int = WIDTH, form: Form = "text") -> Page:
    """The whole run: a heading, where it starts if there was a choice, every step, and what it ends in.

    In the form "auto" it is drawn if it is short and there is room for it, and written out otherwise.
    """
    page = Page(width)
    page.add(Piece(heading(trace), "heading"))
    _byzantine(page, trace.definition)
    _initial(page, trace)
    picture = _picture(trace, width, form)
    if picture is not None:
        page.gap()
        page.lines.extend(picture.lines)
    else:
        _steps(page, trace)
    page.gap()
    _ending(page, trace, drawn=picture is not None)
    return page


def _picture(trace: Trace, width: int, form: Form) -> Page | None:
    """The run as a chart, if that is wanted and can be."""
    if form == "text" or not trace.steps:
        return None
    from quorate.render.chart import terminal
    from quorate.render.chart.model import chart

    deliveries = trace.definition.environment.network_model != "m"  # a chart would have a lane for every channel
    if form == "auto" and (deliveries or len(trace.steps) > terminal.LONGEST):
        return None
    picture = chart(trace)
    return terminal.draw(picture, width) if form == "chart" or terminal.fits(picture, width) else None


def _steps(page: Page, trace: Trace) -> None:
    actors = [_actor(trace.definition, step) for step in trace.steps]
    actions = [_action(step) for step in trace.steps]
    own = page
    page = Page(own.width - 2 if trace.loop else own.width)
    loop_at = 0
    number_width = len(str(len(trace.steps))) + 3
    actor_width = max(map(len, actors), default=0)
    # One long handler name must not push every message to the right margin.
    action_width = max((len(action) for action in actions if len(action) <= 16), default=0)
    before = trace.initial
    for number, (step, actor, action) in enumerate(zip(trace.steps, actors, actions, strict=True), start=1):
        page.gap()
        if trace.loop and number == len(trace.steps) - len(trace.loop) + 1:
            loop_at = len(page.lines)
        environment = step.kind in _ENVIRONMENT
        left = [
            Piece(("! " if environment else "  ") + f"{number}.".rjust(number_width - 2) + " ", "faint"),
            Piece(actor.ljust(actor_width) + "  ", "fault" if environment else "process"),
            Piece(action.ljust(action_width), "fault" if environment else "action"),
        ]
        _header(page, left, number_width + 1, trace.definition, step)
        _details(page, number_width + 3, trace.definition, step, before)
        if number < len(trace.steps) and step.next is not None:
            _in_flight(page, number_width + 3, trace.definition, step.next)
        before = step.next if step.next is not None else before
    if trace.loop:
        page.bracket(loop_at, AGAIN)
    own.gap()
    own.lines.extend(page.lines)


def heading(trace: Trace) -> str:
    """What a run is, in a line."""
    which = "The shortest run" if trace.shortest else "A run"
    if trace.kind == "witness":
        shows = f"that reaches {trace.property}"
    elif trace.kind == "error":
        shows = f"to a state in which {trace.property} raises an error"
    elif failing(trace) is not None:
        shows = "to the failure"
    elif trace.property == "deadlock":
        shows = "into a deadlock"
    else:
        shows = f"that breaks {trace.property}"
    before = f", shortened from {trace.shortened_from}" if trace.shortened_from is not None else ""
    return f"{which} {shows}: {count(len(trace.steps), 'step')}{before}{how_it_goes_on(trace)}"


def failing(trace: Trace) -> Step | None:
    """The last step, if it is there that a handler or a monitor failed."""
    return trace.steps[-1] if trace.steps and trace.steps[-1].failure is not None else None


def _byzantine(page: Page, definition: Definition) -> None:
    if definition.attackers:
        who = names(definition.columns[index].name for index in sorted(definition.attackers))
        verb = "is" if len(definition.attackers) == 1 else "are"
        page.gap()
        page.add("  ", Piece(who, "fault"), Piece(f" {verb} Byzantine: any message may come at any time", "faint"))


def _initial(page: Page, trace: Trace) -> None:
    """With several initial states, say which one: what differs from the first. Of any other state, say all."""
    if trace.start == "any":
        _any_state(page, trace)
        return
    initials = trace.definition.initials
    if len(initials) < 2:
        return
    page.gap()
    page.add("  ", Piece("starts with", "faint"))
    for column in trace.definition.columns:
        values = trace.initial.locals[column.index]
        for position, name in enumerate(column.fields):
            if len({show(other[column.index][position]) for other in initials}) > 1 and ":" not in name:
                page.add(
                    "       ", Piece(f"{column.name}.{name}", "process"), f" = {show(values[position])}", hanging=9
                )


def _any_state(page: Page, trace: Trace) -> None:
    page.gap()
    before = "starts in" if trace.shown is None else "before the step, in"
    page.add("  ", Piece(f"{before} {ANYWHERE}:", "faint"))
    pending = "in flight" if trace.shown is None else "on its way from nowhere"
    left_out = False
    for column in trace.definition.columns:
        for name, value in zip(column.fields, trace.initial.locals[column.index], strict=True):
            if ":" in name:
                continue
            if trace.shown is not None and (column.index, name) not in trace.shown:
                left_out = True
            else:
                page.add("       ", Piece(f"{column.name}.{name}", "process"), f" = {show(value)}", hanging=9)
    for text, sender, receivers in in_flight(trace.definition, trace.initial):
        page.add("       ", text, Piece(f" from {sender} to {names(receivers)}, {pending}", "faint"), hanging=9)
    if left_out:
        page.add("       ", Piece("everything else as it is initially", "faint"))


def _actor(definition: Definition, step: Step) -> str:
    if step.kind in ("lose", "duplicate") or definition.columns[step.column].delivers_to is not None:
        return "network"
    return definition.columns[step.column].name


def _action(step: Step) -> str:
    if step.transition is not None:
        return f"crashes in {step.transition.name}" if step.kind == "crash" else step.transition.name
    return _ENVIRONMENT.get(step.kind, "discards")


def _header(page: Page, left: list[Piece], below: int, definition: Definition, step: Step) -> None:
    """The first line of a step. Equal messages of several senders share a line; others get one each."""
    channel = definition.columns[step.column].delivers_to
    if step.kind in ("lose", "duplicate") or channel is not None:
        lost = step.consumed[0]
        to = definition.columns[step.column if channel is None else channel].name
        page.add(left, f"  {show(lost)} from {lost.sender} to {to}", hanging=length(left) + 4)
        return
    if not step.consumed:
        page.add(left)
        return
    keeps = step.transition is not None and step.transition.keep
    indent = length(left)
    start: Content = left
    for text, senders in _grouped((show(m), str(m.sender)) for m in step.consumed):
        line = pieces(start, Piece("  ← ", "faint"), text, Piece(f" from {names(senders)}", "faint"))
        if keeps:
            line.append(Piece(" (kept)", "faint"))
        if length(line) > page.width and start is left:
            # Nothing of use fits beside a long name: the messages go below it.
            page.add(left)
            indent = below
            start = " " * indent
            line = pieces(start, line[len(left) :])
        page.lines.extend(wrap(line, page.width, indent + 4))
        start = " " * indent


def _details(page: Page, indent: int, definition: Definition, step: Step, before: State) -> None:
    def add(*content: Content) -> None:
        page.add(" " * indent, *content, hanging=indent + 4)

    from quorate.results.diff import told

    def add_changes(name: str, old: Any, new: Any) -> None:
        for difference in told(name, old, new):
            add(change(difference))

    outcome = step.outcome
    if definition.columns[step.column].delivers_to is not None:
        return
    if outcome is not None and outcome.choices:
        add(Piece("chooses ", "faint"), ", ".join(show(choice) for choice in outcome.choices))
    changed = changed_fields(definition, before, step.next) if step.next is not None else []
    for index, name, old, new in changed:
        if index == step.column:
            add_changes(name, old, new)
    if outcome is not None and step.failure is None:
        sends = [(to, m) for to, m in outcome.sends if not definition.stands(definition.columns[to], m)]
        if len(sends) < len(outcome.sends):
            add(Piece("can send ", "faint"), count(len(outcome.sends) - len(sends), "more message"))
        for text, receivers in _grouped((show(m), definition.receiver(to).name) for to, m in sends):
            add(Piece("sends ", "faint"), text, Piece(" to ", "faint"), Piece(names(receivers), "process"))
        for said in announcements(definition, step):
            verb, _, what = said.partition(" ")
            add(Piece(f"{verb} ", "faint"), what)
    for index, name, old, new in changed:
        if index != step.column and definition.columns[index].cls is not Cell:  # a monitor, moved by the events
            add_changes(f"{definition.columns[index].name}.{name}", old, new)
    if step.failure is not None:
        failure = step.failure
        add(Piece("fails: ", "bad"), failure.text)
        if failure.file:
            page.lines.append((Piece(f"{' ' * indent}at {shortened(failure.file)}:{failure.line}", "faint"),))
        if failure.hint:
            add(Piece("hint: ", "open"), failure.hint)


def change(difference: Difference) -> Content:
    """A change as it is shown: `promised: 1 → 2`, or `votes: + acceptor2`."""
    path, kind, before, after = difference
    if kind == "added":
        return f"{path}: ", Piece("+ ", "faint"), Piece(show(after), "after")
    if kind == "removed":
        return f"{path}: ", Piece("- ", "faint"), Piece(show(before), "before")
    return f"{path}: ", Piece(show(before), "before"), Piece(" → ", "faint"), Piece(show(after), "after")


def _in_flight(page: Page, indent: int, definition: Definition, state: State) -> None:
    """What may be received next: every message if they fit on the line, else how many there are of each type."""
    groups = in_flight(definition, state)
    if not groups:
        return
    start = " " * indent + "in flight: "
    listed = " · ".join(f"{text} → {names(receivers)}" for text, _, receivers in groups)
    if len(start) + len(listed) > page.width:
        types = Counter(type(m).__name__ for _, m in pending(definition, state))
        listed = " · ".join(f"{number} {name}" for name, number in sorted(types.items()))
    page.add(Piece(start + listed, "faint"), hanging=indent + 4)


def _ending(page: Page, trace: Trace, *, drawn: bool) -> None:
    if failing(trace) is not None:
        return  # the step itself said what went wrong
    if trace.stops:
        page.add("  ", Piece(STOPS, "fault"))
        for each in waiting(trace.definition, trace.states[-1]):
            page.add("      ", str(each), hanging=10)
        page.gap()
    if trace.loop_from is not None:
        where = "on this run, which has no end"
    else:
        where = "here" if trace.steps else "in the first state" if trace.start == "any" else "in the initial state"
    if trace.kind == "witness":
        page.add(Piece(f"  ✓ {trace.property} is reached {where}", "good"))
    elif trace.kind == "error":
        page.add(Piece(f"  ✗ {trace.property} raises an error {where}", "bad"))
    elif trace.property == "deadlock" and trace.loop_from is None:
        page.add(Piece(f"  ✗ {nothing_more(trace.definition, trace.states[-1])} {where}", "bad"))
    else:
        page.add(Piece(f"  ✗ {trace.property} fails {where}", "bad"))
    explanation = list(trace.explanation.lines()) if trace.explanation is not None else []
    for line in explanation:
        text = line.lstrip()
        page.add(" " * (6 + len(line) - len(text)), text, hanging=10 + len(line) - len(text))
    said = {line.lstrip() for line in explanation}
    for line in trace.reason:
        if line.replace(" = ", " is ", 1) not in said:
            page.add("      ", line, hanging=10)
    letters = never_received(trace.definition, trace.initial, trace.steps, trace.loop_from)
    left = [(trace.definition.columns[letter.column], letter.message) for letter in letters]
    if left and not drawn:  # a picture shows what was never received
        page.gap()
        page.add("  ", Piece("never received" if trace.loop else "still in flight", "faint"))
        for text, sender, receivers in _by_message(trace.definition, left):
            origin = Piece(f" from {sender}", "faint")
            page.add("      ", text, origin, Piece(" to ", "faint"), Piece(names(receivers), "process"), hanging=10)


# --- what happened, as data ------------------------------------------------------------------------------------


def in_flight(definition: Definition, state: State) -> list[tuple[str, str, list[str]]]:
    """(message, sender, receivers) for everything pending; copies and receivers of a broadcast come together."""
    return _by_message(definition, pending(definition, state))


def _by_message(definition: Definition, left: Iterable[tuple[Column, Message]]) -> list[tuple[str, str, list[str]]]:
    groups: dict[tuple[str, str], list[str]] = {}
    for receiver, m in left:
        groups.setdefault((show(m), str(m.sender)), []).append(
            definition.receiver(receiver.index).name + definition.place(receiver)
        )
    return [(text, sender, receivers) for (text, sender), receivers in groups.items()]


def _grouped(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, list[str]]]:
    groups: dict[str, list[str]] = {}
    for text, name in pairs:
        groups.setdefault(text, []).append(name)
    return list(groups.items())


def shortened(file: str) -> str:
    """A path as it is typed from here, if it lies below the working directory."""
    here = os.getcwd() + os.sep
    return file.removeprefix(here)
