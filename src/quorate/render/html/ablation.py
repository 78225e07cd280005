"""The findings of `quorate ablate` as a page: the source, coloured by what each part is needed for, and all parts."""

from __future__ import annotations

import linecache
import os
from os import PathLike

from quorate.base import files
from quorate.base.values import show
from quorate.render.ablation import WORDS, described, headline, owner, why
from quorate.render.html.document import framed
from quorate.render.html.elements import Content, Markup, element, table
from quorate.results.ablation import Ablation, Finding, Status

GRAVEST: tuple[Status, ...] = ("unneeded", "vacuous", "undecided", "same", "breaks", "needed")
"""A line with several parts has the colour of the one that a reader would want to know of first."""


def write(found: Ablation, path: str | PathLike[str]) -> None:
    files.write(path, document(found))


def document(found: Ablation) -> str:
    given = " ".join(f"{name}={show(value)}" for name, value in found.parameters.items() if value is not None)
    return framed(
        f"{found.system}: which parts are needed",
        [
            element(
                "header",
                element("h1", headline(found)),
                element("p", given, class_="instance"),
                element("p", f"Asked: {', '.join(found.properties)}."),
                [element("p", note, class_="open") for note in found.notes],
                element("button", "light / dark", id="theme", type="button", title="t"),
            ),
            element("main", _legend(), [_source(found, file) for file in _files(found)], _all(found)),
        ],
        [],
    )


def _files(found: Ablation) -> list[str]:
    return list(dict.fromkeys(each.part.file for each in found.findings))


def _legend() -> Markup:
    said: dict[Status, str] = {
        "needed": "a property is violated without it",
        "breaks": "the code does not work without it",
        "vacuous": "without it everything holds, since something never happens",
        "unneeded": "everything holds without it, and everything still happens",
        "same": "it makes no difference in any reachable state",
        "undecided": "a limit was reached",
    }
    rows = [(element("span", WORDS[status], class_=f"part {status}"), text) for status, text in said.items()]
    return element("section", table(rows), class_="box ablation")


def _source(found: Ablation, file: str) -> Content:
    """The lines from the first part to the last one."""
    mine = [each for each in found.findings if each.part.file == file]
    on: dict[int, list[Finding]] = {}
    for each in mine:
        on.setdefault(each.part.line, []).append(each)
    first, last = min(on), max(each.part.end_line for each in mine)
    rows: list[Content] = []
    for number in range(first, last + 1):
        here = on.get(number, [])
        status = min((each.status for each in here), key=GRAVEST.index, default=None)
        text = linecache.getline(file, number).rstrip("\n")
        title = "\n".join(
            f"{each.part.number} {described(each.part)}: {WORDS[each.status]}{why(each)}" for each in here
        )
        rows.append(element("span", f"{number:>4}  {text}\n", class_=status, title=title or None))
    name = os.path.basename(file)
    return element("details", element("summary", name), element("pre", rows, class_="source"), open=True)


def _all(found: Ablation) -> Markup:
    rows: list[tuple[Content, ...]] = []
    for each in found.findings:
        runs = [
            element("details", element("summary", f"the run that violates {one.property}"), element("pre", one.run))
            for one in each.breaks
            if one.run
        ]
        verdict = element("span", WORDS[each.status], class_=f"part {each.status}")
        part = each.part
        rows.append((str(part.number), str(part.line), owner(part), described(part), [verdict, why(each), runs]))
    heading = ("", "line", "of", "part", "without it")
    return element("section", element("h2", "All parts"), table(rows, heading=heading), class_="box ablation")
