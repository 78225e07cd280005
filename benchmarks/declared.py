"""The modules that reproduce tables, in the order in which they are run and shown."""

from __future__ import annotations

from types import ModuleType

from benchmarks import against, gandalf, partial_orders, scaling, symmetry, temporal_spin
from benchmarks.experiment import Row

DECLARED: tuple[ModuleType, ...] = (gandalf, partial_orders, symmetry, against, temporal_spin, scaling)


def declared(quick: bool) -> dict[str, list[Row]]:
    """The rows of all tables."""
    return {name: rows for module in DECLARED for name, rows in module.rows(quick).items()}
