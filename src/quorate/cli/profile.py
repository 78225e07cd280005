"""`quorate profile`: which roles, fields, messages and transitions multiply the states."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quorate.cli import interrupts
from quorate.cli.errors import HOLDS, WRONG, guarded
from quorate.cli.options import AsJson, Asked, Parameters, Presets, Target, takes_options

if TYPE_CHECKING:
    from quorate.render.layout import Content, Page
    from quorate.search.profile import Profile

EPILOG = """
Examples:

  quorate profile paxos

  quorate profile model.py:Protocol -p servers=5 --sample 20000

  quorate profile paxos --svg paxos.svg

  quorate profile paxos --json | jq '.fields[0]'
"""

LONGEST_BAR = 24
SHOWN = 12


@guarded
@takes_options("Faults")
def profile(
    target: Target,
    parameters: Parameters = None,
    presets: Presets = None,
    sample: Annotated[int, typer.Option("--sample", min=1, metavar="N", help="How many states to draw.")] = 5_000,
    svg: Annotated[Path | None, typer.Option("--svg", metavar="FILE", help="Draw it into a file.")] = None,
    as_json: AsJson = False,
    *,
    asked: Asked,
) -> int:
    """Say what multiplies the states of a protocol: roles, fields, messages and transitions.

    States are drawn at random, without reductions, and counted: how many times fewer there are without a role, with a
    field fixed in one process, or without the pending messages of one class.
    """
    from quorate.cli.output import out, show, width
    from quorate.cli.run_files import Files
    from quorate.model.given import instance
    from quorate.model.target import load
    from quorate.render.profile import profile_picture
    from quorate.search.profile import profile as make

    files = Files(others=[] if svg is None else [svg])
    found = make(instance(load(target), parameters or [], presets or []), asked.environment, most_states=sample)
    interrupts.answering()
    if as_json:
        print(json.dumps(found.to_json()), file=out())
    else:
        show(page_of(found, width(out())))
    if svg is not None:
        files.put(svg, lambda: profile_picture(found))
    files.complain()
    return WRONG if files.trouble else HOLDS


def page_of(found: "Profile", width: int) -> "Page":
    """A profile laid out, with a bar for each factor."""
    from quorate.base.words import count
    from quorate.render.layout import Page, Piece

    page = Page(width)
    page.add(Piece(found.system, "heading"), f": what multiplies its states, in {count(found.states, 'state')}")
    if not found.complete:
        page.add("  ", Piece("A sample, drawn at random: factors are rather larger in all there is.", "faint"))
    factors = [each.saved for each in found.roles]
    factors += [each.saved for each in (*found.fields, *found.messages)]
    most = max(factors, default=1.0)

    def row(name: str, saved: float, told: str) -> "tuple[Content, Content]":
        return name, [Piece(_bar(saved, most), "good"), f" {saved:,.1f} times", Piece(f"; {told}", "faint")]

    def section(heading: str, rows: "Iterable[tuple[Content, Content]]") -> None:
        shown = list(rows)
        if shown:
            page.gap()
            page.add(Piece(heading, "heading"))
            page.table(shown[:SHOWN])
            if len(shown) > SHOWN:
                page.add(Piece(f"  and {len(shown) - SHOWN} more, which multiply less", "faint"))

    section(
        "Roles: without them, so many times fewer states",
        (
            row(
                f"{each.processes} {each.role}",
                each.saved,
                f"{count(each.local_states, 'local state')} and {count(each.cells, 'cell')}, of one at most",
            )
            for each in found.roles
        ),
    )
    section(
        "Fields: fixed in one process",
        (row(each.name, each.saved, count(each.values, "value")) for each in found.fields),
    )
    section(
        "Messages: never pending",
        (row(each.name, each.saved, count(each.values, "message")) for each in found.messages),
    )
    section(
        "Transitions",
        ((each.name, f"{count(each.fresh, 'new state')}, taken {each.taken:,} times") for each in found.transitions),
    )
    return page


def _bar(saved: float, most: float) -> str:
    from math import log

    share = log(saved) / log(most) if most > 1 else 0.0
    return ("█" * round(share * LONGEST_BAR)).ljust(LONGEST_BAR, "·")
