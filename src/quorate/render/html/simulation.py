"""Random runs as one HTML file: what was found, the run that shows it, how much was seen, and coverage."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING

from quorate.base import files
from quorate.base.values import show
from quorate.base.words import count
from quorate.render.html.coverage import coverage
from quorate.render.html.document import box, framed, keys, plain
from quorate.render.html.elements import element, table
from quorate.render.html.run import run, states
from quorate.render.simulation import figures

if TYPE_CHECKING:
    from quorate.results.simulation import Simulation


def write(found: Simulation, path: str | PathLike[str]) -> None:
    files.write(path, document(found))


def document(found: Simulation) -> str:
    """The page of random runs."""
    runs = [found.trace] if found.trace is not None else []
    sign, tone, words = "?", "open", f"nothing was violated in {count(found.runs, 'random run')}"
    if found.property is not None:
        sign, tone = "✗", "bad"
        words = "can deadlock" if found.property == "deadlock" else f"violates {found.property}"
    given = " ".join(f"{name}={show(value)}" for name, value in found.parameters.items() if value is not None)
    proves = "This proves nothing: only some of all runs were taken." if found.property is None else None
    return framed(
        f"{found.system} {words}",
        [
            element(
                "header",
                element(
                    "h1",
                    element("span", sign, class_=f"sign {tone}"),
                    f" {found.system} ",
                    element("span", words, class_=tone),
                ),
                element("p", given, class_="instance"),
                element("p", proves, class_="property") if proves else None,
                element("button", "light / dark", id="theme", type="button", title="t"),
            ),
            element(
                "main",
                [run(trace, number) for number, trace in enumerate(runs)],
                element(
                    "div",
                    box("Random runs", table([(name, plain(content)) for name, content in figures(found)])),
                    class_="facts",
                ),
                coverage(found.covered) if found.covered is not None else None,
            ),
            element("footer", keys() if runs else None),
        ],
        [states(trace) for trace in runs],
    )
