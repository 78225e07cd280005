"""Properties by parts say in every state what Python says, and cost as much as their parts."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from quorate import Message, Pid, Process, QuorateError, System, can, check, invariant, on, start, step
from quorate.model.define import define
from quorate.model.environment import Environment
from quorate.native.model import Model
from quorate.properties import evaluate
from quorate.properties.parts import Fold, parts_of


class Tick(Message): ...


class Worker(Process):
    x: int = 0
    busy: bool = False
    other: Pid | None = None

    @step(when=lambda self: self.x < 2)
    def go(self) -> None:
        self.x += 1
        self.busy = not self.busy

    def ratio(self) -> int:
        return 6 // self.x


class Special(Worker):
    extra: int = 0


def systems(judge: Callable[[Any], bool], workers: int = 3) -> type[System]:
    class Some(System):
        most: int = 2

        def build(self) -> None:
            self.spawn(Worker, workers)
            self.spawn(Special)

        judged = invariant(judge)

    return Some


def all_small(self: Any) -> bool:
    return all(p.x <= self.most for p in self[Worker])


def one_busy(self: Any) -> bool:
    return sum(p.busy for p in self[Worker]) <= 1  # type: ignore[no-any-return]


def counted(self: Any) -> bool:
    workers = self[Worker]
    return len([p for p in workers if p.busy]) + len({p.x for p in workers}) < 4


def counted_values(self: Any) -> bool:
    workers = self[Worker]
    return len([p.x for p in workers if p.busy if p.x]) + len({p.x for p in workers}) < 4


def alike(self: Any) -> bool:
    seen = {p.x for p in self[Worker]}
    return not {0, 2} <= seen and 1 not in seen


def raises_late(self: Any) -> bool:
    return all(p.ratio() > 2 for p in self[Worker])


def raises_unless(self: Any) -> bool:
    return any(p.x == 0 for p in self[Worker]) or max(p.ratio() for p in self[Worker]) > 3


def of_nobody(self: Any) -> bool:
    return max(p.x for p in self[Worker] if p.busy) > 0  # type: ignore[no-any-return]


def pairs(self: Any) -> bool:
    return all(a.x <= b.x + 1 for a in self[Worker] for b in self[Worker])


def around(self: Any) -> bool:
    return all([q.x for q in self[Worker] if q.x == p.x] != [1] for p in self[Worker])


def in_order(self: Any) -> bool:
    xs = [p.x for p in self[Worker]]
    return xs == sorted(p.x for p in self[Worker])


def first_of_set(self: Any) -> bool:
    return next(iter({p.x * 8 for p in self[Worker]})) == 0  # type: ignore[no-any-return]


def by_hand(self: Any) -> bool:
    for p in self[Worker]:
        if p.x > 1:
            return any(q.busy for q in self[Special])
    return True


def with_local(self: Any) -> bool:
    least = min(p.x for p in self[Worker])
    return all(p.x - least < 2 for p in self[Worker])


def swallowed(self: Any) -> bool:
    with suppress(ZeroDivisionError):
        return all(p.ratio() > 2 for p in self[Worker])
    return False


def not_a_bool(self: Any) -> Any:
    return sum(p.x for p in self[Worker])


def hidden_by_a_lambda(self: Any) -> bool:
    workers = self[Worker]
    busiest = min((workers[:1], workers[1:]), key=lambda workers: all(p.x == 0 for p in workers))
    return len(busiest) == 1 or any(p.x == 1 for p in self[Special])


def hidden_by_a_comprehension(self: Any) -> bool:
    workers = self[Worker]
    halves = workers[:1], workers[1:]
    return not any(all(p.x == 1 for p in workers) for workers in halves)


def another_self(self: Any) -> bool:
    halves = {Worker: self[Worker][:1]}, {Worker: self[Worker][1:]}
    return [any(p.busy for p in self[Worker]) for self in halves] != [True, False]


def captured_by_a_match(self: Any) -> bool:
    match self[Worker][0].x:
        case limit:
            return all(p.x <= limit for p in self[Worker])


limit = 2


def element(p: Worker) -> bool:
    return p.x > 1


def calls_element(self: Any) -> bool:
    return any(element(p) for p in self[Worker])


def sum_of(workers: Any) -> int:
    return sum(p.x for p in workers)


class Named:
    """Properties by the name of what they call."""

    def sum_of(self: Any) -> bool:
        return all(p.x < 2 for p in self[Worker]) or sum_of(self[Worker]) < 4

    def all(self: Any) -> bool:
        return all(p.x < 2 for p in self[Worker])


SHAPES = [
    all_small, one_busy, counted, counted_values, alike, raises_late, raises_unless, of_nobody, pairs, around, in_order,
    first_of_set, by_hand, with_local, swallowed, not_a_bool, hidden_by_a_lambda,
    hidden_by_a_comprehension, another_self, captured_by_a_match,
    calls_element, Named.sum_of, Named.all,
]  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES, ids=lambda each: each.__name__)
def test_every_state_is_judged_as_python_does(shape: Callable[[Any], bool]) -> None:
    definition = define(systems(shape), Environment())
    prop = definition.invariants[0]
    model = Model(definition, [prop])
    columns = definition.columns
    options = [[(x, busy, *local[2:]) for x in range(3) for busy in (False, True)] for local in definition.initials[0]]
    for state in itertools.product(*options):
        numbers = [model.local_id(column, local) for column, local in zip(columns, state, strict=True)]
        said, _ = model._judged(0, state, numbers)
        plain = evaluate(definition, prop, state)
        expected = "raises" if plain.failure is not None else "yes" if plain.value else "no"
        assert said.name == expected, state
        assert model.judge(0, numbers)  # and its reads are a path that the core can merge with the others


def folds(shape: Callable[[Any], bool]) -> list[str]:
    definition = define(systems(shape), Environment())
    parts = parts_of(definition, definition.invariants[0])
    return [] if parts is None else [fold.kind for fold in parts.folds]


def test_what_is_taken_apart() -> None:
    assert folds(all_small) == ["all"]
    assert folds(one_busy) == ["sum"]
    assert folds(counted) == ["count", "set"]
    assert folds(alike) == ["set"]
    assert folds(raises_unless) == ["any", "max"]
    assert folds(with_local) == ["min"]
    assert folds(by_hand) == folds(calls_element) == ["any"]
    assert folds(Named.sum_of) == folds(Named.all) == ["all"]


def test_what_is_left_as_it_is() -> None:
    assert folds(pairs) == []
    assert folds(around) == []
    assert folds(swallowed) == []
    assert folds(hidden_by_a_comprehension) == folds(another_self) == folds(captured_by_a_match) == []
    assert folds(hidden_by_a_lambda) == ["any"]


def test_answers_by_parts_are_compared_with_the_property_as_it_was_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Fold, "begin", lambda self: 1)  # so every sum is one too many
    with pytest.raises(QuorateError, match="judged is False by its parts, and not as it was written") as caught:
        check(systems(one_busy))
    assert caught.value.code == "Q900"


EDITED = """
def judge(self):
    return {{p.busy for p in self[Worker]}} != {{True}} or all(p.x < {} for p in self[Worker])
