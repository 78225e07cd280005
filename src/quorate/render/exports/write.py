"""Writing a run for another tool."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike, fspath
from typing import TYPE_CHECKING

from quorate.base import files
from quorate.base.errors import TargetError

if TYPE_CHECKING:
    from quorate.results.trace import Trace


def _itf(trace: Trace) -> str:
    from quorate.render.exports.itf import itf

    return itf(trace)


def _shiviz(trace: Trace) -> str:
    from quorate.render.exports.shiviz import shiviz

    return shiviz(trace)


def _mermaid(trace: Trace) -> str:
    from quorate.render.chart.mermaid import mermaid
    from quorate.render.chart.model import chart

    return mermaid(chart(trace))


FORMS: dict[str, Callable[[Trace], str]] = {".itf.json": _itf, ".shiviz": _shiviz, ".mmd": _mermaid}


def check_name(path: str | PathLike[str]) -> Callable[[Trace], str]:
    """The form that the name of a file asks for."""
    for ending, form in FORMS.items():
        if fspath(path).lower().endswith(ending):
            return form
    raise TargetError(
        f"{fspath(path)} has no file extension that names a format for runs",
        hint=f"use one of {', '.join(FORMS)}; --save FILE writes Quorate's own format",
        code="Q314",
    )


def write(trace: Trace, path: str | PathLike[str]) -> None:
    """Write a run into a file."""
    form = check_name(path)
    files.write(path, form(trace))
