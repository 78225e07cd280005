"""`quorate sweep`: a grid of instances, one row each, shown as soon as it is known."""

import csv
import io
import json
import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from quorate.base import files
from quorate.base.errors import ParameterError
from quorate.cli import interrupts
from quorate.cli.errors import HOLDS, STOPPED, VIOLATED, WRONG, guarded
from quorate.cli.options import AsJson, Asked, Properties, Target, takes_options
from quorate.cli.run_files import Files
from quorate.sweep.row import Row

if TYPE_CHECKING:
    from quorate.cli.progress import ProgressLine
    from quorate.cluster.ray import Ray
    from quorate.sweep.grid import Grid, Summary
    from quorate.sweep.results import Results

EPILOG = """
Examples:

  quorate sweep paxos -p acceptors=2..5

  quorate sweep paxos -p acceptors=2..6 -p majority=1..6 --results paxos.jsonl -o paxos.svg

  quorate sweep paxos -p proposers=1..3 -p acceptors=3,5 --csv > paxos.csv

Exit status: the gravest of the rows': 2, then 1, then 3, then 0. Where two or more parameters vary, a combination that
the system refuses is a hole in the grid, not an error.
"""

Parameters = Annotated[
    list[str] | None,
    typer.Option(
        "-p", "--param", metavar="NAME=A..B", help="Values of a parameter: 2..5, or 3,5,7, or one; repeatable."
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        "-j", "--jobs", min=1, metavar="N", help="Instances at a time, each in a process; default: all cores."
    ),
]
ResultsFile = Annotated[
    Path | None,
    typer.Option("--results", metavar="FILE", help="Keep results here, and continue an earlier sweep."),
]
Outputs = Annotated[
    list[Path] | None,
    typer.Option("-o", "--output", metavar="FILE", help="Also write a .csv, .json or .svg file; repeatable."),
]

# Name and width. Widths are fixed, so that rows can be printed one by one and still align.
_COLUMNS = (("states", 12), ("transitions", 13), ("depth", 5), ("seconds", 8), ("bytes/state", 11))
_CSV = (
    "states",
    "transitions",
    "depth",
    "seconds",
    "setup_seconds",
    "bytes_per_state",
    "peak_memory_bytes",
    "python_calls",
)
_STATUS = {"holds": HOLDS, "violated": VIOLATED, "incomplete": STOPPED, "error": WRONG, "refused": WRONG}


