"""What docs/benchmarks.md is written from, small enough to be committed.

A run keeps everything (`results/latest.json`): every sample, every digit. The page needs the medians, and shows a few
digits of each. So samples are left out, the rest is rounded to more digits than are shown, and the fields of an entry
are a list in the order of their declaration, without those at its end that have their default value. An entry has a
line of its own, so that a diff says which of them changed.
"""

from __future__ import annotations

import json
from dataclasses import MISSING, asdict, fields, is_dataclass
from pathlib import Path
from typing import Any

from benchmarks.experiment import Measured, Published
from benchmarks.results import SCHEMA, Entry, Figure, Origin, Results, Section

DIGITS = 7
FILE = ("machine", "date", "commit", "quick", "complete")
SECTION = ("name", "notes", "load", "seconds")


def write(results: Results, path: Path) -> Results:
    """Write what the page needs, and return what reading it again gives: the page is written from that."""
    path.write_text(_text(results))
    return read(path)


def read(path: Path) -> Results:
    data = json.loads(path.read_text())
    if data["schema"] != SCHEMA:
        raise ValueError(f"results of schema {data['schema']}, not {SCHEMA}: measure again")
    sections = {each["name"]: _read_section(each) for each in data["sections"]}
    return Results(**{name: data[name] for name in FILE}, sections=sections)


def _read_section(data: dict[str, Any]) -> Section:
    return Section(
        data["name"],
        entries=tuple(_read_entry(each) for each in data["entries"]),
        figures=tuple(Figure(**_named(Figure, each)) for each in data["figures"]),
        notes=tuple(data["notes"]),
        load=(data["load"][0], data["load"][1]),
        seconds=data["seconds"],
        origin=Origin(**data["origin"]) if "origin" in data else None,
    )


def _read_entry(data: list[Any]) -> Entry:
    given = _named(Entry, data)
    given["measured"] = Measured(**_named(Measured, given["measured"]))
    if "published" in given:
        given["published"] = Published(**_named(Published, given["published"]))
    return Entry(**given)


def _named(kind: type[Any], values: list[Any]) -> dict[str, Any]:
    """The fields that were written, by name."""
    return dict(zip(_names(kind), values, strict=False))


def _names(kind: Any) -> list[str]:
    return [each.name for each in fields(kind) if each.name != "samples"]


def _text(results: Results) -> str:
    head = {"schema": SCHEMA, **{name: getattr(results, name) for name in FILE}}
    sections = ",\n".join(_section(each) for each in results.sections.values())
    return f'{json.dumps(head)[:-1]}, "sections": [\n{sections}\n]}}\n'


def _section(section: Section) -> str:
    origin = {"origin": asdict(section.origin)} if section.origin else {}
    head = json.dumps({**{name: getattr(section, name) for name in SECTION}, **origin})[:-1]
    lists = {"entries": section.entries, "figures": section.figures}
    lines = (f'"{name}": [{",".join(f"{chr(10)} {_line(each)}" for each in items)}]' for name, items in lists.items())
    return f"{head}, {', '.join(lines)}}}"


def _line(item: object) -> str:
    return json.dumps(_values(item), separators=(",", ":"))


def _values(item: Any) -> list[Any]:
    """In the order of declaration, up to the last that is not as it would be anyway."""
    defaults = {each.name: each.default for each in fields(item)}
    given = {name: getattr(item, name) for name in _names(item)}
    while defaults[last := list(given)[-1]] is not MISSING and given[last] == defaults[last]:
        del given[last]
    return [_values(value) if is_dataclass(value) else _rounded(value) for value in given.values()]


def _rounded(value: Any) -> Any:
    if not isinstance(value, float):
        return value
    short = float(f"{value:.{DIGITS}g}")
    return int(short) if short.is_integer() else short
