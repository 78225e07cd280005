"""`quorate check`: one instance, one verdict."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from quorate.cli import interrupts
from quorate.cli.errors import HOLDS, STOPPED, UNCOVERED, VIOLATED, guarded
from quorate.cli.options import AsJson, Asked, Parameters, Presets, Properties, Save, Target, takes_options
from quorate.cli.run_files import Charts, Exports, Files, Pytest, Report, TraceForm, TraceOption, form, tell

if TYPE_CHECKING:
    from quorate.results.result import Result

EPILOG = """
Examples:

  quorate check paxos -p acceptors=5

  quorate check model.py:Protocol --property agreement --save run.json

  quorate check faulty-paxos --chart run.svg --report run.html

  quorate check paxos --json | jq .states

  quorate check model.py --checkpoint saved --timeout 8h; quorate resume saved

Exit status: 0 holds, 1 violated, 2 the request or the model is wrong, 3 stopped before an answer, 4 holds but covers
less than --fail-under asks for.
"""

FailUnder = Annotated[
    float | None,
    typer.Option(
        "--fail-under",
        metavar="PERCENT",
        min=0,
        max=100,
        help="Measure coverage, and end with status 4 if less of the handlers ran.",
        rich_help_panel="Coverage",
    ),
]


@guarded
@takes_options(
    "Temporal properties",
    "Coverage",
    "The run that shows it",
    "Search",
    "Reductions",
    "Limits",
    "Checkpoints",
    "Faults",
)
def check(
    target: Target,
    parameters: Parameters = None,
    presets: Presets = None,
    properties: Properties = None,
    as_json: AsJson = False,
    trace: TraceOption = None,
    charts: Charts = None,
    report: Report = None,
    save: Save = None,
    exports: Exports = None,
    pytest: Pytest = None,
    fail_under: FailUnder = None,
    *,
    asked: Asked,
) -> int:
    """Check every run of a protocol: a proof for this instance, or the shortest run that breaks it.

    Breadth-first and exact, with quotient, dead messages and symmetry where they apply, unless told otherwise.

    A reduction never changes a verdict. Each can be switched off alone, and the report says which ones ran and why.
    """
    from quorate.cli import pipe
    from quorate.cli.progress import ProgressLine
    from quorate.model.given import instance
    from quorate.model.target import load
    from quorate.search.check import check as run

    files = Files(charts or [], exports or [], pytest, save, report)
    pipe.begin(target, asked.options, asked.environment, as_json=as_json)
    system = instance(load(target), parameters or [], presets or [])
    pipe.made(system)
    options: dict[str, Any] = {"property": properties or None, **asked.keywords}
    if fail_under is not None:
        options["coverage"] = True
    line = ProgressLine()
    interrupts.answering()  # the search takes them; and what it says is told, whatever comes then
    try:
        result = run(
            system,
            **options,
            progress=pipe.followed(line.update),
            target=target,
        )
    finally:
        line.close()
    status = tell_result(result, files, target, as_json=as_json, trace=trace, named=properties is not None)
    if status == HOLDS and _uncovered(result, fail_under):
        status = UNCOVERED
    pipe.tell(status=status)
    files.write(result.shown, target)
    if report is not None:
        from quorate.render.html.document import write
        from quorate.search.factors import factors

        def again(**changed: Any) -> "Result":
            return run(system, **{**options, "self_check": False, "shorten": False, "checkpoint": None, **changed})

        def page() -> None:
            write(result, report, factors(result, again))

        if files.attempt(report, page):
            tell(report, written=True)
    files.complain()
    return status


def tell_result(
    result: "Result", files: Files, target: str, *, as_json: bool, trace: TraceForm | None, named: bool
) -> int:
    """Save the run, if that was asked for, and show the result; the exit status that goes with the verdict."""
    from quorate.cli import pipe
    from quorate.cli.output import out

    pipe.known(result)
    saved = files.save(result.trace, target)  # first, since the report says how to replay it
    show_result(result, as_json=as_json, trace=trace, witnesses=named, save=saved)
    out().flush()
    return {"holds": HOLDS, "violated": VIOLATED, "incomplete": STOPPED}[result.verdict]


def _uncovered(result: "Result", fail_under: float | None) -> bool:
    return fail_under is not None and result.covered is not None and result.covered.percent < fail_under


def show_result(
    result: "Result", *, as_json: bool, trace: TraceForm | None, witnesses: bool, save: Path | None
) -> None:
    """Print a result in the form that was asked for; `save` is where its run was saved."""
    from quorate.cli.output import err, out, show, width
    from quorate.render.report import report

    if as_json:
        document = result.to_json()
        if trace is TraceForm.none:
            document["trace"] = None
        print(json.dumps(document), file=out())
        return
    saved = str(save) if save is not None else None
    stream = err() if trace is TraceForm.json else out()
    show(report(result, width=width(stream), trace=form(trace), witnesses=witnesses, saved=saved), stream)
    if trace is TraceForm.json:
        # The run alone on standard output, so that it can be piped; the report goes beside it.
        print(json.dumps(result.trace.to_json() if result.trace is not None else None), file=out())
