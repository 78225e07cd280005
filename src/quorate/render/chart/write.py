"""Writing a chart to a file; the file's name says in which form."""

from __future__ import annotations

from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING

from quorate.base import files
from quorate.base.errors import TargetError
from quorate.render.chart.model import chart

if TYPE_CHECKING:
    from quorate.results.trace import Trace

FORMS = (".svg", ".png", ".mmd", ".txt")


def check_name(path: str | PathLike[str]) -> None:
    """Refuse a name that says no form, before anything long is done for it."""
    if Path(path).suffix.lower() not in FORMS:
        raise TargetError(
            f"{fspath(path)} has no file extension that names a format for charts",
            hint=f"use one of {', '.join(FORMS)}",
            code="Q314",
        )
    if Path(path).suffix.lower() == ".png":
        from importlib.util import find_spec

        if find_spec("resvg_py") is None:
            from quorate.render.chart.png import missing

            raise missing()


def write(trace: Trace, path: str | PathLike[str]) -> None:
    """Draw a run into a file."""
    check_name(path)
    kind = Path(path).suffix.lower()
    picture = chart(trace)
    if kind == ".mmd":
        from quorate.render.chart.mermaid import mermaid

        content = mermaid(picture).encode()
    elif kind == ".txt":
        from quorate.render.chart.terminal import draw

        content = (draw(picture, 110).plain() + "\n").encode()
    else:
        from quorate.render.chart.layout import laid_out
        from quorate.render.chart.png import png
        from quorate.render.chart.svg import svg

        drawing = laid_out(picture)
        content = png(drawing) if kind == ".png" else svg(drawing).encode()
    files.write(path, content)
