"""A chart as text for Mermaid, which many wikis and GitHub draw by themselves.

Mermaid knows no delay: a message is a line at the moment it is received, or, dotted, sent and never received.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from quorate.base.printable import printable
from quorate.base.values import show
from quorate.render.chart.model import Arrow, Chart, Happening
from quorate.render.lasso import AGAIN, STOPS
from quorate.results.diff import line

_ARROW = {"lose": "-x", "discard": "-x"}


def mermaid(chart: Chart) -> str:
    """A sequence diagram in Mermaid's language."""
    return "\n".join(_lines(chart)) + "\n"


def _lines(chart: Chart) -> Iterator[str]:
    yield "---"
    yield f"title: {_text(chart.name)}"
    yield "---"
    yield "sequenceDiagram"
    name = {lane.column: lane.name for lane in chart.lanes}
    for role, lanes in groupby(chart.lanes, key=lambda lane: lane.role):
        yield f"    box transparent {role}"
        for lane in lanes:
            shown = f"{lane.name} (Byzantine)" if lane.byzantine else lane.name
            yield f"    participant {lane.name} as {shown}"
        yield "    end"
    ends = dict.fromkeys((chart.lanes[0].name, chart.lanes[-1].name)) if chart.lanes else {}
    for seen in chart.happenings:
        if seen.number == chart.loop:
            yield f"    loop {AGAIN}"
        yield from _happening(seen, name)
    if chart.stops and ends:
        waiting = "".join(f"<br/>{_text(said)}" for column, said in chart.waiting.items() if column in name)
        yield f"    Note over {','.join(ends)}: {STOPS}{waiting}"
    elif chart.loop is not None:
        yield "    end"
    if ends:
        sign = "✗" if chart.bad else "✓"
        reasons = "".join(f"<br/>{_text(reason.strip())}" for reason in chart.reasons)
        yield f"    Note over {','.join(ends)}: {sign} {_text(chart.verdict)}{reasons}"


def _happening(seen: Happening, name: dict[int, str]) -> Iterator[str]:
    here = name.get(seen.column)
    if here is None:  # the network's step, at a process that takes no part otherwise
        return
    for arrow in seen.incoming:
        if arrow.sender in name and seen.kind != "deliver":  # drawn once, when it is consumed
            kind = _ARROW.get(seen.kind, "->>")
            suffix = f" ({seen.title})" if seen.by_network or seen.kind == "discard" else ""
            yield f"    {name[arrow.sender]}{kind}{here}: {_text(show(arrow.message))}{suffix}"
    if not seen.by_network:
        said = [f"{seen.number} {seen.title}", *map(line, seen.changes), *seen.notes]
        if seen.failure is not None:
            said.append(f"fails: {seen.failure}")
        yield f"    Note right of {here}: {'<br/>'.join(map(_text, said))}"
    for arrow in seen.outgoing:
        if arrow.end in ("never", "later") and arrow.receiver in name:
            yield f"    {here}--{'x' if arrow.end == 'never' else '>>'}{name[arrow.receiver]}: {_never(arrow)}"


def _never(arrow: Arrow) -> str:
    return f"{_text(show(arrow.message))} ({'never received' if arrow.end == 'never' else 'received next time'})"


def _text(text: str) -> str:
    """Mermaid reads `;` as the end of a line, `#` as the beginning of a character's number, `<` as that of a tag."""
    return "".join({"#": "#35;", ";": "#59;", "<": "#lt;", ">": "#gt;"}.get(sign, sign) for sign in printable(text))
