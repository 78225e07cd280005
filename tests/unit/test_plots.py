"""Pictures of how cost grows."""

from pathlib import Path

import pytest
from benchmarks import plots
from benchmarks.experiment import Measured
from benchmarks.machine import describe
from benchmarks.results import Entry, Results, Section


def some_section() -> Section:
    answers = [("2", Measured("holds", 100, 0, 0.1)), ("3", Measured("incomplete", 999, 0, 9.0))]
    return Section(
        "scaling-acceptors", tuple(Entry(x, "", "holds", "default", "Quorate", found) for x, found in answers)
    )


def test_only_answers_are_drawn() -> None:
    assert plots.series(some_section()) == {"default": [(2, Measured("holds", 100, 0, 0.1))]}


@pytest.mark.skipif(not plots.available(), reason="matplotlib is not installed")
def test_the_same_figures_give_the_same_picture(tmp_path: Path) -> None:
    results = Results(describe(), "2024-05-01", "abc", False, True, {"scaling-acceptors": some_section()})
    pictures = []
    for name in ("first", "second"):
        folder = tmp_path / name
        folder.mkdir()
        written = plots.draw(results, folder)
        assert [path.name for path in written] == ["scaling-acceptors.svg"]
        pictures.append([path.read_bytes() for path in written])
    assert pictures[0] == pictures[1]
