"""What partial-order reduction costs and saves: rows with and without it, and nothing else between them."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.declared import declared
from benchmarks.experiment import Check, Row
from benchmarks.results import Figure, Results
from benchmarks.tables import duration

LONG = 1.0  # seconds without it, from which on it must not cost time
NOISE = 1.05  # two runs of the same differ by as much


def pairs(row: Row) -> Iterator[tuple[Check, Check]]:
    """Cases of a row without partial orders, and with all that belongs to them."""
    checks = [each for each in row.cases if isinstance(each, Check)]
    without = [each for each in checks if each.options.get("por", "none") == "none"]
    for with_it in checks:
        if with_it.options.get("por") == "lpor-net" and "por_options" not in with_it.options:
            yield from ((each, with_it) for each in without if _rest(each) == _rest(with_it))


def _rest(check: Check) -> tuple[object, ...]:
    """What a case is but for partial orders."""
    own = ("por", "split")
    options = {name: value for name, value in check.options.items() if name not in own}
    return check.target, check.parameters, {"symmetry": "auto"} | options


def overhead(results: Results) -> list[Figure]:
    """Exhaustive rows that take long without it: how many take no longer with it."""
    ratios: dict[str, float] = {}
    for name, section in results.sections.items():
        for row in declared(results.quick).get(name, ()):
            for without, with_it in pairs(row):
                before, after = (section.find(row.instance, each.column) for each in (without, with_it))
                if before and after and before.status == "holds" and before.core_seconds >= LONG:
                    told = f"{name} {row.instance}, {with_it.column}, {duration(before.core_seconds)} without"
                    ratios[told] = after.core_seconds / before.core_seconds
    if not ratios:
        return []
    worst = max(ratios, key=lambda each: ratios[each])
    return [
        Figure(
            f"exhaustive rows that last {LONG:.0f} s without partial orders, and no longer with them",
            "",
            sum(ratio <= NOISE for ratio in ratios.values()),
            goal=len(ratios),
            note=f"{ratios[worst]:.2f} times as long at the most ({worst}); {NOISE - 1:.0%} are noise",
        )
    ]
