"""Spin on the same instances: building a verifier, running it within limits, and reading what it prints."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks.probe import Instance
from benchmarks.promela import SEEDED_BUG, Dialect, model

MEMORY_LIMIT_MB = 6000
LONG = 10.0  # seconds after which a search is not repeated
DEPTH_LIMIT = 10_000  # no run of these instances is longer than some tens of steps

# Partial-order reduction is on in Spin unless it is compiled out.
BUILDS: dict[str, tuple[str, ...]] = {
    "plain": (),
    "noreduce": ("-DNOREDUCE",),
    "collapse": ("-DCOLLAPSE",),
    "collapse, noreduce": ("-DCOLLAPSE", "-DNOREDUCE"),
}


class SpinError(Exception):
    """Spin or its verifier did not do what was asked of it."""


@dataclass(frozen=True)
class Verified:
    """What a verifier printed at its end."""

    states: int
    transitions: int  # without the step into the initial state, which Spin counts
    errors: int
    complete: bool
    state_memory_bytes: int  # "actual memory usage for states": without the hash table and the stack
    total_memory_bytes: int
    seconds: float  # wall, from the verifier's own clock, to a hundredth
    cpu_seconds: float = 0.0
    wall_seconds: float = 0.0  # of the whole process, as `cpu_seconds`

    @property
    def core_seconds(self) -> float:
        """Of `seconds`, what was spent on a core: on a busy machine less than all."""
        return self.seconds * min(1.0, self.cpu_seconds / self.wall_seconds) if self.wall_seconds else self.seconds

    @property
    def bytes_per_state(self) -> float:
        return self.state_memory_bytes / self.states


def version() -> str:
    """The version of the Spin that is installed; empty if none is."""
    if shutil.which("spin") is None:
        return ""
    found = re.search(r"Version (\S+)", _run(["spin", "-V"], Path.cwd()))
    return found[1] if found else "unknown"


def install() -> str:
    """Have Spin and a C compiler, from the distribution's packages if need be. What stands in the way, or nothing."""
    missing = [name for name in ("spin", "gcc") if shutil.which(name) is None]
    if not missing:
        return ""
    if shutil.which("apt-get") is None:
        return f"{' and '.join(missing)} not found, and no apt-get to install it with"
    if os.geteuid() != 0:
        return f"{' and '.join(missing)} not found; as root: apt-get install {' '.join(missing)}"
    quietly = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["apt-get", "update"], ["apt-get", "install", "-y", *missing]):
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=quietly)
        if done.returncode != 0 and command[1] == "install":
            return f"{' '.join(command)} failed: {done.stderr.strip().splitlines()[-1:]}"
    return ""


def verify(
    dialect: Dialect, instance: Instance, build: str, *, time_limit: float, bug: bool = False, repeat: int = 1
) -> Verified:
    """Build a verifier and run it; of several runs (of a short search) the middle one.

    A search that meets a limit is stopped and reported as far as it came.
    """
    with tempfile.TemporaryDirectory(prefix="quorate-spin-") as name:
        place = Path(name)
        (place / "paxos.pml").write_text(model(dialect, instance.proposers, instance.acceptors))
        _run(["spin", *([f"-D{SEEDED_BUG}"] if bug else []), "-a", "paxos.pml"], place)
        flags = ["-O3", "-w", "-DSAFETY", f"-DMEMLIM={MEMORY_LIMIT_MB}", *BUILDS[build]]
        _run(["gcc", *flags, "-o", "pan", "pan.c"], place)
        runs = [_search(place, time_limit)]
        while len(runs) < repeat and sum(run.seconds for run in runs) < LONG:
            runs.append(_search(place, time_limit))
        return sorted(runs, key=lambda run: run.core_seconds)[len(runs) // 2]


def _search(place: Path, time_limit: float) -> Verified:
    """Run the verifier in `place`. On SIGINT it stops and prints its figures, like at its own end."""
    before = os.times()
    process = subprocess.Popen(
        [str(place / "pan"), f"-m{DEPTH_LIMIT}"], cwd=place, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        output, _ = process.communicate(timeout=time_limit)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate()
    except BaseException:
        process.kill()
        process.wait()
        raise
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return parse(output, cpu_seconds=cpu, wall_seconds=after.elapsed - before.elapsed)


def parse(output: str, *, cpu_seconds: float = 0.0, wall_seconds: float = 0.0) -> Verified:
    """Read a verifier's output."""

    def number(pattern: str) -> float:
        found = re.search(pattern, output, re.MULTILINE)
        if found is None:
            raise SpinError(f"the verifier's output has nothing like {pattern!r}:\n{output}")
        return float(found[1])

    figure = r"^\s*([\d.]+(?:e[+-]?\d+)?)"
    return Verified(
        states=int(number(figure + r" states, stored")),
        transitions=int(number(figure + r" transitions")) - 1,
        errors=int(number(r"errors: (\d+)")),
        complete="Search not completed" not in output,
        state_memory_bytes=int(number(figure + r"\s+actual memory usage for states") * 2**20),
        total_memory_bytes=int(number(figure + r"\s+total actual memory usage") * 2**20),
        seconds=number(r"elapsed time ([\d.e+-]+) seconds"),
        cpu_seconds=cpu_seconds,
        wall_seconds=wall_seconds,
    )


def _run(command: list[str], place: Path) -> str:
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SpinError(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout
