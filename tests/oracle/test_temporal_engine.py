"""The native engine of temporal properties against the reference over the plain semantics.

Random automata, all levels of fairness, bundled and generated protocols. Every lasso is held against the definitions:
it is a run, it closes, the automaton accepts it, it is fair.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

import corpus
from generator import Protocol, without_claims
from quorate import System, _core
from quorate._core import StateSet, Temporal
from quorate.base.places import location_of
from quorate.model.define import define
from quorate.model.definition import Definition, Property
from quorate.native.model import Model
from quorate.options import Options
from quorate.reduce.reductions import Reductions
from small_instances import SMALL, small
from temporal_semantics import (
    STRONG,
    UNFAIR,
    WEAK,
    Act,
    Automaton,
    Fairness,
    Plain,
    Reference,
    accepts,
    assumed,
    explore,
    for_core,
    named,
)

pytestmark = pytest.mark.usefixtures("taken_to_be_pure")

LEVELS = ("none", "progress", "process", "transition", "message", "strong")


def predicate(definition: Definition, column: int, field: int, number: int) -> Property:
    """A field has the value that it has at the beginning."""
    where = definition.columns[column]
    name, value = where.fields[field], definition.initials[0][column][field]
    place = [each.index for each in definition.columns if issubclass(each.cls, where.cls)].index(column)

    def holds(self: Any) -> bool:
        views = self[where.cls]
        return bool(getattr(views if where.is_monitor else views[place], name) == value)

    location = location_of(holds)
    assert location is not None
    return Property(f"predicate{number}", "can", "", holds, location)


def predicates(definition: Definition, dice: random.Random, number: int = 2) -> list[Property]:
    fields = [
        (column.index, field)
        for column in definition.columns
        for field in range(column.spec.visible)
        if not column.cls._byzantine and column.delivers_to is None
    ]
    return [predicate(definition, *dice.choice(fields), at) for at in range(number)]


def automaton(dice: random.Random, atoms: int = 2) -> Automaton:
    states, sets = dice.randint(1, 3), dice.randint(0, 2)
    edges = []
    for _ in range(dice.randint(states, 3 * states + 1)):
        literals = [dice.randrange(4) for _ in range(atoms)]  # 0: must hold, 1: must not, else whatever
        must = sum(1 << at for at, each in enumerate(literals) if each == 0)
        must_not = sum(1 << at for at, each in enumerate(literals) if each == 1)
        edges.append((dice.randrange(states), must, must_not, dice.randrange(states), dice.randrange(1 << sets)))
    return states, 0, sets, edges


def native(
    definition: Definition, asked: list[Property], *, reduced: bool
) -> tuple[Model, Temporal, _core.Exploration]:
    switch = "on" if reduced else "off"
    model = Model(definition, asked)
    reductions = Reductions(model, Options(symmetry="none", quotient=switch, dead_messages=switch))
    reductions.analyse()
    while True:
        graph = Temporal(model.engine, list(range(len(asked))))
        found = graph.explore(model)
        if found.stop != _core.Stop.regrown:
            return model, graph, found
        reductions.apply_again()


class Both:
    """A system in both forms, with the same predicates."""

    def __init__(self, made: System, dice: random.Random) -> None:
        self.definition = define(made)
        self.asked = predicates(self.definition, dice)
        self.plain: Plain = explore(self.definition, self.asked)
        self.natives = [native(self.definition, self.asked, reduced=reduced) for reduced in (False, True)]
        model, _, found = self.natives[0]
        assert found.stop == _core.Stop.finished
        assert found.states == len(self.plain.states)
        self.numbers = {key(model.reduced(state)): at for at, state in enumerate(self.plain.states)}

    def compare(self, dice: random.Random, fairness: Fairness, crashable: list[int], crashes: int) -> str:
        made = automaton(dice)
        reference = Reference(self.plain, made)
        wanted = reference.violated(fairness, crashable, crashes)
        for number, (model, graph, _) in enumerate(self.natives):
            atoms = [graph.predicate(at) for at in range(len(self.asked))]
            for forced in (False, True):
                found = graph.check(
                    model,
                    for_core(made),
                    atoms,
                    assumed(fairness),
                    crashable=crashable,
                    crashes=crashes,
                    even_if_acyclic=forced,
                )
                lasso = found.violation
                got = "" if lasso is None else "end" if lasso.loop_from == len(lasso.steps) else "cycle"
                if not got and found.bounded is not None:
                    got = "bound"
                assert got == wanted, (made, fairness)
                assert found.stop == (_core.Stop.violation if lasso else _core.Stop.finished)
                if lasso is not None and number == 0:
                    self.validate(lasso, made, fairness, crashes)
        return wanted

    def validate(self, lasso: _core.Lasso, made: Automaton, fairness: Fairness, crashes: int) -> None:
        """By the definitions, over the plain semantics."""
        path = [self.numbers[key(state)] for state in lasso.path]
        acts = [self.act(step) for step in lasso.steps]
        begin = lasso.loop_from
        assert path[0] in self.plain.initial
        assert len(path) == len(acts) + 1
        for at, act in enumerate(acts):
            assert (act, path[at + 1]) in self.plain.ways[path[at]], "it is a run"
        assert path[-1] == path[begin], "it closes"
        labels = [self.plain.labels[state] for state in path]
        loop = labels[begin:-1] or labels[-1:]
        assert accepts(made, labels[:begin], loop)
        stopped = frozenset(lasso.stopped)
        assert len(stopped) <= crashes
        case = Fairness(fairness.level, fairness.steps, fairness.discards, fairness.recoveries, stopped)
        reference = Reference(self.plain, made)
        assert all(case.allows(act) for act in acts[begin:])
        taken = {group for act in acts[begin:] for group in case.groups(act)}
        states = path[begin:-1] or path[-1:]
        enabled: list[set[Any]] = [reference.enabled(state, case) for state in states]
        assert not {group for group in set.intersection(*enabled) if group[0] == WEAK} - taken, "it is weakly fair"
        assert not {group for group in set.union(*enabled) if group[0] == STRONG} - taken, "it is strongly fair"
        if begin == len(acts):
            assert reference.ends(path[-1], case) == "yes"
        assert {(self.act(each.act), each.always) for each in lasso.starved} == self.starved(states, acts[begin:], case)

    def starved(self, states: list[int], taken: list[Act], case: Fairness) -> set[tuple[Act, bool]]:
        enabled = [{act for act, _ in self.plain.ways[state]} | self.plain.cut[state] for state in states]
        always = set.intersection(*enabled)
        return {
            (act, act in always)
            for act in set.union(*enabled) - set(taken)
            if act[1] in ("step", "discard", "recover") and not act[4] and case.allows(act)
        }

    def act(self, act: _core.Act) -> Act:
        where = self.definition.columns[act.column]
        consumed = [self.natives[0][0].message(where, each) for each in act.messages]
        return named(self.definition, act.column, act.kind.name, act.transition, consumed)

    def beginnings(self, dice: random.Random, fairness: Fairness) -> None:
        """Every state of the plain graph: does a fair accepted run begin in it?"""
        made = automaton(dice)
        reference = Reference(self.plain, made)
        model, graph, _ = self.natives[0]
        atoms = [graph.predicate(at) for at in range(len(self.asked))]
        given = assumed(fairness)
        found = graph.exists(model, for_core(made), atoms, given)
        assert found.stop == _core.Stop.finished
        assert self.translated(graph, found.states) == {
            at for at in range(len(self.plain.states)) if reference.begins(at, fairness)
        }
        # E G p by labelling, and by an automaton of one state.
        globally: Automaton = (1, 0, 0, [(0, 1, 0, 0, 0)])
        assert (
            graph.always(model, atoms[0], given).states == graph.exists(model, for_core(globally), atoms, given).states
        )
        # E[p U q] likewise: an automaton that waits for q, and then for nothing.
        awaits: Automaton = (2, 0, 1, [(0, 1, 2, 0, 0), (0, 2, 0, 1, 1), (1, 0, 0, 1, 1)])
        if not any(self.plain.held):
            assert graph.until(atoms[0], atoms[1]) == graph.exists(model, for_core(awaits), atoms, given).states

    def translated(self, graph: Temporal, found: StateSet) -> set[int]:
        return {self.numbers[key(graph.state(number))] for number in found.states()}


def key(state: tuple[Any, Any]) -> tuple[Any, ...]:
    columns, left = state
    return tuple((local, tuple(inbox)) for local, inbox in columns), tuple(left)


def drawn(dice: random.Random, definition: Definition) -> tuple[Fairness, list[int], int]:
    """A level, at times with transitions that are more or less fair, at times with implicit crashes."""
    steps: tuple[tuple[int, ...], ...] = ()
    if dice.random() < 0.5:
        steps = tuple(
            tuple(dice.choice((UNFAIR, WEAK, WEAK, STRONG)) for _ in definition.transitions(column))
            if not column.is_monitor
            else ()
            for column in definition.columns
        )
    fairness = Fairness(dice.choice(LEVELS), steps, dice.choice((WEAK, WEAK, UNFAIR)), dice.choice((UNFAIR, WEAK)))
    columns = [column.index for column in definition.processes]
    crashes = dice.choice((0, 0, 1, 2))
    return fairness, sorted(dice.sample(columns, dice.randint(1, len(columns)))) if crashes else [], crashes


MOST = 1_500


@pytest.mark.parametrize("name", SMALL)
def test_bundled_protocols_agree_with_the_reference(name: str) -> None:
    dice = random.Random(name)
    made = small(name)
    both = Both(made, dice)
    if len(both.plain.states) > MOST:
        pytest.fail(f"{name} has {len(both.plain.states)} states: too many to compare")
    for _ in range(12):
        both.compare(dice, *drawn(dice, both.definition))
    both.beginnings(dice, drawn(dice, both.definition)[0])


def compare_protocol(protocol: Protocol, seed: int, times: int = 6) -> list[str]:
    dice = random.Random(seed)
    both = Both(corpus.built(without_claims(protocol)), dice)
    found = [both.compare(dice, *drawn(dice, both.definition)) for _ in range(times)]
    both.beginnings(dice, drawn(dice, both.definition)[0])
    return found


@corpus.each(corpus.few_states, 60)
def test_generated_protocols_agree_with_the_reference(protocol: Protocol, dice: random.Random) -> None:
    compare_protocol(protocol, dice.randrange(1 << 30))
