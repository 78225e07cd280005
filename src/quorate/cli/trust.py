"""Files that name a model: whether its code may be run, and where it is."""

import os
import sys
from pathlib import Path


def confirm(place: str, file: Path, why: str) -> None:
    """To use such a file is to run its model. A file that somebody sent must not decide which code that is."""
    from quorate.base.errors import TargetError
    from quorate.base.printable import printable
    from quorate.protocols import CATALOGUE

    if place in CATALOGUE:
        return
    if sys.stdin.isatty() and sys.stderr.isatty():
        print(f"{printable(str(file))} names the model {printable(place)}. {why}, its code is run.", file=sys.stderr)
        print("Do you trust it? [y/N] ", end="", file=sys.stderr, flush=True)
        if sys.stdin.readline().strip().lower() in ("y", "yes"):
            return
    raise TargetError(
        f"{file} names the model {place}, whose code would be run",
        hint="read the model first; then name it, --target FILE.py, or pass --trust",
        code="Q321",
    )


def found(target: str, beside: Path) -> str:
    """A path is meant from where the check ran; a file that was moved together with its model is found as well."""
    path, colon, name = target.rpartition(":")
    if not colon:
        path = target
    if not path.endswith(".py") or os.path.exists(path):
        return target
    moved = beside / path
    return f"{moved}:{name}" if colon and moved.exists() else str(moved) if moved.exists() else target
