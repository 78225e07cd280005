"""`--self-check`: the reductions of one check, held against their definition and against the search without them.

While the search runs, a sample of the states is kept in which partial-order reduction left steps out. In each of them
the chosen steps are tried against all ways to go on without them, up to a depth (`src/core/search/verify.hpp`). Then
the system is searched without any reduction, up to a budget, and compared: verdict, deadlocks, and what properties can
see.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from quorate import _core
from quorate._core import RefutationKind
from quorate.base.errors import QuorateError
from quorate.base.values import show
from quorate.native.backend import Found, NativeBackend, Request, Witness
from quorate.native.model import Model
from quorate.reduce.partial_orders import visible

# How much is looked at: states in which the chosen steps are tried, how far, and among how many states each.
SAMPLE = 200
DEPTH = 4
PATH_STATES = 2_000
# How far the search without reductions goes.
UNREDUCED_STATES = 200_000

_WRONG = {
    RefutationKind.stuck: "after {path}, none of the chosen steps is possible any more",
    RefutationKind.differs: "after {path}, a chosen step leads where it does not lead if it is taken first",
    RefutationKind.unseen: "{path} is left out, though a property sees its last step and a chosen one",
    RefutationKind.fails: "{path} fails, and does not fail after a chosen step",
}


class SelfCheckError(QuorateError):
    """A reduction is wrong. Never the user's fault."""

    default_code = "Q902"

    def __init__(self, findings: list[str]) -> None:
        shown = "\n  ".join(findings[:5])
        more = f"\n  and {len(findings) - 5} more" if len(findings) > 5 else ""
        super().__init__(
            f"the self-check refutes a reduction: its answer cannot be trusted\n  {shown}{more}",
            hint="this is a defect of Quorate; please report it with the model. Without reductions: --por none, "
            "--symmetry none, --quotient off, --dead-messages off",
        )
        self.findings = findings


@dataclass
class SelfCheck:
    """What was looked at so far, and what was found wrong."""

    figures: dict[str, Any] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    _fields: list[list[bool]] = field(default_factory=list)
    _seen: frozenset[int] = frozenset()
    _stuck: frozenset[int] = frozenset()

    def verify(self, model: Model, final: bool) -> None:
        """Right after the search, before its tables are used for anything else.

        Unless what the reductions argue about is `final`, there is nothing to hold the chosen steps against: a search
        over an optimistic universe that found a violation, or was stopped, has not seen all that belongs to it.
        """
        seen = model.engine.seen()
        self._fields, self._seen, self._stuck = seen.fields, frozenset(seen.seen), frozenset(seen.stuck)
        self.figures |= dict.fromkeys(("sets", "paths", "pairs", "depth"), 0)
        if not final:
            return
        found = model.engine.verify(model, DEPTH, PATH_STATES, visible(model))
        self.figures |= {name: getattr(found, name) for name in ("sets", "paths", "pairs", "depth")}
        for one in found.wrong:
            what = _WRONG[one.kind].format(path=_steps(model, one.path))
            chosen, columns = _steps(model, one.chosen), one.state[0]
            self.wrong.append(f"{what}\n    chosen: {chosen}\n    in: {_state(model, columns)}")

    def compare(
        self, model: Model, found: Found, deadlock: bool, *, symmetric: bool, whole: bool, goes_on: bool = False
    ) -> None:
        """With the search without reductions. `whole`: the reduced one has seen all that it has to see.

        If it `goes_on` after a violation, so does the other one, and they violate the same.
        """
        plain = Model(model.definition, model.properties, model.stop, model.values, model.whole)
        plain.observed = [list(fields) for fields in self._fields]
        plain.engine.observe(plain.observed)
        asked = Request("breadth_first", deadlock, max_states=UNREDUCED_STATES, sample=0, all=goes_on)
        other = NativeBackend(plain).search(asked)
        ended = other.stop == "finished"
        self.figures |= {"unreduced_states": other.states, "unreduced_finished": ended}
        if whole and found.violation is None:
            broken = {_name(model, each) for each, _ in found.violations}
            met = [each for each, _ in other.violations] + ([other.violation] if other.violation else [])
            for name in dict.fromkeys(_name(plain, each) for each in met):
                if name not in broken:
                    self.wrong.append(f"without reductions {name} is violated, with them it is not")
        reached = {goal.property for goal in found.goals}
        if whole and found.violation is None:
            for goal in other.goals:
                if goal.property not in reached:
                    name = plain.properties[goal.property].name
                    self.wrong.append(f"without reductions {name} can be reached, with them it cannot")
        clean = found.violation is None and other.violation is None
        # With symmetry, what differs in names only is left out on purpose; what is left must be there without it too.
        self.figures["compared"] = clean and not symmetric
        hashes = plain.engine.seen()
        seen, stuck = frozenset(hashes.seen), frozenset(hashes.stuck)
        for what, mine, theirs, kept in (
            ("observations", self._seen, seen, visible(model)),
            ("deadlocks", self._stuck, stuck, True),
        ):
            self.figures[what] = len(mine & theirs)
            if self.figures["compared"] and kept and whole and theirs - mine:
                self.wrong.append(f"the reduced search misses {len(theirs - mine)} of {len(theirs)} {what}")
            if clean and ended and mine - theirs:
                self.wrong.append(f"the reduced search has {len(mine - theirs)} {what} that the system has not")

    @property
    def begun(self) -> bool:
        return bool(self.figures)

    def finish(self) -> dict[str, Any]:
        """The figures for the result; raises if anything was wrong."""
        if self.wrong:
            raise SelfCheckError(self.wrong)
        return self.figures


def _name(model: Model, violation: Witness) -> str:
    if violation.finding in ("deadlock", "failure"):
        return "deadlock" if violation.finding == "deadlock" else "an assertion"
    return str(model.properties[violation.property].name)


def _steps(model: Model, steps: Iterable[_core.NamedStep]) -> str:
    shown: list[str] = []
    for step in steps:
        column, which = model.definition.columns[step.column], step.transition
        name = model.definition.transitions(column)[which].name if which is not None else "(environment)"
        consumed = ", ".join(show(model.message(column, number)) for number in step.messages)
        shown.append(f"{column.name}.{name}" + (f"({consumed})" if consumed else ""))
    return ", ".join(shown)


def _state(model: Model, columns: Iterable[tuple[int, list[int]]]) -> str:
    shown: list[str] = []
    for column, (local, inbox) in zip(model.definition.columns, columns, strict=True):
        pending = "".join(f" <- {show(model.message(column, number))}" for number in inbox)
        shown.append(f"{column.name}{show(model.local(column, local))}{pending}")
    return "; ".join(shown)
