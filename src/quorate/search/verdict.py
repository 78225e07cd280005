"""What a search says of each property, and of all of them together."""

from __future__ import annotations

from collections.abc import Container, Iterable

from quorate.model.definition import Property
from quorate.native.backend import Found, Witness
from quorate.native.model import Model
from quorate.properties.asked import Asked
from quorate.results.result import Limit, PropertyOutcome, Verdict

# Without and with a violation.
_UNDECIDED = ("the search stopped before it was decided", "not decided: the search ended with the violation")


def outcomes_of(
    found: Found, model: Model, asked: Asked, shown: Container[str], *, approximate: bool
) -> tuple[PropertyOutcome, ...]:
    """One outcome for each property that was asked for; and one for failures of handlers, if there are any.

    `shown` are those for which there is a run already.
    """
    finished = found.stop == "finished"
    broken = _broken(found.violation, model)
    rest: Verdict = "holds" if finished and not approximate else "incomplete"
    note = "" if rest == "holds" else "approximate search" if finished else _UNDECIDED[found.violation is not None]
    outcomes: list[PropertyOutcome] = []
    for each in model.properties:
        if each.kind == "final":
            continue
        verdict, why = rest, note
        if each.kind == "can":
            if each.name in shown:
                ended = found.stop in ("reached", "regrown")
                verdict, why = "holds", "a run shows it" + ("; the search ended there" if ended else "")
            elif rest == "holds":
                verdict, why = "violated", "no run gets there"
        if each.name == broken:
            verdict, why = "violated", ""
        outcomes.append(PropertyOutcome(each.name, each.kind, verdict, why))
    if asked.deadlock:
        verdict = "violated" if broken == "deadlock" else rest
        outcomes.append(PropertyOutcome("deadlock", "deadlock", verdict, "" if verdict == "violated" else note))
    if broken in ("assertions", "exceptions"):
        outcomes.insert(0, PropertyOutcome(broken, "assertion", "violated"))
    elif not outcomes:
        outcomes.append(PropertyOutcome("assertions", "assertion", rest, note))
    return tuple(outcomes)


def verdict_of(outcomes: Iterable[PropertyOutcome], stopped: Limit | None) -> Verdict:
    """The gravest of the outcomes. What was stopped before an answer never holds."""
    verdicts = {outcome.verdict for outcome in outcomes}
    if "violated" in verdicts:
        return "violated"
    return "incomplete" if "incomplete" in verdicts or stopped is not None else "holds"


def _broken(violation: Witness | None, model: Model) -> str | None:
    """The name of the property that a violation is one of."""
    if violation is None:
        return None
    if violation.finding == "deadlock":
        return "deadlock"
    if violation.finding == "failure":
        return "assertions" if model.failures[violation.failure].kind == "assertion" else "exceptions"
    prop: Property = model.properties[violation.property]
    return prop.name
