"""`quorate ablate`: which parts of a protocol are needed, and for what."""

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quorate.base.errors import ParameterError
from quorate.cli import interrupts
from quorate.cli.errors import HOLDS, STOPPED, VIOLATED, guarded
from quorate.cli.options import AsJson, Asked, Parameters, Presets, Properties, Target, reader, takes_options
from quorate.cli.run_files import Files, TraceOption, form
from quorate.cli.sizes import seconds

if TYPE_CHECKING:
    from quorate.ablation.judge import Judge

EPILOG = """
Examples:

  quorate ablate paxos

  quorate ablate paxos --show 7

  quorate ablate atomic-storage -p readers=1 --property atomic --report parts.html

Parts are guards, filters, sends, assignments, conditions, comparisons, sizes of quorums and whole transitions, as they
stand in the source of handlers. One is taken out at a time, and every property that holds is checked again. Then it is:

  needed           a property is violated; --show N shows the run

  breaks           a handler raises

  holds vacuously  all holds, since something that happened before never happens

  not needed       all holds, and all that happened before still happens

  no difference    in no reachable state of this instance it changes anything

  not decided      a limit was reached, which may be that a handler does not come to an end

Exit status: 0 all parts were looked at, 2 the request or the model is wrong, 3 interrupted or out of time.
With --show: as for `quorate check`.
"""


@guarded
@takes_options("Faults")
def ablate(
    target: Target,
    parameters: Parameters = None,
    presets: Presets = None,
    properties: Properties = None,
    show_part: Annotated[
        int | None,
        typer.Option("--show", metavar="N", min=1, help="Check without part N alone, and show the run that breaks it."),
    ] = None,
    each: Annotated[
        float | None,
        typer.Option(
            "--each",
            metavar="SECONDS",
            parser=reader(seconds),
            help="How long a check of one variant may take. [default: 10s]",
        ),
    ] = None,
    timeout: Annotated[
        float | None,
        typer.Option("--timeout", metavar="SECONDS", parser=reader(seconds), help="Stop after this time in all."),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            "-j", "--jobs", min=1, metavar="N", help="Variants at a time, each in a process; default: all cores."
        ),
    ] = None,
    as_json: AsJson = False,
    report: Annotated[
        Path | None,
        typer.Option(
            "--report", metavar="FILE", help="Write an HTML page with the source, coloured by what was found."
        ),
    ] = None,
    trace: TraceOption = None,
    *,
    asked: Asked,
) -> int:
    """Take out every part of a protocol in turn, and say which properties notice.

    A part that nobody notices is not needed, or a property is missing.
    """
    from quorate.ablation.ablate import ablate as run
    from quorate.ablation.judge import EACH
    from quorate.ablation.judge import Judge as Judging
    from quorate.cli.output import out, show, width
    from quorate.cli.progress import ProgressLine
    from quorate.model.given import instance
    from quorate.model.target import load
    from quorate.render.ablation import ablation

    files = Files(report=report)
    system = instance(load(target), parameters or [], presets or [])
    line = ProgressLine()
    limit = EACH if each is None else each
    if show_part is not None:
        judge = Judging(system, asked.keywords, target=target, properties=properties, each=limit, progress=line.update)
        line.close()
        if show_part > len(judge.sites):
            raise ParameterError(
                f"--show {show_part}: there are {len(judge.sites)} parts",
                hint=f"`quorate ablate {target}` numbers them",
                code="Q212",
            )
        return _show(judge, show_part, as_json, trace)
    interrupts.answering()  # what is known is shown

    def told(done: int, of: int, at: list[int]) -> None:
        if interrupts.noted():
            raise KeyboardInterrupt
        line.say(f"{done} of {of} parts · without part {', '.join(map(str, sorted(at)))}" if at else f"{of} parts")

    try:
        found = run(
            system,
            target=target,
            property=properties,
            each=limit,
            timeout=timeout,
            jobs=jobs,
            progress=line.update,
            told=told,
            **asked.keywords,
        )
    finally:
        line.close()
    if as_json:
        print(json.dumps(found.to_json()), file=out())
    else:
        show(ablation(found, width(out())))
    if report is not None:
        from quorate.render.html.ablation import write

        files.attempt(report, partial(write, found, report))
    files.complain()
    return STOPPED if found.stopped_by is not None else HOLDS


def _show(judge: "Judge", number: int, as_json: bool, trace: TraceOption) -> int:
    """One variant, as `quorate check` would show it."""
    from quorate.cli.output import out, show, width
    from quorate.render.ablation import described, owner
    from quorate.render.layout import Page, Piece
    from quorate.render.report import report

    part = judge.parts[number - 1]
    result = judge.run(number)
    status = {"holds": HOLDS, "violated": VIOLATED, "incomplete": STOPPED}[result.verdict]
    if as_json:
        print(json.dumps({"part": part.to_json(), "result": result.to_json()}), file=out())
        return status
    page = Page(width(out()))
    page.add(Piece(f"without part {number}, {owner(part)} line {part.line}: {described(part)}", "heading"), hanging=2)
    page.gap()
    page.lines.extend(report(result, width=page.width, trace=form(trace)).lines)
    show(page)
    return status
