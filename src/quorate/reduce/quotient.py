"""The local quotient: local states of a process that nothing can tell apart are one."""

from __future__ import annotations

from quorate._core import ReductionReport
from quorate.properties.kinds import Kept
from quorate.reduce.interface import Basis, Reduction


class Quotient(Reduction):
    """A strong bisimulation for each process, coarsest first (`src/core/analysis/local_quotient.hpp`).

    Transition, consumed messages, sends and events are part of a local state's signature, so labels are kept as well:
    it keeps every property, also those about whole runs, and every notion of fairness.
    """

    name = "quotient"
    off = {"quotient": "off"}
    keeps = frozenset(Kept)

    def apply(self, basis: Basis, sizes: ReductionReport) -> None:
        if self.ran:
            self.why = "merges local states that nothing can tell apart"
            factor = basis.local_states / max(1, sizes.local_states)
            self.figures = {"local_states": sizes.local_states, "of": basis.local_states, "factor": factor}
