import pickle
from collections.abc import Callable
from typing import Any

import pytest

from quorate import Map
from quorate.base.errors import ModelError


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
    with pytest.raises(AttributeError, match="immutable"):
        table._items = {}


def test_what_would_change_it_says_how_to_write_it() -> None:
    table: Any = Map({1: "x"})

    def assign() -> None:
        table[1] = "z"

    def delete() -> None:
        del table[1]

    attempts: dict[Callable[[], Any], str] = {
        assign: "m = m | {1: 'z'}",
        delete: "m = m.without(1)",
        lambda: table.update({2: "y"}): "m = m | {key: value}",
        lambda: table.setdefault(2, "y"): "m = {2: ...} | m",
        lambda: table.pop(1): "m = m.without(1)",
        lambda: table.clear(): "m = Map()",
    }
    for attempt, instead in attempts.items():
        with pytest.raises(ModelError, match="cannot be changed") as refused:
            attempt()
        assert refused.value.code == "Q103"
        assert instead in str(refused.value)
    assert {2: "y", 1: "z"} | table == Map({1: "x", 2: "y"})


def test_it_can_be_a_key() -> None:
    assert {Map({1: 2}): "found"}[Map({1: 2})] == "found"
    assert Map({1: 2}) != {1: 2}
    assert Map([(1, 2)]) == Map({1: 2})
    assert pickle.loads(pickle.dumps(Map({1: 2}))) == Map({1: 2})
    assert repr(Map({1: 2})) == "Map({1: 2})"


def test_only_mappings_are_joined() -> None:
    with pytest.raises(TypeError):
        Map({1: 2}) | [(1, 3)]  # type: ignore[operator]


@pytest.mark.parametrize("name", ["set", "add", "remove", "assoc"])
def test_methods_of_other_maps_say_how_to_write_it(name: str) -> None:
    with pytest.raises(ModelError, match=f"m.{name}: a Map has no such method") as refused:
        getattr(Map({1: "x"}), name)
    assert refused.value.code == "Q103"
    assert "m = m | {key: value}" in refused.value.hint
    assert not hasattr(Map(), name)
