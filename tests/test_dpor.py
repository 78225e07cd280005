"""Dynamic partial-order reduction against the reference explorer, and against counting traces one run after the other."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from importlib import import_module
from math import factorial
from typing import Any, Literal

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from typer.testing import CliRunner

from generator import Protocol, Role, protocols, system, without_claims
from quorate import (
    Event,
    Message,
    Monitor,
    Peers,
    Pid,
    Process,
    Result,
    System,
    check,
    crashes,
    fifo,
    final,
    invariant,
    multiset,
    on,
    quorum,
    start,
    step,
    unordered,
)  # fmt: skip
from quorate.cli.main import app
from quorate.language.definition import Definition, define
from quorate.language.errors import QuorateError
from quorate.language.values import encode
from quorate.protocols import CATALOGUE
from quorate.protocols.faulty_paxos import FaultyPaxos
from quorate.protocols.paxos import Paxos
from quorate.semantics import State, Step, initial_states, steps
from reference import Exploration, explore
from small_instances import SMALL, small
from test_against_reference import Recorder, all_names, expect, fitted, follow, look_around

Variant = Literal["optimal", "classical"]
VARIANTS: tuple[Variant, ...] = ("optimal", "classical")
PLAIN: dict[str, Any] = {"quotient": "off", "dead_messages": "off"}
COMBINATIONS: list[dict[str, Any]] = [
    {"por": "dpor", "dpor_variant": variant, "max_states": 20_000, **reductions}
    for variant in VARIANTS
    for reductions in (PLAIN, {})
]
MOST_STATES = 250

networks = st.sampled_from(
    [unordered(), unordered(), multiset(), fifo(), fifo(head="skip"), fifo(head="drop"), unordered(duplicates="any")]
)


def without_maximal(role: Role) -> Role:
    rules = [rule._replace(kind="minimal") if rule.kind == "maximal" else rule for rule in role.rules]
    return role._replace(rules=tuple(rules))


@st.composite
def reducible(draw: st.DrawFn) -> Protocol:
    """With what is reduced alone, and with few enough states for all their orders to be tried."""
    protocol = draw(protocols())._replace(network=draw(networks), crashes=0)
    smaller = fitted(protocol._replace(roles=tuple(map(without_maximal, protocol.roles))), MOST_STATES)
    assume(smaller is not None)
    assert smaller is not None
    return smaller


def ran(result: Result) -> bool:
    """Whether the reduction ran to the end."""
    return bool(result.reductions["por"]["ran"]) and result.stopped_by is None


def is_cyclic(definition: Definition) -> bool:
    """Whether some run comes back to a state it has been in."""
    after: dict[State, list[State]] = {}

    def visit(state: State, _: int, here: tuple[Step, ...]) -> None:
        after[state] = [each.next for each in here if each.next is not None]

    explore(definition, visit=visit)
    left = {state: set(following) for state, following in after.items()}
    while ended := [state for state, following in left.items() if not following & left.keys()]:
        for state in ended:
            del left[state]
    return bool(left)


# --- against the reference explorer -------------------------------------------------------------------------------


def compare_verdicts(make: Callable[[], System], found: Exploration) -> None:
    definition = define(make())
    names = all_names(definition)
    deadlock = ["deadlock"] if definition.final is not None else []
    failing = {{"assertion": "assertions", "exception": "exceptions"}[each.kind] for each in found.failures}
    for asked in ([*names, *deadlock], *([name] for name in [*names, *deadlock])):
        wanted = expect(definition, found, [name for name in asked if name != "deadlock"], "deadlock" in asked)
        for options in COMBINATIONS:
            result = check(make(), property=asked, **options)
            if result.stopped_by == "cycle":
                assert is_cyclic(definition)
            if result.stopped_by is None:
                assert result.verdict == ("violated" if wanted.broken or wanted.missed else "holds"), (asked, options)
            if result.trace is not None:
                assert result.property in ({*asked} & {*found.violations}) | failing
            for run in ([] if result.trace is None else [result.trace]) + list(result.witnesses.values()):
                follow(run)


def compare_observations(known: System) -> None:
    definition = define(known)
    _, sight = look_around(definition)
    stuck = {sight.project(state) for state in sight.stuck}
    seen = {sight.project(state) for state in sight.states}
    for options in COMBINATIONS:
        recorder, alone = Recorder(definition, sight), Recorder(definition, sight)
        for noting, asked in ((recorder, ("noted", "deadlock")), (alone, ("deadlock",))):
            result = check(noting.attached(), property=asked, **options)
            if result.stopped_by is None:
                # The first evaluation may be void: it reads fields that were not observed before (rule 8).
                if "noted" in asked:
                    assert seen <= set(noting.seen), options
                    assert set(noting.seen[1:]) <= seen, options
                assert stuck <= set(noting.stuck), options
                assert set(noting.stuck[1:]) <= stuck, options


@given(reducible())
def test_verdicts_on_generated_protocols(protocol: Protocol) -> None:
    compare_verdicts(lambda: system(protocol), explore(define(system(protocol))))


@given(reducible())
def test_observations_and_deadlocks_on_generated_protocols(protocol: Protocol) -> None:
    compare_observations(system(without_claims(protocol)))


@given(protocols())
def test_verdicts_on_generated_protocols_of_any_network(protocol: Protocol) -> None:
    smaller = fitted(protocol, MOST_STATES)
    assume(smaller is not None)
    assert smaller is not None
    compare_verdicts(lambda: system(smaller), explore(define(system(smaller))))


@pytest.mark.parametrize("name", SMALL)
def test_bundled_protocols(name: str) -> None:
    found = explore(define(small(name)))
    compare_verdicts(lambda: small(name), found)
    if not found.failures:
        compare_observations(small(name))


# --- against all runs ---------------------------------------------------------------------------------------------


def feeds(sender: Step, receiver: Step) -> bool:
    sent = [] if sender.outcome is None else sender.outcome.sends
    consumed = [encode(message) for message in receiver.consumed]
    return any(column == receiver.column and encode(message) in consumed for column, message in sent)


def emits(definition: Definition, done: Step) -> bool:
    events = () if done.outcome is None else done.outcome.events
    reactions = [each for monitor in definition.monitors for each in definition.transitions(monitor)]
    return any(reaction.takes(event) for reaction in reactions for event in events)


def dependent(definition: Definition, one: Step, two: Step) -> bool:
    """As in dpor.hpp, for deadlocks alone."""
    if one.column == two.column or (emits(definition, one) and emits(definition, two)):
        return True
    return feeds(one, two) or feeds(two, one)


def trace_of(definition: Definition, run: list[Step]) -> tuple[tuple[bytes, ...], ...]:
    """The normal form of Cartier and Foata: what can come first, what can come then, and so on."""
    levels: list[int] = []
    form: dict[int, list[bytes]] = {}
    for number, each in enumerate(run):
        before = [levels[at] for at in range(number) if dependent(definition, run[at], each)]
        levels.append(1 + max(before, default=0))
        choices = () if each.outcome is None else each.outcome.choices
        label = (each.kind, each.column, str(each.transition), each.consumed, tuple(map(encode, choices)))
        form.setdefault(levels[-1], []).append(encode(label))
    return tuple(tuple(sorted(form[level])) for level in sorted(form))


def count_traces(definition: Definition) -> int:
    """How many maximal traces there are; runs from different initial states are different."""
    return sum(
        len({trace_of(definition, run) for run in runs_from(definition, state)}) for state in initial_states(definition)
    )


def runs_from(definition: Definition, initial: State) -> Iterator[list[Step]]:
    stack: list[tuple[list[Step], State]] = [([], initial)]
    while stack:
        run, state = stack.pop()
        here = [(each, each.next) for each in steps(definition, state) if each.next is not None]
        stack += [([*run, each], after) for each, after in here]
        if not here:
            yield run


def executions(made: System, variant: Variant = "optimal", **options: Any) -> int:
    result = check(made, property="deadlock", por="dpor", dpor_variant=variant, trace=False, **options)
    assert result.stopped_by is None
    assert result.reductions["por"]["ran"], result.reductions["por"]["why"]
    assert "given_up" not in result.reductions["por"]
    count: int = result.reductions["por"]["executions"]
    return count


def compare_counts(made: System) -> None:
    definition = define(made)
    every = check(made, property="assertions", stateless=True, max_states=3_000, **PLAIN)
    assume(every.stopped_by is None)
    found = check(made, property="assertions", por="dpor", max_states=3_000, **PLAIN)
    assume(found.stopped_by is None and found.reductions["por"]["ran"])
    assert found.reductions["por"]["executions"] == count_traces(definition)
    assert "given_up" not in found.reductions["por"]
    classical = check(made, property="assertions", por="dpor", dpor_variant="classical", **PLAIN)
    assert found.states <= every.states
    assert classical.states <= every.states
    assert found.reductions["por"]["executions"] <= classical.reductions["por"]["executions"]


@given(reducible())
def test_every_trace_is_run_once(protocol: Protocol) -> None:
    made = system(without_claims(protocol))
    assume(not is_cyclic(define(made)))
    compare_counts(made)
