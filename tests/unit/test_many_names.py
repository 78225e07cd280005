"""Symmetry among very many processes: figures that no float holds, and costs that do not grow with every pair."""

from __future__ import annotations

import json
from dataclasses import replace
from math import factorial, inf
from typing import Any

import pytest

from quorate import Message, Peers, Pid, Process, System, can, check, invariant, on, start, step
from quorate.reduce.symmetry import gained


class Flip(Process):
    flipped: bool = False

    @start
    def flip(self) -> None:
        self.flipped = True


class Coins(System):
    number: int = 171

    def build(self) -> None:
        self.spawn(Flip, self.number)

    @invariant
    def anything(self) -> bool:
        return True


@pytest.mark.parametrize("number", [65, 120, 170, 171, 250])
def test_factorials_beyond_floating_point_are_no_problem(number: int) -> None:
    """From 171 on, n! is no float; and 120 took 9 s and 618 MB once, most of it for exchanges of no effect."""
    result = check(Coins(number=number))
    figures = result.reductions["symmetry"]
    assert (result.verdict, result.states, figures["group"]) == ("holds", number + 1, f"{number}! Flip")
    assert figures["stands_for"] == pytest.approx(2**number, rel=1e-9)
    assert figures["gain"] == pytest.approx(2**number / (number + 1), rel=1e-9)
    assert 0 <= figures["efficiency"] < 1e-20
    assert (figures["order"] is None) == (number >= 171)
    assert json.loads(json.dumps(result.to_json(), allow_nan=False))["states"] == number + 1
    assert f"{number}! Flip, one for " in str(result)


def test_more_states_than_a_float_can_count_have_no_figure() -> None:
    """200 processes in different local states stand for 200! states."""
    assert gained(inf, 10, factorial(200)) == {"stands_for": None, "gain": None, "efficiency": None}
    result = check(Coins(number=65))
    figures = {**result.reductions["symmetry"], **gained(inf, 10, factorial(200)), "order": None}
    unknown = replace(result, reductions={"symmetry": figures})
    assert "65! Flip: takes one" in " ".join(str(unknown).split())


class Call(Message): ...


class Answer(Message):
    to: Pid


class Clerk(Process):
    @on(Call)
    def answer(self, m: Call) -> None:
        self.reply(Answer(self.pid))


class Caller(Process):
    clerks: Peers
    called: Pid | None = None
    answered: bool = False

    @step(when=lambda self: self.called is None)
    def call(self) -> None:
        self.called = self.choose(self.clerks)
        self.send(self.called, Call())

    @on(Answer)
    def done(self, m: Answer) -> None:
        assert m.to == self.called
        self.answered = True


class Office(System):
    clerks: int = 67

    def build(self) -> None:
        clerks = self.spawn(Clerk, self.clerks)
        self.spawn(Caller, clerks=clerks)
        self.spawn(Caller, clerks=clerks)

    @can
    def done(self) -> bool:
        return all(each.answered for each in self[Caller])


def test_more_than_64_names_that_are_stored_and_sent() -> None:
    """Which names occur in a cell is told by a bit each; of 67, some share one."""
    plain = check(Office(), symmetry="none")
    searches: list[dict[str, Any]] = [{"threads": 1}, {"threads": 2}, {"search": "dfs"}]
    for search in searches:
        result = check(Office(), max_behaviours=60_000, **search)
        assert result.states == check(Office(clerks=3)).states < 50
        assert result.reductions["symmetry"]["stands_for"] == plain.states > 67 * 67
