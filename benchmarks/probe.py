"""One check in a process of its own, measured from inside: `python -m benchmarks.probe REQUEST`, both ways in JSON.

A fresh process for each measurement, because memory that an earlier check returned to the allocator would hide growth.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from benchmarks.experiment import Limits, Measured
from quorate.base.errors import QuorateError

ROOT = Path(__file__).parent.parent
GRACE = 60.0  # seconds to report after its own time limit, before a run is ended from outside


def measure(target: str, parameters: Mapping[str, Any], options: Mapping[str, Any], limits: Limits) -> Measured:
    """Check an instance; of several runs, if they are short, the middle one."""
    request = {
        "target": target,
        "parameters": dict(parameters),
        "options": {"max_memory": limits.memory_bytes, "timeout": limits.seconds, **options},
    }
    return middle(lambda: _once(request, limits), limits)


def middle(once: Callable[[], Measured], limits: Limits) -> Measured:
    """The run with the median of seconds, which remembers the others. A long one is not repeated."""
    runs = [once()]
    while len(runs) < limits.repeat and runs[0].answered and runs[-1].seconds < limits.short:
        runs.append(once())
    chosen = sorted(runs, key=lambda run: run.seconds)[len(runs) // 2]
    return replace(chosen, samples=tuple(run.seconds for run in runs))


def _once(request: Mapping[str, Any], limits: Limits) -> Measured:
    command = [sys.executable, "-m", "benchmarks.probe", json.dumps(request)]
    try:
        done = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=limits.seconds + GRACE
        )
    except subprocess.TimeoutExpired:
        return Measured("failed", note=f"it did not stop within {GRACE:.0f} s after its time limit")
    if done.returncode != 0:
        last = done.stderr.strip().splitlines()[-1:] or [f"exit status {done.returncode}"]
        return Measured("failed", note=last[0])
    answer = json.loads(done.stdout)
    return Measured(**{**answer, "samples": tuple(answer["samples"])})


# --- in the process ----------------------------------------------------------------------------------------------


def resident() -> tuple[int, int]:
    """Resident memory now and at its highest. Not ru_maxrss: that one starts at what the parent had."""
    fields = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    now, highest = (int(fields[name].split()[0]) * 1024 for name in ("VmRSS", "VmHWM"))
    return now, highest


def _cpu_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def _is_missing(error: QuorateError | TypeError) -> bool:
    """A protocol, parameter or option that this version does not have; everything else is a failure."""
    if isinstance(error, TypeError):
        return "unexpected keyword argument" in str(error)
    return error.code in ("Q201", "Q301", "Q600")


def _measure(request: dict[str, Any]) -> Measured:
    import quorate
    from quorate.model.target import load

    check = quorate.check  # imports what checking needs, which is not to be counted as growth
    options = request["options"]
    try:
        system = load(request["target"])(**request["parameters"])
        before, cpu, wall = resident()[0], _cpu_seconds(), time.perf_counter()
        result = check(system, **options)
    except (QuorateError, TypeError) as error:
        if _is_missing(error):
            return Measured("not available", note=str(error).splitlines()[0])
        raise
    seconds = time.perf_counter() - wall
    share = (_cpu_seconds() - cpu) / seconds if options.get("threads", 1) == 1 else 1.0
    highest = resident()[1]
    asked = {"por": "por", "split": "split", "symmetry": "symmetry"}
    here = f"{ROOT}/"  # no path of this machine belongs into what is published
    idle = [
        f"{name} left out: {str(result.reductions[name]['why']).replace(here, '')}"
        for name, key in asked.items()
        if options.get(key, "none") != "none" and not result.reductions.get(name, {}).get("ran", True)
    ]
    symmetry = result.reductions.get("symmetry", {})
    stopped = [f"limit of {result.stopped_by}"] if result.stopped_by else []
    return Measured(
        status=result.verdict,
        states=result.states,
        transitions=result.transitions,
        seconds=seconds,
        core_seconds=seconds * min(1.0, share),
        search_seconds=result.seconds * min(1.0, share),
        peak_memory_bytes=highest,
        bytes_per_state=(highest - before) / result.states if result.states else 0.0,
        group=str(symmetry.get("group", "")),
        symmetries=int(symmetry.get("order", 0)),
        stands_for=int(symmetry.get("stands_for", 0)),
        samples=(seconds,),
        note="; ".join(stopped + idle),
    )


if __name__ == "__main__":
    print(json.dumps(asdict(_measure(json.loads(sys.argv[1])))))
