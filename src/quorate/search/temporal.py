"""The temporal properties of a check beside all else it asks: whether they are decided, and what is told of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from quorate.model.definition import Definition
from quorate.options import Options
from quorate.properties.asked import Asked
from quorate.properties.temporal.automaton import MOST_NAMES
from quorate.properties.temporal.branching import linear
from quorate.properties.temporal.fairness import assumed
from quorate.properties.temporal.formula import names
from quorate.properties.temporal.stated import TemporalProperty
from quorate.properties.temporal.translate import translate_negation
from quorate.results.result import Limit, PropertyOutcome, Result
from quorate.search.limits import Watcher, peak_memory
from quorate.search.liveness import HANDLER_FAILS, LivenessCheck, Temporal
from quorate.search.verdict import AFTER_VIOLATION, UNDECIDED, verdict_of

NOT_COUNTED = "not decided: --all counts states, and this is about whole runs; ask for it alone with --property"


def refuse_too_large(asked: Sequence[TemporalProperty]) -> None:
    """Refuse formulas that the engine cannot take, before any search."""
    for each in asked:
        formula = linear(each.formula)
        if formula is not None:
            translate_negation(formula, names(formula)).within_limits()


def with_temporal(
    result: Result, definition: Definition, asked: Asked, options: Options, watcher: Watcher, *, trace: bool
) -> Result:
    """A result with the temporal properties as well. They wait for the others: a violation is an answer."""
    level = {"level": options.fairness, "assuming": assumed(definition, options.fairness)}
    why = ""
    # Where nothing else is stated, that no handler fails goes without saying.
    only = [each.kind for each in result.properties] == ["assertion"] and result.verdict == "holds" and not asked.named
    safety = () if only else result.properties
    if options.por == "dpor" and result.reductions.get("por", {}).get("ran") is False:
        options = replace(options, por="none", max_depth=None)  # it was left out, and the search stores states
    if result.verdict == "violated":
        why = AFTER_VIOLATION if result.violations is None else NOT_COUNTED
    elif without := without_graph(options):
        why = f"not decided: {without}"
    elif result.verdict == "incomplete" and result.stopped_by not in (None, "states"):
        why = UNDECIDED  # in so many states of the graph, a run that breaks a property may be found all the same
    if why:
        waiting = [PropertyOutcome(each.name, each.kind, "incomplete", why) for each in asked.temporal]
        outcomes = (*safety, *waiting)
        return replace(result, properties=outcomes, verdict=verdict_of(outcomes, result.stopped_by), fairness=level)
    began = watcher.seconds
    watcher.go_on("analysis")
    found = _decided(definition, asked.temporal, options, watcher)
    explored = found.explored
    outcomes = (*safety, *found.outcomes)
    stopped = result.stopped_by
    if found.halted is not None:
        watcher.halted(found.halted)
        stopped = watcher.reason
    elif explored is None or explored.stop not in ("finished", "violation"):
        stopped = watcher.reason or ("interrupt" if explored is None else cast(Limit, explored.stop))
    if not asked.safety and explored is not None:
        result = replace(
            result,
            states=explored.states,
            transitions=explored.transitions,
            depth=explored.depth,
            deadlocks=explored.deadlocks,
            reductions=found.reductions,
            bytes_per_state=explored.store_bytes / max(1, explored.states),
            bounds=found.bounds,
            **found.figures,
        )
    elif explored is not None:
        graph = {"states": explored.states, "transitions": explored.transitions, "depth": explored.depth}
        result = replace(result, graph={**graph, "reductions": found.reductions})
    return replace(
        result,
        properties=outcomes,
        verdict=verdict_of(outcomes, stopped),
        property=next((outcome.name for outcome in outcomes if outcome.verdict == "violated"), None),
        stopped_by=stopped,
        running=found.halted.running if found.halted is not None else None,
        warnings=(*result.warnings, *found.warnings),
        seconds=result.seconds + watcher.seconds - began,
        trace=found.trace if trace else None,
        fairness=found.fairness,
        product_states=found.product_states,
        peak_memory_bytes=peak_memory(),
    )


def _decided(definition: Definition, asked: Sequence[TemporalProperty], options: Options, watcher: Watcher) -> Temporal:
    """All properties, on one graph; or on several, if there are more predicates than a state of it has room for."""
    parts = _parts(asked)
    whole = LivenessCheck(definition, parts[0], options, watcher).run()
    for number, part in enumerate(parts[1:], 1):
        explored = whole.explored
        if whole.halted is not None or explored is None or explored.violation is not None:
            why = UNDECIDED if explored is None or explored.violation is None else HANDLER_FAILS
            left = [each for later in parts[number:] for each in later]
            whole.outcomes += [PropertyOutcome(each.name, each.kind, "incomplete", why) for each in left]
            break
        found = LivenessCheck(definition, part, options, watcher).run()
        first = whole if whole.trace is not None or found.trace is None else found
        cut = whole if explored.stop != "finished" else found
        whole = replace(
            first,
            outcomes=[*whole.outcomes, *found.outcomes],
            explored=cut.explored,
            product_states=whole.product_states + found.product_states,
            bounds=tuple(dict.fromkeys((*whole.bounds, *found.bounds))),
            halted=found.halted,
            warnings=[*whole.warnings, *found.warnings],
        )
    return whole


def _parts(asked: Sequence[TemporalProperty]) -> list[list[TemporalProperty]]:
    """In their order, as many at a time as have no more predicates together than one may have."""
    parts: list[list[TemporalProperty]] = []
    known: set[int] = set()
    for each in asked:
        more = {id(prop) for prop in each.predicates.values()}
        if not parts or len(known | more) > MOST_NAMES:
            parts.append([])
            known = set()
        parts[-1].append(each)
        known |= more
    return parts


def without_graph(options: Options) -> str:
    """Why a search with these options decides no temporal property; empty if it may."""
    if not (options.stateless or options.store != "exact" or options.por == "dpor"):
        return ""
    kind = options.store if options.store != "exact" else "dpor" if options.por == "dpor" else "stateless"
    return f"a {kind} search stores no graph, and without one nothing can be said about whole runs"
