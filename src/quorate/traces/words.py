"""Numbers and groups of processes, in as few words as can be read."""

from __future__ import annotations

import re
from collections.abc import Iterable

_NUMBERED = re.compile(r"^(.*?)(\d+)$")


def names(processes: Iterable[str]) -> str:
    """`acceptor1, acceptor2`, and `acceptor1..5` where at least three follow each other."""
    runs: list[tuple[str, int, int]] = []  # stem, first, last; a name without a number is its own stem, from 0 to -1
    for name in processes:
        match = _NUMBERED.match(name)
        if match is None:
            runs.append((name, 0, -1))
            continue
        stem, number = match[1], int(match[2])
        if runs and runs[-1][0] == stem and runs[-1][2] == number - 1:
            runs[-1] = (stem, runs[-1][1], number)
        else:
            runs.append((stem, number, number))
    shown: list[str] = []
    for stem, first, last in runs:
        if last < first:
            shown.append(stem)
        elif last - first >= 2:
            shown.append(f"{stem}{first}..{last}")
        else:
            shown.extend(f"{stem}{number}" for number in range(first, last + 1))
    return ", ".join(shown)


def count(number: int, noun: str) -> str:
    """`1 step`, `1,005 states`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def memory(size: float) -> str:
    for unit in ("bytes", "KB", "MB", "GB"):
        if size < 999.5:
            return f"{size:.0f} {unit}" if unit == "bytes" or size >= 99.95 else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} TB"


def duration(seconds: float) -> str:
    if seconds < 9.995:
        return f"{seconds:.2f} s"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def rate(per_second: float) -> str:
    if per_second >= 999_500:
        return f"{per_second / 1e6:.1f} million states/s"
    return f"{per_second:,.0f} states/s"
