"""The kinds of properties: what each needs of a search, which states show it, and what a search says of it.

One object a kind. A new kind (temporal, linearizability, a lemma) is a new class here, or a file beside this one.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple

from quorate.properties.evaluate import evaluate
from quorate.semantics.steps import enabled_protocol, steps

if TYPE_CHECKING:
    from quorate.model.definition import Definition, Property
    from quorate.semantics.state import State

Verdict = Literal["holds", "violated", "incomplete"]


class Kept(StrEnum):
    """What a property may need of a reduced search."""

    SAFETY = "safety"
    """Which observations are reachable: invariants, `can`, assertions."""
    DEADLOCKS = "deadlocks"
    """Which deadlocks are reachable, as far as properties see them."""
    LINEAR = "linear"
    """Whole runs up to stuttering: LTL without next."""
    BRANCHING = "branching"
    """The tree of runs up to stuttering: CTL* without next."""
    WHICH = "which"
    """Which transitions a run takes, and which could be taken, by whoever of a role."""
    WHO = "who"
    """Whose steps a run takes, and who could take some."""
    FAIRNESS = "fairness"
    """Which transitions are enabled and taken along a run, by process, transition and consumed messages."""


class Ending(NamedTuple):
    """What the end of a search means for a property of which nothing else is known."""

    verdict: Verdict
    note: str
    early: bool = False
    """It ended because all that was asked for had been reached."""


class Kind:
    """What properties of one kind have in common."""

    name: ClassVar[str]
    """In results and in JSON."""
    core: ClassVar[str]
    """What the core calls it."""
    needs: ClassVar[frozenset[Kept]]

    def shown_in(self, definition: Definition, prop: Property | None, state: State) -> bool:
        """Whether a run that ends in this state decides the property: breaks it, or shows that it can be."""
        raise NotImplementedError

    def outcome(self, ending: Ending, *, broken: bool, shown: bool) -> tuple[Verdict, str]:
        """The verdict of a search, and a note. `broken`: its violation is one of this property."""
        return ("violated", "") if broken else (ending.verdict, ending.note)


class Invariant(Kind):
    """It holds in every reachable state."""

    name = core = "invariant"
    needs = frozenset({Kept.SAFETY})

    def shown_in(self, definition: Definition, prop: Property | None, state: State) -> bool:
        assert prop is not None
        found = evaluate(definition, prop, state.locals, state.pending)
        return found.failure is None and not found.value


class Reachability(Kind):
    """It holds in some reachable state."""

    name = "can"
    core = "goal"
    needs = frozenset({Kept.SAFETY})

    def shown_in(self, definition: Definition, prop: Property | None, state: State) -> bool:
        assert prop is not None
        found = evaluate(definition, prop, state.locals, state.pending)
        return found.failure is None and found.value

    def outcome(self, ending: Ending, *, broken: bool, shown: bool) -> tuple[Verdict, str]:
        if broken:
            return "violated", ""
        if shown:
            return "holds", "a run shows it" + ("; the search ended there" if ending.early else "")
        return ("violated", "no run gets there") if ending.verdict == "holds" else (ending.verdict, ending.note)


class Deadlock(Kind):
    """No run ends where `@final` does not allow it."""

    name = "deadlock"
    core = "final"
    needs = frozenset({Kept.DEADLOCKS})

    def shown_in(self, definition: Definition, prop: Property | None, state: State) -> bool:
        if prop is not None and evaluate(definition, prop, state.locals, state.pending).value:
            return False
        return not enabled_protocol(steps(definition, state))


class Predicate(Kind):
    """A name in temporal formulas: it claims nothing by itself, but whole runs are looked at through it."""

    name = "predicate"
    core = "invariant"
    needs = frozenset({Kept.LINEAR, Kept.BRANCHING, Kept.FAIRNESS})
    """Of formulas in general. What those that are asked for need may be less (`temporal/kept.py`)."""

    def shown_in(self, definition: Definition, prop: Property | None, state: State) -> bool:
        return False


class Assertions(Kind):
    """No handler and no monitor fails. Which states that happens in does not matter: the last step shows it."""

    name = core = "assertion"
    needs = frozenset({Kept.SAFETY})

    def shown_in(self, definition: Definition, prop: Property | None, state: State) -> bool:
        return False


KINDS: dict[str, Kind] = {
    "invariant": Invariant(),
    "can": Reachability(),
    "final": Deadlock(),
    "predicate": Predicate(),
}
"""By what the language calls them."""
ASSERTIONS = Assertions()


def kind_of(prop: Property) -> Kind:
    return KINDS[prop.kind]
