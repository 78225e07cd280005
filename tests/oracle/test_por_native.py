"""The native stubborn sets against the definitions of `quorate.por`, which know nothing of messages.

A small instance becomes a transition system of `quorate.por` by its plain semantics: a transition is who does what with
which messages, and its choices are its outcomes. In every state in which the engine leaves steps out, the steps that it
takes must be a strong stubborn set, over all sequences of the steps outside of it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from itertools import islice, product
from random import Random
from typing import Any, NamedTuple

import pytest

import corpus
from agreement import PLAIN
from generator import Protocol, without_claims
from quorate import System, check
from quorate.model.define import define
from quorate.native.model import Model
from quorate.options import Options
from quorate.por import Reduction, TransitionSystem, exact_relations, search, verify_relations
from quorate.por.definition import Breach, breaches
from quorate.reduce.reductions import Reductions
from quorate.semantics.identity import Identity
from quorate.semantics.state import State, Step, initial_states
from reference import explore
from small_instances import SMALL, small
from test_self_check import believing_that_nothing_is_sent

MOST_STATES = 2_000
# Sets in which all transitions are keys, and which keep deadlocks one by one, as the definitions have them.
STRONG = Options(por="lpor-net", quotient="off", dead_messages="off", symmetry="none", por_without=("key", "twins"))


class Choice(NamedTuple):
    """What the engine takes in a state, where it leaves something out."""

    state: State
    sets: list[frozenset[Identity]]
    """One set, unless two transitions of a process lead to the same state: then nobody can say which one was meant."""


def transition_of(step: Step) -> Identity:
    """Whatever a handler chooses and however much a crash lets out, it is one transition with several outcomes."""
    return replace(Identity.of(step), choices=(), sent=b"")


class Instance:
    """A small system, as the plain semantics have it."""

    def __init__(self, made: System) -> None:
        self.definition = define(made)
        self.offered: dict[State, tuple[Step, ...]] = {}

        def visit(state: State, _: int, here: tuple[Step, ...]) -> None:
            self.offered[state] = tuple(step for step in here if step.next is not None)

        self.explored = explore(self.definition, max_states=MOST_STATES, visit=visit)
        moves: dict[State, dict[Identity, list[State]]] = {}
        for state, here in self.offered.items():
            moves[state] = {}
            for step in here:
                assert step.next is not None
                moves[state].setdefault(transition_of(step), []).append(step.next)
        self.system: TransitionSystem[State, Identity] = TransitionSystem(
            list(dict.fromkeys(each for here in moves.values() for each in here)),
            initial_states(self.definition),
            lambda state, transition: moves[state].get(transition, ()),
            lambda state: moves[state],
        )

    def choices(self, options: Options = STRONG) -> Iterator[Choice]:
        """The engine is prepared as a check would prepare it."""
        model = Model(self.definition, ())
        reductions = Reductions(model, options)
        reductions.analyse()
        if not reductions.por.ran:
            return
        for state, here in self.offered.items():
            cells: Any = model.reduced(state)[0]
            seen = model.engine.preview(model, (cells, list(state.budget)), True)
            if not seen.reduced:
                continue
            taken = {(column, hashable(reached)) for column, reached in seen.taken}
            leads: dict[Hashable, list[Identity]] = {lead: [] for lead in taken}
            for step in here:
                assert step.next is not None
                lead = step.column, hashable(model.reduced(step.next))
                if lead in leads:
                    leads[lead].append(transition_of(step))
            ways = [list(dict.fromkeys(each)) for each in leads.values()]
            assert all(ways), "the engine takes a step that the plain semantics do not have"
            sets = [frozenset(each for each in way) for way in islice(product(*ways), 64)]
            sets.append(frozenset(each for way in ways for each in way))
            yield Choice(state, list(dict.fromkeys(sets)))

    def refuted(self, options: Options = STRONG) -> tuple[int, list[Breach[Identity]]]:
        """How many sets were looked at, and what the first wrong one lacks."""
        looked = 0
        for choice in self.choices(options):
            looked += 1
            wrong = [breaches(self.system, choice.state, chosen) for chosen in choice.sets]
            if all(wrong):
                return looked, wrong[-1]
        return looked, []


def hashable(state: Any) -> Hashable:
    columns, left = state
    return tuple((local, tuple(inbox)) for local, inbox in columns), tuple(left)


# --- bundled protocols ---------------------------------------------------------------------------------------------

# Those whose closure ends: only then are there relations to argue with.
NAMES = [name for name in SMALL if name not in ("multi-writer-storage", "lamport-mutex", "gossip")]


@pytest.mark.parametrize("name", NAMES)
def test_bundled_protocols(name: str) -> None:
    assert Instance(small(name)).refuted()[1] == []


@pytest.mark.parametrize("name", ["paxos", "regular-storage", "fd-consensus", "pbft", "two-phase-commit-recovery"])
def test_enough_sets_are_looked_at(name: str) -> None:
    assert Instance(small(name)).refuted()[0] > 10


@pytest.mark.parametrize("name", NAMES)
def test_the_same_deadlocks_as_by_the_best_relations(name: str) -> None:
    """Both keep every deadlock; and the relations of `quorate.por` are tried on all states before they are trusted."""
    instance = Instance(small(name))
    relations = exact_relations(instance.system)
    assert verify_relations(instance.system, relations).ok
    best = search(instance.system, Reduction(instance.system.transitions, relations, preserve="deadlocks"))
    assert set(best.deadlocks) == {state for state, here in instance.offered.items() if not here}
    native = check(small(name), property=(), por="lpor-net", por_options={"twins": False}, **PLAIN)
    assert native.deadlocks == len(instance.explored.deadlocks)


# --- generated protocols -------------------------------------------------------------------------------------------


def quiet(protocol: Protocol, dice: Random) -> Protocol:
    """Nothing fails and nothing is cut: such steps lead nowhere, and a transition system has none that do."""
    tame = without_claims(protocol)
    return corpus.smaller(tame._replace(roles=tuple(role._replace(within=None) for role in tame.roles)), 100)


QUIET = corpus.Kind("quiet", quiet)


@corpus.each(QUIET, 60)
def test_generated_protocols(protocol: Protocol, dice: Random) -> None:
    looked, wrong = Instance(corpus.built(protocol)).refuted()
    corpus.require(looked > 0)
    assert wrong == []


# --- seeded mistakes -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "transition"),
    [
        ("paxos", "Proposer.propose"),
        ("regular-storage", "Base.store"),
        ("regular-storage", "Writer.write"),
        ("regular-storage", "Reader.read"),
        ("chain-replication", "Writer.write"),
    ],
)
def test_relations_that_overlook_what_is_sent(name: str, transition: str) -> None:
    with believing_that_nothing_is_sent(transition):
        _, wrong = Instance(small(name)).refuted()
    assert {"D1", "commutes"} <= {breach.condition for breach in wrong}


def test_on_generated_protocols_such_relations_are_found_out_often() -> None:
    found: list[bool] = []

    @corpus.each(QUIET, 40)
    def look(protocol: Protocol, dice: Random) -> None:
        with ExitStack() as believing:
            for number, role in enumerate(protocol.roles):
                for index, rule in enumerate(role.rules):
                    believing.enter_context(believing_that_nothing_is_sent(f"Role{number}.{rule.kind}{index}"))
            _, wrong = Instance(corpus.built(protocol)).refuted()
        found.append(bool(wrong))

    look()
    assert sum(found) >= 5
