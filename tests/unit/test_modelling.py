"""The guide to modelling: four versions of one protocol have the states that its table says."""

import re
from pathlib import Path
from typing import Any

import pytest

import quorate
from quorate.model.target import load

DOCS = Path(__file__).parents[2] / "docs"
ROW = re.compile(r"^\| (?:\[(\w+\.py)\]\(models/\1\)|`raft`) \|.*\| ([\d,]+) \| ([\d,]+) \|$", re.MULTILINE)
TABLE = [
    (file, int(plain.replace(",", "")), int(reduced.replace(",", "")))
    for file, plain, reduced in ROW.findall((DOCS / "modelling.md").read_text(encoding="utf-8"))
]
PLAIN: dict[str, Any] = {"quotient": "off", "dead_messages": "off", "symmetry": "none"}


def model(file: str, **parameters: Any) -> quorate.System:
    if not file:
        return load("raft")(crashes=0, **parameters)
    return load(str(DOCS / "models" / file))(**parameters)


def test_the_table_has_every_model() -> None:
    assert {file for file, *_ in TABLE} == {path.name for path in (DOCS / "models").glob("*.py")} | {""}
    ((_, naive, _), *_, (_, best, _)) = TABLE
    assert naive > 600 * best
    assert [reduced for *_, reduced in TABLE] == sorted((reduced for *_, reduced in TABLE), reverse=True)


@pytest.mark.parametrize(("file", "plain", "reduced"), TABLE)
def test_the_table_is_right(file: str, plain: int, reduced: int) -> None:
    without = quorate.check(model(file, terms=1), **PLAIN, trace=False)
    assert without.ok
    assert without.states == plain
    default = quorate.check(model(file, terms=1), trace=False, max_behaviours=1_000_000)
    assert default.ok
    assert default.states <= reduced, "better reductions are welcome, and belong into the table"
