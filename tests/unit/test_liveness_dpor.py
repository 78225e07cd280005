"""Temporal properties, where dynamic partial-order reduction was asked for."""

from quorate import check
from quorate.model.target import load


def test_a_dynamic_reduction_that_is_left_out_is_no_reason() -> None:
    found = check(load("saga"), por="dpor")
    assert found.reductions["por"]["ran"] is False
    assert found.verdict == "holds"
    assert found.states == check(load("saga")).states
