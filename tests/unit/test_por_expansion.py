from collections.abc import Callable
from dataclasses import replace

import pytest

from quorate.por import Reduction, ReductionError, Relations
from quorate.por.expansion import Preserve, Visibility

# Groups of two, in each of which the second depends on the first: {a1}, {a1, a2}, {b1}, ...
PAIRS = Relations.from_pairs(
    dependent=[("a1", "a2"), ("b1", "b2"), ("b2", "b1")],
    can_enable=[],
    visible=["b1"],
    deterministic=["a1", "a2", "b1", "b2"],
)
NAMES = ["b1", "b2", "a2", "a1"]


def choices(
    relations: Relations[str], preserve: Preserve, visibility: Visibility = "together", names: list[str] = NAMES
) -> list[set[str]]:
    reduction = Reduction(names, relations, preserve=preserve, visibility=visibility, seed="first")
    return [set(each) for each in reduction.choices(names)]


# --- the choice of the initial transition -------------------------------------------------------------------------


def test_first_takes_the_initial_transitions_in_order() -> None:
    reduction = Reduction(NAMES, PAIRS, preserve="deadlocks", seed="first")
    assert list(reduction.choices(NAMES)) == [{"b1", "b2"}, {"b1", "b2"}, {"a1", "a2"}, {"a1"}]
    assert next(reduction.choices(["a2", "a1"])) == {"a1"}  # {a2, a1} would leave nothing out


def test_a_function_ranks_them() -> None:
    reduction = Reduction(NAMES, PAIRS, preserve="deadlocks", seed=lambda t: (t[1], t[0]))
    assert list(reduction.choices(NAMES)) == [{"a1"}, {"b1", "b2"}, {"a1", "a2"}, {"b1", "b2"}]


def test_smallest_compares_all() -> None:
    reduction = Reduction(NAMES, PAIRS, preserve="deadlocks", seed="smallest")
    assert list(reduction.choices(NAMES)) == [{"a1"}, {"b1", "b2"}, {"a1", "a2"}]
    assert list(reduction.choices(["b1", "b2"])) == []


# --- what is preserved --------------------------------------------------------------------------------------------


def test_deadlocks_do_not_care_for_visibility() -> None:
    assert choices(PAIRS, "deadlocks") == [{"b1", "b2"}, {"b1", "b2"}, {"a1", "a2"}, {"a1"}]
    assert choices(replace(PAIRS, visible=None), "deadlocks") == choices(PAIRS, "deadlocks")


def test_ctl_allows_one_transition_that_is_deterministic_and_invisible() -> None:
    """NB."""
    assert choices(PAIRS, "ctl") == [{"a1"}]
    assert choices(replace(PAIRS, deterministic=lambda t: t != "a1"), "ctl") == []
    assert choices(replace(PAIRS, visible=lambda t: t == "a1"), "ctl") == []


def test_the_thesis_refuses_sets_with_a_visible_transition() -> None:
    assert choices(PAIRS, "invariants", "thesis") == [{"a1", "a2"}, {"a1"}]
    assert choices(PAIRS, "ltl", "thesis") == [{"a1", "a2"}, {"a1"}]


def test_visible_transitions_may_be_in_a_set_if_all_of_them_are() -> None:
    """V: b1 is the only visible one, so {b1, b2} has them all."""
    assert choices(PAIRS, "invariants") == [{"b1", "b2"}, {"b1", "b2"}, {"a1", "a2"}, {"a1"}]
    both = replace(PAIRS, visible=lambda t: t in ("b1", "a1"))
    assert choices(both, "invariants") == [{"b1", "b2", "a1"}] * 2 + [{"b1", "b2", "a1"}]


def test_visible_transitions_that_may_still_come_to_be_enabled_count_too() -> None:
    """v is visible, and `on` can enable w, which is visible as well: whoever puts v first has to put `on` there too."""
    relations = Relations.from_pairs(dependent=[], can_enable=[("on", "w")], visible=["v", "w"])
    reduction = Reduction(["v", "on", "other", "w"], relations, seed="first")
    assert list(reduction.choices(["v", "on", "other"])) == [{"v", "on"}, {"on"}, {"other"}]


def test_ltl_wants_an_invisible_transition_where_one_is_enabled() -> None:
    """I: i depends on v, not the other way round. {v, w} would do for invariants; a run of i for ever would be lost."""
    relations = Relations.from_pairs(dependent=[("v", "i")], can_enable=[], visible=["v", "w"])
    names = ["v", "w", "i"]
    assert choices(relations, "invariants", names=names) == [{"v", "w"}, {"v", "w"}]
    assert choices(relations, "ltl", names=names) == []


def test_together_never_leaves_out_less_than_the_thesis() -> None:
    assert all(each in choices(PAIRS, "invariants") for each in choices(PAIRS, "invariants", "thesis"))
    assert all(each in choices(PAIRS, "ltl") for each in choices(PAIRS, "ltl", "thesis"))


def test_the_path_form_looks_at_what_was_fired() -> None:
    relations = Relations.from_pairs(
        dependent=[("end", "t")], can_enable=[("x", "end"), ("y", "end")], necessary=[("end", "x"), ("end", "y")]
    )
    reduction = Reduction(["t", "x", "y", "end"], relations, preserve="deadlocks", seed=lambda t: t)
    assert list(reduction.choices(["t", "x", "y"], fired=[])) == [{"t", "x"}, {"x"}, {"y"}]
    with pytest.raises(ReductionError, match="the path form needs `fired`"):
        next(reduction.choices(["t", "x", "y"]))
    assert list(reduction.choices(["t", "y"], fired=["x"])) == [{"y"}]


# --- what is refused ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Reduction("ab", PAIRS, preserve="everything"), "preserve='everything' is unknown"),  # type: ignore[arg-type]
        (lambda: Reduction("ab", PAIRS, seed="smalest"), "seed='smalest' is unknown(.|\n)*did you mean `smallest`"),  # type: ignore[arg-type]
        (lambda: Reduction("ab", PAIRS, visibility="none"), "visibility='none' is unknown"),  # type: ignore[arg-type]
        (lambda: Reduction("ab", replace(PAIRS, visible=None)), "preserve='invariants' needs to know .* `visible`"),
        (
            lambda: Reduction("ab", replace(PAIRS, deterministic=None), preserve="ctl"),
            "preserve='ctl' needs to know .* `deterministic`",
        ),
    ],
)
def test_what_is_not_known_is_asked_for(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ReductionError, match=message):
        make()
