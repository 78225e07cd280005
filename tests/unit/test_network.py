from typing import Any

import pytest

from quorate import ModelError, Process, crashes, fifo, multiset, unordered
from quorate.language.faults import Faults
from quorate.language.network import Network
from support import here


def test_the_default_is_an_unordered_set_without_faults() -> None:
    assert unordered() == Network("set", None, "block", 0, 0, "block")
    assert multiset(losses=2).kind == "multiset"
    assert fifo(capacity=2, full="replace", head="skip").capacity == 2


def test_networks_are_shown_as_they_are_written() -> None:
    assert str(unordered()) == "unordered()"
    assert str(fifo(losses=1, lost="head")) == "fifo(losses=1, lost='head')"
    assert str(multiset(losses="any", duplicates=2)) == "multiset(losses='any', duplicates=2)"
    assert str(fifo(capacity=2, head="drop")) == "fifo(capacity=2, full='block', head='drop')"


@pytest.mark.parametrize(
    ("make", "options", "what", "why"),
    [
        (fifo, {"duplicates": "any"}, "fifo with duplicates='any'", "no finite content"),
        (unordered, {"full": "replace", "capacity": 2}, "full='replace' on an unordered network", "no oldest message"),
        (multiset, {"full": "replace", "capacity": 3}, "full='replace' on an unordered network", "use capacity=1"),
        (fifo, {"full": "replace"}, "full='replace' without a capacity", "capacity=1"),
        (unordered, {"capacity": 0}, "capacity=0", "1 or more"),
        (unordered, {"capacity": True}, "capacity=True", "1 or more"),
        (fifo, {"lost": "head"}, "lost='head' without losses", "fifo(losses=1, lost='head')"),
        (fifo, {"lost": "tail", "losses": 1}, "lost='tail'", "'anywhere', 'head'"),
        (unordered, {"losses": -1}, "losses=-1", "0 or more, or 'any'"),
        (unordered, {"duplicates": "some"}, "duplicates='some'", "0 or more, or 'any'"),
        (unordered, {"full": "drop"}, "full='drop'", "one of 'block', 'replace'"),
        (fifo, {"head": "wait"}, "head='wait'", "one of 'block', 'skip', 'drop'"),
    ],
)
def test_what_makes_no_sense_is_refused_with_the_reason(
    make: Any, options: dict[str, Any], what: str, why: str
) -> None:
    with pytest.raises(ModelError) as caught:
        make(**options)  # here: make
    assert caught.value.code == "Q111"
    assert what in caught.value.message
    assert why in caught.value.hint
    assert caught.value.location == here("make")


class Server(Process): ...


def test_crashes() -> None:
    assert crashes(1) == Faults(1, None)
    assert crashes(1, of=Server) == crashes(1, of=[Server]) == Faults(1, (Server,))
    with pytest.raises(ModelError, match="crashes\\(-1\\)"):
        crashes(-1)
    with pytest.raises(ModelError, match="name process classes"):
        crashes(1, of=["Server"])  # type: ignore[list-item]
