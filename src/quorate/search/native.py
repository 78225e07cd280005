"""What the core reports, as dictionaries: its structs by the names of their fields, its enumerations by their names."""

from __future__ import annotations

from enum import Enum
from typing import Any


def as_dict(report: object) -> dict[str, Any]:
    """The fields of a struct of the core by name, with the structs inside of it."""
    names = [name for name in dir(type(report)) if not name.startswith("_")]
    return {name: _plain(getattr(report, name)) for name in names}


def _plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return as_dict(value) if type(value).__module__ == "quorate._core" else value
