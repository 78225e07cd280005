"""A log with vector clocks for ShiViz (bestchai.bitbucket.io/shiviz), in the form that it expects by default.

promise, promised: 0 -> 1
acceptor1 {"acceptor1": 1, "proposer1": 1}
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from quorate.base.printable import printable
from quorate.base.values import show
from quorate.render.chart.model import Happening, chart
from quorate.results.diff import line

if TYPE_CHECKING:
    from quorate.results.trace import Trace

EXPRESSION = r"(?<event>.*)\n(?<host>\S*) (?<clock>{.*})"
"""What ShiViz is to read the log with; it proposes this one itself."""

Clock = dict[str, int]


def shiviz(trace: Trace) -> str:
    """The run as a log, one event for every step. What the network does to a message is an event of its own host."""
    return "".join(f"{event}\n{host} {json.dumps(clock)}\n" for event, host, clock in events(trace))


def events(trace: Trace) -> Iterator[tuple[str, str, Clock]]:
    """What happened, where, and what it may depend on."""
    name = {column.index: column.name for column in trace.definition.processes}
    clocks: dict[str, Clock] = {}
    after: dict[int, Clock] = {}  # the clock of a step, once it has happened
    for seen in chart(trace).happenings:
        host = "network" if seen.by_network else name[seen.column]
        clock = clocks.setdefault(host, {})
        for arrow in seen.incoming:
            if arrow.at_will:  # an attacker sends it now
                attacker = name[arrow.sender]
                _tick(clocks.setdefault(attacker, {}), attacker)
                yield printable(f"sends {show(arrow.message)}"), attacker, dict(clocks[attacker])
                _merge(clock, clocks[attacker])
            else:
                _merge(clock, after.get(arrow.sent, {}))  # what was in flight at the beginning comes from nowhere
        _tick(clock, host)
        after[seen.number] = dict(clock)
        yield _told(seen), host, after[seen.number]


def _tick(clock: Clock, host: str) -> None:
    clock[host] = clock.get(host, 0) + 1


def _merge(clock: Clock, other: Clock) -> None:
    for host, time in other.items():
        clock[host] = max(clock.get(host, 0), time)


def _told(seen: Happening) -> str:
    heard = [show(arrow.message) for arrow in seen.incoming]
    parts = [f"{seen.title} {' '.join(heard)}" if heard else seen.title, *map(line, seen.changes)]
    if seen.failure is not None:
        parts.append(f"fails: {seen.failure}")
    return printable(", ".join(parts))
