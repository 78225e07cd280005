"""What was measured: entries of tables, figures with goals, and the files they are kept in."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import Any, Literal

from benchmarks.experiment import Measured, Published, Verdict
from benchmarks.machine import Machine

SCHEMA = 2
RESULTS = Path(__file__).parent / "results"
LATEST = RESULTS / "latest.json"
PUBLISHED = RESULTS / "published.json"  # what docs/benchmarks.md shows, kept with it

Better = Literal["higher", "lower", "equal"]


@dataclass(frozen=True)
class Figure:
    """One figure, the median of its samples, and the goal it has if it has one."""

    what: str
    unit: str  # "states/s" | "bytes" | "s" | "x" | "states" | ""
    value: float
    samples: tuple[float, ...] = ()
    better: Better = "higher"
    goal: float | None = None
    note: str = ""

    @property
    def margin(self) -> float | None:
        """At least 1 where the goal is met, and by how much."""
        if self.goal is None or self.better == "equal":
            return None
        if self.better == "higher":
            return self.value / self.goal
        return self.goal / self.value if self.value else float("inf")

    @property
    def met(self) -> bool | None:
        if self.goal is None:
            return None
        return self.value == self.goal if self.margin is None else self.margin >= 1


def figure(
    what: str,
    unit: str,
    samples: Iterable[float],
    *,
    better: Better = "higher",
    goal: float | None = None,
    note: str = "",
) -> Figure:
    values = tuple(samples)
    return Figure(what, unit, median(values), values, better, goal, note)


@dataclass(frozen=True)
class Entry:
    """A cell of a table: an instance, one way to check it, what came out, and what was published."""

    instance: str
    claim: str
    expected: Verdict | None
    column: str
    program: str
    measured: Measured
    published: Published | None = None

    @property
    def wrong(self) -> bool:
        """Another verdict than must come out: an error, not a matter of speed."""
        return self.expected is not None and self.measured.answered and self.measured.status != self.expected


@dataclass(frozen=True)
class Origin:
    """When something was measured, and of which version."""

    date: str
    commit: str
    quick: bool


@dataclass(frozen=True)
class Section:
    name: str
    entries: tuple[Entry, ...] = ()
    figures: tuple[Figure, ...] = ()
    notes: tuple[str, ...] = ()
    load: tuple[float, float] = (0.0, 0.0)  # before and after
    seconds: float = 0.0
    origin: Origin | None = None  # if it was measured apart from the rest

    @property
    def wrong(self) -> tuple[str, ...]:
        entries = (
            f"{self.name}, {each.instance}, {each.column}: {each.measured.status}, not {each.expected}"
            for each in self.entries
            if each.wrong
        )
        figures = (
            f"{each.what}: {each.value:,.0f}, not {each.goal:,.0f}"
            for each in self.figures
            if each.better == "equal" and each.met is False
        )
        return (*entries, *figures)

    def find(self, instance: str, column: str) -> Measured | None:
        """What was measured in a cell, if it has an answer."""
        for each in self.entries:
            if (each.instance, each.column) == (instance, column) and each.measured.answered:
                return each.measured
        return None

    @property
    def instances(self) -> list[str]:
        return list(dict.fromkeys(each.instance for each in self.entries))


@dataclass(frozen=True)
class Results:
    machine: Machine
    date: str
    commit: str
    quick: bool
    complete: bool = False  # nobody interrupted it
    sections: dict[str, Section] = field(default_factory=dict)

    @property
    def origin(self) -> Origin:
        return Origin(self.date, self.commit, self.quick)

    def to_json(self) -> dict[str, Any]:
        return {"schema": SCHEMA, **asdict(self)}

    def with_section(self, section: Section) -> Results:
        return replace(self, sections={**self.sections, section.name: section})

    def with_sections_of(self, later: Results) -> Results:
        """With what was measured again, or for the first time: each says when, unless it is from the same run."""
        origin = later.origin if later.origin != self.origin else None
        sections = {name: replace(each, origin=origin) for name, each in later.sections.items()}
        return replace(self, sections={**self.sections, **sections})


def from_json(data: dict[str, Any]) -> Results:
    if data["schema"] != SCHEMA:
        raise ValueError(f"results of schema {data['schema']}, not {SCHEMA}: measure again")
    sections = {name: _section(section) for name, section in data["sections"].items()}
    kept = {name: value for name, value in data.items() if name not in ("schema", "sections")}
    return Results(**kept, sections=sections)


def _section(data: dict[str, Any]) -> Section:
    return Section(
        name=data["name"],
        entries=tuple(
            Entry(
                **{
                    **each,
                    "measured": Measured(**{**each["measured"], "samples": tuple(each["measured"]["samples"])}),
                    "published": Published(**each["published"]) if each["published"] else None,
                }
            )
            for each in data["entries"]
        ),
        figures=tuple(Figure(**{**each, "samples": tuple(each["samples"])}) for each in data["figures"]),
        notes=tuple(data["notes"]),
        load=(data["load"][0], data["load"][1]),
        seconds=data["seconds"],
        origin=Origin(**data["origin"]) if data["origin"] else None,
    )


def read(path: Path) -> Results:
    return from_json(json.loads(path.read_text()))


def save(results: Results, path: Path = LATEST) -> list[Path]:
    """Write JSON, and CSV beside it: one file of the tables' entries, one of the figures with goals."""
    path.parent.mkdir(exist_ok=True)
    new = path.with_suffix(".new")  # so that an interrupt in the middle leaves the old file
    new.write_text(json.dumps(results.to_json(), indent=1) + "\n")
    new.replace(path)
    sections = results.sections.values()
    entries = [[section.name, *_flat(each)] for section in sections for each in section.entries]
    figures = [
        [section.name, each.what, each.value, each.unit, each.goal, each.margin, each.met, each.note]
        for section in sections
        for each in section.figures
    ]
    return [
        path,
        _csv(path.with_suffix(".csv"), ["table", *ENTRY], entries),
        _csv(
            path.with_name(f"{path.stem}-goals.csv"),
            ["section", "what", "value", "unit", "goal", "margin", "met", "note"],
            figures,
        ),
    ]


ENTRY = (
    *("instance", "claim", "column", "program", "verdict", "expected", "states", "transitions", "seconds"),
    *("core_seconds", "states_per_second", "peak_memory_bytes", "bytes_per_state", "runs", "note"),
    *("published_states", "published_seconds", "published_verdict", "published_note"),
)


def _flat(entry: Entry) -> list[object]:
    found = entry.measured
    published = entry.published or Published()
    return [
        *(entry.instance, entry.claim, entry.column, entry.program, found.status, entry.expected),
        *(found.states, found.transitions, round(found.seconds, 4), round(found.core_seconds, 4)),
        *(round(found.states_per_second), found.peak_memory_bytes, round(found.bytes_per_state, 1)),
        *(len(found.samples), found.note),
        *(published.states, published.seconds, published.verdict, published.note),
    ]


def _csv(path: Path, head: Sequence[str], rows: Iterable[Sequence[object]]) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(head)
        writer.writerows(rows)
    return path
