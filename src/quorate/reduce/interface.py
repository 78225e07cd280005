"""What a reduction is: one object that says whether it applies and why not, applies itself, and tells what it gained.

A check, a plan, the explorer's advice and the report go over a list of them (`reductions.py`). A reduction never
changes a verdict, so each says which kinds of properties it keeps, and is left out where something else is asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from quorate import _core
from quorate.native.model import Model
from quorate.options import Options
from quorate.properties.kinds import Kept

if TYPE_CHECKING:
    from quorate.native.backend import Found


_TOLD = {
    Kept.LINEAR: "whole runs",
    Kept.BRANCHING: "branching time",
    Kept.WHICH: "which steps a run could take",
    Kept.WHO: "who takes the steps of a run",
}


class Basis(NamedTuple):
    """What reductions argue about: every local state and message that a run may meet."""

    kind: str
    """"closure", or "universe" if it was taken from the search itself."""
    local_states: int = 0
    unknown: str = ""
    """Why there is none."""


class Reduction:
    """One reduction of one check."""

    name: ClassVar[str]
    off: ClassVar[Mapping[str, str]]
    """The options that leave it out."""
    keeps: ClassVar[frozenset[Kept]]

    def __init__(self, model: Model, options: Options) -> None:
        self.model = model
        self.options = options
        self.ran = False
        self.why = ""
        """What it does; or why it does not run."""
        self.figures: dict[str, Any] = {}

    @property
    def wanted(self) -> bool:
        return any(getattr(self.options, option) != value for option, value in self.off.items())

    def why_not(self) -> str:
        """Why it does not apply to this system, whatever may be known of it; empty if it does."""
        return ""

    def decide(self, wanted: frozenset[Kept], unknown: str = "") -> None:
        """Whether it runs. `unknown` says why it is not known what a run may meet."""
        self._set(self._reason(wanted) or unknown)

    def _reason(self, wanted: frozenset[Kept]) -> str:
        if not self.wanted:
            return "switched off"
        lost = [_TOLD.get(each, each) for each in Kept if each in wanted - self.keeps]
        *rest, last = lost or [""]
        return f"it does not keep {', '.join(rest)}{' and ' if rest else ''}{last}" if lost else self.why_not()

    def _set(self, why_not: str, why: str = "", **figures: Any) -> None:
        self.ran, self.why, self.figures = not why_not, why_not or why, figures

    def leave_out(self, why: str) -> None:
        """Although it would apply."""
        self._set(why)

    def apply(self, basis: Basis, sizes: _core.ReductionReport) -> None:
        """Make it take effect, if it runs; again whenever more fields turned out to be observed."""

    def searched(self, found: Found) -> None:
        """Note what came of it in a search."""

    def to_json(self) -> dict[str, Any]:
        return {"ran": self.ran, "why": self.why, **self.figures}
