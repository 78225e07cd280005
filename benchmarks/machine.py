"""The machine a benchmark ran on, and how busy it was."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from pathlib import Path
from typing import TypedDict


class Machine(TypedDict):
    processor: str
    cores: int
    memory_gb: float
    system: str
    kernel: str
    compiler: str
    python: str


def describe() -> Machine:
    return {
        "processor": _first(r"model name\s*:\s*(.+)", _read("/proc/cpuinfo"))
        or platform.processor()
        or platform.machine(),
        "cores": os.cpu_count() or 1,
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1),
        "system": _first(r'PRETTY_NAME="(.+)"', _read("/etc/os-release")) or platform.system(),
        "kernel": platform.release(),
        "compiler": _compiler(),
        "python": platform.python_version(),
    }


def load() -> float:
    """How many processes wanted a core in the last minute, this benchmark included."""
    return round(os.getloadavg()[0], 2)


def _compiler() -> str:
    try:
        output = subprocess.run(["gcc", "--version"], capture_output=True, text=True, check=False).stdout
    except FileNotFoundError:
        return ""
    return output.partition("\n")[0]


def _read(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError:
        return ""


def _first(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    return found[1].strip() if found else ""
