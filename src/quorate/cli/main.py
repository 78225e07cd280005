"""The `quorate` command. Everything heavy is imported by the command that needs it."""

from typing import Annotated

import typer

from quorate.cli import automaton, check, explore, flows, list, new, plan, prove, replay, sweep

app = typer.Typer(
    name="quorate",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Start with:  quorate check paxos   ·   quorate check faulty-paxos   ·   quorate new my-protocol",
)

app.command("check", epilog=check.EPILOG)(check.check)
app.command("prove", epilog=prove.EPILOG)(prove.prove)
app.command("plan", epilog=plan.EPILOG)(plan.plan)
app.command("list", epilog=list.EPILOG)(list.show)
app.command("sweep", epilog=sweep.EPILOG)(sweep.sweep)
app.command("replay", epilog=replay.EPILOG)(replay.replay)
app.command("explore", epilog=explore.EPILOG)(explore.explore)
app.command("flows", epilog=flows.EPILOG)(flows.flows)
app.command("automaton", epilog=automaton.EPILOG)(automaton.automaton)
app.command("new", epilog=new.EPILOG)(new.new)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"quorate {version('quorate')}")
        raise typer.Exit(0)


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Check message-passing protocols that are written as plain Python, at native speed."""


def run() -> None:
    """Run the command that was typed."""
    from quorate.cli.output import fill_standard_streams
    from quorate.cli.supervisor import supervise

    fill_standard_streams()
    supervise()
    app()
