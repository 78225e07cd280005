"""`quorate automaton`: the automaton of a formula, to read, to draw, or for other tools."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from quorate.cli.errors import HOLDS, WRONG, guarded
from quorate.cli.options import AsJson

if TYPE_CHECKING:
    from quorate.properties.temporal.automaton import Automaton
    from quorate.properties.temporal.formula import Formula
    from quorate.render.layout import Page

EPILOG = """
Examples:

  quorate automaton 'G(waiting -> F served)'

  quorate automaton 'G F p -> G F q' --negate --svg automaton.svg

  quorate automaton 'p U q' --hoa > until.hoa
"""
SCHEMA = 1


@guarded
def automaton(
    formula: Annotated[str, typer.Argument(metavar="FORMULA", help="LTL without next: G F U R W ! & | -> <->.")],
    negate: Annotated[
        bool, typer.Option("--negate", help="Of its negation: the automaton that a search explores.")
    ] = False,
    hoa: Annotated[bool, typer.Option("--hoa", help="Print it in the Hanoi omega-automata format.")] = False,
    svg: Annotated[Path | None, typer.Option("--svg", help="Draw it into a file.", metavar="FILE")] = None,
    as_json: AsJson = False,
) -> int:
    """Show the automaton of a temporal formula: the runs that it accepts are those that satisfy the formula."""
    from quorate.base.errors import ParameterError
    from quorate.cli.output import out, show, width
    from quorate.cli.run_files import Files
    from quorate.properties.temporal import formula as formulas
    from quorate.properties.temporal.parse import parse_ltl
    from quorate.properties.temporal.translate import translate
    from quorate.render.automata.hoa import hoa as in_hoa
    from quorate.render.automata.picture import picture
    from quorate.render.layout import Page

    if hoa and as_json:
        raise ParameterError("--hoa and --json exclude each other", code="Q206")
    files = Files(others=[] if svg is None else [svg])
    given = parse_ltl(formula)
    asked = formulas.negation(given) if negate else given
    found = translate(asked)
    remarks = _remarks(asked)
    if svg is not None:
        files.put(svg, lambda: picture(found, title=str(asked), notes=[remarks] if remarks else []))
    if hoa:
        out().write(in_hoa(found))
    elif as_json:
        print(json.dumps(describe(found, given, negate)), file=out())
    if hoa or as_json:
        if remarks and hoa:
            print(f"quorate: {remarks}", file=sys.stderr)
    elif svg is None:
        page = Page(width(out()))
        _told(page, found, str(asked), remarks)
        show(page)
    files.complain()
    return WRONG if files.trouble else HOLDS


def _remarks(asked: "Formula") -> str:
    """What makes a formula worthless as a property."""
    from quorate.properties.temporal.translate import is_tautology, is_unsatisfiable

    if is_tautology(asked):
        return "every word satisfies this formula: as a property it says nothing"
    if is_unsatisfiable(asked):
        return "no word satisfies this formula: as a property it can never hold"
    return ""


def _told(page: "Page", found: "Automaton", title: str, remarks: str) -> None:
    from quorate.base.words import count
    from quorate.render.automata.arrows import accepted_runs, arrows
    from quorate.render.layout import Piece

    sizes = [count(found.states, "state"), count(len(found.edges), "edge"), count(found.sets, "acceptance set")]
    page.add(Piece(title, "heading"), ": ", ", ".join(sizes), hanging=2)
    if remarks:
        page.add("  ", Piece(remarks, "warning"), hanging=2)
    page.add("  ", accepted_runs(found), hanging=2)
    by_source = arrows(found)
    widest = max((len(line.condition) for arrow in by_source for line in arrow.lines), default=0)
    for state in range(found.states):
        page.gap()
        initial = "  (initial)" if state == found.initial else ""
        page.add("  ", Piece(f"state {state}", "heading"), Piece(initial, "faint"))
        own = [arrow for arrow in by_source if arrow.source == state]
        for arrow in own:
            for line in arrow.lines:
                marks = f"  {{{', '.join(map(str, line.sets))}}}" if line.sets else ""
                text = f"    {line.condition:{widest}}  → {arrow.target}"
                page.lines.append((Piece(text), Piece(marks, "good")))
        if not own:
            page.add("    ", Piece("no edge: a run gets stuck here", "faint"))


def describe(found: "Automaton", given: "Formula", negated: bool) -> dict[str, Any]:
    """The automaton as data; docs/schemas/automaton.schema.json says what each key means."""
    from quorate.properties.temporal.translate import is_tautology, is_unsatisfiable

    def chosen(mask: int) -> list[str]:
        return [name for number, name in enumerate(found.names) if mask >> number & 1]

    return {
        "schema": SCHEMA,
        "formula": str(given),
        "negated": negated,
        "tautology": is_tautology(given),
        "unsatisfiable": is_unsatisfiable(given),
        "predicates": list(found.names),
        "states": found.states,
        "initial": found.initial,
        "acceptance_sets": found.sets,
        "edges": [
            {
                "source": edge.source,
                "true": chosen(edge.must_be_true),
                "false": chosen(edge.must_be_false),
                "target": edge.target,
                "sets": [number for number in range(found.sets) if edge.acceptance >> number & 1],
            }
            for edge in found.edges
        ],
    }
