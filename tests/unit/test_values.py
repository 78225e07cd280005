import enum
import os
import subprocess
import sys
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quorate import Map, Message, Peers, Pid
from quorate.base.values import BadValueError, ContentSet, encode, freeze, show


class Colour(enum.Enum):
    RED = "r"
    BLUE = "b"


class Rights(enum.Flag):
    READ = 1
    WRITE = 2


class Level(enum.IntEnum):
    LOW = 1


class Vote(NamedTuple):
    ballot: int
    value: int


class Other(NamedTuple):
    ballot: int
    value: int


@dataclass(frozen=True)
class Point:
    x: int
    tags: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Slotted:
    items: tuple[Any, ...]


@dataclass
class Loose:
    x: int


class Hello(Message):
    text: str


one, two = Pid(0, "server1"), Pid(1, "server2")

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=20)
    | st.binary(max_size=20)
    | st.sampled_from([*Colour, one, two, Rights.READ, Rights.READ | Rights.WRITE, Level.LOW]),
    lambda inner: (
        st.lists(inner, max_size=4).map(tuple)
        | st.builds(Vote, inner, inner)
        | st.builds(Hello, inner)
        | st.builds(Slotted, st.tuples(inner))
        | st.frozensets(inner, max_size=4)
        | st.dictionaries(inner, inner, max_size=3).map(Map)
    ),
    max_leaves=8,
)


def typed(value: object) -> object:
    """A second opinion on which values are the same: nested tuples that carry the types."""
    if isinstance(value, frozenset):
        return ("set", frozenset(typed(item) for item in value))
    if isinstance(value, Map):
        return ("map", frozenset((typed(key), typed(item)) for key, item in value.items()))
    if isinstance(value, Hello):
        return (Hello, typed(value.text))
    if isinstance(value, Slotted):
        return (Slotted, typed(value.items))
    if isinstance(value, tuple):
        return (type(value), tuple(typed(item) for item in value))
    return (type(value), value)


@given(values, values)
def test_encodings_are_equal_exactly_for_values_that_are_the_same(a: object, b: object) -> None:
    assert (encode(a) == encode(b)) == (typed(a) == typed(b))


@given(values)
def test_freezing_changes_neither_the_encoding_nor_the_value(value: object) -> None:
    frozen = freeze(value)
    assert encode(frozen) == encode(value)
    assert typed(frozen) == typed(value)
    assert freeze(frozen) is frozen or not isinstance(frozen, frozenset)


@given(st.integers(), st.integers())
def test_integers_are_ordered_as_numbers(a: int, b: int) -> None:
    assert (encode(a) < encode(b)) == (a < b)


@pytest.mark.parametrize("exponent", [8, 64, 895, 896, 897, 5000])
def test_large_integers_are_ordered_as_numbers(exponent: int) -> None:
    big = 1 << exponent
    numbers = [-big - 1, -big, 1 - big, -1, 0, 1, big - 1, big, big + 1]
    codes = [encode(number) for number in numbers]
    assert codes == sorted(set(codes))


@given(st.text(), st.text())
def test_strings_are_ordered_as_their_code_points(a: str, b: str) -> None:
    assert (encode(a) < encode(b)) == (a.encode("utf-8", "surrogatepass") < b.encode("utf-8", "surrogatepass"))


def test_a_shorter_tuple_comes_before_a_longer_one() -> None:
    assert encode(()) < encode((1,)) < encode((1, 0)) < encode((2,))


def test_types_are_told_apart() -> None:
    alike: list[object] = [True, 1, "1", b"1", (1,), frozenset({1}), Level.LOW, Vote(1, 1), Other(1, 1), (1, 1)]
    assert len({encode(value) for value in alike}) == len(alike)


def test_classes_of_one_name_are_told_apart() -> None:
    def make() -> type:
        class Pair(NamedTuple):
            a: int

        return Pair

    first, second = make(), make()
    assert encode(first(1)) != encode(second(1))


