"""Partial-order reduction against the reference explorer, alone and together with the other exact reductions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from generator import Protocol, protocols, system, without_claims
from quorate import System, check, fifo, multiset, unordered
from quorate.language.definition import define
from reference import Exploration, explore
from test_against_reference import MOST_STATES, Recorder, all_names, expect, follow, look_around, sized

COMBINATIONS: list[dict[str, Any]] = [
    {"por": por, "quotient": quotient, "dead_messages": dead, "search": search}
    for por in ("lpor", "lpor-net")
    for quotient, dead in (("off", "off"), ("on", "off"), ("off", "on"), ("on", "on"))
    for search in ("bfs", "dfs")
]

# The networks for which there are relations; on the others the reduction says why it does not run.
networks = st.sampled_from([unordered(), unordered(), multiset(), fifo(), fifo(head="skip"), fifo(head="drop")])


# Every example is checked in sixteen ways.
few = settings(max_examples=max(1, settings().max_examples // 4))


@st.composite
def reducible(draw: st.DrawFn) -> Protocol:
    return draw(protocols())._replace(network=draw(networks), crashes=0)


def compare_verdicts(make: Callable[[], System], found: Exploration) -> None:
    definition = define(make())
    deadlock = definition.final is not None
    names = all_names(definition)
    questions = [[*names, "deadlock"] if deadlock else names, *([name] for name in names)]
    if deadlock:
        questions.append(["deadlock"])
    for asked in questions:
        wanted = expect(definition, found, [name for name in asked if name != "deadlock"], "deadlock" in asked)
        for options in COMBINATIONS:
            result = check(make(), property=asked, **options)
            assert result.verdict == ("violated" if wanted.broken or wanted.missed else "holds"), options
            for run in ([] if result.trace is None else [result.trace]) + list(result.witnesses.values()):
                follow(run)


def compare_observations(known: System) -> None:
    definition = define(known)
    found, sight = look_around(definition)
    stuck = {sight.project(state) for state in sight.stuck}
    seen = {sight.project(state) for state in sight.states}
    for options in COMBINATIONS:
        recorder = Recorder(definition, sight)
        result = check(recorder.attached(), property=("noted", "deadlock"), **options)
        assert result.verdict == "holds"
        assert result.states <= found.states
        same(recorder.seen, seen)
        assert set(recorder.stuck) == stuck, options
        alone = Recorder(definition, sight)
        check(alone.attached(), property="deadlock", **options)
        same(alone.stuck, stuck)


def same(noted: list[bytes], wanted: set[bytes]) -> None:
    """The first evaluation may be void: it reads fields that were not observed before (rule 8)."""
    assert wanted <= set(noted)
    assert set(noted) - wanted <= set(noted[:1])


@few
@given(reducible())
def test_verdicts_on_generated_protocols(protocol: Protocol) -> None:
    protocol = sized(protocol)
    compare_verdicts(lambda: system(protocol), explore(define(system(protocol)), max_states=4 * MOST_STATES))


@few
@given(reducible())
def test_observations_and_deadlocks_on_generated_protocols(protocol: Protocol) -> None:
    compare_observations(system(without_claims(sized(protocol))))
