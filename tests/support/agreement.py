"""The native search against the reference explorer on one small system, in any environment."""

from __future__ import annotations

from typing import Any

from quorate import Result, System, check
from quorate.model.define import define
from quorate.model.environment import Environment
from reference import Exploration, explore

PLAIN: dict[str, Any] = {"quotient": "off", "dead_messages": "off", "symmetry": "none"}


def agree(system: System, **environment: Any) -> Exploration:
    """Counts, verdicts and lengths of shortest violations, without reductions; verdicts with them. What was found."""
    definition = define(system, Environment(**environment))
    found = explore(definition)
    assert found.failures == {}, "meant for systems whose handlers do not fail"
    names = [each.name for each in definition.properties]
    deadlock = ["deadlock"] if definition.final is not None else []
    # Without a property the search goes to the end, so the figures are those of the whole system.
    whole = check(system, property="assertions", **PLAIN, **environment)
    assert _figures(whole) == (found.states, found.transitions, found.depth, len(found.deadlocks))
    for name in (*names, *deadlock):
        wanted = name in found.violations or (name in {each.name for each in definition.cans} - set(found.witnesses))
        for options in (PLAIN, {}, {"search": "dfs"}):
            result = check(system, property=name, **options, **environment)
            assert result.verdict == ("violated" if wanted else "holds"), (name, options)
            if result.trace is not None and "search" not in options:
                assert len(result.trace) == found.violations[name]
    return found


def _figures(result: Result) -> tuple[int, int, int, int]:
    return result.states, result.transitions, result.depth, result.deadlocks
