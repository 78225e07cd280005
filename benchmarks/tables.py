"""Results as rows of text, for the terminal and for the documentation.

A paper's table is wide: a line for each instance, a cell for each way to check it. A comparison with peers is long: a
line for each program on each instance, with the factors by which Quorate does better.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from benchmarks.experiment import Measured, Published
from benchmarks.results import Entry, Figure, Section

Lines = list[tuple[str, ...]]

GOALS = ("", "measured", "goal", "margin", "")
LONG = (
    *("instance", "program", "verdict", "states", "transitions", "seconds", "states/s", "memory", "bytes"),
    *("time", "rate", "size"),
)
PLACE_OF_FACTORS = 9  # in LONG; they compare with peers
PEERS_PREFIX = "peers-"


def is_long(section: Section) -> bool:
    return section.name.startswith(PEERS_PREFIX)


# --- figures with goals ------------------------------------------------------------------------------------------


def goal_line(figure: Figure) -> tuple[str, ...]:
    sign = {"higher": "≥", "lower": "≤", "equal": "="}[figure.better]
    goal = "" if figure.goal is None else f"{sign} {quantity(figure.goal, figure.unit)}"
    margin = "" if figure.margin is None else f"{figure.margin:.2f}x"
    outcome = {True: "met", False: "missed", None: ""}[figure.met]
    return figure.what, quantity(figure.value, figure.unit), goal, margin, outcome


# --- wide --------------------------------------------------------------------------------------------------------


def wide(section: Section) -> tuple[tuple[str, ...], Lines]:
    columns = list(dict.fromkeys(entry.column for entry in section.entries))
    keys = list(dict.fromkeys((entry.instance, entry.claim) for entry in section.entries))
    claims = any(claim for _, claim in keys)
    head = ("instance", *(["property"] if claims else []), "verdict", *columns)
    lines = []
    for instance, claim in keys:
        entries = {e.column: e for e in section.entries if (e.instance, e.claim) == (instance, claim)}
        cells = [cell(entries[column]) if column in entries else "" for column in columns]
        lines.append((instance, *([claim] if claims else []), _verdict(list(entries.values())), *cells))
    return head, lines


def cell(entry: Entry) -> str:
    """What was measured, and below it what was published."""
    ours = [] if entry.measured.note == "published only" else [outcome(entry.measured)]
    theirs = [f"[{published(entry.published)}]"] if entry.published else []
    return "\n".join(ours + theirs)


def outcome(measured: Measured) -> str:
    match measured.status:
        case "holds" | "violated":
            idle = re.findall(r"(\w+) left out", measured.note)  # a reduction that was asked for
            return ", ".join([f"{measured.states:,} / {duration(measured.seconds)}", *(f"no {each}" for each in idle)])
        case "incomplete":
            return f"> {measured.states:,} / {duration(measured.seconds)}, {measured.note or 'stopped'}"
        case _:
            return measured.status


def published(figures: Published) -> str:
    bound = "> " if figures.note in ("more than", "out of memory") else ""
    states = [f"{bound}{figures.states:,}"] if figures.states is not None else []
    seconds = [duration(figures.seconds)] if figures.seconds is not None else []
    note = figures.note.removeprefix("more than")
    return ", ".join(filter(None, [" / ".join(states + seconds), figures.verdict or "", note]))


def _verdict(entries: Sequence[Entry]) -> str:
    found = {entry.measured.status for entry in entries if entry.measured.answered}
    if any(entry.wrong for entry in entries):
        return f"WRONG: {' and '.join(sorted(found))}, expected {entries[0].expected}"
    return " and ".join(sorted(found)) or "no answer"


# --- long --------------------------------------------------------------------------------------------------------


def long(section: Section) -> tuple[tuple[str, ...], Lines]:
    lines: Lines = []
    for entry in section.entries:
        found = entry.measured
        plain = section.find(entry.instance, "Quorate, plain")
        best = fastest(section, entry.instance)
        peer = entry.program != "Quorate"
        rated = found.lasts
        lines.append(
            (
                entry.instance,
                entry.column,
                found.status if not entry.wrong else f"WRONG: {found.status}",
                f"{'> ' if found.status == 'incomplete' else ''}{found.states:,}" if found.states else "",
                f"{found.transitions:,}" if found.transitions else "",
                duration(found.seconds) if found.states else "",
                f"{found.states_per_second / 1e6:.2f} M" if rated else "",
                memory(found.peak_memory_bytes) if found.states else "",
                f"{found.bytes_per_state:.0f}" if rated else "",
                _factor(found, found.seconds / best.seconds if best else None) if peer and found.states else "",
                times(plain.states_per_second / found.states_per_second)
                if peer and rated and plain and plain.lasts
                else "",
                times(found.bytes_per_state / plain.bytes_per_state)
                if peer and rated and plain and plain.lasts
                else "",
            )
        )
    return LONG, lines


def details(section: Section) -> tuple[tuple[str, ...], Lines]:
    """All figures of what was measured in a wide table; with the symmetries, where there are any."""
    lines = [
        (*line[:PLACE_OF_FACTORS], f"{found.stands_for:,}" if found.group else "", found.group)
        for line, found in zip(long(section)[1], (entry.measured for entry in section.entries), strict=True)
        if found.status != "skipped"
    ]
    return (*LONG[:PLACE_OF_FACTORS], "stands for", "group"), lines


def reduced(section: Section, instance: str) -> list[Measured]:
    """Quorate's answers with reductions."""
    return [
        each.measured
        for each in section.entries
        if (each.instance, each.program) == (instance, "Quorate")
        and each.column != "Quorate, plain"
        and each.measured.answered
    ]


