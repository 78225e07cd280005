"""What is made of a run besides printing it: options and files, shared by the commands that have a run to show."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from quorate.cli.options import Switch

if TYPE_CHECKING:
    from quorate.traces.text import Form
    from quorate.traces.trace import Trace


class TraceForm(StrEnum):
    chart = "chart"
    text = "text"
    json = "json"
    none = "none"


def _output(name: str, help: str, **more: Any) -> Any:
    return typer.Option(name, help=help, rich_help_panel="The run that shows it", **more)


TraceOption = Annotated[
    TraceForm | None, _output("--trace", "Print it drawn (as short ones are anyway), in words, as JSON or not at all.")
]
Charts = Annotated[
    list[Path] | None,
    _output("--chart", "Draw it into a file: .svg, .png, .mmd (Mermaid) or .txt; repeat.", metavar="FILE"),
]
Report = Annotated[
    Path | None,
    _output("--report", "Write all of the result into one HTML file that needs nothing else.", metavar="FILE"),
]
Exports = Annotated[
    list[Path] | None,
    _output("--export", "Write it for other tools: .itf.json (Apalache), .shiviz or .mmd; repeat.", metavar="FILE"),
]
Pytest = Annotated[
    Path | None, _output("--pytest", "Write a regression test that replays exactly this run.", metavar="FILE")
]
Shorten = Annotated[bool, _output("--shorten", "Look for a shorter run that shows the same.")]
Regroup = Annotated[
    Switch, _output("--regroup", "Put steps that commute in an order in which one process does all it can.")
]


def form(trace: TraceForm | None) -> "Form | None":
    """In which form the terminal shows the run; None if it does not."""
    if trace is None:
        return "auto"
    return "chart" if trace is TraceForm.chart else "text" if trace is TraceForm.text else None


@dataclass(frozen=True)
class Files:
    """The files that were asked for. Names are looked at before anything long is done for them."""

    charts: Sequence[Path]
    exports: Sequence[Path]
    test: Path | None

    def __post_init__(self) -> None:
        if self.charts:
            from quorate.traces.chart import file

            for path in self.charts:
                file.check_name(path)
        if self.exports:
            from quorate.traces.exports import file as exports

            for path in self.exports:
                exports.check_name(path)

    def write(self, trace: "Trace | None", target: str | None) -> None:
        """Write what was asked for, or say that there is nothing to be written."""
        every = [*self.charts, *self.exports, *([self.test] if self.test is not None else [])]
        if trace is not None and every:
            from quorate.traces.chart import file
            from quorate.traces.exports import file as exports
            from quorate.traces.exports import regression

            for path in self.charts:
                file.write(trace, path)
            for path in self.exports:
                exports.write(trace, path)
            if self.test is not None:
                regression.write(trace, self.test, target)
        for path in every:
            tell(path, trace is not None)


def tell(path: Path, written: bool) -> None:
    """On standard error: what is on standard output may be piped."""
    print(f"wrote {path}" if written else f"there is no run to show, so {path} was not written", file=sys.stderr)
