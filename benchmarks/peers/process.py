"""A peer's verifier as a process: its output, its time on a core and its memory, within limits."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.experiment import Limits

POLL = 0.01
GRACE = 10.0  # seconds to print figures after the interrupt


class PeerError(Exception):
    """A peer did not do what was asked of it."""


@dataclass(frozen=True)
class Finished:
    output: str
    exit_status: int  # negative: the signal that ended it
    wall_seconds: float
    cpu_seconds: float
    peak_memory_bytes: int
    stopped: str  # "", "time" or "memory": the limit it was stopped at


def build(command: Sequence[str], place: Path) -> str:
    """Run a step of the building of a verifier; its output."""
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise PeerError(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def run(command: Sequence[str], place: Path, limits: Limits) -> Finished:
    """Run to the end or a limit. At a limit it is interrupted, so that it may print how far it came."""
    begin = time.perf_counter()
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, cwd=place, stdout=output, stderr=subprocess.STDOUT)
        memory, stopped, patience = 0, "", limits.seconds
        try:
            while True:
                done, status, usage = os.wait4(process.pid, os.WNOHANG)
                if done:
                    break
                memory = max(memory, _highest(process.pid))
                elapsed = time.perf_counter() - begin
                if elapsed > patience:
                    # A first limit met interrupts; patience running out again ends it.
                    os.kill(process.pid, signal.SIGKILL if stopped else signal.SIGINT)
                    stopped, patience = stopped or "time", elapsed + GRACE
                elif memory > limits.memory_bytes and not stopped:
                    os.kill(process.pid, signal.SIGINT)
                    stopped, patience = "memory", elapsed + GRACE
                time.sleep(min(POLL + elapsed / 100, 0.2))
        except BaseException:
            process.kill()
            process.wait()
            raise
        process.returncode = os.waitstatus_to_exitcode(status)
        wall = time.perf_counter() - begin
        output.seek(0)
        text = output.read().decode(errors="replace")
    cpu = usage.ru_utime + usage.ru_stime
    return Finished(text, process.returncode, wall, cpu, memory or usage.ru_maxrss * 1024, stopped)


def _highest(pid: int) -> int:
    """The highest resident memory so far. Not ru_maxrss, which starts at what this process had when it forked."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    line = next((line for line in status.splitlines() if line.startswith("VmHWM")), "0 0 kB")
    return int(line.split()[1]) * 1024
