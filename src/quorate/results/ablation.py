"""What `quorate ablate` found: of each part of a protocol, whether anybody notices that it is gone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

SCHEMA = 1

Status = Literal["needed", "breaks", "vacuous", "unneeded", "same", "undecided"]
STATUSES: tuple[Status, ...] = ("needed", "breaks", "vacuous", "unneeded", "same", "undecided")


@dataclass(frozen=True)
class Part:
    """A piece of the source of a handler, and what is done to it."""

    number: int
    kind: str
    """transition, guard, filter, send, assignment, call, condition, comparison, quorum size or wait."""
    role: str
    handler: str
    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    text: str
    change: str
    """What becomes of it, in words: removed, always true, `>=` instead of `>`, one less."""

    def to_json(self) -> dict[str, Any]:
        return {
            "number": self.number,
            "kind": self.kind,
            "role": self.role,
            "handler": self.handler,
            "file": self.file,
            "line": self.line,
            "column": self.column,
            "end_line": self.end_line,
            "end_column": self.end_column,
            "text": self.text,
            "change": self.change,
        }


@dataclass(frozen=True)
class Break:
    """A property that notices, and how long the shortest run is that shows it; None where there is no run to show."""

    property: str
    steps: int | None = None
    run: str = ""
    """That run as text."""

    def to_json(self) -> dict[str, Any]:
        return {"property": self.property, "steps": self.steps, "run": self.run}


@dataclass(frozen=True)
class Finding:
    """What became of a protocol without one part.

    needed: a property is violated. breaks: the code does not work any more. vacuous: everything holds, since something
    that a property is about never happens. unneeded: everything holds, and everything still happens. same: in no
    reachable state does it make a difference. undecided: a limit was reached.
    """

    part: Part
    status: Status
    breaks: tuple[Break, ...] = ()
    lost: tuple[str, ...] = ()
    """What happens with the part and never without it."""
    note: str = ""
    states: int = 0
    seconds: float = 0.0

    def to_json(self) -> dict[str, Any]:
        return {
            "part": self.part.to_json(),
            "status": self.status,
            "breaks": [each.to_json() for each in self.breaks],
            "lost": list(self.lost),
            "note": self.note,
            "states": self.states,
            "seconds": round(self.seconds, 3),
        }

    @staticmethod
    def from_json(document: Mapping[str, Any]) -> Finding:
        return Finding(
            Part(**document["part"]),
            document["status"],
            tuple(Break(**each) for each in document["breaks"]),
            tuple(document["lost"]),
            document["note"],
            document["states"],
            document["seconds"],
        )


@dataclass(frozen=True)
class Ablation:
    """The findings for all parts of a protocol, in the order of the source."""

    system: str
    target: str | None
    parameters: Mapping[str, Any]
    properties: tuple[str, ...]
    """Those that hold with all parts in place, and so can notice something."""
    violated: tuple[str, ...]
    """Those that are violated anyway, and notice nothing."""
    states: int
    parts: tuple[Part, ...]
    findings: tuple[Finding, ...]
    seconds: float = 0.0
    stopped_by: Literal["time", "interrupt"] | None = None
    notes: tuple[str, ...] = field(default=())

    def count(self, status: Status) -> int:
        return sum(each.status == status for each in self.findings)

    def to_json(self) -> dict[str, Any]:
        from quorate.results.json import value_to_json

        return {
            "schema": SCHEMA,
            "system": self.system,
            "target": self.target,
            "parameters": {name: value_to_json(value) for name, value in self.parameters.items()},
            "properties": list(self.properties),
            "violated": list(self.violated),
            "states": self.states,
            "parts": len(self.parts),
            "findings": [each.to_json() for each in self.findings],
            "seconds": round(self.seconds, 3),
            "stopped_by": self.stopped_by,
            "notes": list(self.notes),
        }
