"""One table of options: Python, the command line and the docs say the same."""

import importlib.util
import inspect
from pathlib import Path
from typing import Any

import pytest
import typer.main

from quorate import QuorateError, check
from quorate.cli.main import app
from quorate.model.environment import Environment
from quorate.options import Options, told

DOCS = Path(__file__).parents[2] / "docs"
TABLE = {**told(Options), **told(Environment)}


def of_check() -> dict[str, Any]:
    signature = inspect.signature(check).parameters
    return {name: each.default for name, each in signature.items()}


@pytest.mark.parametrize("name", TABLE)
def test_python_takes_every_option_with_its_default(name: str) -> None:
    if name == "por_without":
        assert of_check()["por_options"] is None
        return
    default = getattr(Options() if name in told(Options) else Environment(), name)
    assert of_check()[name] == (None if default in ({}, ()) else default)


@pytest.mark.parametrize("command", ["check", "plan", "sweep"])
def test_the_command_line_takes_every_option(command: str) -> None:
    commands: Any = typer.main.get_command(app)
    flags = {flag for each in commands.commands[command].params for flag in each.opts}
    of_one_check = ("The run that shows it", "Checkpoints")
    wanted = {name for name, each in TABLE.items() if command == "check" or each.panel not in of_one_check}
    assert {"--" + name.replace("_", "-") for name in wanted} <= flags


def test_the_docs_have_the_table() -> None:
    spec = importlib.util.spec_from_file_location("docs_options", DOCS / "options.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    page = (DOCS / "cli.md").read_text()
    assert module.written(page) == page
    assert all(f"`--{name.replace('_', '-')}" in page for name in TABLE)


def test_a_choice_that_there_is_not() -> None:
    with pytest.raises(QuorateError, match="por='lpr' is not a valid choice") as caught:
        Options(por="lpr")
    assert caught.value.hint == "did you mean `lpor`?"


@pytest.mark.parametrize("given", [False, "off"])
def test_off_is_false(given: Any) -> None:
    """`quotient=False` was taken for `on`, and `regroup="off"` for True."""
    options = Options(quotient=given, dead_messages=given, regroup=given)
    assert (options.quotient, options.dead_messages, options.regroup) == ("off", "off", False)


@pytest.mark.parametrize("name", ["por", "symmetry", "store", "search", "fairness", "dpor_variant"])
def test_true_and_false_are_no_choices_but_on_and_off(name: str) -> None:
    given: dict[str, Any] = {name: True}
    with pytest.raises(QuorateError, match=f"{name}=True is not a valid choice"):
        Options(**given)
