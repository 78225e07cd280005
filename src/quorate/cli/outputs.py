"""What is made of a run besides printing it: options and files, shared by the commands that have a run to show."""

import sys
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
    TraceForm | None, _output("--trace", "Print it drawn, in words, as JSON or not at all. [default: drawn if short]")
]
Charts = Annotated[
    list[Path] | None,
    _output("--chart", "Draw it into a file: .svg, .png, .mmd (Mermaid) or .txt; repeat.", metavar="FILE"),
]
Report = Annotated[
    Path | None,
    _output("--report", "Write all of the result into one HTML file that needs nothing else.", metavar="FILE"),
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


def check_names(charts: list[Path]) -> None:
    """Refuse what cannot be written before anything long is done for it."""
    if charts:
        from quorate.traces.chart.file import check_name

        for path in charts:
            check_name(path)


def write_files(trace: "Trace | None", charts: list[Path]) -> None:
    """Write what was asked for, or say that there is nothing to be written."""
    if charts:
        from quorate.traces.chart.file import write

        for path in charts:
            if trace is not None:
                write(trace, path)
            tell(path, trace is not None)


def tell(path: Path, written: bool) -> None:
    """On standard error: what is on standard output may be piped."""
    print(f"wrote {path}" if written else f"there is no run to show, so {path} was not written", file=sys.stderr)