def fastest(section: Section, instance: str) -> Measured | None:
    """Quorate's quickest answer with reductions."""
    return min(reduced(section, instance), key=lambda each: each.seconds, default=None)


def _factor(found: Measured, value: float | None) -> str:
    if value is None or not (found.answered or found.status == "incomplete"):
        return ""
    return f"{'> ' if found.status == 'incomplete' else ''}{times(value)}"


# --- quantities --------------------------------------------------------------------------------------------------


def quantity(value: float, unit: str) -> str:
    match unit:
        case "states/s":
            return f"{value / 1e6:.2f} M/s"
        case "bytes":
            return f"{value:.1f} bytes"
        case "s":
            return f"{value:.2f} s"
        case "x":
            return times(value)
        case _:
            return f"{value:,.0f}"


def times(value: float) -> str:
    return f"{value:.2f}x" if value < 10 else f"{value:.1f}x" if value < 100 else f"{value:,.0f}x"


def duration(seconds: float) -> str:
    if seconds < 0.0995:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 120:
        return f"{seconds:.2f} s" if seconds < 10 else f"{seconds:.1f} s"
    if seconds < 2 * 3600:
        return f"{int(seconds // 60)} m {round(seconds % 60):02d}"
    return f"{int(seconds // 3600)} h {round(seconds % 3600 / 60):02d}"


def memory(count: int) -> str:
    return f"{count / 2**20:,.0f} MB" if count < 10 * 2**30 else f"{count / 2**30:,.1f} GB"


def busy(section: Section, cores: int) -> str:
    """A load near one is the benchmark itself."""
    if not section.seconds:
        return ""
    before, after = section.load
    return f"Took {duration(section.seconds)}; load average {before:.1f} before, {after:.1f} after, on {cores} cores."


def remarks(section: Section) -> list[str]:
    """Why something is missing, each reason once."""
    known = ("published only", "a smaller instance met a limit")
    reasons = {
        f"{each.column}: {each.measured.note}"
        for each in section.entries
        if each.measured.note and each.measured.note not in known and each.measured.status != "incomplete"
    }
    return sorted(reasons)
