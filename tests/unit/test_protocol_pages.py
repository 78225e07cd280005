"""The pages about the bundled protocols say what the sources say."""

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest

from quorate.protocols import CATALOGUE

PAGES = Path(__file__).parents[2] / "docs" / "protocols"


@pytest.fixture(scope="module")
def generate() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate_protocol_pages", PAGES / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_pages_are_up_to_date(generate: ModuleType) -> None:
    stale = [
        path.name
        for path, text in generate.pages().items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    assert stale == [], "run: python docs/protocols/generate.py"


def test_there_is_no_page_of_something_that_is_gone() -> None:
    assert {path.stem for path in PAGES.glob("*.md")} - {"README"} <= set(CATALOGUE)


@pytest.mark.parametrize("file", ["instances.json", "measured.json"])
def test_every_protocol_is_measured(file: str) -> None:
    assert set(CATALOGUE) <= set(json.loads((PAGES / file).read_text(encoding="utf-8")))


def test_what_was_measured_is_what_is_asked_for(generate: ModuleType) -> None:
    measured, instances = generate.read("measured.json"), generate.read("instances.json")
    assert {name: [row["parameters"] for row in measured[name]] for name in CATALOGUE} == {
        name: instances[name] for name in CATALOGUE
    }
