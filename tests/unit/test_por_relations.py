import pytest

from quorate.por import ReductionError, Relations
from quorate.por.relations import Table, is_transitive


def test_pairs_become_masks() -> None:
    relations = Relations.from_pairs(
        dependent=[("a", "b"), ("c", "b"), ("b", "b")],
        can_enable=[("a", "c")],
        necessary=[("c", "b"), ("b", "a")],
    )
    table = Table("abc", relations)
    assert table.depends_on == [0, 0b101, 0]  # b depends on a and on c, and by convention not on itself
    assert table.enables == [0b100, 0, 0]
    assert table.set(0b101) == {"a", "c"}
    assert table.mask(["c", "a", "a"]) == 0b101
    assert relations.visible is None


def test_what_is_known_of_single_transitions() -> None:
    relations = Relations.from_pairs([], [], visible=["c"], deterministic=["a"])
    assert relations.visible is not None
    assert relations.deterministic is not None
    assert [each for each in "abc" if relations.visible(each)] == ["c"]
    assert [each for each in "abc" if relations.deterministic(each)] == ["a"]


def test_necessity_is_closed_transitively() -> None:
    """Remark after definition 17: if c needs b and b needs a, then c needs a."""
    table = Table("abc", Relations.from_pairs([], [], necessary=[("c", "b"), ("b", "a")]))
    assert table.necessary == [0, 0b001, 0b011]
    assert table.candidates == [0, 0b001, 0b010]  # a guess is left as it was made


@pytest.mark.parametrize(
    ("pairs", "transitive"),
    [
        ([], True),
        ([("a", "b")], True),
        ([("a", "b"), ("b", "a")], True),  # only (a, a) is missing, which a dependency relation never has
        ([("a", "b"), ("b", "c")], False),
        ([("a", "b"), ("b", "c"), ("a", "c")], True),
        ([(x, y) for x in "abc" for y in "abc"], True),
    ],
)
def test_transitive_means_between_distinct_transitions(pairs: list[tuple[str, str]], transitive: bool) -> None:
    assert is_transitive(Table("abc", Relations.from_pairs(pairs, [])).depends_on) is transitive


def test_to_fire_has_to_be_asked_about_something() -> None:
    relations = Relations[str](lambda a, b: False, lambda a, b: False, to_fire=lambda state, a, b: True)
    with pytest.raises(ReductionError, match="would never be asked"):
        Table("abc", relations)


def test_an_unknown_transition_is_refused() -> None:
    with pytest.raises(ReductionError, match="no transition='d'"):
        Table("abc", Relations.from_pairs([], [])).mask(["a", "d"])
