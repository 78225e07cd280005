"""What the machine has."""

from __future__ import annotations

import os


def default_memory_limit() -> int:
    """Most of what the machine has left, so that a search ends with an answer before the system ends it."""
    free = _available()
    return int(free * 0.9)


def _available() -> int:
    page = os.sysconf("SC_PAGE_SIZE")
    # macOS does not say how much is left: all that there is, then.
    available = page * os.sysconf("SC_AVPHYS_PAGES" if "SC_AVPHYS_PAGES" in os.sysconf_names else "SC_PHYS_PAGES")
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            for line in file:
                if line.startswith("MemAvailable:"):
                    available = int(line.split()[1]) * 1024
    except OSError:
        pass
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            with open(path, encoding="ascii") as file:
                text = file.read().strip()
        except OSError:
            continue
        if text.isdigit():
            available = min(available, int(text))
    return available
