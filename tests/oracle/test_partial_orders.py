"""Partial-order reduction against the reference explorer, alone and together with the other exact reductions."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import corpus
from generator import Protocol, without_claims
from quorate import Process, System, check, invariant, step
from quorate.model.define import define
from quorate.options import REFINEMENTS
from reference import Exploration
from test_against_reference import Recorder, all_names, expect, follow, look_around

WITHOUT: list[dict[str, bool]] = [{}, {}, *({name: False} for name in REFINEMENTS)]
COMBINATIONS: list[dict[str, Any]] = [
    {"por": por, "split": split, "quotient": quotient, "dead_messages": dead, "search": search, "por_options": without}
    for por in ("lpor", "lpor-net")
    for split in ("none", "reply", "quorum", "combined")
    for quotient, dead in (("off", "off"), ("on", "off"), ("off", "on"), ("on", "on"))
    for search in ("bfs", "dfs")
    for without in WITHOUT
]


def compare_verdicts(make: Callable[[], System], found: Exploration, ways: list[dict[str, Any]]) -> None:
    definition = define(make())
    deadlock = definition.final is not None
    names = all_names(definition)
    questions = [[*names, "deadlock"] if deadlock else names, *([name] for name in names)]
    if deadlock:
        questions.append(["deadlock"])
    for asked in questions:
        wanted = expect(definition, found, [name for name in asked if name != "deadlock"], "deadlock" in asked)
        for options in ways:
            result = check(make(), property=asked, **options)
            assert result.verdict == ("violated" if wanted.broken or wanted.missed else "holds"), options
            for run in ([] if result.trace is None else [result.trace]) + list(result.witnesses.values()):
                follow(run)


def compare_observations(known: System, ways: list[dict[str, Any]]) -> None:
    definition, found, sight = look_around(known)
    seen, stuck = sight.seen, sight.stuck
    for options in ways:
        recorder = Recorder(definition, sight)
        result = recorder.check(property=("noted", "deadlock"), **options)
        assert result.verdict == "holds"
        assert result.states <= found.states
        same(recorder.seen, seen)
        assert set(recorder.stuck) == stuck, options
        alone = Recorder(definition, sight)
        alone.check(property="deadlock", **options)
        same(alone.stuck, stuck)


def same(noted: list[bytes], wanted: set[bytes]) -> None:
    """The first evaluation may be void: it reads fields that were not observed before (rule 8)."""
    assert wanted <= set(noted)
    assert set(noted) - wanted <= set(noted[:1])


@corpus.each(corpus.sized, 50)
def test_verdicts_on_generated_protocols(protocol: Protocol, dice: Random) -> None:
    ways = dice.choices(COMBINATIONS, k=6)
    compare_verdicts(lambda: corpus.built(protocol), corpus.explored(protocol), ways)


@corpus.each(corpus.sized, 50, first=50)
def test_observations_and_deadlocks_on_generated_protocols(protocol: Protocol, dice: Random) -> None:
    compare_observations(corpus.built(without_claims(protocol)), dice.choices(COMBINATIONS, k=6))


class Box(Process):
    count: int = 0

    @step(when=lambda self: self.count < 9)
    def counts(self) -> None:
        self.count += 1


class Boxes(System):
    """Ten thousand states, and every step is seen: there is nothing to leave out."""

    def build(self) -> None:
        self.spawn(Box, 5)

    @invariant
    def counted(self) -> bool:
        return sum(box.count for box in self[Box]) < 100


def test_partial_orders_that_leave_out_nothing_are_given_up() -> None:
    results = [check(Boxes(), por="lpor-net", symmetry="none", threads=threads) for threads in (1, 2)]
    plain = check(Boxes(), symmetry="none")
    for result in results:
        assert (result.verdict, result.states, result.deadlocks) == ("holds", plain.states, plain.deadlocks)
        told = result.reductions["por"]
        assert told["given_up_at_depth"] == results[0].reductions["por"]["given_up_at_depth"] > 0
        assert told["why"].startswith("saved too little for what it takes")
