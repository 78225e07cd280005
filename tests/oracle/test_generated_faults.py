"""Fault models on generated protocols: the native search against the reference, and the theorems against all runs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import assume, given, note, settings
from hypothesis import strategies as st

from agreement import agree
from generator import Protocol, fitted, protocols, system, without_claims
from observations import difference
from quorate import check
from quorate.base.errors import QuorateError
from quorate.model.define import define
from quorate.model.environment import Environment

# Each example is explored several times, with more states than it has by itself.
few = settings(max_examples=max(1, settings().max_examples // 4))
MOST_STATES = 150


@st.composite
def small(draw: st.DrawFn, /, **changes: Any) -> Protocol:
    protocol = without_claims(draw(protocols()))._replace(crashes=0)
    network = replace(protocol.network, **changes) if changes else protocol.network
    found = fitted(protocol._replace(network=network), MOST_STATES)
    assume(found is not None)
    assert found is not None
    note(repr(found))
    return found


def size(protocol: Protocol, environment: Environment) -> int:
    """States, or a large number if the environment makes them too many."""
    most = 3_000
    result = check(
        system(protocol),
        property=(),
        quotient="off",
        dead_messages="off",
        symmetry="none",
        max_states=most,
        **environment.to_json(),
    )
    return most if result.stopped_by is not None else result.states


@few
@given(small())
def test_explicit_crashes(protocol: Protocol) -> None:
    """Counts and verdicts agree; and where implicit crashes are not refused, the observations are the same."""
    explicit = Environment("explicit", 1)
    assume(size(protocol, explicit) < 1_500)
    agree(system(protocol), crash="explicit", crashes=1)
    try:
        check(system(protocol), property=(), crash="implicit")
    except QuorateError:
        return
    assert difference(define(system(protocol)), define(system(protocol), explicit)) == ((), ())


@few
@given(small(capacity=None, full="block"), st.sampled_from(["grm", "rm"]))
def test_delivery_events(protocol: Protocol, model: Any) -> None:
    """Counts and verdicts agree; all that single buffers show is shown."""
    environment = Environment(network_model=model)
    try:
        states = size(protocol, environment)
    except QuorateError:
        return  # clean channels are not defined for this protocol
    assume(states < 1_500)
    agree(system(protocol), network_model=model)
    more, missing = difference(define(system(protocol), environment), define(system(protocol)))
    greedy = any(rule.kind == "maximal" for role in protocol.roles for rule in role.rules)
    assert not missing or greedy
    # In a set a message that is sent again while it is pending is none; with two buffers it may be (lemma 2).
    assert not more or greedy or protocol.network.kind == "set"
