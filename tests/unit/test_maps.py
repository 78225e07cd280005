import pickle

import pytest

from quorate import Map


def test_it_is_a_mapping_in_content_order() -> None:
    table = Map({"b": 2, "a": 1}) | {"c": 3}
    assert list(table) == ["a", "b", "c"]
    assert list(table.items()) == [("a", 1), ("b", 2), ("c", 3)]
    assert table["b"] == 2
    assert table.get("z", 0) == 0
    assert len(table) == 3
    assert "a" in table
    assert table.without("a", "z") == Map({"b": 2, "c": 3})


def test_updating_makes_a_new_map() -> None:
    table = Map({1: "x"})
    assert (table | {1: "y"})[1] == "y"
    assert table[1] == "x"
    with pytest.raises(TypeError):
        table[1] = "z"  # type: ignore[index]
    with pytest.raises(AttributeError, match="immutable"):
        table._items = {}


def test_it_can_be_a_key() -> None:
    assert {Map({1: 2}): "found"}[Map({1: 2})] == "found"
    assert Map({1: 2}) != {1: 2}
    assert Map([(1, 2)]) == Map({1: 2})
    assert pickle.loads(pickle.dumps(Map({1: 2}))) == Map({1: 2})
    assert repr(Map({1: 2})) == "Map({1: 2})"


def test_only_mappings_are_joined() -> None:
    with pytest.raises(TypeError):
        Map({1: 2}) | [(1, 3)]  # type: ignore[operator]
