"""What was measured: rows with goals, rows of the comparison with peers, and the files they are kept in."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, Literal

from benchmarks.machine import Machine

SCHEMA = 1
RESULTS = Path(__file__).parent / "results"
LATEST = RESULTS / "latest.json"
PUBLISHED = RESULTS / "published.json"  # what docs/benchmarks.md shows, kept with it

USUAL = ("paxos", "messages", "plain")

Better = Literal["higher", "lower", "equal"]


@dataclass(frozen=True)
class Row:
    """One figure, the median of its samples, and the goal it has if it has one."""

    what: str
    unit: str  # "states/s" | "bytes" | "s" | "x" | "states"
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
        return self.value / self.goal if self.better == "higher" else self.goal / self.value

    @property
    def met(self) -> bool | None:
        if self.goal is None:
            return None
        return self.value == self.goal if self.margin is None else self.margin >= 1


def row(
    what: str,
    unit: str,
    samples: Iterable[float],
    *,
    better: Better = "higher",
    goal: float | None = None,
    note: str = "",
) -> Row:
    values = tuple(samples)
    return Row(what, unit, median(values), values, better, goal, note)


@dataclass(frozen=True)
class Peer:
    """One program on one instance. Rates are per second of a core, so that a busy machine distorts them less."""

    instance: str
    program: str  # "Quorate" | "Spin"
    model: str  # which model, for Spin
    build: str
    states: int
    transitions: int
    complete: bool
    seconds: float  # wall, searching alone
    core_seconds: float  # of it, spent on a core
    bytes_per_state: float

    @property
    def name(self) -> str:
        """The program, and in what it departs from its usual model and build."""
        return ", ".join([self.program, *(each for each in (self.model, self.build) if each not in USUAL)])

    @property
    def lasts(self) -> bool:
        """Long enough to speak of a rate, and large enough to speak of bytes a state."""
        return self.core_seconds >= 0.1 and self.states >= 100_000

    @property
    def states_per_second(self) -> float:
        return self.states / self.core_seconds


@dataclass(frozen=True)
class Section:
    name: str
    rows: tuple[Row, ...]
    peers: tuple[Peer, ...] = ()
    notes: tuple[str, ...] = ()
    load: tuple[float, float] = (0.0, 0.0)  # before and after
    seconds: float = 0.0

    @property
    def wrong(self) -> tuple[Row, ...]:
        """Counts that are not what they must be: an error, not a matter of speed."""
        return tuple(row for row in self.rows if row.better == "equal" and row.met is False)


@dataclass(frozen=True)
class Results:
    machine: Machine
    date: str
    quick: bool
    sections: dict[str, Section] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "machine": self.machine,
            "date": self.date,
            "quick": self.quick,
            "sections": {name: asdict(section) for name, section in self.sections.items()},
        }


def from_json(data: dict[str, Any]) -> Results:
    if data["schema"] != SCHEMA:
        raise ValueError(f"results of schema {data['schema']}, not {SCHEMA}: measure again")
    sections = {
        name: Section(
            **{
                **section,
                "rows": tuple(Row(**{**each, "samples": tuple(each["samples"])}) for each in section["rows"]),
                "peers": tuple(Peer(**each) for each in section["peers"]),
                "notes": tuple(section["notes"]),
                "load": tuple(section["load"]),
            }
        )
        for name, section in data["sections"].items()
    }
    return Results(data["machine"], data["date"], data["quick"], sections)


def read(path: Path) -> Results:
    return from_json(json.loads(path.read_text()))


def save(results: Results, path: Path = LATEST) -> list[Path]:
    """Write JSON, and CSV beside it: one file of the rows, one of the comparison."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(results.to_json(), indent=1) + "\n")
    rows = [
        [section.name, each.what, each.value, each.unit, each.goal, each.margin, each.met, each.note]
        for section in results.sections.values()
        for each in section.rows
    ]
    peers = [list(asdict(each).values()) for section in results.sections.values() for each in section.peers]
    written = [path]
    written.append(
        _csv(path.with_suffix(".csv"), ["section", "what", "value", "unit", "goal", "margin", "met", "note"], rows)
    )
    if peers:
        written.append(_csv(path.with_name(f"{path.stem}-peers.csv"), list(Peer.__dataclass_fields__), peers))
    return written


def _csv(path: Path, head: Sequence[str], rows: Iterable[Sequence[object]]) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(head)
        writer.writerows(rows)
    return path
