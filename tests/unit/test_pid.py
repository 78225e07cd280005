import operator
from collections.abc import Callable
from typing import Any

import pytest

from quorate import Peers, Pid
from quorate.base.errors import IdentityError, ModelError

one, two = Pid(0, "server1"), Pid(1, "server2")


def test_identities_are_names() -> None:
    assert str(one) == repr(one) == "server1"
    assert one == Pid(0, "server1")
    assert one != two
    assert {one: 1}[Pid(0, "server1")] == 1
    assert one != 0


@pytest.mark.parametrize("operation", [operator.lt, operator.le, operator.gt, operator.add, operator.sub, operator.mod])
def test_identities_cannot_be_computed_with(operation: Callable[[Any, Any], Any]) -> None:
    for other in (two, 1):
        with pytest.raises(TypeError) as caught:
            operation(one, other)
        assert isinstance(caught.value, IdentityError)
        assert isinstance(caught.value, ModelError)
        assert caught.value.code == "Q113"
        assert "server1 is the identity of a process, not a number" in caught.value.message
        assert "give processes that differ a field of their own" in caught.value.hint
        assert caught.value.location is not None
        assert caught.value.location.file == __file__


@pytest.mark.parametrize("conversion", [int, float, operator.index, sorted])
def test_identities_are_no_numbers(conversion: Callable[[Any], Any]) -> None:
    with pytest.raises(TypeError):
        conversion([one, two] if conversion is sorted else one)


def test_peers_iterate_in_the_order_of_spawning() -> None:
    many = [Pid(index, f"p{index + 1}") for index in range(300)]
    assert list(Peers(reversed(many))) == many
