"""A history as people draw it: one line a process, one bar an operation, from where it begins to where it ends."""

from __future__ import annotations

from collections.abc import Sequence

from quorate.base.printable import printable
from quorate.base.values import show
from quorate.histories.order import Call

MOST = 12
"""Calls that are drawn: those that end last."""
LONGEST = 40
"""Characters of a call that stand in its bar."""
WIDEST = 100
"""A drawing that is wider is left out: the operations are listed instead."""


def told(call: Call) -> str:
    """A call with what it returned: `Read() = 3`."""
    fields = ", ".join(show(getattr(call.operation, name)) for name in type(call.operation)._names)
    text = f"{type(call.operation).__name__}({fields})"
    if call.end is not None and not (call.result is None and type(call.operation)._result is type(None)):
        text += f" = {show(call.result)}"
    return printable(text)


def pictured(calls: Sequence[Call], misplaced: Call | None, counted: str) -> list[str]:
    """The bars, or a list of the calls with what the lines of a call count."""
    drawn = bars(calls, misplaced)
    if max(map(len, drawn), default=0) <= WIDEST:
        return drawn
    listed = sorted(calls, key=_when)[-MOST:]
    if misplaced is not None and misplaced in calls and misplaced not in listed:
        listed.append(misplaced)
    listed.sort(key=lambda call: call.begin)
    return [f"{call.process}: {_short(call)}, {counted} {call.lines[0]} to {call.lines[1] or '…'}" for call in listed]


def bars(calls: Sequence[Call], misplaced: Call | None = None) -> list[str]:
    """Lines of text. Events are columns; a bar that does not end goes on to the right.

    A process has as many lines as operations at a time.
    """
    drawn = sorted(calls, key=_when)[-MOST:]
    if misplaced is not None and misplaced not in drawn:
        drawn.append(misplaced)
    events = sorted({place for call in drawn for place in (call.begin, call.end) if place is not None})
    processes = list(dict.fromkeys(call.process for call in sorted(drawn, key=lambda call: call.begin)))
    # Every bar is as wide as what is written in it, so columns are placed from the left to the right.
    at = {place: 2 * number for number, place in enumerate(events)}
    for number, place in enumerate(events):
        least = at[events[number - 1]] + 2 if number else 0
        for call in drawn:
            if call.end == place:
                least = max(least, at[call.begin] + len(_short(call)) + 5)
        shift = max(0, least - at[place])
        for later in events[number:]:
            at[later] += shift
    width = max(map(len, processes), default=0)
    right = max([*at.values(), *(at[call.begin] + len(_short(call)) + 5 for call in drawn)], default=0)
    lines = []
    for process in processes:
        for number, lane in enumerate(_lanes([call for call in drawn if call.process == process])):
            line = [" "] * (right + 2)
            for call in lane:
                end = right if call.end is None else at[call.end]
                body = f" {_short(call)} ".center(end - at[call.begin] - 1, "━")
                line[at[call.begin] : end + 1] = "┣" + body + ("┫" if call.end is not None else "┄")
            lines.append(f"{process if number == 0 else '':>{width}}  {''.join(line)}")
            if misplaced is not None and misplaced in lane:
                lines.append(" " * (width + 2 + at[misplaced.begin]) + "▲ no place")
    return [line.rstrip() for line in lines]


def _when(call: Call) -> tuple[bool, int, int]:
    """By end: the order in which calls are left out, if there are many."""
    return call.end is None, call.end or 0, call.begin


def _short(call: Call) -> str:
    text = told(call)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _lanes(calls: list[Call]) -> list[list[Call]]:
    """Calls that do not overlap, one after another."""
    lanes: list[list[Call]] = []
    for call in sorted(calls, key=lambda call: call.begin):
        free = (lane for lane in lanes if lane[-1].end is not None and lane[-1].end < call.begin)
        lane = next(free, None)
        if lane is None:
            lanes.append(lane := [])
        lane.append(call)
    return lanes
