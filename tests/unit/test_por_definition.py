import pytest

from quorate.por import Breach, ReductionError, TransitionSystem, breaches


def test_commuting_transitions_can_be_explored_alone() -> None:
    square = TransitionSystem.from_edges([0], [(0, "a", 1), (0, "b", 2), (1, "b", 3), (2, "a", 3)])
    for chosen in [{"a"}, {"b"}, {"a", "b"}]:
        assert breaches(square, 0, chosen) == []


def test_d1_an_order_that_cannot_be_changed() -> None:
    corner = TransitionSystem.from_edges([0], [(0, "a", 1), (0, "b", 2), (1, "b", 3), (2, "a", 4)])
    assert breaches(corner, 0, {"a"}) == [Breach("D1", "a", ("b",)), Breach("commutes", "a", ("b",))]


def test_d1_a_disabled_transition_that_may_come_to_be_enabled() -> None:
    later = TransitionSystem.from_edges([0], [(0, "a", 1), (0, "b", 2), (1, "b", 3), (2, "a", 3), (2, "c", 5)])
    assert Breach("D1", "c", ("b",)) in breaches(later, 0, {"a", "c"})


def test_d2_a_key_transition() -> None:
    conflict = TransitionSystem.from_edges([0], [(0, "a", 1), (0, "b", 2)])
    found = breaches(conflict, 0, {"a"})
    assert Breach("D2", None, ()) in found
    assert Breach("strong", "a", ("b",)) in found
    assert Breach("D2", None, ()) in breaches(conflict, 0, set())
    assert breaches(conflict, 1, set()) == []  # nothing is asked in a deadlock


def test_a_weak_stubborn_set_is_not_strong() -> None:
    """c disables b; a stays. The set {a, b} is stubborn, with a as key, but b is none."""
    weak = TransitionSystem.from_edges(
        [0],
        [(0, "a", 1), (0, "b", 2), (0, "c", 3), (1, "b", 4), (2, "a", 4), (1, "c", 5), (3, "a", 5)],
    )
    assert {each.condition for each in breaches(weak, 0, {"a", "b"})} == {"strong", "commutes"}


def test_long_sequences_count() -> None:
    """Only after b five times does a go elsewhere."""
    edges = [(i, "b", i + 1) for i in range(5)] + [(10 + i, "b", 11 + i) for i in range(5)]
    edges += [(i, "a", 10 + i) for i in range(5)] + [(5, "a", 99)]
    assert Breach("D1", "a", ("b",) * 5) in breaches(TransitionSystem.from_edges([0], edges), 0, {"a"})


def test_d3_an_infinite_run_that_is_cut_off() -> None:
    """b goes round for ever, but not once a was executed. With finitely many outcomes that breaks D1 too."""
    cut = TransitionSystem.from_edges([0], [(0, "b", 0), (0, "a", 1)])
    assert {each.condition for each in breaches(cut, 0, {"a"})} == {"D1", "D3", "commutes"}


def test_d3_is_about_key_transitions() -> None:
    """c is disabled for good; the set lacks a key transition, and nothing else can be said against it."""
    system = TransitionSystem.from_edges([0], [(0, "b", 0), (1, "c", 1)])
    assert breaches(system, 0, {"c"}) == [Breach("D2", None, ())]


def test_the_budget() -> None:
    endless = TransitionSystem(["up", "stay"], [0], lambda state, t: [state + (t == "up")])
    with pytest.raises(ReductionError, match="more than 50 states"):
        breaches(endless, 0, {"stay"}, budget=50)
