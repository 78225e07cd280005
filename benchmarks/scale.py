"""Long searches: the stores beside each other, what they take of a limit on memory, and what saving costs.

In `make bench` with as many states as fit its time, 56 million. `python -m benchmarks.scale --acceptors 7` has more,
and `--curve 1G --acceptors 8` follows one search to a billion states: what a state costs on the way, and takes.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import tempfile
from collections.abc import Mapping
from typing import Any, NamedTuple

from benchmarks import cluster
from benchmarks.experiment import PLAIN, Limits, Measured
from benchmarks.probe import measure
from benchmarks.results import Figure, Section, figure
from benchmarks.runner import Say
from quorate import check
from quorate.cli.sizes import number, size
from quorate.protocols.paxos import Paxos
from quorate.results.result import Progress, Result

SCALE = "scale"
TABLES = {
    SCALE: """\
## Long searches

Paxos with 2 proposers and a learner, all reductions off. Rates are states a second of CPU time, compared with the exact
store in memory; those of two workers by the clock, compared with two threads. A peak is resident memory at its highest,
over what `--max-memory` allowed: all of the process, Python included.""",
}
MOST = Limits(seconds=1200, memory_bytes=12 << 30, repeat=1)
PEAK = 150 << 20  # enough for Python and some states, and not for all of them
STORES: dict[str, dict[str, Any]] = {
    "exact": {},
    "exact, two threads": {"threads": 2},
    "spilled": {},
    "spilled, two threads": {"threads": 2},
    "fingerprint": {"store": "fingerprint"},
    "bitstate": {"store": "bitstate"},
    "depth-first": {"search": "dfs"},
}


def scale(quick: bool, say: Say) -> Section:
    small, large = {"acceptors": 4 if quick else 5}, {"acceptors": 5 if quick else 6}
    figures = [*rates(small, large, say), *peaks(large, say)]
    notes = []
    if importlib.util.find_spec("ray") is None:
        notes.append("Ray is not installed, so workers were not compared with threads.")
    else:
        ratios, many = cluster.compared(small["acceptors"], 1 if quick else 3, say)
        note = f"{many.states:,} states; starting Ray aside"
        figures.append(figure("two workers, over two threads: rate", "x", ratios, goal=cluster.GOAL, note=note))
    return Section(SCALE, figures=tuple(figures), notes=tuple(notes))


def rates(small: Mapping[str, Any], large: Mapping[str, Any], say: Say) -> list[Figure]:
    say("scale: exact")
    exact, less = _run(large, {}), _run(small, {})
    found = [
        _figure("exact: cost of a state, over that of a smaller search", _cost(exact, less), 1.25, exact),
        _bytes("exact: bytes a state", exact, 14),
    ]
    say("scale: fingerprint")
    fingerprint = _run(large, {"store": "fingerprint"})
    found += [
        Figure("fingerprint: rate", "x", _cost(exact, fingerprint), note=_told(fingerprint)),
        _bytes("fingerprint: bytes a state", fingerprint, 8),
    ]
    with tempfile.TemporaryDirectory() as folder:
        say("scale: spilled")
        base = exact.peak_memory_bytes - exact.bytes_per_state * exact.states
        # Room for the index, and for a quarter of the states.
        packed = exact.bytes_per_state - 6.3
        quarter = int(base + exact.states * (6.3 * 1.1 + packed / 4))
        spilled = _run(large, {"spill": folder, "max_memory": quarter})
        found.append(
            Figure("spilled, memory for a quarter: rate", "x", _cost(exact, spilled), goal=1 / 3, note=_told(spilled))
        )
    with tempfile.TemporaryDirectory() as folder:
        say("scale: saved")
        saved = _run(large, {"checkpoint": f"{folder}/saved", "checkpoint_every": 60.0})
        cost = saved.search_seconds / exact.search_seconds - 1
        found.append(Figure("saved once a minute, and at the end: time", "x", 1 + cost, better="lower", goal=1.05))
    return found


def peaks(instance: Mapping[str, Any], say: Say) -> list[Figure]:
    found = []
    for name, options in STORES.items():
        say(f"scale: peak of {name}")
        with tempfile.TemporaryDirectory() as folder:
            spill = {"spill": folder} if name.startswith("spilled") else {}
            measured = measure("paxos", instance, {**PLAIN, **options, **spill, "max_memory": PEAK}, MOST)
        peak = measured.peak_memory_bytes / PEAK
        found.append(Figure(f"{name}: peak over the limit", "x", peak, better="lower", goal=1.05, note=_told(measured)))
    return found


def _run(instance: Mapping[str, Any], options: Mapping[str, Any]) -> Measured:
    found = measure("paxos", instance, {**PLAIN, **options}, MOST)
    if found.status != "holds":
        raise RuntimeError(f"Paxos {instance} with {options}: {found.status}, {found.note}")
    return found


def _cost(one: Measured, other: Measured) -> float:
    return other.states_per_second / one.states_per_second


def _told(found: Measured) -> str:
    return f"{found.states:,} states, {found.states_per_second / 1e6:.1f} million a second"


def _figure(what: str, value: float, goal: float, found: Measured) -> Figure:
    return Figure(what, "x", value, better="lower", goal=goal, note=_told(found))


def _bytes(what: str, found: Measured, goal: float) -> Figure:
    return Figure(what, "bytes", found.bytes_per_state, better="lower", goal=goal, note=_told(found))


class Mark(NamedTuple):
    """How far a search was: seconds and CPU seconds since its beginning, and what the process takes."""

    states: int
    seconds: float
    core_seconds: float
    memory: int


class Curve:
    """Looks at one search whenever it has about ten times, or twice, as many states; and at its longest pause."""

    def __init__(self, most: int) -> None:
        tens = [10**power for power in range(6, 12) if 10**power < most]
        self.wanted = [*tens, most]
        self.marks: list[Mark] = []
        self.before: Mark | None = None
        self.pause = 0.0

    def __call__(self, progress: Progress) -> None:
        if progress.phase != "search" or progress.states == 0:
            return
        times = os.times()
        now = Mark(progress.states, progress.seconds, times.user + times.system, progress.memory_bytes)
        if self.before is not None:
            self.pause = max(self.pause, now.seconds - self.before.seconds)
        if self.before is None or (self.wanted and now.states >= self.wanted[0]):
            self.marks.append(now)
            while self.wanted and now.states >= self.wanted[0]:
                self.wanted.pop(0)
        self.before = now

    def table(self) -> list[str]:
        """From one mark to the next: the rate there, by the clock and by CPU time, and what all takes so far."""
        rows = ["      states   states/s  of CPU time   bytes a state"]
        for one, other in zip(self.marks, self.marks[1:], strict=False):
            more = other.states - one.states
            rate, core = more / (other.seconds - one.seconds), more / (other.core_seconds - one.core_seconds)
            taken = (other.memory - self.marks[0].memory) / other.states
            rows.append(f"{other.states:>12,} {rate:>10,.0f} {core:>12,.0f} {taken:>15.1f}")
        return [*rows, f"longest time without a report: {self.pause:.1f} s"]


def curve(acceptors: int, most: int, threads: int, memory: int | None) -> tuple[Curve, Result]:
    looked = Curve(most)
    system = Paxos(acceptors=acceptors)
    result = check(system, **PLAIN, threads=threads, max_states=most, max_memory=memory, trace=False, progress=looked)
    if looked.before is not None and looked.before is not looked.marks[-1]:
        looked.marks.append(looked.before)
    return looked, result


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("--acceptors", type=int, default=6)
    parser.add_argument("--only", choices=("rates", "peaks"))
    parser.add_argument("--curve", type=number, metavar="STATES", help="one search, looked at on its way to so many")
    parser.add_argument("--threads", type=int, default=2, help="for --curve")
    parser.add_argument("--max-memory", type=size, metavar="SIZE", help="for --curve")
    given = parser.parse_args()
    if given.curve is not None:
        looked, result = curve(given.acceptors, given.curve, given.threads, given.max_memory)
        print(f"Paxos, 2 proposers, {given.acceptors} acceptors, {given.threads} threads: {result.verdict}")
        print(f"{result.states:,} states, {result.transitions:,} transitions, depth {result.depth}")
        print("\n".join(looked.table()))
        return
    large, small = {"acceptors": given.acceptors}, {"acceptors": given.acceptors - 1}
    found = rates(small, large, print) if given.only != "peaks" else []
    found += peaks(large, print) if given.only != "rates" else []
    for each in found:
        goal = "" if each.goal is None else f", goal {each.goal:.3g}: {'met' if each.met else 'NOT MET'}"
        print(f"{each.what}: {each.value:.3g} {each.unit}{goal} ({each.note})")


if __name__ == "__main__":
    main()
