"""Coverage in the report: what never happened first, then how often everything did."""

from __future__ import annotations

import linecache
import os
from collections.abc import Iterator

from quorate.base.words import count
from quorate.render.layout import Page, Piece
from quorate.results.coverage import Coverage, FileCoverage, TransitionCoverage

MOST_LINES = 12


def coverage(covered: Coverage, width: int) -> Page:
    page = Page(width)
    page.add(Piece(heading(covered), "heading"))
    for line in gaps(covered):
        page.add("  ", Piece(line, "warning"), hanging=4)
    page.gap()
    page.table(
        (f"{each.role}.{each.name}", Piece(happened(each), "" if each.depth is not None else "warning"))
        for each in covered.transitions
    )
    return page


def heading(covered: Coverage) -> str:
    of = "in all reachable states" if covered.complete else "in what was searched"
    return f"Coverage: {covered.percent:.0f}% of the lines and branches of handlers ran {of}"


def gaps(covered: Coverage) -> Iterator[str]:
    """What a reader would want to know: what never happens, line by line."""
    for each in covered.transitions:
        if each.depth is None:
            yield f"{each.role}.{each.name} never happens{each.why_never} ({where(each.file, each.line)})"
            continue
        for guard, said in (("guard", each.guard), ("`where`", each.where)):
            if said == "never false":
                yield f"{each.role}.{each.name}: its {guard} is never false ({where(each.file, each.line)})"
    for name in covered.never_sent:
        yield f"{name} is waited for, and never sent"
    for name in covered.never_consumed:
        yield f"{name} is sent, and never consumed"
    for name, number in covered.faults.items():
        if number == 0:
            yield f"{name} are allowed, and never happen"
    lines = [line for each in covered.files for line in _lines(each)]
    yield from lines[:MOST_LINES]
    if len(lines) > MOST_LINES:
        yield f"and {len(lines) - MOST_LINES:,} more lines and branches"


def where(file: str, line: int) -> str:
    return f"{os.path.basename(file)}:{line}"


def _lines(file: FileCoverage) -> Iterator[str]:
    for line in file.missing:
        text = linecache.getline(file.path, line).strip()
        yield f"{where(file.path, line)} never runs: {text}"
    for line, then in file.not_taken:
        if line in file.missing:
            continue
        text = linecache.getline(file.path, line).strip()
        to = "leaves the function" if then < 0 else f"goes on at line {then}"
        yield f"{where(file.path, line)} never {to}: {text}"


def happened(each: TransitionCoverage) -> str:
    """How often a transition was possible and taken."""
    if each.depth is None:
        return "never"
    if each.monitor:
        return f"ran on {count(each.steps, 'pair')} of local state and event"
    first = f", first after {count(each.depth, 'step')}" if each.depth else ", from the beginning"
    left_out = f"; {count(each.blocked, 'time')} a channel was full" if each.blocked else ""
    left_out += f"; {count(each.cut, 'time')} cut by a bound" if each.cut else ""
    possible = f"possible {count(each.states, 'time')}, " if each.states is not None else ""
    return f"{possible}taken {count(each.steps, 'time')}{first}{left_out}"
