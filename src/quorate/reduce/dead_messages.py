"""Dead messages: what no later local state of its receiver consumes need not be remembered."""

from __future__ import annotations

from quorate._core import ReductionReport
from quorate.properties.kinds import Kept
from quorate.reduce.interface import Basis, Reduction


class DeadMessages(Reduction):
    """Drops a pending message once its receiver can never consume it (`src/core/analysis/dead_messages.hpp`).

    No step of the protocol is enabled or disabled by it, so every property is kept, and fairness of the protocol's own
    steps with it. Only losses and duplicates of such messages vanish, and those are never fair.
    """

    name = "dead-messages"
    off = {"dead_messages": "off"}
    keeps = frozenset(Kept)

    def why_not(self) -> str:
        """Why a message that is never consumed may still have an effect on this network (docs/soundness.md, rule 5)."""
        network = self.model.definition.network
        if network.ordered:
            return "in a FIFO channel a dead message still stands before others"
        if self.model.definition.environment.network_model == "rm":
            return "with clean channels a dead message in an input buffer blocks its process"
        if network.bounded:
            return "in a bounded channel a dead message still takes up room"
        return ""

    def apply(self, basis: Basis, sizes: ReductionReport) -> None:
        if self.ran:
            self.why = "drops messages that are never consumed any more"
            factor = sizes.pairs / max(1, sizes.pairs - sizes.dead)
            self.figures = {"dead": sizes.dead, "of": sizes.pairs, "factor": factor}
