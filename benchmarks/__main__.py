"""`python -m benchmarks`: measure, print with the published figures and the goals beside it, and keep the figures."""

from __future__ import annotations

import argparse
import datetime
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace

from rich.console import Console

from benchmarks import (
    ablation,
    alone,
    costs,
    docs,
    goals,
    histories,
    plots,
    projection,
    proofs,
    published,
    rich,
    scale,
    temporal,
)
from benchmarks.declared import DECLARED, declared
from benchmarks.experiment import Limits
from benchmarks.machine import describe, load
from benchmarks.results import LATEST, PUBLISHED, RESULTS, Results, Section, read, save
from benchmarks.runner import Known, Runner
from benchmarks.terminal import show

ALONE: dict[str, Callable[[bool, Callable[[str], None]], Section]] = {
    "throughput": alone.throughput,
    "start-up": alone.startup,
    scale.SCALE: scale.scale,
    temporal.TEMPORAL: temporal.temporal,
    histories.HISTORIES: histories.histories,
    rich.RICH: rich.rich,
    costs.COSTS: costs.costs,
    projection.PROJECTION: projection.projection,
    proofs.PROOFS: proofs.proofs,
    ablation.ABLATION: ablation.ablation,
}
TEXTS: dict[str, str] = {
    **alone.TABLES,
    **scale.TABLES,
    **temporal.TABLES,
    **histories.TABLES,
    **rich.TABLES,
    **costs.TABLES,
    **projection.TABLES,
    **proofs.TABLES,
    **ablation.TABLES,
    **{name: text for module in DECLARED for name, text in module.TABLES.items()},
}
NAMES = tuple(TEXTS)

WIDTH = 190  # of a terminal that shows every table as it is meant

FULL = Limits(seconds=120, memory_bytes=6 << 30, repeat=3)
QUICK = Limits(seconds=20, memory_bytes=2 << 30, repeat=1, most=20)


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    console = Console()
    console.width = max(console.width, WIDTH)
    if options.write_docs:
        return _publish(console)
    progress = Console(stderr=True, style="dim", highlight=False)
    limits = QUICK if options.quick else FULL
    if options.time_limit:
        limits = replace(limits, seconds=options.time_limit, most=options.time_limit)

    def say(line: str) -> None:
        progress.print(line, soft_wrap=True)

    run = _Run(options.quick, limits, options.only or list(NAMES), say)
    if (options.resume or options.only) and not run.take_up(resume=options.resume):
        console.print("Starting anew: there are no figures of this commit to go on with.", style="dim")
    try:
        run.measure()
    except KeyboardInterrupt:
        console.print("\nInterrupted. `--resume` goes on from here.", style="bold")
    run.finish()
    show(run.results, console)
    written = save(run.results)
    if plots.available():
        written += plots.draw(run.results, RESULTS)
    else:
        console.print("\nNo pictures of how cost grows: matplotlib is not installed.", style="dim")
    console.print(f"\nKept in {', '.join(str(path.relative_to(docs.PAGE.parent.parent)) for path in written)}")
    wrong = [each for section in run.results.sections.values() for each in section.wrong]
    for each in wrong:
        console.print(f"Wrong: {each}", style="bold red", highlight=False)
    return 1 if wrong else 0 if run.done else 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="within five minutes: small instances, no repetitions")
    parser.add_argument("--only", action="append", choices=NAMES, help="one table; the others keep their last figures")
    parser.add_argument("--resume", action="store_true", help="go on with a run that was interrupted")
    parser.add_argument("--time-limit", type=float, metavar="SECONDS", help="for one run (120; 20 with --quick)")
    parser.add_argument(
        "--write-docs",
        action="store_true",
        help="measure nothing: write docs/benchmarks.md from the last run, which may be one of some tables",
    )
    return parser


class _Run:
    """What is to be measured, and what has been so far, which is always on disk."""

    def __init__(self, quick: bool, limits: Limits, names: list[str], say: Callable[[str], None]) -> None:
        self.quick = quick
        self.limits = limits
        self.names = names
        self.say = say
        self.known: Known = {}
        self.done = False
        self.results = Results(describe(), datetime.date.today().isoformat(), _commit(), quick)

    def take_up(self, *, resume: bool) -> bool:
        """Keep the last figures of this commit: all of them to go on with, or those of the tables not asked for."""
        try:
            last = read(LATEST)
        except (OSError, ValueError, TypeError, KeyError):
            return False
        if (last.commit, last.quick) != (self.results.commit, self.quick) or not (last.complete or resume):
            return False
        kept = {name: section for name, section in last.sections.items() if resume or name not in self.names}
        self.results = replace(self.results, sections=kept)
        if resume:
            self.known = {
                (name, each.instance, each.claim, each.column): each.measured
                for name, section in kept.items()
                for each in section.entries
            }
        return True

    def measure(self) -> None:
        for name in self.names:
            if name in ALONE and not (self.known and name in self.results.sections):
                self._keep(_timed(ALONE[name], self.quick, self.say))
        runner = Runner(self.say, self._keep, self.limits, self.known)
        for name, rows in declared(self.quick).items():
            if name in self.names:
                runner.table(name, rows)
        self.done = True

    def finish(self) -> None:
        """In the order of the page, with the goals at the end."""
        sections = {name: self.results.sections[name] for name in NAMES if name in self.results.sections}
        self.results = replace(self.results, sections=sections)
        self.results = replace(self.results.with_section(goals.goals(self.results)), complete=self.done)

    def _keep(self, section: Section) -> None:
        self.results = self.results.with_section(section)
        save(self.results)


def _timed(
    measure: Callable[[bool, Callable[[str], None]], Section], quick: bool, say: Callable[[str], None]
) -> Section:
    before, begin = load(), time.perf_counter()
    section = measure(quick, say)
    return replace(section, load=(before, load()), seconds=round(time.perf_counter() - begin, 1))


def _commit() -> str:
    command = ["git", "-C", str(docs.PAGE.parent), "describe", "--always", "--dirty", "--abbrev=10"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def _publish(console: Console) -> int:
    if not LATEST.exists() or not (results := read(LATEST)).complete or results.quick:
        console.print("There is no run to write about: run `python -m benchmarks` first.", highlight=False)
        return 2
    if not set(NAMES) <= set(results.sections):
        results = published.read(PUBLISHED).with_sections_of(results)
        sections = {name: results.sections[name] for name in NAMES if name in results.sections}
        results = replace(results, sections=sections)
        results = results.with_section(goals.goals(results))
    if wrong := [each for section in results.sections.values() for each in section.wrong]:
        console.print(f"Not written: {wrong[0]}", highlight=False)
        return 1
    if not plots.available():
        console.print("The page has pictures: pip install matplotlib.", highlight=False)
        return 2
    results = published.write(results, PUBLISHED)
    plots.draw(results, docs.PICTURES)
    written = " and ".join(str(path) for path in docs.write(results, TEXTS))
    console.print(f"Wrote {written}, from {results.date}", highlight=False)
    return 0


if __name__ == "__main__":
    sys.exit(main())
