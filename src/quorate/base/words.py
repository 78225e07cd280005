"""Numbers and groups of processes, in as few words as can be read."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

_NUMBERED = re.compile(r"^(.*?)(\d+)$")


def names(processes: Iterable[str]) -> str:
    """`acceptor1, acceptor2`; `acceptor1..5` where at least three follow each other; `acceptor2 (twice)` for copies."""
    copies = Counter(processes)
    groups: list[list[str]] = []
    for name in copies:
        if groups and copies[name] == copies[groups[-1][-1]] == 1 and _follows(groups[-1][-1], name):
            groups[-1].append(name)
        else:
            groups.append([name])
    shown: list[str] = []
    for group in groups:
        if len(group) >= 3:
            shown.append(f"{group[0]}..{_number(group[-1])}")
        else:
            shown.extend(group if copies[group[0]] == 1 else [f"{group[0]} ({_times(copies[group[0]])})"])
    return ", ".join(shown)


def _number(name: str) -> int:
    match = _NUMBERED.match(name)
    return int(match[2]) if match is not None else 0


def _follows(first: str, second: str) -> bool:
    one, two = _NUMBERED.match(first), _NUMBERED.match(second)
    return one is not None and two is not None and one[1] == two[1] and int(one[2]) + 1 == int(two[2])


def _times(number: int) -> str:
    return "twice" if number == 2 else f"{number} times"


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
    if seconds < 0.0995:
        return f"{seconds * 1000:.0f} ms"
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
