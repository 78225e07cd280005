"""`python -m benchmarks`: measure, print with the goals beside it, and keep the figures."""

from __future__ import annotations

import argparse
import datetime
import functools
import sys
import time
from collections.abc import Callable

from rich.console import Console

from benchmarks import docs
from benchmarks.against import against_spin
from benchmarks.alone import reductions, startup, throughput
from benchmarks.machine import describe, load
from benchmarks.results import LATEST, PUBLISHED, Results, Section, read, save
from benchmarks.tables import show

Measure = Callable[[bool, Callable[[str], None]], Section]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    names = ["throughput", "spin", "start-up", "reductions"]
    parser.add_argument(
        "--quick", action="store_true", help="within a minute: fewer repetitions, smaller instances for Spin"
    )
    parser.add_argument(
        "--only", action="append", choices=names, help="one section; the others keep their last figures"
    )
    parser.add_argument("--time-limit", type=float, default=150, metavar="SECONDS", help="for one run of Spin (150)")
    parser.add_argument("--no-install", action="store_true", help="leave Spin out rather than install it")
    parser.add_argument(
        "--write-docs", action="store_true", help="measure nothing: write docs/benchmarks.md from the last run"
    )
    options = parser.parse_args(arguments)
    console, progress = Console(), Console(stderr=True, style="dim", highlight=False)
    if options.write_docs:
        return _publish(console)

    spin = functools.partial(against_spin, time_limit=options.time_limit, may_install=not options.no_install)
    measures: dict[str, Measure] = {
        "throughput": throughput,
        "spin": spin,
        "start-up": startup,
        "reductions": reductions,
    }
    sections: dict[str, Section] = {}
    if options.only and LATEST.exists() and (last := read(LATEST)).quick == options.quick:
        sections = dict(last.sections)
    for name in names:
        if options.only and name not in options.only:
            continue
        sections[name] = _timed(measures[name], options.quick, progress.print)
    ordered = {name: sections[name] for name in names if name in sections}
    today = datetime.date.today().isoformat()
    results = Results(describe(), today, options.quick, ordered)
    show(results, console)
    console.print(f"\nKept in {', '.join(str(path.relative_to(docs.PAGE.parent.parent)) for path in save(results))}")
    wrong = [row for section in ordered.values() for row in section.wrong]
    for row in wrong:
        console.print(f"Wrong: {row.what} is {row.value:,.0f}, not {row.goal:,.0f}", style="bold red")
    return 1 if wrong else 0


def _timed(measure: Measure, quick: bool, say: Callable[[str], None]) -> Section:
    before, begin = load(), time.perf_counter()
    section = measure(quick, say)
    return Section(
        section.name,
        section.rows,
        section.peers,
        section.notes,
        (before, load()),
        round(time.perf_counter() - begin, 1),
    )


def _publish(console: Console) -> int:
    if not LATEST.exists() or read(LATEST).quick or set(read(LATEST).sections) != set(docs.TITLES):
        console.print("There is no full run to write about: run `python -m benchmarks` first.", highlight=False)
        return 2
    results = read(LATEST)
    PUBLISHED.write_bytes(LATEST.read_bytes())
    console.print(f"Wrote {docs.write(results)}, from {results.date}", highlight=False)
    return 0


if __name__ == "__main__":
    sys.exit(main())
