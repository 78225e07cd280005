"""`quorate project`: a constant-size subsystem, checked for any number of servers."""

import json
from typing import Annotated

import typer

from quorate.cli import interrupts
from quorate.cli.errors import HOLDS, STOPPED, VIOLATED, guarded
from quorate.cli.options import AsJson, Asked, Parameters, Presets, Properties, Target, takes_options

EPILOG = """
Examples:

  quorate project atomic-storage -p writes=2

  quorate project atomic-storage -p write_back=false

  quorate project regular-storage --needed

Exit status: 0 holds for any number of servers, 1 violated (a run with a real number is shown), 2 the request or the
model is wrong or a condition does not hold, 3 not decided.
"""


@guarded
@takes_options("Temporal properties", "Search", "Reductions", "Limits")
def project(
    target: Target,
    parameters: Parameters = None,
    presets: Presets = None,
    properties: Properties = None,
    needed: Annotated[
        bool, typer.Option("--needed", help="Leave out each server of the subsystem: which property breaks?")
    ] = False,
    as_json: AsJson = False,
    *,
    asked: Asked,
) -> int:
    """Check a protocol of clients and interchangeable servers for any number of servers.

    Builds a subsystem with one server for each pair of a store and a query, decides whether it stands for any number of
    servers, and checks it. A condition that does not hold is an error that names it.
    """
    from quorate.cli.output import out, show, width
    from quorate.cli.progress import ProgressLine
    from quorate.model.given import instance
    from quorate.model.target import load
    from quorate.projection.project import project as run
    from quorate.render.projection import report

    system = instance(load(target), parameters or [], presets or [])
    options = asked.keywords
    line = ProgressLine()
    interrupts.answering()
    try:
        found = run(
            system,
            property=properties or None,
            needed=needed,
            progress=lambda text: line.say(f"  {text}"),
            **options,
        )
    finally:
        line.close()
    if as_json:
        print(json.dumps(found.to_json()), file=out())
    else:
        show(report(found, width(out())))
    return {"holds": HOLDS, "violated": VIOLATED}.get(found.verdict, STOPPED)
