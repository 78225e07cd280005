"""What reductions cost is measured on every bundled protocol, and the worst is told."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from benchmarks import costs
from benchmarks.experiment import PLAIN, Measured

from quorate.protocols import CATALOGUE

FAST = Measured("holds", states=10, seconds=0.1, core_seconds=0.1)


def test_the_worst_of_the_long_ones_and_what_is_added_to_short_ones() -> None:
    def pair(name: str, before: float, after: float, status: Any = "holds") -> costs.Pair:
        found = replace(FAST, core_seconds=after, status=status, note="limit of time")
        return costs.Pair(name, replace(FAST, core_seconds=before), found)

    ratio, added = costs.figures(
        "it", [pair("a", 1.0, 1.1), pair("b", 1.0, 3.0), pair("c", 0.1, 0.4), pair("d", 2.0, 30.0, "incomplete")]
    )
    assert (ratio.value, ratio.goal) == (3.0, 1.2)
    assert "b, of 2; 1 over the goal" in ratio.note
    assert "d is not decided: limit of time" in ratio.note
    assert added.value == pytest.approx(0.3)
    assert "c, of 1" in added.note


def test_every_bundled_protocol_with_every_option(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, tuple[tuple[str, Any], ...]]] = []

    def measure(target: str, parameters: Any, options: Any, limits: Any) -> Measured:
        asked.append((target, tuple(sorted(options.items()))))
        return FAST

    monkeypatch.setattr(costs, "measure", measure)
    section = costs.costs(quick=False, say=lambda line: None)
    ways = {options for _, options in asked}
    assert len(ways) == 2 + len(costs.OPTIONS)
    assert tuple(sorted({"threads": 1, **PLAIN}.items())) in ways
    assert {(name, way) for name in CATALOGUE for way in ways} <= set(asked)
    assert len(section.figures) == 1 + len(costs.OPTIONS)
