"""The `quorate` command. Everything heavy is imported by the command that needs it."""

from inspect import cleandoc
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from quorate.cli import (
    ablate,
    automaton,
    check,
    explore,
    flows,
    linearize,
    list,
    new,
    plan,
    profile,
    project,
    prove,
    replay,
    resume,
    simulate,
    sweep,
)


class _PlainFlags:
    """A flag takes no value, so none is shown beside it."""

    def get_params(self, ctx: Any) -> Any:
        params = super().get_params(ctx)  # type: ignore[misc]
        for each in params:
            if getattr(each, "is_flag", False) and each.metavar is None:
                each.metavar = ""
        return params


class _Command(_PlainFlags, TyperCommand):
    def __init__(self, *given: Any, help: str | None = None, epilog: str | None = None, **options: Any) -> None:
        super().__init__(*given, help=_flowing(help), epilog=_flowing(epilog), **options)


def _flowing(text: str | None) -> str | None:
    """Paragraphs break where the terminal does, and not where the source does; what is indented stays as it is."""
    if text is None:
        return None
    paragraphs = cleandoc(text).split("\n\n")
    return "\n\n".join(each if each.startswith(" ") else " ".join(each.split("\n")) for each in paragraphs)


class _Group(_PlainFlags, TyperGroup):
    pass


app = typer.Typer(
    name="quorate",
    cls=_Group,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Start with:  quorate check paxos   ·   quorate check faulty-paxos   ·   quorate new my-protocol",
)

app.command("check", cls=_Command, epilog=check.EPILOG)(check.check)
app.command("resume", cls=_Command, epilog=resume.EPILOG)(resume.resume)
app.command("simulate", cls=_Command, epilog=simulate.EPILOG)(simulate.simulate)
app.command("prove", cls=_Command, epilog=prove.EPILOG)(prove.prove)
app.command("project", cls=_Command, epilog=project.EPILOG)(project.project)
app.command("plan", cls=_Command, epilog=plan.EPILOG)(plan.plan)
app.command("profile", cls=_Command, epilog=profile.EPILOG)(profile.profile)
app.command("list", cls=_Command, epilog=list.EPILOG)(list.show)
app.command("sweep", cls=_Command, epilog=sweep.EPILOG)(sweep.sweep)
app.command("ablate", cls=_Command, epilog=ablate.EPILOG)(ablate.ablate)
app.command("replay", cls=_Command, epilog=replay.EPILOG)(replay.replay)
app.command("explore", cls=_Command, epilog=explore.EPILOG)(explore.explore)
app.command("flows", cls=_Command, epilog=flows.EPILOG)(flows.flows)
app.command("automaton", cls=_Command, epilog=automaton.EPILOG)(automaton.automaton)
app.command("linearize", cls=_Command, epilog=linearize.EPILOG)(linearize.linearize)
app.command("new", cls=_Command, epilog=new.EPILOG)(new.new)


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
    from quorate.cli.output import fill_standard_streams, settle_columns
    from quorate.cli.supervisor import supervise

    fill_standard_streams()
    settle_columns()
    supervise()
    app()
