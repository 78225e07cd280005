"""Rank: what can be done with it, and what is refused, with the line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from quorate import Message, Pid, Process, QuorateError, Rank, System, check, invariant, on, start
from quorate.language.rank import RankError, rank


def test_ranks_are_ordered() -> None:
    one, two = rank(1), rank(2)
    assert Rank() < one < two
    assert max(one, two, Rank()) == two
    assert min(one, two) == one
    assert one != two
    assert one == rank(1)
    assert len({one, two, rank(1)}) == 2
    assert one != "one"
    assert one is not None


@pytest.mark.parametrize(
    "use",
    [
        lambda r: r + 1,
        lambda r: 1 - r,
        lambda r: r % 2,
        lambda r: int(r),
        lambda r: [0, 1][r],
        lambda r: str(r),
        lambda r: f"{r}",
        lambda r: r == 1,
        lambda r: r < 1,
        lambda r: max(r, 1),
        lambda r: bool(r),
        lambda r: -r,
    ],
)
def test_nothing_else_can_be_done_with_them(use: Callable[[Any], Any]) -> None:
    with pytest.raises(RankError) as refused:
        use(rank(1))
    assert refused.value.code == "Q124"
    assert refused.value.location is not None


def test_a_hash_tells_nothing() -> None:
    assert len({hash(rank(number)) for number in range(9)}) == 1


class Next(Message):
    stamp: Rank


class Counter(Process):
    other: Pid
    stamp: Rank = Rank()
    odd: bool = False

    @start
    def begin(self) -> None:
        self.send(self.other, Next(self.stamp.later()))

    @on(Next)
    def count(self, m: Next) -> None:
        self.stamp = m.stamp
        self.send(self.other, Next(self.later_of(m.stamp)))

    def later_of(self, stamp: Rank) -> Rank:
        return stamp.later()


class Endless(System):
    """One message that goes to and fro for ever, with a higher stamp each time."""

    counter = Counter

    def build(self) -> None:
        pid = self.spawn(type(self).counter, other=None)
        self.connect(pid, other=pid)

    @invariant
    def even(self) -> bool:
        return not any(counter.odd for counter in self[Counter])


def test_a_stamp_that_grows_for_ever_has_few_states() -> None:
    result = check(Endless())
    assert (result.verdict, result.states) == ("holds", 3)
    assert result.reductions["ranks"]["ran"] is True


class Peeping(Counter):
    def later_of(self, stamp: Rank) -> Rank:
        self.odd = repr(stamp) == "rank 4"
        return stamp.later()


class Twice(Counter):
    def later_of(self, stamp: Rank) -> Rank:
        return stamp.later().later()


class Computing(Counter):
    def later_of(self, stamp: Rank) -> Rank:
        return stamp + 1  # type: ignore[operator, return-value]


@pytest.mark.parametrize(
    ("counter", "code", "text"),
    [
        (Peeping, "Q125", "other numbers in the same order"),
        (Twice, "Q125", "twice in one step"),
        (Computing, "Q124", "no number to compute with"),
    ],
)
def test_a_handler_that_can_tell_numbers_is_refused(counter: type[Counter], code: str, text: str) -> None:
    with pytest.raises(QuorateError) as refused:
        check(type("Variant", (Endless,), {"counter": counter})())
    assert refused.value.code == code
    assert text in refused.value.message
    assert refused.value.location is not None


class Bound(System):
    def build(self) -> None:
        pid = self.spawn(Counter, other=None, stamp=Rank().later())
        self.connect(pid, other=pid)


def test_later_is_for_handlers() -> None:
    with pytest.raises(QuorateError, match="outside of the body"):
        check(Bound())


class Late(Counter):
    """Each stamp is sent twice, and one of the two messages stays pending."""

    @on(Next, when=lambda self, m: m.stamp > self.stamp)
    def count(self, m: Next) -> None:
        super().count(m)
        self.send(self.other, Old(m.stamp))


class Old(Next): ...


class Piling(Late):
    @on(Next, when=lambda self, m: m.stamp > self.stamp and not isinstance(m, Old))
    def count(self, m: Next) -> None:
        super().count(m)


def test_too_many_ranks_in_a_state_end_a_check() -> None:
    with pytest.raises(QuorateError, match="too many ranks") as refused:
        check(type("Variant", (Endless,), {"counter": Piling})())
    assert refused.value.code == "Q501"
    assert "bound the channels" in refused.value.hint


@pytest.mark.parametrize("options", [{"por": "lpor"}, {"stateless": True}, {"self_check": True}, {"ltl": "G even"}])
def test_what_cannot_be_combined_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(QuorateError) as refused:
        check(Endless(), **options)
    assert refused.value.code == "Q604"


def test_no_checkpoints_with_ranks(tmp_path: Path) -> None:
    with pytest.raises(QuorateError) as refused:
        check(Endless(), checkpoint=tmp_path / "saved")
    assert refused.value.code == "Q604"
