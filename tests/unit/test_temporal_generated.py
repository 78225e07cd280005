"""Temporal properties of generated protocols, by `check` and by the references: LTL, CTL and CTL*, every level of
fairness, with and without the reductions that keep them. Every lasso is held against the definitions."""

from __future__ import annotations

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from generator import Protocol, protocols
from temporal_generated import compared


@settings(max_examples=10, deadline=None)
@given(protocols(), st.integers(0, 1 << 30))
def test_checks_agree_with_the_references(protocol: Protocol, seed: int) -> None:
    assume(compared(protocol, seed, times=8) is not None)
