"""What partial-order reduction costs and saves: rows with and without it, and nothing else between them."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

from benchmarks import against, gandalf, partial_orders, scaling, symmetry
from benchmarks.experiment import Check, Row
from benchmarks.results import Figure, Results
from benchmarks.tables import duration

DECLARED: tuple[ModuleType, ...] = (gandalf, partial_orders, symmetry, against, scaling)
LONG = 1.0  # seconds without it, from which on it must not cost time
NOISE = 1.05  # two runs of the same differ by as much


def pairs(row: Row) -> Iterator[tuple[Check, Check]]:
    """Cases of a row without and with partial orders."""
    checks = [each for each in row.cases if isinstance(each, Check)]
    for one in checks:
        for other in checks:
            if one.options.get("por", "none") == "none" and other.options.get("por") in ("lpor", "lpor-net"):
                if (one.target, one.parameters) == (other.target, other.parameters) and _rest(one) == _rest(other):
                    yield one, other


def _rest(check: Check) -> dict[str, object]:
    kept = {"symmetry": "auto", **check.options}
    return {name: value for name, value in kept.items() if name not in ("por", "split", "por_without")}


def overhead(results: Results) -> list[Figure]:
    """Exhaustive rows that take long without it: how many take longer with it."""
    ratios: dict[str, float] = {}
    for module in DECLARED:
        for name, rows in module.rows(results.quick).items():
            section = results.sections.get(name)
            for row in rows if section else ():
                for without, with_it in pairs(row):
                    assert section is not None
                    before = section.find(row.instance, without.column)
                    after = section.find(row.instance, with_it.column)
                    if before is None or after is None or before.status != "holds" or before.core_seconds < LONG:
                        continue
                    told = f"{name} {row.instance}, {with_it.column} ({duration(before.core_seconds)})"
                    ratios[told] = after.core_seconds / before.core_seconds
    if not ratios:
        return []
    worst = max(ratios, key=lambda each: ratios[each])
    return [
        Figure(
            f"exhaustive rows of over {LONG:.0f} s, of {len(ratios)}, that take longer with partial orders",
            "",
            sum(ratio > NOISE for ratio in ratios.values()),
            better="lower",
            goal=0,
            note=f"at the most {ratios[worst]:.2f} times as long: {worst}; {NOISE - 1:.0%} count as noise",
        )
    ]
