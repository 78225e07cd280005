"""`quorate sweep`: a grid of instances, one row each, shown as soon as it is known."""

import csv
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from quorate.cli.errors import HOLDS, STOPPED, VIOLATED, WRONG, describe, guarded
from quorate.cli.options import (
    AsJson,
    Byzantine,
    Crashes,
    CrashOption,
    DeadMessages,
    MaxMemory,
    MaxStates,
    NetworkModel,
    NetworkModelOption,
    Por,
    PorOption,
    Properties,
    Quotient,
    SearchOption,
    Split,
    SplitOption,
    Stateless,
    Store,
    StoreOption,
    Switch,
    Symmetry,
    SymmetryOption,
    Target,
    Threads,
    Timeout,
)  # fmt: skip
from quorate.language.errors import ParameterError, QuorateError

EPILOG = """
Examples:

  quorate sweep paxos -p acceptors=2..5

  quorate sweep paxos -p proposers=1..3 -p acceptors=3,5 --csv > paxos.csv

Exit status: the gravest of the rows': 2, then 1, then 3, then 0.
"""

Parameters = Annotated[
    list[str] | None,
    typer.Option("-p", "--param", metavar="NAME=A..B", help="Values of a parameter: 2..5, or 3,5,7, or one; repeat."),
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


@dataclass
class Row:
    """One instance and what became of it."""

    point: dict[str, Any]
    result: Any = None
    error: QuorateError | None = None

    @property
    def verdict(self) -> str:
        if self.error is not None:
            return "error"
        return str(self.result.verdict)

    @property
    def status(self) -> int:
        return {"holds": HOLDS, "violated": VIOLATED, "incomplete": STOPPED, "error": WRONG}[self.verdict]


@guarded
def sweep(
    target: Target,
    parameters: Parameters = None,
    properties: Properties = None,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print comma-separated values, one line an instance.")] = False,
    as_json: AsJson = False,
    search: SearchOption = None,
    store: StoreOption = Store.exact,
    stateless: Stateless = False,
    threads: Threads = 1,
    quotient: Quotient = Switch.on,
    dead_messages: DeadMessages = Switch.on,
    por: PorOption = Por.none,
    split: SplitOption = Split.none,
    symmetry: SymmetryOption = Symmetry.none,
    max_states: MaxStates = None,
    max_memory: MaxMemory = None,
    timeout: Timeout = None,
    crash: CrashOption = None,
    crashes: Crashes = None,
    byzantine: Byzantine = None,
    network_model: NetworkModelOption = NetworkModel.m,
) -> int:
    """Check a grid of instances, one row each. Options mean what they mean for `quorate check`."""
    from quorate.cli.parameters import grid, roles
    from quorate.cli.target import load

    if as_csv and as_json:
        raise ParameterError("--csv and --json exclude each other", hint="give one of them", code="Q206")
    system = load(target)
    names, points = grid(system, parameters or [])
    options: dict[str, Any] = {
        "property": properties or None,
        "search": search.value if search is not None else None,
        "por": por.value,
        "split": split.value,
        "symmetry": symmetry.value,
        "quotient": quotient.value,
        "dead_messages": dead_messages.value,
        "store": store.value,
        "stateless": stateless,
        "threads": threads,
        "max_states": max_states,
        "max_memory": max_memory,
        "timeout": timeout,
        "trace": False,
        "target": target,
        "crash": crash.value if crash is not None else None,
        "crashes": crashes,
        "byzantine": roles(byzantine or []),
        "network_model": network_model.value,
    }
    rows = _run(system, points, options)
    if as_json:
        done = list(rows)
        print(json.dumps({"schema": 1, "target": target, "rows": [_json(row) for row in done]}))
    elif as_csv:
        done = _csv(names, rows)
    else:
        done = _table(names, points, rows)
    if (
        done
        and done[-1].verdict == "incomplete"
        and done[-1].result.stopped_by == "interrupt"
        and len(done) < len(points)
    ):
        print(f"interrupted: {len(points) - len(done)} instances were not checked", file=sys.stderr)
    # The gravest comes first in this order.
    return next(status for status in (WRONG, VIOLATED, STOPPED, HOLDS) if status in {row.status for row in done})


def _run(system: Any, points: list[dict[str, Any]], options: dict[str, Any]) -> Iterator[Row]:
    from quorate.cli.progress import ProgressLine
    from quorate.search.check import check

    for point in points:
        line = ProgressLine(label=" ".join(f"{name}={value}" for name, value in point.items()))
        try:
            result = check(system(**point), progress=line.update if line.enabled else None, **options)
            row = Row(point, result)
        except QuorateError as error:
            row = Row(point, error=error)
        finally:
            line.close()
        yield row
        if row.result is not None and row.result.stopped_by == "interrupt":
            return


def _figures(row: Row) -> list[Any]:
    result = row.result
    return [
        result.states,
        result.transitions,
        result.depth,
        round(result.seconds, 3),
        round(result.bytes_per_state, 1),
    ]


def _json(row: Row) -> dict[str, Any]:
    from quorate.traces.json import value_to_json

    if row.error is not None:
        parameters = {name: value_to_json(value) for name, value in row.point.items()}
        return {"parameters": parameters, "error": describe(row.error)}
    document: dict[str, Any] = row.result.to_json()
    return document


def _csv(names: list[str], rows: Iterator[Row]) -> list[Row]:
    done: list[Row] = []
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow([*names, "verdict", "property", *_CSV])
    for row in rows:
        point = [_written(value) for value in row.point.values()]
        if row.error is not None:
            out.writerow([*point, "error", row.error.message, *[""] * len(_CSV)])
        else:
            out.writerow(
                [*point, row.verdict, row.result.property or "", *(getattr(row.result, name) for name in _CSV)]
            )
        sys.stdout.flush()
        done.append(row)
    return done


def _table(names: list[str], points: list[dict[str, Any]], rows: Iterator[Row]) -> list[Row]:
    from quorate.cli.output import show
    from quorate.traces.layout import Line, Page, Piece

    widths = [max(len(name), *(len(_written(point[name])) for point in points)) for name in names]
    styles = {"holds": "good", "violated": "bad", "incomplete": "open", "error": "bad"}

    def put(*line: Piece) -> None:
        cells: Line = tuple(line)
        show(Page(lines=[cells]))
        sys.stdout.flush()

    heading = "  ".join([name.rjust(width) for name, width in zip(names, widths, strict=True)] + ["verdict   "])
    put(Piece(heading + "".join("  " + name.rjust(width) for name, width in _COLUMNS), "faint"))
    done: list[Row] = []
    for row in rows:
        point = "".join(
            _written(row.point[name]).rjust(width) + "  " for name, width in zip(names, widths, strict=True)
        )
        verdict = Piece(row.verdict.ljust(10), styles[row.verdict])
        if row.error is not None:
            put(Piece(point), verdict, Piece("  " + row.error.message))
        else:
            cells = zip(_figures(row), _COLUMNS, strict=True)
            figures = "".join("  " + (f"{value:,}").rjust(width) for value, (_, width) in cells)
            broken = f"  {row.result.property}" if row.result.property else ""
            put(Piece(point), verdict, Piece(figures), Piece(broken, "bad"))
        done.append(row)
    return done


def _written(value: Any) -> str:
    from quorate.language.values import show

    return value if isinstance(value, str) else show(value)
