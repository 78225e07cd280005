"""What a run is shown for, and whether a state shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from quorate.properties.kinds import KINDS

if TYPE_CHECKING:
    from quorate.model.definition import Definition, Property
    from quorate.results.trace import Trace
    from quorate.semantics.state import State, Step


class Claim(NamedTuple):
    """That a property fails (a violation) or holds (a witness) in the last state, or that the last step fails."""

    definition: Definition
    name: str
    witness: bool
    fails: bool
    """The last step is a handler or a monitor that fails; then it does not matter in which state."""
    endless: bool = False
    """The run has a loop. What it shows, it shows as a whole, and not in its last state."""

    @classmethod
    def of(cls, trace: Trace) -> Claim:
        fails = bool(trace.steps) and trace.steps[-1].failure is not None
        return cls(trace.definition, trace.property, trace.kind == "witness", fails, trace.loop_from is not None)

    @property
    def property(self) -> Property | None:
        """The property whose value decides: for a deadlock the one that says which final states are fine."""
        if self.endless:
            return None
        if self.name == "deadlock":
            return self.definition.final
        return next((prop for prop in self.definition.properties if prop.name == self.name), None)

    def shown_in(self, state: State) -> bool:
        if self.fails:
            return False
        if self.name == "deadlock":
            return KINDS["final"].shown_in(self.definition, self.property, state)
        prop = self.property
        return prop is not None and KINDS["can" if self.witness else "invariant"].shown_in(self.definition, prop, state)

    def shown_by(self, step: Step) -> bool:
        """Whether the run may end with this step, as the last one of the run that made the claim does."""
        if self.fails or step.next is None:
            return self.fails and step.failure is not None
        return self.shown_in(step.next)
