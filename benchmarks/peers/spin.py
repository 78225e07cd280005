"""Spin: building a verifier from Promela, running it within limits, and reading what it prints."""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks.experiment import Limits, Measured, Published
from benchmarks.peers.packages import obstacle
from benchmarks.peers.process import Finished, PeerError, build, run
from benchmarks.probe import middle

DEPTH_LIMIT = 100_000  # no run of these instances is longer than some hundred steps,
CYCLE_DEPTH_LIMIT = 1_000_000  # but for those that go round; a larger stack would cost time before the search
FIGURE = r"^\s*([\d.]+(?:e[+-]?\d+)?)"

# Partial-order reduction is on in Spin unless it is compiled out. A bit table of 2^33 bits is one of 1 GB.
BUILDS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "": ((), ()),
    "no reduction": (("-DNOREDUCE",), ()),
    "COLLAPSE": (("-DCOLLAPSE",), ()),
    "bitstate": (("-DBITSTATE",), ("-w33",)),
}


@dataclass(frozen=True)
class Spin:
    """A case: Spin on a Promela model."""

    column: str
    text: str
    build: str = ""
    defines: tuple[str, ...] = ()
    published: Published | None = None
    program: str = "Spin"
    formula: str = ""
    """The name of an `ltl` of the model: it is asked instead of the assertions, under weak fairness of processes."""

    def measure(self, limits: Limits) -> Measured:
        if missing := obstacle("spin", "gcc"):
            return Measured("skipped", note=missing)
        flags, arguments = BUILDS[self.build]
        with tempfile.TemporaryDirectory(prefix="quorate-spin-") as name:
            place = Path(name)
            (place / "model.pml").write_text(self.text)
            build(["spin", *(f"-D{each}" for each in self.defines), "-a", "model.pml"], place)
            megabytes = limits.memory_bytes >> 20
            what = "-DNFAIR=4" if self.formula else "-DSAFETY"
            build(["gcc", "-O3", "-w", what, f"-DMEMLIM={megabytes}", *flags, "-o", "pan", "pan.c"], place)
            # Deadlocks are left out (-E): what these models are asked is their assertions.
            command = ["./pan", "-E", f"-m{DEPTH_LIMIT}", *arguments]
            if self.formula:
                command = ["./pan", "-a", "-f", "-N", self.formula, f"-m{CYCLE_DEPTH_LIMIT}", *arguments]
            return middle(lambda: parse(run(command, place, limits)), limits)

    @property
    def key(self) -> object:
        return self.program, self.text, self.build, self.defines, self.formula


def version() -> str:
    """The version of the Spin that is installed; empty if none is."""
    if obstacle("spin", "gcc"):
        return ""
    found = re.search(r"Version (\S+)", build(["spin", "-V"], Path.cwd()))
    return found[1] if found else "unknown"


def parse(finished: Finished) -> Measured:
    """Read a verifier's output, which is the same at its end, at a limit of memory and after an interrupt."""
    output = finished.output

    def number(pattern: str, default: float | None = None) -> float:
        found = re.search(pattern, output, re.MULTILINE)
        if found is None and default is None:
            raise PeerError(f"the verifier's output has nothing like {pattern!r}:\n{output}")
        return float(found[1]) if found else float(default or 0)

    states = int(number(FIGURE + r" states, stored"))
    errors = int(number(r"errors: (\d+)"))
    # Its own clock, which leaves out the allocation of the hash table, but is only precise to a hundredth.
    clock = number(r"elapsed time ([\d.e+-]+) seconds", 0.0)
    seconds = clock if clock >= 1 else min(finished.wall_seconds, max(clock, finished.cpu_seconds))
    share = min(1.0, finished.cpu_seconds / finished.wall_seconds)
    stopped = finished.stopped or ("memory" if "-DMEMLIM bound" in output or "out of memory" in output else "")
    if "max search depth too small" in output and not stopped:
        stopped = "depth"
    incomplete = "Search not completed" in output or bool(stopped)
    return Measured(
        status="violated" if errors else "incomplete" if incomplete else "holds",
        states=states,
        transitions=int(number(FIGURE + r" transitions")) - 1,  # it counts the step into the initial state
        seconds=seconds,
        core_seconds=seconds * share,
        search_seconds=seconds * share,
        peak_memory_bytes=int(number(FIGURE + r"\s+total actual memory usage", 0.0) * 2**20),
        # "actual memory usage for states": without the hash table and the stack
        bytes_per_state=number(FIGURE + r"\s+actual memory usage for states", 0.0) * 2**20 / max(states, 1),
        samples=(seconds,),
        note=f"limit of {stopped}" if stopped else "",
    )
