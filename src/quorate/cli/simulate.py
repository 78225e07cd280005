"""`quorate simulate`: random runs of a protocol."""

import json
from enum import StrEnum
from typing import Annotated

import typer

from quorate.cli import interrupts
from quorate.cli.check import FailUnder
from quorate.cli.errors import HOLDS, STOPPED, UNCOVERED, VIOLATED, guarded
from quorate.cli.options import AsJson, Asked, Parameters, Presets, Properties, Save, Target, reader, takes_options
from quorate.cli.run_files import Report, TraceOption, form, tell
from quorate.cli.sizes import seconds

EPILOG = """
Examples:

  quorate simulate paxos -p acceptors=7 --time 30s

  quorate simulate model.py:Protocol --runs 100000 --seed 7 --strategy rare

  quorate simulate faulty-paxos --strategy pct --depth 40 --save run.json

  quorate simulate model.py --runs 5000 --report runs.html --fail-under 90

Exit status: 0 nothing was found, 1 violated, 2 the request or the model is wrong, 3 interrupted, 4 nothing was found,
but less is covered than --fail-under asks for.
"""


class Fairness(StrEnum):
    none = "none"
    progress = "progress"
    process = "process"
    transition = "transition"
    message = "message"
    strong = "strong"


class Strategy(StrEnum):
    uniform = "uniform"
    pct = "pct"
    rare = "rare"


@guarded
@takes_options("Faults")
def simulate(
    target: Target,
    parameters: Parameters = None,
    presets: Presets = None,
    properties: Properties = None,
    time: Annotated[
        float | None,
        typer.Option(
            "--time",
            metavar="SECONDS",
            parser=reader(seconds),
            help="How long, for example 30s or 10m. [default: 10s]",
        ),
    ] = None,
    runs: Annotated[int | None, typer.Option("--runs", metavar="N", min=1, help="How many runs at most.")] = None,
    depth: Annotated[int, typer.Option("--depth", metavar="D", min=1, help="Steps of the longest run.")] = 1000,
    seed: Annotated[int, typer.Option("--seed", metavar="S", min=0, help="The same seed, the same runs.")] = 0,
    strategy: Annotated[
        Strategy,
        typer.Option(
            "--strategy",
            case_sensitive=False,
            help="All steps alike; priorities with a few changes (pct); or what was seldom taken first (rare).",
        ),
    ] = Strategy.uniform,
    changes: Annotated[
        int,
        typer.Option("--changes", metavar="N", min=1, help="For pct: how many steps have to be in order for the bug."),
    ] = 3,
    fairness: Annotated[
        Fairness,
        typer.Option("--fairness", case_sensitive=False, help="What temporal properties may assume of runs."),
    ] = Fairness.message,
    threads: Annotated[int, typer.Option("--threads", metavar="N", min=1, max=1024, help="How many.")] = 1,
    coverage: Annotated[bool, typer.Option("--coverage", help="Tell which lines of handlers ran.")] = False,
    fail_under: FailUnder = None,
    report: Report = None,
    as_json: AsJson = False,
    trace: TraceOption = None,
    save: Save = None,
    *,
    asked: Asked,
) -> int:
    """Take random runs of a protocol, and look at its properties in every state of each.

    For systems that are too large to be searched, or have no end. That nothing is found proves nothing; the report says
    how much was seen. A run that breaks a property is replayed and shortened.
    """
    from quorate.cli.output import out, show, width
    from quorate.cli.progress import ProgressLine
    from quorate.cli.run_files import Files
    from quorate.model.given import instance
    from quorate.model.target import load
    from quorate.render.simulation import simulation
    from quorate.search.simulate import simulate as run

    files = Files([], [], None, save, report)
    system = instance(load(target), parameters or [], presets or [])
    line = ProgressLine()
    interrupts.answering()
    try:
        found = run(
            system,
            property=properties or None,
            seconds=time,
            runs=runs,
            depth=depth,
            seed=seed,
            strategy=strategy.value,
            changes=changes,
            threads=threads,
            fairness=fairness.value,
            coverage=coverage or fail_under is not None,
            progress=line.update,
            target=target,
            **asked.keywords,
        )
    finally:
        line.close()
    files.save(found.trace, target)
    if as_json:
        print(json.dumps(found.to_json()), file=out())
    else:
        show(simulation(found, width=width(out()), trace=form(trace)))
    if report is not None:
        from quorate.render.html.simulation import write

        if files.attempt(report, lambda: write(found, report)):
            tell(report, written=True)
    files.complain()
    if found.property is not None:
        return VIOLATED
    if found.stopped_by is not None:
        return STOPPED
    uncovered = fail_under is not None and found.covered is not None and found.covered.percent < fail_under
    return UNCOVERED if uncovered else HOLDS
