# ruff: noqa: RUF015
"""The order in which Python goes through a set of integers depends on them, and here they are not known.

In every system x counts, and the test is true for x = 8: the set {8, 3} begins with 8, and {7, 3} with 3. So the
invariant that it never is does not hold, and no row may be proved.
"""

import itertools
from collections.abc import Iterator
from typing import Any

import pytest

from quorate import Process, System, invariant, prove, step
from quorate.model.define import define
from quorate.proofs.encode import Encoded
from quorate.proofs.induction import Prover
from quorate.proofs.propositions import invariants, obligations
from quorate.proofs.refusal import RefusedError
from quorate.proofs.shims import MOST_ORDERED
from quorate.proofs.solver import Deadline


class Counting(Process):
    x: int = 0
    bad: bool = False

    @step(when=lambda self: True)
    def count(self) -> None:
        self.x += 1
        self.bad = self.bad or (self.x == 8 and self.first() == 8)

    def first(self) -> int:
        return 0


class Trying(System):
    kind = Counting

    def build(self) -> None:
        self.spawn(self.kind)

    @invariant
    def good(self) -> bool:
        return not any(each.bad for each in self[Counting])


def loop(self: Any) -> Any:
    for each in {self.x, 3}:
        return each
    return None


def listed(self: Any) -> Any:
    return list({self.x, 3})[0]


def iterated(self: Any) -> Any:
    return next(iter({self.x, 3}))


def unpacked(self: Any) -> Any:
    one, _ = {self.x, 3}
    return one


def starred(self: Any) -> Any:
    return (lambda one, _: one)(*{self.x, 3})


def displayed(self: Any) -> Any:
    return [*{self.x, 3}][0]


def comprehended(self: Any) -> Any:
    return [each for each in {self.x, 3}][0]  # noqa: C416


def generated(self: Any) -> Any:
    return next(each for each in frozenset((self.x, 3)))


def in_a_dict(self: Any) -> Any:
    return next(iter({each: 1 for each in {self.x, 3}}))  # noqa: C420


def from_keys(self: Any) -> Any:
    return next(iter(dict.fromkeys({self.x, 3})))


def greatest_by(self: Any) -> Any:
    return max({self.x, 3}, key=lambda _: 0)


def sorted_by(self: Any) -> Any:
    return sorted({self.x, 3}, key=lambda _: 0)[0]


def popped(self: Any) -> Any:
    return {self.x, 3}.pop()


def chained(self: Any) -> Any:
    return next(itertools.chain({self.x, 3}))


def zipped(self: Any) -> Any:
    return dict(zip((0, 1), {self.x, 3}, strict=True))[0]


def extended(self: Any) -> Any:
    found: list[int] = []
    found.extend({self.x, 3})
    return found[0]


def added(self: Any) -> Any:
    found: list[int] = []
    found += {self.x, 3}
    return found[0]


def yielded(self: Any) -> Any:
    def each() -> Iterator[int]:
        yield from {self.x} | {3}

    return next(each())


ROWS = [loop, listed, iterated, unpacked, starred, displayed, comprehended, generated, in_a_dict, from_keys,
        greatest_by, sorted_by, popped, chained, zipped, extended, added, yielded]  # fmt: skip


def trying(first: Any) -> type[System]:
    kind = type("Tried", (Counting,), {"first": first, "__module__": __name__, "__annotations__": {}})
    return type("Try", (Trying,), {"kind": kind, "__module__": __name__, "__annotations__": {}})


@pytest.mark.parametrize("first", ROWS, ids=lambda each: each.__name__)
def test_every_order_of_a_set_is_taken(first: Any) -> None:
    encoded = Encoded(define(trying(first)()))
    nodes = Prover(encoded, Deadline(20)).prove([*invariants(encoded, None), *obligations(encoded)], [])
    assert any(node.status != "proved" for node in nodes.values())
    assert prove(trying(first)(), timeout=20).verdict == "refuted"


class OneOfThem(Trying):
    @invariant
    def good(self) -> bool:
        return all(next(iter({each.x, 3})) == 3 for each in self[Counting])


def test_an_invariant_has_to_hold_in_every_order() -> None:
    assert prove(OneOfThem(), timeout=20, discover=False).verdict == "refuted"


class InAnyOrder(Trying):
    @invariant
    def good(self) -> bool:
        return all(
            sum({each.x, -1}) == each.x - 1
            and sorted({each.x, -1})[0] == -1
            and max(one for one in {each.x, -1}) == each.x
            and len({one + 1 for one in {each.x, -1, -2, -3, -4}}) == 5
            for each in self[Counting]
            if each.x >= 0
        )


def test_what_does_not_depend_on_the_order_is_proved() -> None:
    assert prove(InAnyOrder(), timeout=20, discover=False).verdict == "proved"


def five(self: Any) -> Any:
    return list({self.x, -1, -2, -3, -4})[0]


def test_sets_with_too_many_orders_are_refused() -> None:
    assert MOST_ORDERED == 4
    with pytest.raises(RefusedError, match="a set of 5 integers") as refused:
        Encoded(define(trying(five)()))
    assert "sorted" in refused.value.hint
