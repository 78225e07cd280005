"""What a search says of each property, and of all of them together."""

from __future__ import annotations

from collections.abc import Container, Iterable

from quorate.model.definition import Property
from quorate.native.backend import Found, Witness
from quorate.native.model import Model
from quorate.properties.asked import Asked
from quorate.properties.kinds import KINDS, Ending, Verdict, kind_of
from quorate.results.result import Limit, PropertyOutcome

UNDECIDED = "the search stopped before it was decided"
AFTER_VIOLATION = "not decided: the search ended with the violation"


def outcomes_of(
    found: Found, model: Model, asked: Asked, shown: Container[str], *, approximate: bool, answered: bool
) -> tuple[PropertyOutcome, ...]:
    """One outcome for each property that was asked for; and one for failures of handlers, if there are any.

    `shown` are those for which there is a run already. If all is `answered`, a limit has cut short nothing but figures.
    """
    finished = found.stop == "finished"
    first = () if found.violation is None else (found.violation,)
    broken = {broken_by(each, model) for each in (*first, *(each for each, _ in found.violations))}
    rest: Verdict = "holds" if finished and not approximate else "incomplete"
    unfinished = UNDECIDED if found.violation is None else AFTER_VIOLATION
    note = "" if rest == "holds" else "approximate search" if finished else unfinished
    early = found.stop in ("reached", "regrown") or (answered and found.stop not in ("finished", "violation"))
    return _outcomes(asked, Ending(rest, note, early), broken, shown)


def undecided(asked: Asked) -> tuple[PropertyOutcome, ...]:
    """The outcomes of a check that was stopped before anything was known."""
    safety = _outcomes(asked, Ending("incomplete", UNDECIDED)) if asked.safety else ()
    return *safety, *(PropertyOutcome(each.name, each.kind, "incomplete", UNDECIDED) for each in asked.temporal)


def _outcomes(
    asked: Asked, ending: Ending, broken: Container[str] = (), shown: Container[str] = ()
) -> tuple[PropertyOutcome, ...]:
    outcomes: list[PropertyOutcome] = []
    for each in asked.properties:
        kind = kind_of(each)
        if kind.name != "deadlock":
            decided = kind.outcome(ending, broken=each.name in broken, shown=each.name in shown)
            outcomes.append(PropertyOutcome(each.name, kind.name, *decided))
    if asked.deadlock:  # also without `@final`, if it was asked for by name
        decided = KINDS["final"].outcome(ending, broken="deadlock" in broken, shown=False)
        outcomes.append(PropertyOutcome("deadlock", "deadlock", *decided))
    failed = [each for each in ("assertions", "exceptions") if each in broken]
    outcomes = [*(PropertyOutcome(each, "assertion", "violated") for each in failed), *outcomes]
    if not outcomes:
        outcomes.append(PropertyOutcome("assertions", "assertion", ending.verdict, ending.note))
    return tuple(outcomes)


def verdict_of(outcomes: Iterable[PropertyOutcome], stopped: Limit | None) -> Verdict:
    """The gravest of the outcomes. What was stopped before an answer never holds."""
    verdicts = {outcome.verdict for outcome in outcomes}
    if "violated" in verdicts:
        return "violated"
    return "incomplete" if "incomplete" in verdicts or stopped is not None else "holds"


def broken_by(violation: Witness, model: Model) -> str:
    """The name of the property that a violation is one of."""
    if violation.finding == "deadlock":
        return "deadlock"
    if violation.finding == "failure":
        return model.failures[violation.failure].violates
    prop: Property = model.properties[violation.property]
    return prop.name
