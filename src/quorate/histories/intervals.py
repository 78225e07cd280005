"""A history as people draw it: one line a process, one bar an operation, from where it begins to where it ends."""

from __future__ import annotations

from collections.abc import Sequence

from quorate.base.printable import printable
from quorate.base.values import show
from quorate.histories.order import Call

MOST = 12
"""Calls that are drawn: those that end last."""


def told(call: Call) -> str:
    """A call with what it returned: `Read() = 3`."""
    fields = ", ".join(show(getattr(call.operation, name)) for name in type(call.operation)._names)
    text = f"{type(call.operation).__name__}({fields})"
    if call.end is not None and not (call.result is None and type(call.operation)._result is type(None)):
        text += f" = {show(call.result)}"
    return printable(text)


def bars(calls: Sequence[Call], misplaced: Call | None = None) -> list[str]:
    """Lines of text. Events are columns; a bar that does not end goes on to the right."""
    last = max((max(call.begin, call.end or 0) for call in calls), default=0)
    drawn = sorted(calls, key=lambda call: (last + 1 if call.end is None else call.end, call.begin))[-MOST:]
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
                least = max(least, at[call.begin] + len(told(call)) + 5)
        shift = max(0, least - at[place])
        for later in events[number:]:
            at[later] += shift
    width = max(map(len, processes), default=0)
    right = max([*at.values(), *(at[call.begin] + len(told(call)) + 5 for call in drawn)], default=0)
    lines = []
    for process in processes:
        line = [" "] * (right + 2)
        for call in drawn:
            if call.process != process:
                continue
            end = right if call.end is None else at[call.end]
            text = f" {told(call)} "
            body = text.center(end - at[call.begin] - 1, "━")
            bar = "┣" + body + ("┫" if call.end is not None else "┄")
            line[at[call.begin] : end + 1] = bar
        lines.append(f"{process:>{width}}  {''.join(line).rstrip()}")
        if misplaced is not None and misplaced.process == process and misplaced.end is not None:
            from_, to = at[misplaced.begin], at[misplaced.end]
            lines.append(" " * (width + 2 + from_) + "▲ no place".ljust(to - from_))
    return [line.rstrip() for line in lines]
