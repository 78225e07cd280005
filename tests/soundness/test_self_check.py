"""`--self-check`: it says nothing of reductions that are right, and finds the mistakes that are seeded here."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from typing import Any
from unittest.mock import patch

import pytest
from typer.testing import CliRunner

import corpus
from generator import Protocol
from quorate import System, _core, check
from quorate.cli.main import app
from quorate.native.model import Model
from quorate.protocols import CATALOGUE
from quorate.protocols.faulty_paxos import FaultyPaxos
from quorate.protocols.paxos import Paxos
from quorate.reduce.interface import Basis
from quorate.reduce.optimistic import Universe
from quorate.reduce.partial_orders import PartialOrders
from quorate.search import self_check
from quorate.search.self_check import SelfCheck, SelfCheckError
from small_instances import small
from test_optimistic import REDUCIBLE, DeadTooSoon, MergedTooSoon, PassedOver, no_closure

POR: dict[str, Any] = {"por": "lpor-net", "quotient": "off", "dead_messages": "off"}
ALL: dict[str, Any] = {"por": "lpor-net", "self_check": True}


# Reductions that are right


def test_what_is_looked_at() -> None:
    found = check(Paxos(), symmetry="none", **ALL).self_check
    assert found is not None
    assert found["sets"] == 200
    assert found["paths"] > 1_000
    assert found["pairs"] > 500
    assert found["depth"] == 4
    assert (found["unreduced_states"], found["unreduced_finished"], found["compared"]) == (8_649, True, True)
    assert (found["observations"], found["deadlocks"]) == (3, 2)


def test_with_symmetry_nothing_may_be_seen_that_is_not_there_without() -> None:
    found = check(Paxos(), **ALL).self_check
    assert found is not None
    assert (found["sets"], found["unreduced_states"], found["compared"]) == (94, 8_649, False)
    assert (found["observations"], found["deadlocks"]) == (3, 2)

    def seeing_too_much(self: SelfCheck, model: Model, final: bool) -> None:
        verify(self, model, final)
        self._stuck |= {1}

    verify = SelfCheck.verify
    with patch.object(SelfCheck, "verify", seeing_too_much), pytest.raises(SelfCheckError) as caught:
        check(Paxos(), **ALL)
    assert caught.value.findings == ["the reduced search has 1 deadlocks that the system has not"]


def test_it_is_the_same_for_any_number_of_threads() -> None:
    assert check(Paxos(), threads=3, **ALL).self_check == check(Paxos(), **ALL).self_check


def test_nothing_is_looked_at_unless_asked_for() -> None:
    assert check(Paxos(), por="lpor-net").self_check is None
    assert check(Paxos()).to_json()["self_check"] is None


def test_a_budget_that_is_too_small_is_said() -> None:
    with patch.object(self_check, "UNREDUCED_STATES", 500):
        found = check(Paxos(), **ALL).self_check
    assert found is not None
    assert not found["unreduced_finished"]
    assert found["unreduced_states"] < 1_000


def test_with_a_violation_the_verdict_is_compared() -> None:
    result = check(FaultyPaxos(), **ALL)
    assert result.property == "agreement"
    assert result.self_check is not None
    assert not result.self_check["compared"]
    assert result.trace is not None
    assert result.trace.shortest


def test_with_symmetry_the_verdict_is_compared() -> None:
    found = check(Paxos(), symmetry="auto", self_check=True).self_check
    assert found is not None
    assert not found["compared"]
    assert found["unreduced_finished"]


def test_a_search_that_goes_on_after_a_violation_is_compared_with_one_that_does() -> None:
    found = check(FaultyPaxos(), all=True, self_check=True)
    assert found.verdict == "violated"
    assert found.self_check is not None


@pytest.mark.parametrize("name", CATALOGUE)
@pytest.mark.parametrize(
    "options",
    [ALL, POR | {"self_check": True}, ALL | {"por": "dpor"}, {"self_check": True}],
    ids=["all", "por", "dpor", "exact"],
)
def test_bundled_protocols(name: str, options: dict[str, Any]) -> None:
    check(small(name), **options)
    if options.get("por") != "dpor":
        check(small(name), **options, search="dfs")
    if check(small(name), property="deadlock").verdict == "holds":
        check(small(name), property="deadlock", **options)


@corpus.each(REDUCIBLE, 50)
def test_generated_protocols_with_partial_orders(protocol: Protocol, dice: Random) -> None:
    for options in (ALL, POR | {"self_check": True}, ALL | {"por": "lpor", "search": "dfs"}):
        check(corpus.built(protocol), **options)


@corpus.each(corpus.sized, 50)
def test_generated_protocols(protocol: Protocol, dice: Random) -> None:
    check(corpus.built(protocol), **ALL)


# Seeded mistakes


@contextmanager
def believing_that_nothing_is_sent(by: str) -> Iterator[None]:
    """The relations between steps are made of behaviours in which one transition sends nothing."""
    relate = PartialOrders._relate

    def lying(self: PartialOrders, basis: Basis) -> None:
        model = self.model
        for column in model.definition.processes:
            for transition in model.definition.transitions(column):
                if str(transition) == by:
                    model.engine.hide_sends(column.index, transition.index)
        relate(self, basis)

    with patch.object(PartialOrders, "_relate", lying):
        yield


@pytest.mark.parametrize("budget", [1, 200_000], ids=["by-definition", "with-the-unreduced-search"])
@pytest.mark.parametrize(
    ("name", "transition"),
    [
        ("paxos", "Acceptor.accept"),
        ("paxos", "Proposer.propose"),
        ("regular-storage", "Base.store"),
        ("regular-storage", "Writer.write"),
        ("regular-storage", "Reader.read"),
        ("multi-paxos", "Leader.propose"),
        ("chain-replication", "Writer.write"),
    ],
)
def test_relations_that_overlook_what_is_sent(name: str, transition: str, budget: int) -> None:
    """Found in the states that were sampled; the search without reductions is not needed for that."""
    check(small(name), **POR, self_check=True)
    with (
        believing_that_nothing_is_sent(transition),
        patch.object(self_check, "UNREDUCED_STATES", budget),
        pytest.raises(SelfCheckError) as caught,
    ):
        check(small(name), **POR, self_check=True)
    assert caught.value.code == "Q902"
    assert "    chosen: " in caught.value.findings[0]


@pytest.mark.parametrize(
    ("model", "options"),
    [
        (DeadTooSoon, {"quotient": "off", "dead_messages": "on"}),
        (MergedTooSoon, {"quotient": "on", "dead_messages": "off"}),
        (PassedOver, {"quotient": "off", "dead_messages": "off", "por": "lpor-net"}),
    ],
)
def test_analyses_of_what_was_met_alone(model: type[System], options: dict[str, Any]) -> None:
    def only_met(universe: Universe, most: int) -> _core.UniverseReport:
        return universe.model.engine.evaluate_universe(universe.model, most, only_met=True)

    with no_closure((1, 1)):
        assert check(model, **options, self_check=True).verdict == "violated"
        with patch.object(Universe, "evaluate", only_met), pytest.raises(SelfCheckError) as caught:
            check(model, **options, self_check=True)
    assert any(
        finding == "without reductions good is violated, with them it is not" for finding in caught.value.findings
    )


# The command line


def test_the_report() -> None:
    done = CliRunner().invoke(app, ["check", "paxos", "--por", "lpor-net", "--self-check"])
    assert done.exit_code == 0
    assert "  self-check     94 sets of chosen steps held against " in done.stdout


def test_the_json() -> None:
    done = CliRunner().invoke(app, ["check", "paxos", "--symmetry", "none", "--self-check", "--json"])
    found = json.loads(done.stdout)["self_check"]
    assert (found["sets"], found["unreduced_states"], found["compared"]) == (0, 8_649, True)


def test_a_refuted_reduction_is_an_error_with_a_code() -> None:
    with believing_that_nothing_is_sent("Proposer.propose"):
        done = CliRunner().invoke(app, ["check", "paxos", "-p", "acceptors=1", "--por", "lpor-net", "--self-check"])
    assert done.exit_code == 2
    assert "Q902" in done.stderr
    assert "the self-check refutes a reduction" in done.stderr
