"""Rumur: building a verifier from a Murphi model, running it within limits, and reading what it prints."""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from benchmarks.experiment import Limits, Measured, Published
from benchmarks.peers.packages import obstacle
from benchmarks.peers.process import Finished, PeerError, build, run
from benchmarks.probe import middle

Symmetry = Literal["off", "heuristic", "exhaustive"]  # its default is the second, which may count a state twice


@dataclass(frozen=True)
class Rumur:
    """A case: Rumur on a Murphi model, single-threaded as everything here."""

    column: str
    text: str
    symmetry: Symmetry = "off"
    published: Published | None = None
    program: str = "Rumur"

    def measure(self, limits: Limits) -> Measured:
        if missing := obstacle("rumur", "gcc"):
            return Measured("skipped", note=missing)
        with tempfile.TemporaryDirectory(prefix="quorate-rumur-") as name:
            place = Path(name)
            (place / "model.m").write_text(self.text)
            options = ["--symmetry-reduction", self.symmetry, "--threads", "1", "--deadlock-detection", "off"]
            output = ["--output-format", "machine-readable", "--quiet", "--output", "model.c"]
            build(["rumur", *options, *output, "model.m"], place)
            # As its manual says; 16 bytes to compare and exchange are what its set of states relies on.
            build(
                ["gcc", "-std=c11", "-O3", "-march=native", "-mcx16", "-w", "-o", "model", "model.c", "-lpthread"],
                place,
            )
            return middle(lambda: parse(run(["./model"], place, limits)), limits)

    @property
    def key(self) -> object:
        return self.program, self.text, self.symmetry


def version() -> str:
    """The version of the Rumur that is installed; empty if none is."""
    if obstacle("rumur", "gcc"):
        return ""
    found = re.search(r"version v?(\S+)", build(["rumur", "--version"], Path.cwd()))
    return found[1] if found else "unknown"


def parse(finished: Finished) -> Measured:
    """Read a verifier's output: a summary at its end, or how far it came when it was stopped."""
    output = finished.output
    summary = re.search(r'<summary states="(\d+)" rules_fired="(\d+)" errors="(\d+)"', output)
    progress = re.findall(r'<progress states="(\d+)"[^>]* rules_fired="(\d+)"', output)
    if summary is None and not finished.stopped:
        raise PeerError(f"the verifier ended with {finished.exit_status} and no summary:\n{output[-2000:]}")
    last = summary.groups() if summary else (*(progress[-1] if progress else ("0", "0")), "0")
    states, fired, errors = (int(each) for each in last)
    share = min(1.0, finished.cpu_seconds / finished.wall_seconds)
    return Measured(
        status="violated" if errors else "holds" if summary else "incomplete",
        states=states,
        transitions=fired,
        seconds=finished.wall_seconds,
        core_seconds=finished.wall_seconds * share,
        search_seconds=finished.wall_seconds * share,
        peak_memory_bytes=finished.peak_memory_bytes,
        bytes_per_state=finished.peak_memory_bytes / max(states, 1),
        samples=(finished.wall_seconds,),
        note=f"limit of {finished.stopped}" if finished.stopped else "",
    )
