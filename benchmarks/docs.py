"""docs/benchmarks.md, from the results that were kept."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.against import PAXOS
from benchmarks.results import Results, Section
from benchmarks.scaling import AXES
from benchmarks.tables import GOALS, busy, details, duration, goal_line, is_long, long, remarks, wide

PAGE = Path(__file__).parent.parent / "docs" / "benchmarks.md"
PICTURES = PAGE.parent / "pictures"
README = PAGE.parent.parent / "README.md"
BEGIN, END = "<!-- figures: by `python -m benchmarks --write-docs` -->", "<!-- end of figures -->"
LARGE = "(2,5,1)"

INTRODUCTION = """\
# Benchmarks

`make bench` measures all of this again, in about two hours; `make bench-quick` measures part of it, in five minutes.
Peers are installed from the distribution's packages where possible, and left out otherwise. Each measurement is one
process with limits of time and memory. Seconds are the median of three runs, unless a run takes longer than thirty.
`python -m benchmarks --write-docs` writes this page from the last full run. After a run of some tables (`--only`), it
puts these in their place, and they say when they were measured.
[published.json](../benchmarks/results/published.json) has the figures behind the page.

In the papers' tables a cell shows states and time, and below it, in brackets, what the paper reports. The papers
describe their models but do not print them in full, so counts may differ. Verdicts must agree, and do, except for one
that its table explains. `>` marks a search that met a limit.
"""

GOALS_TITLE = """\
## Goals

Margin says how far a figure is from its goal: at least 1 is met."""

LONG_NOTE = """\
*time* says how many times sooner Quorate answers, with the reductions that are quickest. *rate* and *size* are about
its plain search: how many times more states per second, and how many times less memory per state."""


def page(results: Results, texts: Mapping[str, str]) -> str:
    """The page; `texts` has what stands above each table."""
    machine = results.machine
    parts = [
        INTRODUCTION,
        f"Measured on {results.date}, at commit {results.commit}: {machine['processor']}, {machine['cores']} cores, "
        f"{machine['memory_gb']} GB; {machine['system']}, Linux {machine['kernel']}; {machine['compiler']}; "
        f"Python {machine['python']}.\n",
    ]
    sections = dict(results.sections)
    if goals := sections.pop("goals", None):
        parts += [GOALS_TITLE + "\n", _goals(goals)]
    for name, section in sections.items():
        parts += [texts[name] + "\n", *_tables(section)]
        parts.append(
            "\n".join(
                f"* {note}"
                for note in (*_apart(section), *section.notes, *remarks(section), busy(section, machine["cores"]))
            )
            + "\n"
        )
    return "\n".join(parts)


def _apart(section: Section) -> list[str]:
    if (origin := section.origin) is None:
        return []
    small = ", with small instances only (`make bench-quick`)" if origin.quick else ""
    return [f"Measured on {origin.date}, at commit {origin.commit}{small}."]


def _tables(section: Section) -> list[str]:
    parts = []
    if section.name in AXES:
        parts.append(f"![{section.name}](pictures/{section.name}.svg)\n")
    if section.entries:
        head, lines = long(section) if is_long(section) else wide(section)
        parts.append(_table(head, lines))
        if is_long(section):
            parts.append(LONG_NOTE + "\n")
        else:
            figures = _table(*details(section))
            parts.append(f"<details><summary>All figures</summary>\n\n{figures}\n</details>\n")
    if section.figures:
        parts.append(_goals(section))
    return parts


def _goals(section: Section) -> str:
    lines = []
    for figure in section.figures:
        what, *rest = goal_line(figure)
        lines.append((f"{what} ({figure.note})" if figure.note else what, *rest))
    return _table(GOALS, lines)


def write(results: Results, texts: Mapping[str, str]) -> list[Path]:
    """The page, and the figures that the README quotes from it."""
    PAGE.write_text(page(results, texts))
    before, _, rest = README.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    README.write_text(f"{before}{BEGIN}{headline(results)}{END}{after}")
    return [PAGE, README]


def headline(results: Results) -> str:
    """What the README says about speed."""
    paxos = results.sections[PAXOS]
    plain, default = paxos.find(LARGE, "Quorate, plain"), paxos.find(LARGE, "Quorate")
    spin = paxos.find(LARGE, "Spin")
    if plain is None or default is None:
        raise ValueError(f"Paxos {LARGE} has no answer to quote")
    lines = [
        f"Paxos with 2 proposers and 5 acceptors has {plain.states:,} states. Without reductions Quorate visits "
        f"{plain.states_per_second / 1e6:.1f} million states a second on one core, at "
        f"{plain.bytes_per_state:.0f} bytes each. The default reductions leave {default.states:,} states, and the "
        f"answer takes {duration(default.seconds)}."
    ]
    if spin is not None:
        lines.append(
            f"Spin, on a model with the same states, visits {spin.states_per_second / 1e6:.2f} million a second at "
            f"{spin.bytes_per_state:.0f} bytes each, and takes {duration(spin.seconds)}."
        )
    lines.append(
        "[Benchmarks](docs/benchmarks.md) has every table of the papers, with the published figures beside ours, and "
        "says how to measure everything again."
    )
    return "\n" + "\n".join(textwrap.fill(line, 120) for line in lines) + "\n"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(cell.replace(chr(10), '<br>') for cell in line)} |" for line in lines) + "\n"
