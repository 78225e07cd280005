"""What of a model ran in the states that a search reached: its transitions, its messages, its lines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class TransitionCoverage:
    """How often a transition of a role was possible, over all processes of the role."""

    role: str
    name: str
    file: str
    line: int
    states: int | None = 0
    """Pairs of a process and a state in which it was possible; None for random runs, which do not count them."""
    steps: int = 0
    """How often it was taken: several choices, or sets of messages, are several steps from one state."""
    depth: int | None = None
    """Of the first such state; None if it never happens."""
    guard: str = ""
    """"never true" or "never false", of a `when` that might as well not be there; empty otherwise."""
    where: str = ""
    """The same of the `where` of a quorum, asked about the messages that were there."""
    enough: str = ""
    """"never true" of a quorum for which messages were there, but never enough of them; empty otherwise."""
    blocked: int = 0
    """Steps that would have been possible if there had been room for what they send."""
    monitor: bool = False
    """Whether it is a reaction of a monitor: then `steps` are pairs of its local state and an event it ran on."""
    cut: int = 0
    """Steps that lead out of a bound (`within`), and so were not taken."""

    @property
    def why_never(self) -> str:
        """Why it never happens, as far as that is known: to be put behind that."""
        if self.blocked:
            return ": the channels that it sends to are full"
        if self.cut:
            return ": a bound (`within`) cuts it"
        if self.guard == "never true":
            return ": its guard is never true"
        if self.where == "never true":
            return ": its `where` accepts no message that was there"
        return ": there were never enough messages" if self.enough == "never true" else ""

    def to_json(self) -> dict[str, Any]:
        return {
            "role": self.role,
            "monitor": self.monitor,
            "transition": self.name,
            "file": self.file,
            "line": self.line,
            "states": self.states,
            "steps": self.steps,
            "depth": self.depth,
            "guard": self.guard,
            "where": self.where,
            "enough": self.enough,
            "blocked": self.blocked,
            "cut": self.cut,
        }


@dataclass(frozen=True)
class FileCoverage:
    """The lines and branches of handlers in one file."""

    path: str
    executed: tuple[int, ...]
    missing: tuple[int, ...]
    taken: tuple[tuple[int, int], ...]
    """Branches, from line to line; the second is negative where the branch leaves the function."""
    not_taken: tuple[tuple[int, int], ...]

    @property
    def covered(self) -> int:
        return len(self.executed) + len(self.taken)

    @property
    def total(self) -> int:
        return self.covered + len(self.missing) + len(self.not_taken)

    def to_json(self) -> dict[str, Any]:
        return {
            "path": self.path,
            "executed_lines": list(self.executed),
            "missing_lines": list(self.missing),
            "executed_branches": [list(each) for each in self.taken],
            "missing_branches": [list(each) for each in self.not_taken],
        }


def joined(files: Iterable[FileCoverage]) -> tuple[FileCoverage, ...]:
    """What ran in any of several searches, by file."""
    found: dict[str, FileCoverage] = {}
    for each in files:
        known = found.get(each.path, FileCoverage(each.path, (), (), (), ()))
        executed, taken = {*known.executed, *each.executed}, {*known.taken, *each.taken}
        found[each.path] = FileCoverage(
            each.path,
            tuple(sorted(executed)),
            tuple(sorted({*known.missing, *each.missing} - executed)),
            tuple(sorted(taken)),
            tuple(sorted({*known.not_taken, *each.not_taken} - taken)),
        )
    return tuple(found[path] for path in sorted(found))


@dataclass(frozen=True)
class Coverage:
    """What ran of a model. Behaviours that only the analysis tried, and no state allows, are not counted."""

    transitions: tuple[TransitionCoverage, ...]
    never_sent: tuple[str, ...]
    """Messages that some transition waits for and nobody sends."""
    never_consumed: tuple[str, ...]
    """Messages that are sent and never consumed."""
    faults: Mapping[str, int]
    """How often each kind of fault that may happen did: losses, duplicates, crashes, recoveries."""
    files: tuple[FileCoverage, ...]
    complete: bool
    """Whether all reachable states were met: of a search that was stopped, what is missing may still run."""

    @property
    def percent(self) -> float:
        """Of lines and branches of handlers."""
        total = sum(each.total for each in self.files)
        return 100.0 * sum(each.covered for each in self.files) / total if total else 100.0

    def to_json(self) -> dict[str, Any]:
        return {
            "percent": self.percent,
            "complete": self.complete,
            "transitions": [each.to_json() for each in self.transitions],
            "never_sent": list(self.never_sent),
            "never_consumed": list(self.never_consumed),
            "faults": dict(self.faults),
            "files": [each.to_json() for each in self.files],
        }
