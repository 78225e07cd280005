"""Running bad models in this process: commands as a user types them, and modules that are loaded anew each time."""

from __future__ import annotations

import sys

from typer.testing import CliRunner

from quorate.cli.main import app


def call(*words: str) -> tuple[int, str, str]:
    """Status, standard output and standard error of a command."""
    found = CliRunner().invoke(app, list(words))
    return found.exit_code, found.stdout, found.stderr


def forget(*names: str) -> None:
    """Let models be imported again: the next has the same name."""
    import linecache

    for name in names:
        for loaded in [each for each in sys.modules if each == name or each.startswith(f"{name}_")]:
            del sys.modules[loaded]
    linecache.clearcache()
