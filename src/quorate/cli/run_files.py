"""What is made of a run besides printing it: options and files, shared by the commands that have a run to show."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from quorate.base import files
from quorate.base.errors import QuorateError, TargetError
from quorate.base.printable import printable
from quorate.cli import interrupts
from quorate.cli.errors import complain, unexpected

if TYPE_CHECKING:
    from quorate.render.text import Form
    from quorate.results.trace import Trace


class TraceForm(StrEnum):
    chart = "chart"
    text = "text"
    json = "json"
    none = "none"


def _output(name: str, help: str, **more: Any) -> Any:
    return typer.Option(name, help=help, rich_help_panel="The run that shows it", **more)


TraceOption = Annotated[
    TraceForm | None, _output("--trace", "Print the run as a chart, as text, as JSON, or not at all.")
]
Charts = Annotated[
    list[Path] | None,
    _output("--chart", "Draw it into a file: .svg, .png, .mmd (Mermaid) or .txt; repeatable.", metavar="FILE"),
]
Report = Annotated[
    Path | None,
    _output("--report", "Write the whole result into one self-contained HTML file.", metavar="FILE"),
]
Exports = Annotated[
    list[Path] | None,
    _output("--export", "Export it: .itf.json (Apalache), .shiviz or .mmd; repeatable.", metavar="FILE"),
]
Pytest = Annotated[
    Path | None, _output("--pytest", "Write a regression test that replays exactly this run.", metavar="FILE")
]


def form(trace: TraceForm | None) -> "Form | None":
    """In which form the terminal shows the run; None if it does not."""
    if trace is None:
        return "auto"
    return "chart" if trace is TraceForm.chart else "text" if trace is TraceForm.text else None


@dataclass(frozen=True)
class Files:
    """The files that were asked for.

    Names and folders are tried before anything long is done for them. What fails later takes neither the verdict nor
    the other files away: it is kept in `trouble`, to be said last.
    """

    charts: Sequence[Path] = ()
    exports: Sequence[Path] = ()
    test: Path | None = None
    saved: Path | None = None
    report: Path | None = None
    others: Sequence[Path] = ()
    trouble: list[QuorateError] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.charts:
            from quorate.render.chart import write as chart

            for path in self.charts:
                chart.check_name(path)
        if self.exports:
            from quorate.render.exports import write as exports

            for path in self.exports:
                exports.check_name(path)
        single = [path for path in (self.test, self.saved, self.report) if path is not None]
        for path in (*self.charts, *self.exports, *single, *self.others):
            files.tried(path)

    def attempt(self, path: Path, write: Callable[[], object]) -> bool:
        """Write one file; whether that was possible."""
        try:
            with interrupts.working():
                write()
        except KeyboardInterrupt:
            self.trouble.append(TargetError(f"interrupted: {path} was not written", code="Q310"))
        except QuorateError as error:
            self.trouble.append(error)
        except Exception as error:
            if os.environ.get("QUORATE_TRACEBACK"):
                raise
            self.trouble.append(unexpected(error))
        else:
            return True
        return False

    def put(self, path: Path, content: Callable[[], str]) -> None:
        """Write a text that is made for it."""
        if self.attempt(path, lambda: files.write(path, content())):
            tell(path, written=True)

    def complain(self) -> None:
        """Say what could not be written, now that everything else was said."""
        for error in self.trouble:
            complain(error)

    def save(self, trace: "Trace | None", target: str | None) -> Path | None:
        """Save the run, if there is one and that was asked for; where it is now."""
        path = self.saved
        if path is None or trace is None or not self.attempt(path, lambda: trace.save(path, target)):
            return None
        return path

    def write(self, trace: "Trace | None", target: str | None) -> None:
        """Write what was asked for, or say that there is nothing to be written."""
        every = [*self.charts, *self.exports, *([self.test] if self.test is not None else [])]
        if not every:
            return
        if trace is None:
            for path in every:
                tell(path, written=False)
            return
        from quorate.render.chart import write as chart
        from quorate.render.exports import regression
        from quorate.render.exports import write as exports

        writers: list[tuple[Path, Callable[[Path], object]]] = [
            *((path, lambda path: chart.write(trace, path)) for path in self.charts),
            *((path, lambda path: exports.write(trace, path)) for path in self.exports),
            *((path, lambda path: regression.write(trace, path, target)) for path in every if path is self.test),
        ]
        for path, writer in writers:
            if self.attempt(path, partial(writer, path)):
                tell(path, written=True)


def tell(path: Path, written: bool) -> None:
    """On standard error: what is on standard output may be piped."""
    from quorate.cli.output import err

    name = printable(str(path))
    print(f"wrote {name}" if written else f"there is no run to show, so {name} was not written", file=err())
