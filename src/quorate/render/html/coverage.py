"""Coverage in the HTML report: what never happens, how often everything does, and the source with what ran coloured."""

from __future__ import annotations

import linecache
import os
from collections.abc import Iterable

from quorate.render.coverage import gaps, happened, heading
from quorate.render.html.elements import Content, Markup, element, table
from quorate.results.coverage import Coverage, FileCoverage, TransitionCoverage


def coverage(covered: Coverage) -> Markup:
    missing = list(gaps(covered))
    return element(
        "section",
        element("h2", heading(covered)),
        element("ul", [element("li", line) for line in missing], class_="gaps") if missing else None,
        table([(f"{each.role}.{each.name}", happened(each)) for each in covered.transitions]),
        [_source(file, covered.transitions) for file in covered.files],
        class_="box coverage",
    )


def _source(file: FileCoverage, transitions: Iterable[TransitionCoverage]) -> Content:
    """The lines from the first handler to the last one, with what stands above it."""
    lines = [*file.executed, *file.missing]
    if not lines:
        return None
    heads = [each.line for each in transitions if each.file == file.path]
    half = {line for line, _ in file.not_taken}
    kinds = dict.fromkeys(file.executed, "ran") | dict.fromkeys(file.missing, "missed")
    rows: list[Content] = []
    for number in range(min(lines + heads), max(lines) + 1):
        kind = kinds.get(number, "")
        if kind == "ran" and number in half:
            kind = "half"
        text = linecache.getline(file.path, number).rstrip("\n")
        rows.append(element("span", f"{number:>4}  {text}\n", class_=kind or None, title=_title(file, number, kind)))
    return element(
        "details", element("summary", os.path.basename(file.path)), element("pre", rows, class_="source"), open=True
    )


def _title(file: FileCoverage, number: int, kind: str) -> str | None:
    if kind == "missed":
        return "never runs"
    if kind == "half":
        to = [then for line, then in file.not_taken if line == number]
        return "never " + " or ".join("leaves the function" if then < 0 else f"goes on at line {then}" for then in to)
    return None
