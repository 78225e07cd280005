"""One run in a report: its chart, its steps with what they changed, and the state after each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from quorate.base.values import encode, show
from quorate.base.words import names
from quorate.language.shared import Cell
from quorate.model.outcome import is_crashed
from quorate.render.chart.layout import Drawing, laid_out
from quorate.render.chart.model import Chart, Happening, chart
from quorate.render.chart.svg import svg
from quorate.render.html.elements import Content, Markup, element, text
from quorate.render.lasso import AGAIN, STOPS
from quorate.results.diff import Difference, changed_fields, told
from quorate.results.history import announcements
from quorate.semantics.provenance import never_received
from quorate.semantics.state import in_flight
from quorate.semantics.waiting import waiting

if TYPE_CHECKING:
    from quorate.properties.explanation import Part
    from quorate.results.trace import Trace
    from quorate.semantics.state import State, Step


WIDE = 1400.0


def run(trace: Trace, number: int) -> Markup:
    """The section of a run. `number` tells several on a page apart."""
    picture = chart(trace)
    drawing = laid_out(picture, fold=None, brief=True)
    return element(
        "section",
        element("h2", _heading(trace)),
        _explanation(trace) if trace.kind == "violation" else None,
        element(
            "div",
            element(
                "div",
                element("div", Markup(svg(drawing, alone=False)), class_=_picture(drawing), tabindex=0),
                element("div", class_="state", aria_live="polite", hidden=True),
                class_="drawn",
            ),
            element(
                "div",
                element("ol", [_step(picture, trace, at) for at in range(len(trace.steps))], class_="steps"),
                _stops(trace) if trace.stops else None,
                _end(trace),
                class_="told",
            ),
            class_="sides",
        ),
        class_="run",
        id=f"run{number}",
    )


def _picture(drawing: Drawing) -> str:
    """On paper a picture of many processes has a page across."""
    return "picture wide" if drawing.width > WIDE else "picture"


def states(trace: Trace) -> dict[str, Any]:
    """All that the page needs to show the state after every step; what changed is marked."""
    definition = trace.definition
    found: list[dict[str, Any]] = []
    before: State | None = None
    for state in trace.states:
        processes = []
        for column in definition.columns:
            if column.delivers_to is not None:
                continue
            local = state.locals[column.index]
            old = before.locals[column.index] if before is not None else local
            fields = [[name, show(local[at]), encode(local[at]) != encode(old[at])] for at, name in column.shown]
            inbox = [
                f"{show(message)} from {message.sender}{definition.place(to)}"
                for to, message in in_flight(definition, state)
                if definition.receiver(to.index) is column
            ]
            processes.append({"name": column.name, "crashed": is_crashed(local), "fields": fields, "pending": inbox})
        found.append({"processes": processes})
        before = state
    return {"states": found}


def _heading(trace: Trace) -> Content:
    from quorate.render.text import heading

    return heading(trace)


def _explanation(trace: Trace) -> Markup:
    explanation = trace.explanation
    said = {line.lstrip() for line in explanation.lines()} if explanation is not None else set()
    values = [line for line in trace.reason if line.replace(" = ", " is ", 1) not in said]
    return element(
        "div",
        element("ul", _part(explanation), class_="parts") if explanation is not None else None,
        element("p", element("code", "\n".join(values)), class_="values") if values else None,
        class_="why",
    )


def _part(part: Part) -> Markup:
    below = element("ul", [_part(each) for each in part.parts]) if part.parts else None
    return element("li", element("code", part.text), below)


# --- steps -----------------------------------------------------------------------------------------------------


def _step(picture: Chart, trace: Trace, at: int) -> Markup:
    seen, step = picture.happenings[at], trace.steps[at]
    actor = "network" if seen.by_network else trace.definition.columns[seen.column].name
    before = trace.states[at]
    loop = trace.loop_from is not None and at >= trace.loop_from
    bad = trace.kind == "violation" and at + 1 == len(trace.steps) and trace.loop_from is None
    step_item = element(
        "li",
        element(
            "p",
            element("span", f"{seen.number}", class_="number"),
            element("span", actor, class_="process"),
            element("span", seen.title, class_="mishap" if seen.kind != "step" else "action"),
            class_="what",
        ),
        [element("p", line, class_="detail") for line in _details(trace, seen, step, before)],
        class_="step bad" if bad else "step again" if loop else "step",
        data_step=seen.number,
        tabindex=0,
    )
    if at != trace.loop_from:
        return step_item
    return text(element("li", AGAIN, class_="loop"), step_item)


def _details(trace: Trace, seen: Happening, step: Step, before: State) -> Iterator[Content]:
    definition = trace.definition
    for message, senders in _grouped((show(m), str(m.sender)) for m in step.consumed):
        yield _arrow("←"), element("code", message), _faint(f" from {names(senders)}")
    if step.outcome is not None and step.outcome.choices:
        yield _faint("chooses "), element("code", ", ".join(map(show, step.outcome.choices)))
    changed = changed_fields(definition, before, step.next) if step.next is not None else []
    for index, name, old, new in changed:
        if definition.columns[index].cls is Cell:
            continue  # what was written is told below
        label = name if index == step.column else f"{definition.columns[index].name}.{name}"
        for difference in told(label, old, new):
            yield _change(difference)
    if step.outcome is not None and step.failure is None:
        sends = [(show(arrow.message), definition.columns[arrow.receiver].name) for arrow in seen.outgoing]
        for message, receivers in _grouped(sends):
            yield _arrow("→"), element("code", message), _faint(f" to {names(receivers)}")
        for said in announcements(definition, step):
            verb, _, what = said.partition(" ")
            yield _faint(f"{verb} "), element("code", what)
    if step.failure is not None:
        where = f" at {step.failure.file}:{step.failure.line}" if step.failure.file else ""
        yield element("strong", "fails: ", class_="bad"), step.failure.text, _faint(where)


def _change(difference: Difference) -> Content:
    path, kind, before, after = difference
    old = element("del", show(before)) if kind != "added" else None
    new = element("ins", show(after)) if kind != "removed" else None
    if kind == "removed":
        return element("code", path, class_="path"), " ", _faint("- "), old
    return element("code", path, class_="path"), " ", old, _faint(" → " if kind == "changed" else "+ "), new


def _stops(trace: Trace) -> Markup:
    said = [element("li", str(each)) for each in waiting(trace.definition, trace.states[-1])]
    return element("div", element("p", STOPS, class_="loop"), element("ul", said), class_="left")


def _end(trace: Trace) -> Markup:
    definition = trace.definition
    letters = never_received(definition, trace.initial, trace.steps, trace.loop_from)
    left = _grouped((show(letter.message), definition.receiver(letter.column).name) for letter in letters)
    if not left:
        return text()
    summary = "never received" if trace.loop else "still in flight at the end"
    lines = [element("li", element("code", message), _faint(f" to {names(receivers)}")) for message, receivers in left]
    return element("details", element("summary", summary), element("ul", lines), class_="left")


def _grouped(pairs: Any) -> list[tuple[str, list[str]]]:
    groups: dict[str, list[str]] = {}
    for name, other in pairs:
        groups.setdefault(name, []).append(other)
    return list(groups.items())


def _faint(words: str) -> Markup:
    return element("span", words, class_="faint")


def _arrow(sign: str) -> Markup:
    return element("span", f"{sign} ", class_="faint", aria_hidden="true")
