"""A bound of the whole system: `within` of a System."""

from typing import Any

import pytest

from agreement import agree
from quorate import Message, Peers, Process, System, can, check, eventually, final, invariant, on, step
from quorate.base.errors import ModelError, QuorateError
from quorate.model.define import define
from quorate.search.simulate import simulate


class Note(Message):
    pass


class Counter(Process):
    others: Peers = Peers()
    count: int = 0
    heard: int = 0

    @step(when=lambda self: True)
    def up(self) -> None:
        self.count += 1
        self.send(self.others, Note())

    @on(Note)
    def hear(self, m: Note) -> None:
        self.heard = 1


class Together(System):
    """Each counts without end; together they count to three."""

    most: int = 3

    def build(self) -> None:
        pids = self.spawn(Counter, 2)
        self.connect(pids, others=pids)

    def within(self) -> bool:
        return sum(each.count for each in self[Counter]) <= self.most

    @invariant
    def small(self) -> bool:
        return all(each.count <= 3 for each in self[Counter])

    @can
    def all_heard(self) -> bool:
        return all(each.heard for each in self[Counter])

    @final
    def nowhere(self) -> bool:
        return False


def test_the_verdict_is_about_what_lies_inside() -> None:
    result = check(Together())
    assert result.verdict == "holds"
    assert result.bounds == ("Together.within",)
    assert "bounded by Together.within: what lies beyond was not searched" in str(result)
    assert not check(Together(most=4), property="small").ok


def test_a_step_that_is_cut_is_no_deadlock_and_the_core_agrees() -> None:
    agree(Together())
    agree(Together(most=4))


def test_a_bound_that_only_folds_keeps_symmetry() -> None:
    class Finite(Together):
        def within(self) -> bool:
            return sum(each.count for each in self[Counter]) <= 2

    class First(Together):
        def within(self) -> bool:
            return self[Counter][0].count <= 1 and self[Counter][1].count <= 3

    class Small(Counter):
        def within(self) -> bool:
            return self.count <= 4

    def of(system: type[Together]) -> System:
        def build(self: Any) -> None:
            pids = self.spawn(Small, 2)
            self.connect(pids, others=pids)

        made: System = type(system.__name__, (system,), {"build": build})()
        return made

    folded, told_apart = check(of(Finite), property="small"), check(of(First), property="small")
    assert folded.ok
    assert told_apart.ok
    assert folded.reductions["symmetry"]["ran"]
    assert not told_apart.reductions["symmetry"]["ran"]
    assert "First.within is not known to treat them alike" in told_apart.reductions["symmetry"]["why"]
    agree(of(Finite))
    agree(of(First))


@pytest.mark.parametrize("por", ["lpor", "lpor-net", "dpor"])
def test_partial_orders_are_off(por: str) -> None:
    result = check(Together(), por=por, property="small")
    assert result.ok
    assert not result.reductions["por"]["ran"]


def test_a_run_that_the_bound_cuts_is_open() -> None:
    class Live(Together):
        @eventually
        def four(self) -> bool:
            return any(each.count > 3 for each in self[Counter])

        @eventually
        def one(self) -> bool:
            return any(each.count > 0 for each in self[Counter])

    outcomes = {each.name: each for each in check(Live(), property=["four", "one"]).properties}
    assert outcomes["four"].verdict == "incomplete"
    assert "Live.within ends a run on which it is still open" in outcomes["four"].note
    assert outcomes["one"].verdict == "holds"


def test_random_runs_stay_inside() -> None:
    result = simulate(Together(), runs=50, seed=1)
    assert result.ok
    assert result.cut > 0


def test_a_bound_may_read_more_later() -> None:
    """The quotient has merged what the bound did not read before: the search starts over (rule 8)."""

    class Later(Together):
        def within(self) -> bool:
            first, second = self[Counter]
            if second.count > 2:
                return False
            return first.count < 1 or (first.count < 2 and (first.heard == 0 or second.heard == 0))

    agree(Later())


@pytest.mark.parametrize(
    ("within", "code"),
    [
        (lambda self: False, "Q115"),
        (lambda self: 1 / 0, "Q118"),
        (lambda: True, "Q106"),
        (3, "Q106"),
    ],
)
def test_bounds_that_make_no_sense_are_refused(within: Any, code: str) -> None:
    wrong = type("Wrong", (Together,), {"within": within})
    with pytest.raises(QuorateError) as refused:
        define(wrong())
    assert refused.value.code == code
    assert isinstance(refused.value, ModelError)
