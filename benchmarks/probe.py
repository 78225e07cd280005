"""One check of Paxos in a process of its own, measured from inside: `python -m benchmarks.probe '{"acceptors": 5}'`.

A fresh process for each measurement, because memory that an earlier check returned to the allocator would hide growth.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent


@dataclass(frozen=True)
class Instance:
    """Paxos with one learner and one ballot a proposer."""

    proposers: int
    acceptors: int

    def __str__(self) -> str:
        return f"({self.proposers},{self.acceptors},1)"


@dataclass(frozen=True)
class Measured:
    verdict: str
    states: int
    transitions: int
    seconds: float  # searching; wall
    cpu_seconds: float  # of all threads, setting up included
    wall_seconds: float  # the same span, wall
    growth_bytes: int  # of resident memory, at its highest

    @property
    def states_per_second(self) -> float:
        return self.states / self.seconds

    @property
    def bytes_per_state(self) -> float:
        return self.growth_bytes / self.states

    @property
    def core_seconds(self) -> float:
        """Of `seconds`, what a single-threaded run spent on a core: on a busy machine less than all."""
        return self.seconds * min(1.0, self.share_of_a_core)

    @property
    def share_of_a_core(self) -> float:
        """1.0 where a single-threaded run had a core to itself, less where it had to wait for one."""
        return self.cpu_seconds / self.wall_seconds


def probe(instance: Instance, *, reductions: bool, threads: int = 1, trace: bool = True) -> Measured:
    """Check an instance in a fresh process."""
    request = {**asdict(instance), "reductions": reductions, "threads": threads, "trace": trace}
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.probe", json.dumps(request)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"the check of Paxos {instance} failed:\n{done.stderr}")
    return Measured(**json.loads(done.stdout))


def _resident() -> tuple[int, int]:
    """Resident memory now and at its highest. Not ru_maxrss: that one starts at what the parent had."""
    fields = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    now, highest = (int(fields[name].split()[0]) * 1024 for name in ("VmRSS", "VmHWM"))
    return now, highest


def _cpu_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def _measure(request: dict[str, Any]) -> Measured:
    import quorate
    from quorate.protocols.paxos import Paxos

    check = quorate.check  # imports what checking needs, which is not to be counted as growth
    system = Paxos(proposers=request["proposers"], acceptors=request["acceptors"])
    switch = "on" if request["reductions"] else "off"
    before, cpu, wall = _resident()[0], _cpu_seconds(), time.perf_counter()
    result = check(
        system, quotient=switch, dead_messages=switch, threads=request["threads"], trace=request["trace"], search="bfs"
    )
    return Measured(
        verdict=result.verdict,
        states=result.states,
        transitions=result.transitions,
        seconds=result.seconds,
        cpu_seconds=_cpu_seconds() - cpu,
        wall_seconds=time.perf_counter() - wall,
        growth_bytes=_resident()[1] - before,
    )


if __name__ == "__main__":
    print(json.dumps(asdict(_measure(json.loads(sys.argv[1])))))
