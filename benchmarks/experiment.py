"""What a table of measurements is made of: rows of instances, and in each the ways to check it.

A module that reproduces a table exposes

    TABLES: dict[str, str]                             # a table's name and what stands above it, as Markdown
    def rows(quick: bool) -> dict[str, list[Row]]      # the same names; `quick` leaves out what takes long

and is named in `benchmarks.__main__`. It only says what to measure and what was published; running, keeping, printing
and comparing is the same for all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

Verdict = Literal["holds", "violated"]
Status = Literal["holds", "violated", "incomplete", "not available", "skipped", "failed"]

PUBLISHED = "published"  # in place of a program, where only a paper's figure is shown

# Keywords of `quorate.check`. What is off is said, because defaults may change.
PLAIN: Mapping[str, Any] = {
    "quotient": "off",
    "dead_messages": "off",
    "por": "none",
    "split": "none",
    "symmetry": "none",
}
DEFAULT: Mapping[str, Any] = {}
ALL: Mapping[str, Any] = {"por": "lpor-net", "split": "combined", "symmetry": "auto"}


@dataclass(frozen=True)
class Limits:
    """Of one run: how long, how much memory, and how often it is repeated if it is short."""

    seconds: float = 120.0
    memory_bytes: int = 6 << 30
    repeat: int = 3
    short: float = 30.0  # seconds up to which a run is repeated
    most: float = 600.0  # seconds, for a row that asks for more than usual


@dataclass(frozen=True)
class Published:
    """What a paper reports for a cell of its table."""

    states: int | None = None
    seconds: float | None = None
    note: str = ""  # "more than" | "out of memory" | "bitstate" | ...
    verdict: Verdict | None = None


@dataclass(frozen=True)
class Measured:
    """One way to check one instance, measured: the median of its runs, by seconds."""

    status: Status
    states: int = 0
    transitions: int = 0
    seconds: float = 0.0  # to the verdict; without starting Python, or generating and compiling a verifier
    core_seconds: float = 0.0  # of them, spent on a core: less where the machine was busy
    search_seconds: float = 0.0  # of `core_seconds`, without setting up: what a rate is over
    peak_memory_bytes: int = 0
    bytes_per_state: float = 0.0
    samples: tuple[float, ...] = ()  # seconds, of all runs
    note: str = ""  # why it is not available, incomplete, ...; which reductions were left out
    group: str = ""  # where symmetry was reduced: the renamings, as a product of factorials,
    symmetries: int = 0  # how many they are,
    stands_for: int = 0  # and the states that there would be without it

    @property
    def answered(self) -> bool:
        return self.status in ("holds", "violated")

    @property
    def states_per_second(self) -> float:
        return self.states / self.search_seconds if self.search_seconds else 0.0

    @property
    def lasts(self) -> bool:
        """Long enough to speak of a rate, and large enough to speak of bytes a state."""
        return self.search_seconds >= 0.1 and self.states >= 100_000


class Case(Protocol):
    """One way to check an instance: a cell of a table."""

    @property
    def column(self) -> str: ...

    @property
    def program(self) -> str:
        """Quorate, or a peer."""

    @property
    def published(self) -> Published | None: ...

    def measure(self, limits: Limits) -> Measured: ...

    @property
    def key(self) -> object:
        """The same for cases that measure the same."""


@dataclass(frozen=True)
class Row:
    """An instance, as its table calls it, with the verdict that must come out."""

    instance: str
    verdict: Verdict | None
    cases: tuple[Case, ...]
    claim: str = ""  # the property, where a table has several
    seconds: float | None = None  # another limit than usual,
    memory_bytes: int | None = None  # and of memory
    growing: bool = False  # larger than the row before: a column that met a limit there is not tried here


@dataclass(frozen=True)
class Paper:
    """A column of the paper that we do not measure, kept beside ours."""

    column: str
    published: Published | None
    program: str = PUBLISHED

    def measure(self, limits: Limits) -> Measured:
        return Measured("skipped", note="published only")

    @property
    def key(self) -> object:
        return PUBLISHED


@dataclass(frozen=True)
class Check:
    """A case: `quorate.check` with these options, in a process of its own."""

    column: str
    target: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)  # keywords of quorate.check, `property` among them
    published: Published | None = None
    program: str = "Quorate"

    def measure(self, limits: Limits) -> Measured:
        from benchmarks.probe import measure

        return measure(self.target, self.parameters, self.options, limits)

    @property
    def key(self) -> object:
        return self.target, str(sorted(self.parameters.items())), str(sorted(self.options.items()))
