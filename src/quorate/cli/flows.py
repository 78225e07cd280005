"""`quorate flows`: which handler sends what after consuming what."""

import json
from pathlib import Path
from typing import Annotated

import typer

from quorate.cli.errors import HOLDS, WRONG, guarded
from quorate.cli.options import AsJson, Parameters, Presets, Target

EPILOG = """
Examples:

  quorate flows paxos

  quorate flows two-phase-commit --svg flows.svg
"""


@guarded
def flows(
    target: Target,
    parameters: Parameters = None,
    presets: Presets = None,
    svg: Annotated[Path | None, typer.Option("--svg", metavar="FILE", help="Draw them into a file.")] = None,
    as_json: AsJson = False,
) -> int:
    """Show the flow of messages: what each transition consumes and what it may send, to whom."""
    from quorate.cli.output import out, show, width
    from quorate.cli.run_files import Files
    from quorate.model.define import define
    from quorate.model.given import instance
    from quorate.model.target import load
    from quorate.proofs.flows import flows as found
    from quorate.render.proofs import flow_picture, flow_report

    files = Files(others=[] if svg is None else [svg])
    system = instance(load(target), parameters or [], presets or [])
    known = found(define(system))
    if as_json:
        print(
            json.dumps({"schema": 1, "system": type(system).__name__, "flows": [each._asdict() for each in known]}),
            file=out(),
        )
    else:
        show(flow_report(known, type(system).__name__, width(out())))
    if svg is not None:
        files.put(svg, lambda: flow_picture(known, type(system).__name__))
    files.complain()
    return WRONG if files.trouble else HOLDS
