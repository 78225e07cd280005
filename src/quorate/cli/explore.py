"""`quorate explore`: walk through the states of a system in the browser."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from quorate.cli import interrupts
from quorate.cli.errors import HOLDS, guarded
from quorate.cli.options import Asked, Parameters, Target, takes_options

if TYPE_CHECKING:
    from quorate.explore.server import Server
    from quorate.explore.session import Path

EPILOG = """
Examples:

  quorate explore two-phase-commit -p participants=2

  quorate explore faulty-paxos --goal 'any(learner.learned for learner in self[Learner])'

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

    system = instance(load(target), parameters or [])
    environment = asked.environment
    session = Session(define(system, environment))
    position = session.at(parse_path(at.removeprefix("#")))
    finds = Finds(session, system, goals or [], environment.to_json())
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