def test_a_set_of_identities_is_the_same_value_however_it_was_made() -> None:
    assert encode(Peers([one, two])) == encode(frozenset([two, one])) == encode(ContentSet([one, two]))


def test_the_encoding_does_not_depend_on_the_hash_seed() -> None:
    script = (
        "from quorate.base.values import *\n"
        "value = freeze(frozenset({'a', 'bc', ('d', frozenset({'e', 'f'}))}))\n"
        "print(encode(value).hex(), list(value), [x for x in value | {'zz', 'k'}])"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "2", "3")
    }
    assert len(outputs) == 1


class TestContentSet:
    def test_it_iterates_by_content(self) -> None:
        assert list(freeze(frozenset([10, 2, 33, 1]))) == [1, 2, 10, 33]

    def test_operations_stay_in_content_order(self) -> None:
        items = freeze(frozenset(["b", "a", "c"]))
        for result in (
            items | {"d"},
            items & {"a", "c"},
            items - {"a"},
            items ^ {"a", "z"},
            items.union(["y"]),
            items.intersection(["b"]),
            items.difference(["b"]),
            items.symmetric_difference(["b", "q"]),
            frozenset(["x"]) | items,
        ):
            assert isinstance(result, ContentSet)
            assert list(result) == sorted(result)

    def test_peers_stay_peers(self) -> None:
        assert type(Peers([one, two]) - {one}) is Peers
        assert Peers([one, two]) - {one} == Peers([two])

    def test_it_equals_a_frozenset(self) -> None:
        assert freeze(frozenset({1, 2})) == frozenset({1, 2})
        assert hash(freeze(frozenset({1, 2}))) == hash(frozenset({1, 2}))
        assert repr(freeze(frozenset({2, 1}))) == "frozenset({1, 2})"
        assert repr(ContentSet()) == "frozenset()"

    def test_nested_sets_are_ordered_too(self) -> None:
        frozen = freeze(Point(1, frozenset(["b", "a"])))
        assert list(frozen.tags) == ["a", "b"]
        assert isinstance(frozen, Point)
        (inner,) = freeze((frozenset(["b", "a"]),))
        assert list(inner) == ["a", "b"]


@pytest.mark.parametrize(
    ("value", "advice"),
    [
        ([1], "use a tuple"),
        ({1}, "use a frozenset"),
        ({1: 2}, "use quorate.Map"),
        (1.5, "use int"),
        (bytearray(b"x"), "use bytes"),
        (range(3), "tuple(range(...))"),
        (lambda: 1, "not code"),
        (int, "instead of a class"),
        (Loose(1), "@dataclass(frozen=True) class Loose"),
        (object(), "use int, bool, str"),
        ((1, [2]), "use a tuple"),
        (frozenset({(1, 2.0)}), "use int"),
        (Slotted(([1],)), "use a tuple"),
        (Map({1: [1]}), "use a tuple"),
        (Hello([1]), "use a tuple"),  # type: ignore[arg-type]
        (type("Term", (int,), {})(3), "use a plain int instead of the subclass Term"),
    ],
)
def test_what_no_state_may_hold_is_refused_with_advice(value: object, advice: str) -> None:
    with pytest.raises(BadValueError) as caught:
        freeze(value)
    assert advice in caught.value.advice


def test_values_are_shown_as_a_person_writes_them() -> None:
    assert show(Vote(1, 2)) == "Vote(ballot=1, value=2)"
    assert show(frozenset({10, 2})) == "{2, 10}"
    assert show(Peers([two, one])) == "{server1, server2}"
    assert show(Map({"b": 1, "a": (1,)})) == "{'a': (1,), 'b': 1}"
    assert show(Colour.RED) == "Colour.RED"
    assert show((None, True, Hello("x"))) == "(None, True, Hello(text='x'))"
    assert show([1]) == "[1]"
