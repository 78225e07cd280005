"""The layers of the native core: who may include whom is written once, in docs/architecture.md, and held here."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CORE = ROOT / "src" / "core"
SOURCES = sorted(path.relative_to(CORE) for path in CORE.rglob("*.[ch]pp"))


def read_layers(page: str) -> list[str]:
    """The folders of the core, lowest first."""
    block = re.search(r"^```core-layers\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert block, "docs/architecture.md has no block `core-layers`"
    return [line.split()[0] for line in block[1].splitlines() if line.strip()]


def includes(path: Path) -> list[str]:
    return re.findall(r'^#include "([^"]+)"', (CORE / path).read_text(), re.MULTILINE)


LAYERS = read_layers((ROOT / "docs" / "architecture.md").read_text())
INCLUDES = {str(path): includes(path) for path in SOURCES}


def level(path: str) -> int:
    return LAYERS.index(str(Path(path).parent))


def upward(files: dict[str, list[str]]) -> list[str]:
    """The includes that go up."""
    return [
        f"{file} includes {other}" for file, others in files.items() for other in others if level(other) > level(file)
    ]


def cycles(files: dict[str, list[str]]) -> list[str]:
    """The files that include themselves, by way of others."""
    reached = {file: set(others) for file, others in files.items()}
    for by in files:
        for others in reached.values():
            if by in others:
                others |= reached[by]
    return [file for file, others in reached.items() if file in others]


def test_every_file_lies_in_a_layer_and_every_layer_has_files() -> None:
    assert {str(path.parent) for path in SOURCES} == set(LAYERS)


@pytest.mark.parametrize("path", SOURCES, ids=str)
def test_includes_are_written_from_the_root_of_the_core(path: Path) -> None:
    assert [name for name in includes(path) if not (CORE / name).is_file()] == []


def test_no_include_goes_up() -> None:
    assert upward(INCLUDES) == []


def test_no_file_includes_itself_by_way_of_others() -> None:
    assert cycles(INCLUDES) == []


def test_only_the_binding_knows_python() -> None:
    outside = [path for path in SOURCES if path.parent != Path("binding")]
    assert [
        str(path) for path in outside if re.search(r"nanobind|Python\.h|namespace nb", (CORE / path).read_text())
    ] == []


def test_what_goes_up_is_found() -> None:
    assert upward({"base/bits.hpp": ["model/tables.hpp"]}) == ["base/bits.hpp includes model/tables.hpp"]
    assert upward({"model/tables.hpp": ["base/bits.hpp", "model/column.hpp"]}) == []


def test_cycles_are_found() -> None:
    files = {"base/a.hpp": ["base/b.hpp"], "base/b.hpp": ["base/c.hpp"], "base/c.hpp": ["base/b.hpp"]}
    assert cycles(files) == ["base/b.hpp", "base/c.hpp"]
