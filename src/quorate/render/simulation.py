"""The report of random runs."""

from __future__ import annotations

from collections.abc import Iterator

from quorate.base.values import show
from quorate.base.words import count, duration
from quorate.render.coverage import coverage
from quorate.render.layout import WIDTH, Content, Page, Piece
from quorate.render.text import Form, run
from quorate.results.simulation import Simulation


def simulation(found: Simulation, *, width: int = WIDTH, trace: Form | None = "auto") -> Page:
    page = Page(width)
    given = ", ".join(f"{name}={show(value)}" for name, value in found.parameters.items() if value is not None)
    instance = Piece(f"({given})" if given else "", "faint")
    if found.property is None:
        said = f" nothing was violated in {count(found.runs or found.unfinished, 'random run')}"
        page.add(Piece(f"? {found.system}", "open"), instance, Piece(said, "open"))
        page.add("  ", Piece("this proves nothing: only some of all runs were taken", "faint"))
    else:
        said = "can deadlock" if found.property == "deadlock" else f"violates {found.property}"
        page.add(Piece(f"✗ {found.system}", "bad"), instance, Piece(f" {said}", "bad"))
        for line in found.trace.reason[:6] if found.trace is not None else ():
            page.add("  ", line, hanging=6)
    if trace is not None and found.trace is not None:
        page.gap()
        page.lines.extend(run(found.trace, width, trace).lines)
    page.gap()
    page.table(figures(found))
    if found.covered is not None:
        page.gap()
        page.lines.extend(coverage(found.covered, width).lines)
    return page


def figures(found: Simulation) -> Iterator[tuple[str, Content]]:
    if found.walks is not None and found.walks.run is not None:
        yield (
            "found in",
            f"run {found.walks.run:,} for temporal properties, of --seed {found.seed} --depth {found.depth}",
        )
    if found.run is not None:
        changes = f" --changes {found.changes}" if found.changes is not None else ""
        how = f"--seed {found.seed} --strategy {found.strategy}{changes} --depth {found.depth}"
        yield "found in", f"run {found.run:,} of {how}"
    rate = f" ({found.steps_per_second:,.0f} steps/s)" if found.seconds >= 0.005 else ""
    yield "runs", f"{found.runs:,}, with {count(found.steps, 'step')} in {duration(found.seconds)}{rate}"
    ends = f"{found.ended:,} came to an end"
    ends += f", {found.cut:,} were cut by a bound" if found.cut else ""
    ends += f", {found.full:,} were stopped after {count(found.depth, 'step')}"
    yield "", f"{ends}, {found.unfinished:,} under way at the end" if found.unfinished else ends
    yield "states", f"{'' if found.exact else 'about '}{count(round(found.distinct), 'different state')}"
    new = found.novelty
    yield "next step", f"leads to a new state with probability {new.probability:.3g} ({new.low:.3g} to {new.high:.3g})"
    if found.probability is not None:
        processes = "1 process" if found.processes == 1 else f"{found.processes:,} processes"
        which = f"of {processes} in runs of {count(found.span, 'step')} at most"
        yield (
            "pct",
            (
                f"the next run has any given order of depth {found.changes}, {which}, "
                f"with probability {found.probability:.3g} at least"
            ),
        )
        longer = "no run so far took more steps, and of longer ones the bound says nothing"
        yield "", Piece(longer, "faint")
        beside = "which of its messages or choices a process takes is drawn beside that, and no part of it"
        yield "", Piece(beside, "faint")
    for name, length in found.reached.items():
        yield name, f"can happen, seen after {count(length, 'step')}"
    for name in found.not_reached:
        yield name, Piece("was not seen", "warning")
    if found.walks is not None:
        walks = found.walks
        yield (
            "temporal",
            (
                f"{', '.join(walks.properties)}: {count(walks.runs, 'run')} of {count(walks.depth, 'step')} at most, "
                f"with {count(walks.steps, 'step')}; looked at {count(walks.ends, 'end')} "
                f"and {count(walks.loops, 'loop')}"
            ),
        )
        if walks.property is None:
            yield "", Piece("nothing was found, and most loops of random runs are not fair: no proof", "faint")
    if found.left_out:
        yield "left out", f"{', '.join(found.left_out)}: about what runs could do, which no single run shows"
    if found.stopped_by is not None:
        stopped = {
            "interrupt": "by an interrupt",
            "memory": "at the limit on memory",
            "time": "at the limit on time, before the first run had come to its end",
        }
        yield "stopped", Piece(stopped.get(found.stopped_by, f"by {found.stopped_by}"), "warning")
    if found.running is not None:
        what, file, line = found.running
        yield "", f"{what} was running, in {file}:{line}"
