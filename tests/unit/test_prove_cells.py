"""Shared cells in proofs: read and written by steps as in a check, and spoken of by lemmas."""

from pathlib import Path
from typing import Any

import pytest

from quorate import (
    Constant,
    Event,
    Map,
    Monitor,
    Pid,
    Process,
    Shared,
    System,
    check,
    invariant,
    lemma,
    on,
    prove,
    step,
)
from quorate.base.errors import ModelError
from quorate.model.define import define
from quorate.proofs.encode import Encoded
from quorate.proofs.refusal import RefusedError
from second_solver import answer


class Thread(Process):
    next_ticket: Constant[Shared[int]]
    now_serving: Constant[Shared[int]]
    ticket: int | None = None
    inside: bool = False

    @step(when=lambda self: self.ticket is None)
    def draw(self) -> None:
        self.ticket = self.next_ticket.value
        self.next_ticket.value += 1

    @step(when=lambda self: self.ticket is not None and not self.inside and self.now_serving.value == self.ticket)
    def enter(self) -> None:
        self.inside = True

    @step(when=lambda self: self.inside)
    def leave(self) -> None:
        self.now_serving.value += 1
        self.ticket, self.inside = None, False


class Racing(Thread):
    """Draws a ticket in two steps."""

    seen: int | None = None

    @step(when=lambda self: self.ticket is None and self.seen is None)
    def draw(self) -> None:
        self.seen = self.next_ticket.value

    @step(when=lambda self: self.seen is not None)
    def take(self) -> None:
        assert self.seen is not None
        self.ticket, self.seen = self.seen, None
        self.next_ticket.value = self.ticket + 1


class Lock(System):
    """A ticket lock whose numbers grow without end."""

    threads: int = 2
    kind = Thread
    single = False

    def build(self) -> None:
        next_ticket = self.share("next_ticket", 0, access="single" if type(self).single else "atomic")
        self.spawn(self.kind, self.threads, next_ticket=next_ticket, now_serving=self.share("now_serving", 0))

    @invariant
    def mutual_exclusion(self) -> bool:
        return sum(thread.inside for thread in self[Thread]) <= 1


class RacingLock(Lock):
    kind = Racing


class SingleLock(Lock):
    """Each step has one access to the next ticket: to draw one takes two."""

    single = True


class Known(Lock):
    @lemma
    def drawn(self, p: Thread) -> bool:
        return p.ticket is None or p.ticket < p.next_ticket.value

    @lemma
    def apart(self, p: Thread, q: Thread) -> bool:
        return p is q or p.ticket is None or p.ticket != q.ticket

    @lemma
    def served(self, p: Thread) -> bool:
        return not p.inside or p.ticket == self.shared("now_serving")


def test_a_ticket_lock_without_end_is_proved_without_lemmas_by_people() -> None:
    proof = prove(Lock(), timeout=120)
    assert proof.verdict == "proved"
    assert any(".value" in claim.text for claim in proof.claims)


def test_lemmas_speak_of_cells_and_a_certificate_names_them(tmp_path: Path) -> None:
    proof = prove(Known(threads=3), discover=False, certificate_folder=tmp_path)
    assert proof.verdict == "proved"
    assert {answer(each) for each in tmp_path.glob("*.smt2")} == {"unsat"}


def test_a_race_is_refuted() -> None:
    proof = prove(RacingLock(), discover=False)
    assert proof.verdict == "refuted"
    assert check(RacingLock(), property="mutual_exclusion", max_states=10_000).verdict == "violated"


def test_an_access_too_many_has_to_be_shown_impossible() -> None:
    encoded = Encoded(define(SingleLock()))
    texts = [action.text for action in encoded.actions if action.kind == "fail"]
    assert any("more than one access" in text for text in texts)
    with pytest.raises(ModelError, match="more than one access"):  # in a run of the instance
        prove(SingleLock(), discover=False)


class Left(Event):
    cell: Shared[int]


class Watching(Monitor):
    count: int = 0

    @on(Left)
    def note(self, e: Left) -> None:
        self.count = e.cell.value


class Telling(Process):
    cell: Constant[Shared[int]]

    @step(when=lambda self: True)
    def tell(self) -> None:
        self.cell.value += 1
        self.emit(Left(self.cell))


class Watched(System):
    def build(self) -> None:
        self.spawn(Telling, cell=self.share("cell", 0))
        self.watch(Watching)

    @invariant
    def fine(self) -> bool:
        return self[Telling][0].cell.value >= 0


def test_a_monitor_that_reads_a_cell_fails() -> None:
    encoded = Encoded(define(Watched()))
    assert {action.kind for action in encoded.actions} == {"fail"}


class Row(Process):
    mine: Constant[Map[Pid, Shared[Any]]]

    @step(when=lambda self: self.mine[self.pid].value < 3)
    def count(self) -> None:
        self.mine[self.pid].value += 1


class Rows(System):
    first = 0

    def build(self) -> None:
        pids = self.spawn(Row, 2)
        self.connect(pids, mine=self.share("mine", type(self).first, each=pids))

    @invariant
    def few(self) -> bool:
        return all(row.mine[row.pid].value <= 3 for row in self[Row])


class Lists(Rows):
    first = ()  # type: ignore[assignment]  # no integer, which is what is tested


def test_what_a_cell_holds_is_declared_or_told_from_its_first_value() -> None:
    assert prove(Rows(), discover=False).verdict == "proved"
    with pytest.raises(RefusedError, match=r"mine\[row1\] is declared with") as refused:
        Encoded(define(Lists()))
    assert refused.value.location is not None
    assert refused.value.hint


def test_any_number_of_processes_share_no_cells() -> None:
    with pytest.raises(RefusedError, match="the shared cell next_ticket"):
        prove(Lock(), number=["Thread=any"])
