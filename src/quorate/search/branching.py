"""CTL and CTL* over a stored graph: questions about states, innermost first."""

from __future__ import annotations

from collections.abc import Mapping

from quorate._core import StateSet
from quorate.native.temporal import TemporalGraph
from quorate.properties.temporal.branching import Kind, plan
from quorate.properties.temporal.fairness import Fairness
from quorate.properties.temporal.formula import Formula, Op, names
from quorate.properties.temporal.translate import translate


def decide_branching(
    graph: TemporalGraph,
    formula: Formula,
    atoms: Mapping[str, StateSet],
    fairness: Fairness,
    seconds: float | None,
    *,
    is_open: bool,
) -> bool | None:
    """Whether a formula about states holds in every initial state; None if a bound or a limit leaves that open.

    `atoms`: where each predicate holds. `is_open`: steps were cut, so that there may be more runs.
    """
    asked = plan(formula)
    known = dict(atoms)
    everything = graph.native.everything()
    unsure = False
    for question in asked.questions:
        if question.kind is Kind.PATH:
            over = names(question.formulas[0])
            automaton = translate(question.formulas[0], over).within_limits()
            states, here = graph.exists(automaton, [known[name] for name in over], fairness, seconds)
        elif question.kind is Kind.GLOBALLY:
            states, here = graph.always(_states(question.formulas[0], known, everything), fairness, seconds)
        else:
            left, right = (_states(each, known, everything) for each in question.formulas)
            states, here = graph.native.until(left, right), is_open
        known[question.name] = states
        unsure = unsure or here
    wrong = graph.native.initial() & ~_states(asked.answer, known, everything)
    # Beyond a bound there may be more runs, so states may be missing from what "some run" is true of.
    sure = asked.grows if len(wrong) == 0 else asked.shrinks
    return None if unsure and not sure else len(wrong) == 0


def _states(formula: Formula, known: Mapping[str, StateSet], everything: StateSet) -> StateSet:
    """Where a formula without temporal operators holds."""
    parts = [_states(part, known, everything) for part in formula.parts]
    match formula.op:
        case Op.TRUE:
            return everything
        case Op.FALSE:
            return ~everything
        case Op.NAME:
            return known[formula.name]
        case Op.NOT:
            return ~parts[0]
        case Op.IMPLIES:
            return ~parts[0] | parts[1]
        case Op.IFF:
            return (parts[0] & parts[1]) | (~parts[0] & ~parts[1])
        case Op.AND | Op.OR:
            result = parts[0]
            for part in parts[1:]:
                result = result & part if formula.op is Op.AND else result | part
            return result
    raise AssertionError(formula)
