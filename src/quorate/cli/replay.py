"""`quorate replay`: follow a saved run through the model as it is now."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quorate.cli import interrupts
from quorate.cli.errors import HOLDS, VIOLATED, guarded
from quorate.cli.run_files import Charts, Exports, Files, Pytest, TraceForm, TraceOption, form
from quorate.cli.trust import confirm, found

if TYPE_CHECKING:
    from quorate.render.layout import Page
    from quorate.render.text import Form
    from quorate.results.trace import Trace

EPILOG = """
Examples:

  quorate check faulty-paxos --save run.json

  quorate replay run.json

  quorate replay run.json --trace text --chart run.svg

  quorate check model.py --save run.json

  quorate replay run.json --target model.py

Exit status: 1 if the run still breaks its property, 0 if it still shows what can happen, 2 if it no longer is a run.
"""


@guarded
def replay(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A run saved by `quorate check --save FILE`.")],
    target: Annotated[
        str | None, typer.Option("--target", metavar="TARGET", help="Where the model is, if it has moved.")
    ] = None,
    trust: Annotated[
        bool, typer.Option("--trust", help="Run the code of the model that FILE names, without asking.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the run as one JSON object.")] = False,
    trace_form: TraceOption = None,
    charts: Charts = None,
    exports: Exports = None,
    pytest: Pytest = None,
) -> int:
    """Follow a saved run step by step through the plain semantics, and check again what it shows."""
    from quorate.cli.output import out, show, width
    from quorate.model.define import define
    from quorate.model.environment import Environment
    from quorate.model.given import restored
    from quorate.model.target import load
    from quorate.properties.purity import Purity
    from quorate.results import json as saved
    from quorate.results.replay import replay

    files = Files(charts or [], exports or [], pytest)
    document = saved.load(file)
    place = target or found(document["target"], file.parent)
    if target is None and not trust:
        confirm(place, file, "To replay it")
    system = restored(load(place), document["parameters"])
    environment = Environment.from_json(document.get("environment", {}))
    definition = define(system, environment)
    with Purity(definition):
        trace = replay(definition, document["trace"])
    interrupts.answering()
    if as_json or trace_form is TraceForm.json:
        print(json.dumps(trace.to_json()), file=out())
    else:
        show(_page(trace, form(trace_form), width(out())))
    files.write(trace, place)
    files.complain()
    return VIOLATED if trace.kind == "violation" else HOLDS


def _page(trace: "Trace", shown: "Form | None", width: int) -> "Page":
    """What became of the run, and the run itself."""
    from quorate.render.layout import Page, Piece
    from quorate.render.text import run

    page = Page(width)
    system = trace.definition.system
    if trace.kind == "violation":
        page.add(Piece(f"✗ {system!r} still violates {trace.property}", "bad"))
    else:
        page.add(Piece(f"✓ {system!r} still reaches {trace.property}", "good"))
    if shown is not None:
        page.gap()
        page.lines.extend(run(trace, page.width, shown).lines)
    return page
