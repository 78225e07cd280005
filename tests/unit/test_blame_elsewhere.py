"""The same as test_blame.py for what has other models: shared cells, operations, ranks, temporal properties, lemmas."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from bad_models import call, forget
from test_blame import KINDS, failed_at

HEAD = """
import sys, typer
from typing import NamedTuple
from quorate import *
from quorate.histories import linearizable

class Base(BaseException): ...
class Own(Exception): ...
class Mute(Exception):
    def __str__(self): raise ValueError("no text")
    __repr__ = __str__
"""
SHARED = """
class Put(Operation):
    value: int = 0
class Look(Operation, result=int): ...

class Cell(NamedTuple):
    initial: int = 0
    def apply(self, state, operation):
        @@apply
        if isinstance(operation, Put):
            return operation.value, None
        return state, state

class Go(Message):
    value: int = 0

def when_shared(self):
    @@when_shared
    return self.cell.value < 3
def of_cells(name):
    @@share_default
    return 0

class A(Process):
    peers: Peers = Peers()
    cell: Constant[Shared[int]]
    x: int = 0
    @step(when=when_shared)
    def more(self) -> None:
        @@step_shared
        self.cell.value += 1
        self.x = 1
    def within(self) -> bool:
        @@within
        return self.x <= 2
    def recover(self) -> None:
        @@recover
        self.x = 0

class Client(Process):
    other: Pid | None = None
    @start
    def begin(self) -> None:
        self.invoke(Put(1))
        @@invoke
        self.send(self.pid, Go())
    @on(Go)
    def go(self, m: Go) -> None:
        self.returns()
        @@returns

class S(System):
    bound: int = 3
    atomic = linearizable(Cell(0))
    live = ltl("F reached")
    branching = ctl("EF reached")
    def build(self) -> None:
        a = self.spawn(A, 2, cell=self.share("cell", of_cells("cell")))
        self.spawn(Client)
        self.connect(a, peers=a)
    def within(self) -> bool:
        @@within_system
        return all(a.x < 3 for a in self[A])
    def reached(self) -> bool:
        @@predicate
        return all(a.x == 1 for a in self[A])
    @invariant
    def low(self) -> bool:
        @@invariant
        return self.shared("cell") <= self.bound
    @lemma
    def some(self, a: A) -> bool:
        @@lemma
        return a.x < 3
    @final
    def ended(self) -> bool:
        @@final
        return True
@@module
"""
RANKS = """class Next(Message):
    stamp: Rank
class Counter(Process):
    other: Pid
    stamp: Rank = Rank()
    @start
    def begin(self) -> None:
        @@start
        self.send(self.other, Next(self.stamp.later()))
    @on(Next, when=lambda self, m: True)
    def count(self, m: Next) -> None:
        later = m.stamp.later()
        @@later
        self.stamp = m.stamp
        self.send(self.other, Next(later))
class S(System):
    network = unordered(capacity=1, full="replace")
    def build(self) -> None:
        a = self.spawn(Counter); b = self.spawn(Counter)
        @@build
        self.connect(a, other=b); self.connect(b, other=a)
    def low(self) -> bool:
        @@predicate
        return all(c.stamp >= Rank() for c in self[Counter])
    alive = ltl("G low")
    @invariant
    def fine(self) -> bool:
        @@invariant
        return all(c.stamp >= Rank() for c in self[Counter])
"""
PROOF = """class Ask(Message):
    n: int = 0
class Ticket(Message):
    number: int = 0
class Dispenser(Process):
    next: int = 1
    @on(Ask)
    def hand_out(self, m: Ask) -> None:
        @@on
        self.reply(Ticket(self.next))
        self.next += 1
def when_ask(self):
    @@when_ask
    return True
class Client(Process):
    dispenser: Pid
    ticket: int = 0
    @step(when=when_ask)
    def ask(self) -> None:
        @@step
        self.send(self.dispenser, Ask())
    @on(Ticket, when=lambda self, m: m.number > self.ticket)
    def take(self, m: Ticket) -> None:
        if m.number > 5:
            @@in_branch
            pass
        self.ticket = m.number
class S(System):
    clients: int = 2
    def build(self) -> None:
        @@build
        self.spawn(Client, self.clients, dispenser=self.spawn(Dispenser))
    @invariant
    def distinct(self) -> bool:
        @@invariant
        held = [c.ticket for c in self[Client] if c.ticket > 0]
        return len(held) == len(set(held))
    @lemma
    def positive(self, d: Dispenser) -> bool:
        @@lemma
        return d.next > 0
    @lemma
    def pending(self, m: Pending[Ticket], d: Dispenser) -> bool:
        @@lemma_pending
        return m.number < d.next
    @lemma
    def quantified(self, m: Ticket) -> bool:
        return self.ever_sent_any(Ticket, lambda t: t.number > 0)
"""
MODELS = {"shared": SHARED, "ranks": RANKS, "proof": PROOF}
PLACES = [
    (model, line.strip()[2:])
    for model, text in MODELS.items()
    for line in text.splitlines()
    if line.strip()[:2] == "@@"
]
COMMANDS = [
    "check --max-states 300",
    "check --max-states 300 --all --coverage --vacuity",
    "check --max-states 300 --por lpor --property low",
    "check --max-states 300 --crashes 1 --self-check",
    "simulate --runs 20 --depth 20",
    "prove --given --timeout 1",
    "prove --number Client=any --timeout 1",
    "project",
    "profile --sample 100",
    "plan --estimate --max-states 100",
    "flows",
]
NOT_MET = {"share_default", "lemma", "lemma_pending", "recover", "in_branch"}
"""Places that a check need not come to; what `share` is given is no call-back."""
REFUSED = ("Q4", "Q5", "Q6", "Q75", "Q345")
"""What a command refuses to do with such a model, or does not get to."""


def source(model: str, place: str, kind: str) -> tuple[str, int]:
    lines: list[str] = []
    at = 0
    for line in (HEAD + MODELS[model]).splitlines():
        before, mark, name = line.partition("@@")
        if mark and name == place:
            at = len(lines) + 1
        lines.append(before + (KINDS[kind] if name == place else "pass") if mark else line)
    return "\n".join(lines) + "\n", at


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    yield
    forget("blamed")


@pytest.mark.parametrize(("model", "place"), PLACES)
def test_exceptions_are_blamed_on_the_model(
    model: str, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    target = tmp_path / "blamed.py"
    kinds = sorted(KINDS)
    for number, command in enumerate(COMMANDS):
        kind = kinds[(number + 5 * PLACES.index((model, place))) % len(kinds)]  # all of them come, but not everywhere
        text, line = source(model, place, kind)
        target.write_text(text)
        forget("blamed")
        name, *options = command.split()
        if model != "shared" and "--property" in options:
            options = options[:-2]
        status, out, err = call(name, str(target), *options, "--json")
        document = json.loads(out)
        assert "internal error" not in out + err, (command, kind)
        assert "Traceback" not in err, (command, kind)
        where = failed_at(document, document.get("trace"))
        if "error" in document:
            assert status in (2, 3), (command, kind)
            refused = document["error"]["code"].startswith(REFUSED)
            assert refused or where == (str(target), line), (command, kind, document["error"])
        elif where is not None:
            assert where == (str(target), line), (command, kind)
        if command == COMMANDS[0] and place not in NOT_MET:
            assert where == (str(target), line), (kind, document)
