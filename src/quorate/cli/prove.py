"""`quorate prove`: invariants of all reachable states, however many there are, by induction."""

import json
import time
from pathlib import Path
from typing import Annotated

import typer

from quorate.cli import interrupts
from quorate.cli.errors import HOLDS, STOPPED, VIOLATED, guarded
from quorate.cli.options import AsJson, Parameters, Presets, Target
from quorate.cli.sizes import seconds

EPILOG = """
Examples:

  quorate prove two-phase-commit

  quorate prove fd-consensus --property agreement --any Participant.value

  quorate prove two-phase-commit --number Participant=any

  quorate prove model.py:Protocol --given --certificate proof/

Exit status: 0 proved, 1 refuted, 2 the request or the model is wrong, 3 not proved, or the solver gave up.
"""


PATIENCE = 300.0  # seconds


def _seconds(text: str) -> float:
    try:
        return seconds(text)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


@guarded
def prove(
    target: Target,
    parameters: Parameters = None,
    presets: Presets = None,
    properties: Annotated[
        list[str] | None, typer.Option("--property", metavar="NAME", help="Prove only this invariant; repeatable.")
    ] = None,
    free: Annotated[
        list[str] | None,
        typer.Option("--any", metavar="CLASS.FIELD", help="For all initial values of this field; repeatable."),
    ] = None,
    number: Annotated[
        list[str] | None,
        typer.Option("--number", metavar="ROLE=any", help="For any number of processes of this role; repeatable."),
    ] = None,
    k: Annotated[int, typer.Option("--k", "-k", min=1, help="Try k-induction up to this k.", metavar="N")] = 1,
    timeout: Annotated[
        float | None,
        typer.Option("--timeout", parser=_seconds, metavar="TIME", help="Stop after this time: 30, 5m [default: 5m]."),
    ] = None,
    given: Annotated[
        bool, typer.Option("--given", help="Use the lemmas of the system alone; look for no others.")
    ] = False,
    strengthen: Annotated[
        bool,
        typer.Option("--strengthen", help="Strengthen transitions by what a process's own fields say, proved first."),
    ] = False,
    certificate: Annotated[
        Path | None,
        typer.Option(
            "--certificate", metavar="DIR", help="Write the proof as SMT-LIB files that any solver can check."
        ),
    ] = None,
    graph: Annotated[Path | None, typer.Option("--graph", metavar="FILE", help="Draw the proof graph: .svg.")] = None,
    chart: Annotated[
        Path | None,
        typer.Option("--chart", metavar="FILE", help="Draw the run, or the step that breaks an induction: .svg, .png."),
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Prove invariants for all reachable states by induction, with lemmas that are given or found.

    Integers are unbounded, and with --any a field may begin with any value. The processes are those of the instance,
    or, with --number, any number of them.
    """
    from quorate.cli.output import out, show, width
    from quorate.cli.progress import ProgressLine
    from quorate.cli.run_files import Files
    from quorate.model.given import instance
    from quorate.model.target import load
    from quorate.proofs.prove import prove as run
    from quorate.render.proofs import picture, report

    files = Files(charts=[] if chart is None else [chart], others=[] if graph is None else [graph])
    system = instance(load(target), parameters or [], presets or [])
    line = ProgressLine()
    began = time.monotonic()

    def told(text: str) -> None:
        interrupts.deliver()
        line.say(f"  {text}  {time.monotonic() - began:.0f} s")

    interrupts.answering()
    try:
        proof = run(
            system,
            property=properties or None,
            k=k,
            timeout=PATIENCE if timeout is None else timeout,
            any=free or (),
            number=number or (),
            discover=not given,
            strengthen=strengthen,
            certificate_folder=certificate,
            progress=told,
            target=target,
        )
    finally:
        line.close()
    if as_json:
        print(json.dumps(proof.to_json()), file=out())
    else:
        show(report(proof, width(out())))
    if graph is not None:
        files.put(graph, lambda: picture(proof))
    files.write(proof.trace, target)
    if proof.trouble is not None:
        files.trouble.append(proof.trouble)
    files.complain()
    return {"proved": HOLDS, "refuted": VIOLATED}.get(proof.verdict, STOPPED)
