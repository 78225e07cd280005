"""`quorate resume`: go on with a check that was saved."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from quorate.cli import interrupts
from quorate.cli.check import tell_result
from quorate.cli.errors import guarded
from quorate.cli.options import AsJson, Save, reader
from quorate.cli.run_files import Charts, Exports, Files, Pytest, TraceOption
from quorate.cli.sizes import number, seconds, size
from quorate.cli.trust import confirm, found

if TYPE_CHECKING:
    from quorate.language.system import System
    from quorate.model.environment import Environment
    from quorate.options import Options

EPILOG = """
Examples:

  quorate check paxos -p acceptors=5 --checkpoint saved --timeout 8h

  quorate resume saved

  quorate resume saved --threads 16 --max-memory 200GB

  quorate resume saved --spill /scratch

  quorate resume saved --target model.py

The answer is the one of a check that was never stopped: states, transitions, depth, verdict and run are the same.
The model is evaluated again. If it has changed since, that is an error which says what changed.

Exit status: 0 holds, 1 violated, 2 the request or the checkpoint is wrong, 3 stopped before an answer, and saved again.
"""


def _limit(name: str, help: str, **more: Any) -> Any:
    return typer.Option(name, help=help, rich_help_panel="Limits", **more)


@guarded
def resume(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="What `quorate check --checkpoint DIR` has saved.")],
    target: Annotated[
        str | None, typer.Option("--target", metavar="TARGET", help="Where the model is, if it has moved.")
    ] = None,
    trust: Annotated[
        bool, typer.Option("--trust", help="Run the code of the model that DIR names, without asking.")
    ] = False,
    threads: Annotated[
        int | None, typer.Option("--threads", metavar="N", min=1, help="How many; as before if nothing is said.")
    ] = None,
    spill: Annotated[
        str | None,
        typer.Option("--spill", metavar="DIR", help="Keep the states in files there; as before if nothing is said."),
    ] = None,
    max_states: Annotated[
        int | None,
        _limit("--max-states", "In all, for example 1000000 or 10M.", metavar="N", parser=reader(number)),
    ] = None,
    max_memory: Annotated[
        int | None, _limit("--max-memory", "For example 4GB or 512M.", metavar="SIZE", parser=reader(size))
    ] = None,
    timeout: Annotated[
        float | None,
        _limit("--timeout", "From now on, for example 30 or 10m.", metavar="SECONDS", parser=reader(seconds)),
    ] = None,
    checkpoint_every: Annotated[
        float,
        _limit("--checkpoint-every", "How often it is saved.", metavar="SECONDS", parser=reader(seconds)),
    ] = 60.0,
    as_json: AsJson = False,
    trace: TraceOption = None,
    charts: Charts = None,
    save: Save = None,
    exports: Exports = None,
    pytest: Pytest = None,
) -> int:
    """Go on with a check that was saved, from its last checkpoint, as if it had never been stopped.

    It goes on until it has an answer, or until a limit that is given here; limits of the earlier run do not count.
    It is saved in the same folder as before.
    """
    from quorate.cli import pipe
    from quorate.cli.progress import ProgressLine
    from quorate.model.target import load
    from quorate.search.resume import resume as go_on

    files = Files(charts or [], exports or [], pytest, save)

    def place(saved: str) -> "type[System]":
        where = target or found(saved, directory)
        if target is None and not trust:
            confirm(where, directory, "To go on with it")
        return load(where, like=saved)

    def begun(system: "System", options: "Options", environment: "Environment", named: str) -> None:
        pipe.begin(named, options, environment, as_json=as_json)
        pipe.made(system)
        interrupts.answering()

    line = ProgressLine()
    try:
        result = go_on(
            directory,
            place,
            threads=threads,
            spill=spill,
            max_states=max_states,
            max_memory=max_memory,
            timeout=timeout,
            checkpoint_every=checkpoint_every,
            progress=pipe.followed(line.update),
            target=target,
            begun=begun,
        )
    finally:
        line.close()
    named = result.target or target or ""
    status = tell_result(result, files, named, as_json=as_json, trace=trace, named=False)
    pipe.tell(status=status)
    files.write(result.shown, named)
    files.complain()
    return status
