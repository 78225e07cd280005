"""What has gone wrong once when handlers were run on unknown integers: each rule, and that it matters."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from benchmarks.protocols.bakery import Bakery

from quorate import Message, Process, System, invariant, on, quorum, start, step
from quorate.model.define import define
from quorate.proofs import proxies, shims
from quorate.proofs.actions import Action
from quorate.proofs.encode import Encoded
from quorate.proofs.induction import Prover
from quorate.proofs.paths import Explorer, Path
from quorate.proofs.propositions import formula_of, invariants, obligations
from quorate.proofs.proxies import SymInt, comparing, taking
from quorate.proofs.refusal import RefusedError
from quorate.proofs.solver import Deadline, Translation
from quorate.proofs.terms import TRUE, var
from quorate.proofs.unrolling import k_induction

THREE = 3


class Number(Message):
    n: int


class Counter(Process):
    x: int = 0
    seen: frozenset[int] = frozenset()

    @step(when=lambda self: True)
    def count(self) -> None:
        self.x += 1


class Counting(System):
    def build(self) -> None:
        self.spawn(Counter, 2)

    @invariant
    def beside_a_constant(self) -> bool:
        return all(len({c.x, 3}) == 2 for c in self[Counter])

    @invariant
    def beside_a_global(self) -> bool:
        return all(len({c.x, THREE}) == 2 for c in self[Counter])

    @invariant
    def beside_a_length(self) -> bool:
        return all(len({c.x, len(self[Counter])}) == 2 for c in self[Counter])


def formula(encoded: Encoded, name: str) -> Any:
    prop = encoded.definition.property(name)
    return formula_of(encoded, lambda _, system: prop.function(system), name, prop.location)


NAMES = ("beside_a_constant", "beside_a_global", "beside_a_length")


@pytest.mark.parametrize("name", NAMES)
def test_a_plain_number_in_a_set_is_compared_with_unknown_ones(name: str) -> None:
    assert formula(Encoded(define(Counting())), name) is not TRUE


@pytest.mark.parametrize("name", NAMES)
def test_it_would_not_be_if_it_were_not_lifted(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    encoded = Encoded(define(Counting()))

    @contextmanager
    def alone() -> Iterator[None]:
        with comparing():
            yield

    monkeypatch.setattr(encoded.lifting, "lent", alone)
    assert formula(encoded, name) is TRUE  # which is wrong: c.x may be 3, or 2


class Indexing(Counting):
    @invariant
    def beside_a_place(self) -> bool:
        return all(len({c.x, (1, 2).index(2)}) == 2 for c in self[Counter])


def test_numbers_that_cannot_be_lifted_are_refused() -> None:
    with pytest.raises(RefusedError, match=r"`\.index` may put others there") as refused:
        formula(Encoded(define(Indexing())), "beside_a_place")
    assert refused.value.location is not None
    assert refused.value.location.file == __file__


def test_everything_that_was_lent_is_given_back() -> None:
    before = Counting.beside_a_constant.__code__
    formula(Encoded(define(Counting())), "beside_a_constant")
    assert Counting.beside_a_constant.__code__ is before
    assert THREE == 3
    assert type(THREE) is int
    assert "len" not in globals()
    assert Number(1) == Number(1)
    assert len({Number(1), Number(1)}) == 1


def test_messages_of_unknown_content_may_be_equal() -> None:
    """By their encodings they never would be."""
    encoded = Encoded(define(Talking()))
    machine = encoded.machine
    pid = encoded.definition.processes[0].pid
    assert pid is not None

    def run(path: Path) -> bool:
        with taking(path), comparing():
            one = machine.received(Number, pid, [var("a", "Int")])
            two = machine.received(Number, pid, [var("b", "Int")])
            return bool(one == two)

    found = Explorer(Translation(), Deadline(None)).explore(run, what="", place=None)
    assert sorted(bool(each.value) for each in found) == [False, True]


class Talker(Process):
    seen: frozenset[int] = frozenset()

    @start
    def say(self) -> None:
        self.send(self.pid, Number(0))

    @on(Number)
    def hear(self, m: Number) -> None:
        self.seen |= {m.n}
        self.send(self.pid, Number(m.n + 1))


class Talking(System):
    def build(self) -> None:
        self.spawn(Talker)

    @invariant
    def few(self) -> bool:
        return all(len(talker.seen) <= 2 for talker in self[Talker])


def proved(encoded: Encoded, *, with_obligations: bool) -> bool:
    goals = invariants(encoded, None) + (obligations(encoded) if with_obligations else [])
    nodes = Prover(encoded, Deadline(30)).prove(goals, [])
    return all(node.status == "proved" for node in nodes.values())


def test_a_set_that_overflows_its_slots_is_an_obligation() -> None:
    encoded = Encoded(define(Talking()))
    assert not proved(encoded, with_obligations=True)
    assert proved(encoded, with_obligations=False)  # which is wrong: a third number comes


class Careless(Process):
    x: int = 0

    @step(when=lambda self: True)
    def count(self) -> None:
        if self.x == 2:
            raise ValueError("two")
        self.x += 1


class Failing(System):
    def build(self) -> None:
        self.spawn(Careless)

    @invariant
    def small(self) -> bool:
        return all(each.x <= 2 for each in self[Careless])


def test_an_exception_is_an_obligation_and_no_end_of_the_run() -> None:
    encoded = Encoded(define(Failing()))
    assert [claim.text for claim in obligations(encoded)] == ["Careless.count: ValueError: two"]
    assert not proved(encoded, with_obligations=True)


def idle(encoded: Encoded) -> Action:
    return Action("step", encoded.definition.columns[0], None, TRUE, {})


def k_of(encoded: Encoded, more: list[Action], most: int) -> int | None:
    prover = Prover(encoded, Deadline(60))
    prover.steps = [*prover.steps, *more]
    (goal,) = invariants(encoded, None)
    node = k_induction(prover, goal, [], most)
    return node.k if node.status == "proved" else None


def test_the_bakery_is_3_inductive_when_strengthened_and_not_otherwise() -> None:
    assert k_of(Encoded(define(Bakery(strengthened=True))), [], 4) == 3
    assert k_of(Encoded(define(Bakery())), [], 10) is None


def test_an_idle_step_would_make_greater_k_useless() -> None:
    encoded = Encoded(define(Bakery(strengthened=True)))
    assert k_of(encoded, [idle(encoded)], 6) is None


class Chooser(Process):
    options: tuple[int, ...] = ()

    @quorum(Number, enough=lambda self, numbers: True)
    def choose_one(self, numbers: frozenset[Number]) -> None:
        self.options = (self.choose(self.options),)


class Choosing(System):
    def build(self) -> None:
        pids = self.spawn(Talker, 1)
        self.connect(pids)
        self.spawn(Chooser)
        self.spawn(Shouter, whom=self.spawn(Chooser))


class Shouter(Process):
    whom: Any

    @start
    def shout(self) -> None:
        self.send(self.whom, Number(1))


def test_minimal_sets_that_depend_on_choices_are_refused() -> None:
    with pytest.raises(RefusedError, match="may have nothing to choose from"):
        Encoded(define(Choosing()))


def test_unknown_integers_are_not_used_as_numbers() -> None:
    with pytest.raises(RefusedError, match="an integer that has no bound"):
        Encoded(define(Sized()))


class Lister(Process):
    x: int = 0

    @step(when=lambda self: True)
    def list(self) -> None:
        self.x += len([None] * self.x)


class Sized(System):
    def build(self) -> None:
        self.spawn(Lister)


def test_unknown_integers_hash_alike_and_known_ones_with_them() -> None:
    assert hash(SymInt(var("a", "Int"))) == hash(proxies.lifted(7)) == proxies.HASH
    assert shims.SHIMS["len"]([1, 2]).known == 2
    assert replace(idle(Encoded(define(Failing()))), kind="step").name == "careless1"
