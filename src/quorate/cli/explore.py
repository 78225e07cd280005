"""`quorate explore`: walk through the states of a system in the browser."""

import sys
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Annotated, Any

import typer

from quorate.cli import interrupts
from quorate.cli.errors import HOLDS, guarded
from quorate.cli.options import Asked, Parameters, Target, takes_options

if TYPE_CHECKING:
    from quorate.explore.server import Server
    from quorate.explore.session import Path
    from quorate.language.system import System
    from quorate.model.environment import Environment

EPILOG = """
Examples:

  quorate explore two-phase-commit -p participants=2

  quorate explore faulty-paxos --goal 'any(learner.learned for learner in self[Learner])'

  quorate explore faulty-paxos --run run.json

The page is served on this machine only, at an address that holds a secret; Ctrl-C ends it.
"""


@guarded
@takes_options("Faults")
def explore(
    target: Target,
    parameters: Parameters = None,
    goals: Annotated[
        list[str] | None,
        typer.Option("--goal", metavar="EXPRESSION", help="Find a state where this expression holds; repeatable."),
    ] = None,
    at: Annotated[str, typer.Option("--at", metavar="PATH", help="Start at this position, the end of a link.")] = "0",
    run: Annotated[
        FilePath | None,
        typer.Option("--run", metavar="FILE", help="Walk along a run saved by `quorate check --save FILE`."),
    ] = None,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0 picks a free port.", metavar="N")] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page automatically.")] = True,
    *,
    asked: Asked,
) -> int:
    """Walk through the states of a system: what can happen, what it does, and how to get where something is wrong."""
    from quorate.base.errors import TargetError
    from quorate.explore.answers import Answers
    from quorate.explore.consult import Consultation
    from quorate.explore.finds import Finds
    from quorate.explore.graph import Graph
    from quorate.explore.server import Server, parse_path
    from quorate.explore.session import Session
    from quorate.model.define import define
    from quorate.model.given import instance
    from quorate.model.target import load
    from quorate.results.replay import replay

    system, environment, document = instance(load(target), parameters or []), asked.environment, None
    if run is not None:
        system, environment, document = _saved(target, run, parameters, environment)
    session = Session(define(system, environment))
    position = session.at(parse_path(at.removeprefix("#")))
    trace = replay(session.definition, document["trace"]) if document is not None else None
    finds = Finds(session, system, goals or [], environment.to_json(), trace)
    graph = Graph(session.definition)
    consultation = Consultation(session)
    answers = Answers(session)
    # Before there is a socket that they would hold open.
    finds.start()
    graph.start()
    consultation.start()
    answers.start()
    try:
        serve(Server(answers, finds, graph, consultation, port), session.definition.name, position.path, browser)
    except OSError as error:
        raise TargetError(
            f"cannot listen on port {port}: {error.strerror}", hint="leave --port out to take a free one", code="Q316"
        ) from None
    finally:
        finds.stop()
        graph.stop()
        consultation.stop()
        answers.stop()
    return HOLDS


def _saved(
    target: str, run: FilePath, parameters: list[str] | None, environment: "Environment"
) -> "tuple[System, Environment, dict[str, Any]]":
    """The instance that a run was saved of. The model itself is the one that the command line names."""
    from quorate.base.errors import ParameterError
    from quorate.model.environment import Environment
    from quorate.model.given import restored
    from quorate.model.target import load
    from quorate.results import json as saved

    document = saved.load(run)
    if parameters or environment != Environment():
        raise ParameterError(
            "parameters and faults beside --run",
            hint="the run was saved with those of its instance: leave -p and the options about faults out",
            code="Q206",
        )
    instance = restored(load(target), document["parameters"])
    return instance, Environment.from_json(document.get("environment", {})), document


def serve(server: "Server", name: str, path: "Path", browser: bool) -> None:
    """Until Ctrl-C, or until the terminal goes away."""
    import webbrowser

    from quorate.cli.output import out

    address = f"{server.address}#{'.'.join(map(str, path))}"
    try:
        print(f"{name} is at {address}", file=out(), flush=True)
        print("Ctrl-C ends it.", file=sys.stderr, flush=True)
        if browser:
            webbrowser.open(address)
        server.serve_forever()
    except KeyboardInterrupt:
        interrupts.answering()  # what remains is to end those that search, and not to be disturbed in it
        print(file=sys.stderr)
    finally:
        server.server_close()