@guarded
@takes_options("Temporal properties", "Coverage", "Search", "Reductions", "Limits", "Faults")
def sweep(
    target: Target,
    parameters: Parameters = None,
    properties: Properties = None,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print comma-separated values, one line per instance.")] = False,
    as_json: AsJson = False,
    outputs: Outputs = None,
    results: ResultsFile = None,
    jobs: Jobs = None,
    *,
    asked: Asked,
) -> int:
    """Check a grid of instances, one row each. Options mean what they mean for `quorate check`.

    Where two parameters vary, the verdicts are shown against each other, with the smallest safe value of the second.
    """
    from quorate.cli.output import err, out, reader_gone
    from quorate.model.given import grid
    from quorate.model.target import load
    from quorate.sweep.grid import grids
    from quorate.sweep.results import Results

    if as_csv and as_json:
        raise ParameterError("--csv and --json cannot be combined", hint="give one of them", code="Q206")
    for path in outputs or []:
        if path.suffix not in _WRITERS:
            raise ParameterError(
                f"--output {path}: unknown file extension",
                hint=f"use one of {', '.join(_WRITERS)}",
                code="Q209",
            )
    written = Files(others=[*(outputs or []), *([results] if results is not None else [])])
    system = load(target)
    names, points = grid(system, parameters or [])
    holes = len([name for name in names if len({_written(point[name]) for point in points}) > 1]) > 1
    if not holes and any(path.suffix == ".svg" for path in outputs or []):
        raise ParameterError(
            "a picture needs two parameters that vary",
            hint="for example -p acceptors=2..5 -p majority=1..5",
            code="Q209",
        )
    workers = min(jobs or max(1, (os.cpu_count() or 1) // asked.options.threads), len(points))
    options: dict[str, Any] = {"property": properties or None, **asked.keywords}
    known = Results(results, system, options)
    interrupts.answering()  # rows that are known are shown, and kept
    rows = _while_wanted(_run(target, points, options, workers, known), kept=bool(outputs or results))
    if as_json:
        done = list(rows)
    elif as_csv:
        done = _csv(names, rows, out())
    else:
        done = _table(names, points, rows, holes=holes)
    pictures = grids(done, system.quorums)
    if as_json:
        print(json.dumps(_document(target, done, pictures)), file=out())
    elif not as_csv:
        _show_grids(pictures)
    for path in outputs or []:
        written.attempt(path, partial(_write, path, target, names, done, pictures))
    missing = len(points) - len([row for row in done if not row.interrupted])
    if missing:
        kept = f"; the same command goes on from {results}" if results is not None else ""
        print(f"interrupted: {missing} of {len(points)} instances were not checked{kept}", file=err())
    if known.trouble is not None:
        written.trouble.append(known.trouble)
    written.complain()
    # Whoever stops reading has heard enough: that is no interrupt.
    return _status(done, holes=holes) or (STOPPED if missing and not reader_gone() else HOLDS)


def _status(done: list[Row], *, holes: bool) -> int:
    counted = [row for row in done if not (holes and row.verdict == "refused")] or done
    # The gravest comes first in this order.
    found = {_STATUS[row.verdict] for row in counted}
    return next((status for status in (WRONG, VIOLATED, STOPPED, HOLDS) if status in found), STOPPED)


# --- running ---------------------------------------------------------------------------------------------------


def _while_wanted(rows: Iterator[Row], *, kept: bool) -> Iterator[Row]:
    """All rows; unless nobody reads them any more, and they are not kept either."""
    from quorate.cli.output import reader_gone

    for row in rows:
        yield row
        if reader_gone() and not kept:
            return


def _run(
    target: str,
    points: list[dict[str, Any]],
    options: dict[str, Any],
    jobs: int,
    results: "Results",
) -> Iterator[Row]:
    """The rows in the order of the grid: those that are known already, and those that have to be checked."""
    from quorate.results.json import value_to_json

    parameters = [{name: value_to_json(value) for name, value in point.items()} for point in points]
    open_points = [
        (point, given) for point, given in zip(points, parameters, strict=True) if results.get(given) is None
    ]

    def finished(row: Row) -> None:
        if not row.interrupted:
            results.add({name: value_to_json(value) for name, value in row.point.items()}, row.document)

    checked = _checked(target, open_points, options, jobs, len(points) - len(open_points), finished)
    for point, given in zip(points, parameters, strict=True):
        known = results.get(given)
        if known is not None:
            yield Row(point, known)
            continue
        row = next(checked, None)
        if row is None:
            return
        yield row


def _checked(
    target: str,
    points: list[tuple[dict[str, Any], dict[str, Any]]],
    options: dict[str, Any],
    jobs: int,
    before: int,
    finished: Callable[[Row], object],
) -> Iterator[Row]:
    from quorate.base.machine import default_memory_limit
    from quorate.cli.progress import ProgressLine
    from quorate.cluster.ray import Ray
    from quorate.sweep.pool import Pool, Running
    from quorate.sweep.worker import run_one

    line = ProgressLine()
    workers, address = options["workers"], options["address"]
    options = {**options, "workers": None, "address": None}  # an instance is checked by one of them
    try:
        if workers is not None or address is not None:
            yield from _by_ray(target, points, options, Ray.started(workers, address), finished, line)
            return
        if jobs <= 1 and options["timeout"] is None:  # in this process, which costs no start, but cannot be ended
            for point, given in points:
                if interrupts.noted():
                    return
                line.label = _label(point)
                row = Row(point, run_one(target, given, options, line.update))
                line.close()
                finished(row)
                yield row
                if row.interrupted:
                    return
            return
        if options["max_memory"] is None:  # each would take most of what is left
            options = {**options, "max_memory": default_memory_limit() // jobs}

        def watch(done: int, running: list[Running]) -> None:
            if interrupts.noted():
                raise KeyboardInterrupt
            parts = [f"{_label(one.point)} {one.states:,} states" for one in running]
            line.say(f"{before + done} of {before + len(points)} done · " + " · ".join(parts))

        pool = Pool(target, options, jobs, watch)
        for row in pool.run(points, finished):
            line.close()
            yield row
    except KeyboardInterrupt:
        return  # what is done has been shown, and kept
    finally:
        line.close()


def _by_ray(
    target: str,
    points: list[tuple[dict[str, Any], dict[str, Any]]],
    options: dict[str, Any],
    ray: "Ray",
    finished: Callable[[Row], object],
    line: "ProgressLine",
) -> Iterator[Row]:
    """Each instance by one worker of a cluster."""
    from quorate.sweep.ray_pool import RayPool

    def watch(done: int, running: int, seconds: float) -> None:
        if interrupts.noted():
            raise KeyboardInterrupt
        line.say(f"{done} of {len(points)} done · {running} under way on {ray.workers} workers · {seconds:.0f} s")

    try:
        for row in RayPool(target, options, ray, watch).run(points, finished):
            line.close()
            yield row
    finally:
        ray.end()


def _label(point: dict[str, Any]) -> str:
    return " ".join(f"{name}={_written(value)}" for name, value in point.items())


# --- showing ---------------------------------------------------------------------------------------------------


def _figures(row: Row) -> list[Any]:
    found = row.document
    return [
        found["states"],
        found["transitions"],
        found["depth"],
        round(found["seconds"], 3),
        round(found["bytes_per_state"], 1),
    ]


def _csv(names: list[str], rows: Iterator[Row] | list[Row], stream: TextIO) -> list[Row]:
    done: list[Row] = []
    out = csv.writer(stream, lineterminator="\n")
    out.writerow([*names, "verdict", "property", *_CSV])
    for row in rows:
        point = [_written(value) for value in row.point.values()]
        if row.error is not None:
            out.writerow([*point, row.verdict, row.error["message"], *[""] * len(_CSV)])
        else:
            figures = [row.document[name] for name in _CSV]
            out.writerow([*point, row.verdict, row.document["property"] or "", *figures])
        stream.flush()
        done.append(row)
    return done


_STYLES = {"holds": "good", "violated": "bad", "incomplete": "open", "error": "bad", "refused": "faint", "": ""}


def _table(names: list[str], points: list[dict[str, Any]], rows: Iterator[Row], *, holes: bool) -> list[Row]:
    from quorate.cli.output import out, show
    from quorate.render.layout import Line, Page, Piece

    widths = [max(len(name), *(len(_written(point[name])) for point in points)) for name in names]

    def put(*line: Piece) -> None:
        cells: Line = tuple(line)
        show(Page(lines=[cells]))
        out().flush()

    heading = "  ".join([name.rjust(width) for name, width in zip(names, widths, strict=True)] + ["verdict   "])
    put(Piece(heading + "".join("  " + name.rjust(width) for name, width in _COLUMNS), "faint"))
    done: list[Row] = []
    for row in rows:
        done.append(row)
        if row.verdict == "refused" and holes:
            continue  # the grid below has a hole there
        point = "".join(
            _written(row.point[name]).rjust(width) + "  " for name, width in zip(names, widths, strict=True)
        )
        verdict = Piece(row.verdict.ljust(10), _STYLES[row.verdict])
        if row.error is not None:
            put(Piece(point), verdict, Piece("  " + row.error["message"], "faint" if row.verdict == "refused" else ""))
        else:
            cells = zip(_figures(row), _COLUMNS, strict=True)
            figures = "".join("  " + (f"{value:,}").rjust(width) for value, (_, width) in cells)
            broken = f"  {row.document['property']}" if row.document["property"] else ""
            put(Piece(point), verdict, Piece(figures), Piece(broken, "bad"))
    return done


def _show_grids(pictures: "list[Grid]") -> None:
    """The verdicts against each other: a sign in every cell, and what follows from a row at its end."""
    from quorate.cli.output import show
    from quorate.render.layout import Page, Piece
    from quorate.sweep.grid import SIGNS

    for grid in pictures:
        page = Page(120)
        page.lines.append(())
        if grid.fixed:
            page.add(Piece(_label(grid.fixed), "faint"))
        side = max(len(grid.down), *(len(_written(value)) for value in grid.rows))
        width = max(3, *(len(_written(value)) + 1 for value in grid.columns))
        across = "".join(_written(value).rjust(width) for value in grid.columns)
        page.add(" " * (side + 2), Piece(grid.across, "faint"))
        page.add(Piece(grid.down.rjust(side) + "  " + across, "faint"))
        summaries = {each.value: each for each in grid.summaries}
        for value in grid.rows:
            verdicts = [grid.verdict(value, column) for column in grid.columns]
            line = [Piece(_written(value).rjust(side) + "  ", "")]
            line += [Piece(SIGNS[verdict].rjust(width), _STYLES[verdict]) for verdict in verdicts]
            if value in summaries:
                line.append(Piece("   " + _conclusion(grid.across, summaries[value])))
            page.lines.append(tuple(line))
        met = {row.verdict for row in grid.cells.values()}
        words = {"incomplete": "not decided", "refused": "refused by the system"}
        legend = [f"{SIGNS[each]} {words.get(each, each)}" for each in SIGNS if each in met]
        page.add(" " * (side + 2), Piece("   ".join(legend), "faint"))
        show(page)


def _conclusion(name: str, summary: "Summary") -> str:
    text = f"smallest safe {summary.text(name)}" if summary.smallest is not None else summary.text(name)
    if summary.tolerated is None:
        return text
    crashes = {0: "no crash", 1: "1 crash"}.get(summary.tolerated, f"{summary.tolerated} crashes")
    return f"{text}, so {crashes} tolerated"


def _written(value: Any) -> str:
    from quorate.base.values import show

    return value if isinstance(value, str) else show(value)


# --- files -----------------------------------------------------------------------------------------------------


def _document(target: str, rows: list[Row], pictures: "list[Grid]") -> dict[str, Any]:
    return {
        "schema": 1,
        "target": target,
        "rows": [row.document for row in rows],
        "grids": [grid.to_json() for grid in pictures],
    }


def _as_csv(_: str, names: list[str], rows: list[Row], pictures: "list[Grid]") -> str:
    stream = io.StringIO()
    _csv(names, rows, stream)
    return stream.getvalue()


def _as_json(target: str, _: list[str], rows: list[Row], pictures: "list[Grid]") -> str:
    return json.dumps(_document(target, rows, pictures), indent=1) + "\n"


def _as_svg(target: str, names: list[str], rows: list[Row], pictures: "list[Grid]") -> str:
    from quorate.sweep.picture import picture

    return picture(target, pictures)


_WRITERS = {".csv": _as_csv, ".json": _as_json, ".svg": _as_svg}


def _write(path: Path, target: str, names: list[str], rows: list[Row], pictures: "list[Grid]") -> None:
    files.write(path, _WRITERS[path.suffix](target, names, rows, pictures))
