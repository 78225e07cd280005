"""`quorate linearize`: whether a recorded history is linearizable."""

import json
import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from quorate.cli.errors import HOLDS, STOPPED, VIOLATED, guarded
from quorate.cli.options import AsJson, reader
from quorate.cli.sizes import seconds

if TYPE_CHECKING:
    from quorate.histories.order import Call, Misplaced, UndecidedError

EPILOG = """
Examples:

  quorate linearize history.json --spec queue

  quorate linearize history.jsonl --spec register --initial 0 --json

Exit status: 0 there is an order, 1 there is none, 2 the file is damaged or the request is wrong, 3 not decided.
"""
SCHEMA = 1
WHY = {"time": "the time was up", "memory": "a gigabyte was not enough"}


LARGEST = 1 << 28
"""Bytes of a history: some millions of operations."""


@guarded
def linearize(
    history: Annotated[
        str, typer.Argument(metavar="FILE", help="The events, as a JSON list or one a line; - reads standard input.")
    ],
    spec: Annotated[
        str,
        typer.Option(
            "--spec",
            metavar="NAME",
            help="The object: register, cas-register, counter, set, queue, stack, key-value, lock or log.",
        ),
    ],
    initial: Annotated[
        str | None,
        typer.Option("--initial", metavar="JSON", help="What a register or a counter holds at the beginning."),
    ] = None,
    timeout: Annotated[
        float | None,
        typer.Option("--timeout", metavar="SECONDS", parser=reader(seconds), help="Stop after this time: 30, 5m."),
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Say whether the operations of a recorded history appear to happen one by one, each while it was under way."""
    from quorate.base.errors import Location, TargetError
    from quorate.histories.order import UndecidedError, UnfitError, find_misplaced
    from quorate.histories.recorded import operations_of, read_history

    specification = _specification(spec, initial)
    calls = read_history(_text(history), history, operations_of())
    began = time.perf_counter()
    found: Misplaced | UndecidedError | None
    try:
        found = find_misplaced(specification, calls, timeout=timeout)
    except UndecidedError as undecided:
        found = undecided
    except UnfitError as unfit:
        place = Location(history, unfit.call.lines[0])
        hint = "is it a history of another object?" if initial is None else "is that what --initial says?"
        raise TargetError(str(unfit), hint=hint, code="Q330", location=place) from None
    took = time.perf_counter() - began
    if as_json:
        from quorate.cli.output import out

        print(json.dumps(_described(spec, calls, found, took)), file=out())
    else:
        _tell(history, spec, calls, found, took)
    return HOLDS if found is None else STOPPED if isinstance(found, UndecidedError) else VIOLATED


def _specification(name: str, initial: str | None) -> Any:
    from quorate.base.errors import ParameterError, did_you_mean
    from quorate.histories.checked import Checked
    from quorate.histories.specifications import NAMED

    cls = NAMED.get(name)
    if cls is None:
        raise ParameterError(f"--spec {name}: no such specification", hint=did_you_mean(name, NAMED), code="Q211")
    if initial is None:
        return Checked(cls(), None)
    try:
        return Checked(cls(json.loads(initial)), None)
    except ValueError:
        raise ParameterError(f"--initial {initial}: not JSON", code="Q211") from None
    except TypeError:
        raise ParameterError(f"--initial: a {name} begins empty", code="Q211") from None


def _text(path: str) -> str:
    from quorate.base.errors import TargetError

    try:
        with open(0 if path == "-" else path, "rb", closefd=path != "-") as file:
            content = file.read(LARGEST + 1)
        if len(content) > LARGEST:
            raise TargetError(f"{path} is no history: it has more than {LARGEST:,} bytes", code="Q310")
        return content.decode("utf-8")
    except (OSError, ValueError) as error:
        why = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise TargetError(f"cannot read {path}: {why}", code="Q310") from None


def _tell(
    file: str, spec: str, calls: "list[Call]", found: "Misplaced | UndecidedError | None", seconds: float
) -> None:
    from quorate.base.values import show as shown
    from quorate.base.words import count
    from quorate.cli.output import out, show, width
    from quorate.histories.intervals import bars, told
    from quorate.histories.order import UndecidedError
    from quorate.render.layout import Page, Piece

    page = Page(width(out()))
    processes = len({call.process for call in calls})
    many = f"{count(len(calls), 'operation')} of {processes:,} process{'es' if processes != 1 else ''}"
    if found is None:
        page.add(Piece("✓", "good"), f" {file} is linearizable by {spec}", hanging=2)
        page.add("  ", f"{many}, {seconds:.2f} s", hanging=2)
    elif isinstance(found, UndecidedError):
        page.add(Piece("?", "open"), f" {file}: not decided", hanging=2)
        page.add("  ", f"{WHY[found.stopped_by]}: too many orders of operations that overlap", hanging=2)
        if found.call is not None:
            page.add("  ", f"the operations up to line {found.call.lines[1]} have an order", hanging=2)
        page.add("  ", f"{many}, {seconds:.2f} s", hanging=2)
    else:
        page.add(Piece("✗", "bad"), f" {file} is not linearizable by {spec}", hanging=2)
        line = found.call.lines[1]
        page.add(
            "  ", f"line {line}: {found.call.process} ends {told(found.call)}, and no order explains that", hanging=2
        )
        values = ", ".join(shown(value) for value in found.expected) or "nothing: it has to wait"
        page.add("  ", f"by the specification it could have returned {values}", hanging=2)
        page.gap()
        for text in bars(found.context, found.call):
            page.lines.append((Piece("  " + text),))
        page.gap()
        page.add("  ", f"the first {count(len(found.context), 'operation')} of {many}", hanging=2)
    show(page)


def _described(
    spec: str, calls: "list[Call]", found: "Misplaced | UndecidedError | None", seconds: float
) -> dict[str, Any]:
    from quorate.base.values import show
    from quorate.histories.order import UndecidedError

    told: dict[str, Any] = {
        "schema": SCHEMA,
        "specification": spec,
        "linearizable": None if isinstance(found, UndecidedError) else found is None,
        "operations": len(calls),
        "processes": len({call.process for call in calls}),
        "seconds": seconds,
        "misplaced": None,
        "stopped_by": None,
        "decided_to_line": None,
    }
    if isinstance(found, UndecidedError):
        told["stopped_by"] = found.stopped_by
        told["decided_to_line"] = None if found.call is None else found.call.lines[1]
    elif found is not None:
        call = found.call
        told["misplaced"] = {
            "process": call.process,
            "operation": show(call.operation),
            "result": show(call.result),
            "expected": [show(value) for value in found.expected],
            "began_in_line": call.lines[0],
            "ended_in_line": call.lines[1],
        }
    return told
