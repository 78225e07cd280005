"""Safe, regular and atomic registers: the verdicts of Attie and Chockler (2006), and the monitors written by hand."""

import pytest

import quorate
from quorate.results.history import calls_of
from storages import Storage


@pytest.mark.parametrize("write_back", [True, False])
@pytest.mark.parametrize("symmetry", ["auto", "none"])
def test_they_agree_with_monitors_written_by_hand(write_back: bool, symmetry: str) -> None:
    result = quorate.check(Storage(write_back=write_back), property="agree", symmetry=symmetry)
    assert result.verdict == "holds", result


@pytest.mark.parametrize(
    ("write_back", "prop", "verdict"),
    [
        (True, "safe", "holds"),
        (True, "regular", "holds"),
        (True, "atomic", "holds"),
        (False, "safe", "holds"),
        (False, "regular", "holds"),
        (False, "atomic", "violated"),
    ],
)
def test_the_second_round_of_a_read_makes_it_atomic(write_back: bool, prop: str, verdict: str) -> None:
    result = quorate.check(Storage(write_back=write_back), property=prop)
    assert result.verdict == verdict, result
    if verdict == "violated":  # a new value, and then the old one
        assert result.trace is not None
        returned = [call for call in calls_of(result.trace) if call.end is not None and "Read" in str(call.operation)]
        assert [call.result for call in returned] == [1, 0]
        assert result.trace.explanation is not None
        assert "no order of the operations explains Read() = 0" in result.trace.explanation.text