"""


def test_what_runs_is_judged_and_not_what_its_file_says_by_now(tmp_path: Path) -> None:
    file = tmp_path / "edited.py"
    file.write_text(EDITED.format(1))
    made: dict[str, Any] = {"Worker": Worker}
    exec(compile(file.read_text(), str(file), "exec"), made)
    assert folds(made["judge"]) == ["set", "all"]
    exec(compile(file.read_text(), str(file), "exec"), made)
    file.write_text(EDITED.format(20))
    assert folds(made["judge"]) == []


def test_where_order_may_count_it_is_kept() -> None:
    assert folds(in_order) == ["list", "list"]
    assert folds(first_of_set) == ["list"]


class Counting(System):
    """Nothing happens to `x`; an invariant that says so makes no difference to anything."""

    workers: int = 4

    def build(self) -> None:
        self.spawn(Worker, self.workers)

    @invariant
    def small(self) -> bool:
        return all(p.x in range(3) for p in self[Worker])


class Seen(Counting):
    """The same, one state at a time."""

    @invariant
    def small(self) -> bool:
        for p in self[Worker]:  # noqa: SIM110 - that is what makes the difference
            if p.x not in range(3):
                return False
        return True


def test_a_trivial_invariant_costs_nothing() -> None:
    by_parts, one_by_one = check(Counting(), por="lpor"), check(Seen(), por="lpor")
    assert by_parts.ok
    assert one_by_one.ok
    assert by_parts.states < one_by_one.states
    assert by_parts.python_calls < one_by_one.python_calls


def test_a_fold_in_any_order_needs_no_renamings() -> None:
    class Busy(Counting):
        workers: int = 6

        @invariant
        def small(self) -> bool:
            return sum(p.busy for p in self[Worker]) < 7

    found = check(Busy())
    assert found.ok
    assert found.reductions["symmetry"]["ran"]
    assert found.python_calls < 60


class Chosen(Process):
    boss: bool = False

    @start
    def begin(self) -> None:
        self.boss = True


class OneBoss(System):
    def build(self) -> None:
        self.spawn(Chosen, 3)

    @invariant
    def fewer_than_two(self) -> bool:
        return sum(p.boss for p in self[Chosen]) < 2

    @can
    def one(self) -> bool:
        return len([p for p in self[Chosen] if p.boss]) == 1


def test_a_violation_is_found_and_explained() -> None:
    found = check(OneBoss())
    assert found.property == "fewer_than_two"
    assert found.trace is not None
    assert len(found.trace.steps) == 2


class First(Process):
    first: Pid | None = None

    @start
    def begin(self) -> None:
        self.first = self.pid

    @on(Tick)
    def tick(self, m: Tick) -> None: ...


def test_a_fold_that_names_somebody_is_compared_under_renamings() -> None:
    class Named(System):
        def build(self) -> None:
            self.spawn(First, 3)

        @invariant
        def not_the_first(self) -> bool:
            return len({p.first for p in self[First]}) < 3 or not all(p.first is not None for p in self[First])

    found = check(Named())
    assert found.property == "not_the_first"
