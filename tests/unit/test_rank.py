"""Rank: what can be done with it, and what is refused, with the line."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from quorate import Message, Pid, Process, QuorateError, Rank, System, check, invariant, ltl, on, start
from quorate.language.rank import RankError, number_of, rank


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
        lambda r: abs(r),
        lambda r: round(r),
        lambda r: divmod(r, 2),
        lambda r: r >> 1,
        lambda r: 2**r,
        lambda r: ~r,
        lambda r: 3 in (r, 3),
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
    assert result.reductions["ranks"]["exact"] is True
    assert "exact: one state" in " ".join(str(result).split())


class Behind(Counter):
    """Goes on from an older stamp than the one it has."""

    def later_of(self, stamp: Rank) -> Rank:
        return Rank().later() if stamp > Rank() else stamp.later()


class Drops(Counter):
    """Compares the new one with the one it has, and keeps neither."""

    def later_of(self, stamp: Rank) -> Rank:
        self.odd = Rank().later() < stamp
        self.stamp = Rank()
        return Rank()


@pytest.mark.parametrize("counter", [Behind, Drops])
def test_later_of_one_that_is_not_the_highest_is_more_than_the_next_number(counter: type[Counter]) -> None:
    result = check(type("Variant", (Endless,), {"counter": counter})(), property="assertions")
    assert result.reductions["ranks"]["exact"] is False
    assert "an over-approximation: one state" in " ".join(str(result).split())


class Peeping(Counter):
    def later_of(self, stamp: Rank) -> Rank:
        self.odd = number_of(stamp) == 4
        return stamp.later()


class Halving(Counter):
    """Every state has even numbers: only odd ones that are tried show this."""

    def later_of(self, stamp: Rank) -> Rank:
        self.odd = number_of(stamp) % 2 == 1
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
        (Halving, "Q125", "other numbers in the same order"),
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


class PeepingAtAll(Endless):
    """Taken apart by process, its parts are all that is evaluated of it."""

    @invariant
    def never_four(self) -> bool:
        return all(number_of(counter.stamp) != 4 for counter in self[Counter])


class PeepingAtOne(Endless):
    @invariant
    def never_four(self) -> bool:
        return number_of(self[Counter][0].stamp) != 4


class PeepingFormula(Endless):
    def low(self) -> bool:
        return all(number_of(counter.stamp) != 4 for counter in self[Counter])

    stays_low = ltl("G low")


@pytest.mark.parametrize("system", [PeepingAtAll(), PeepingAtOne(), PeepingFormula()], ids=str)
def test_a_property_that_can_tell_numbers_is_refused(system: System) -> None:
    """With numbers it is violated; in the order of all ranks there is never a fourth."""
    with pytest.raises(QuorateError, match="other numbers in the same order") as refused:
        check(system)
    assert refused.value.code == "Q125"
    assert refused.value.location is not None


TOLD: dict[str, Callable[[Any, Any], bool]] = {
    "repr": lambda stamp, counter: repr(stamp) == "rank 1000",
    "percent": lambda stamp, counter: "%r" % stamp == "rank 1000",  # noqa: UP031
    "f-string": lambda stamp, counter: f"{stamp!r}" == "rank 1000",
    "tuple": lambda stamp, counter: len(str((stamp,))) > 12,
    "set": lambda stamp, counter: len(repr(frozenset([stamp]))) > 25,
    "message": lambda stamp, counter: len(repr(Next(stamp))) > 25,
    "pickle": lambda stamp, counter: len(pickle.dumps(stamp)) > 1000,
    "reduce": lambda stamp, counter: stamp.__reduce_ex__(4)[1] == (1000,),
}


class Telling(System):
    how: str = "repr"

    def build(self) -> None:
        pid = self.spawn(Counter, other=None)
        self.connect(pid, other=pid)

    @invariant
    def never(self) -> bool:
        return all(not TOLD[self.how](counter.stamp, counter) for counter in self[Counter])


@pytest.mark.parametrize("how", TOLD)
def test_no_text_tells_the_number(how: str) -> None:
    """A number that no small state has: with numbers the property is violated, after a thousand steps."""
    with pytest.raises(QuorateError, match="no number to compute with") as refused:
        check(Telling(how=how))
    assert refused.value.code == "Q124"


def test_no_attribute_tells_the_number() -> None:
    made = Rank()
    assert not any(hasattr(made, name) for name in ("_value", *Rank.__slots__))
    assert copy.copy(made) is copy.deepcopy(made) is made
    assert pickle.loads(pickle.dumps(made)) == made


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


@pytest.mark.parametrize("options", [{"por": "lpor"}, {"stateless": True}, {"self_check": True}, {"ctl": "AG EF even"}])
def test_what_cannot_be_combined_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(QuorateError) as refused:
        check(Endless(), **options)
    assert refused.value.code == "Q604"


def test_no_checkpoints_with_ranks(tmp_path: Path) -> None:
    with pytest.raises(QuorateError) as refused:
        check(Endless(), checkpoint=tmp_path / "saved")
    assert refused.value.code == "Q604"
