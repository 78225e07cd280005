"""Graphs that are reduced as temporal properties must not be reduced, for the reference to be led astray by.

No option makes the checker do this: partial orders and symmetry are off where they are not known to be right. So the
reductions that the rules forbid are made here: partial orders by ample sets that are checked by definition, or by the
core's stubborn sets for linear time (both are right for LTL without fairness); symmetry by renaming; the others by
leaving out what they forget.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations
from typing import Any

from quorate import Process, System, _core
from quorate.base.values import encode
from quorate.model.define import define
from quorate.model.definition import Definition, Property
from quorate.native.model import Model
from quorate.properties.temporal.formula import names
from quorate.properties.temporal.stated import asked_for
from quorate.properties.temporal.translate import translate_negation
from quorate.semantics.state import State
from temporal_semantics import Act, Automaton, Fairness, Plain, Reference, explore, named


class Question:
    """A formula about a system, with its graph and the automaton of its negation."""

    def __init__(self, made: System, formula: str) -> None:
        self.definition = define(made)
        (prop,) = asked_for(self.definition, [formula], "ltl")
        self.asked: list[Property] = [prop.predicates[name] for name in names(prop.formula)]
        self.plain = explore(self.definition, self.asked)
        found = translate_negation(prop.formula, names(prop.formula))
        self.automaton: Automaton = (
            found.states,
            found.initial,
            found.sets,
            [
                (edge.source, edge.must_be_true, edge.must_be_false, edge.target, edge.acceptance)
                for edge in found.edges
            ],
        )

    def columns(self, role: type[Process]) -> list[int]:
        return [each.index for each in self.definition.processes if issubclass(each.cls, role)]

    def verdict(self, level: str, plain: Plain | None = None) -> str:
        reference = Reference(self.plain if plain is None else plain, self.automaton)
        found = reference.violated(Fairness(level))
        return {"": "holds", "bound": "incomplete"}.get(found, "violated")

    def without_ends(self, level: str) -> str:
        """As if a run that stops were no run: only cycles count."""
        reference = Reference(self.plain, self.automaton)
        return "violated" if reference.fair_part(set(reference.reachable), Fairness(level)) else "holds"

    def without_bounds(self) -> Plain:
        """As if what `within` cuts, or a full channel blocks, did not exist."""
        nothing: list[set[Act]] = [set() for _ in self.plain.states]
        return replace(self.plain, cut=nothing, held=nothing)

    def stubborn(self, *, explored_only: bool = False, **options: Any) -> Plain:
        """Reduced by the core's stubborn sets for linear time. What is enabled and not explored is still enabled,
        unless `explored_only`."""
        definition, plain = self.definition, self.plain
        model = Model(definition, self.asked)
        for state in plain.states:
            for each in self.asked:
                model.note_reads(model.evaluate(each, state.locals).reads)
        model.engine.observe(model.observed)
        assert model.engine.close(model, 20_000).complete
        model.engine.reduce(False, False)
        why = model.engine.relate(_core.PorOptions(keep=_core.Keep.linear, **options))
        assert why == ""
        graph = model.engine.graph(model)
        numbers = {_cells(model.reduced(state)): at for at, state in enumerate(plain.states)}
        places = [numbers[_cells(node.state)] for node in graph.states]
        kept: list[set[tuple[object, int]]] = [set() for _ in plain.states]
        for edge in graph.edges:
            column = definition.columns[edge.column]
            consumed = [model.message(column, each) for each in edge.messages]
            act = named(definition, edge.column, "step", edge.transition, consumed)
            kept[places[edge.source]].add((act, places[edge.target]))
        ways = [[way for way in plain.ways[at] if way in kept[at]] for at in range(len(plain.states))]
        assert sum(map(len, ways)) == sum(map(len, kept)), "every step of the core's is one of the graph"
        left_out = [{act for act, to in plain.ways[at] if (act, to) not in kept[at]} for at in range(len(ways))]
        hidden = [set() if explored_only else acts for acts in left_out]
        return replace(plain, ways=ways, hidden=hidden)

    def ample(self, first: Sequence[int], without: str = "") -> Plain:
        """Reduced by ample sets: the steps of the processes `first` where they have any, else all. What is enabled and
        not explored is still enabled. That these are ample sets for LTL is checked by definition: C1, C2, C3. If one of
        them is named in `without`, then that one fails."""
        return self.left_with([(column, None) for column in first], without)

    def left_with(self, first: Sequence[tuple[int, int | None]], without: str = "") -> Plain:
        """The same for some transitions of processes; None for all."""
        plain = self.plain

        def chosen(act: Act) -> bool:
            return any(act[0] == column and transition in (None, act[2]) for column, transition in first)

        ways = [[way for way in here if chosen(way[0])] or here for here in plain.ways]
        left_out = [
            {act for act, _ in here} - {act for act, _ in kept} for here, kept in zip(plain.ways, ways, strict=True)
        ]
        partly = {at for at, acts in enumerate(left_out) if acts}
        assert partly, "something is left out"
        invisible = all(plain.labels[to] == plain.labels[at] for at in partly for _, to in ways[at])
        assert invisible == (without != "C2"), "C2: they are invisible"
        for at in partly:
            self._independent(at, {act for act, _ in ways[at]})
        while leaves := {at for at in partly if not any(to in partly for _, to in ways[at])}:
            partly -= leaves
        assert bool(partly) == (without == "C3"), "C3: every cycle has a state in which all is explored"
        return replace(plain, ways=ways, hidden=left_out)

    def _independent(self, state: int, chosen: set[Act]) -> None:
        """C1: whatever others do, the chosen steps stay possible and commute with it."""
        seen, todo = {state}, [state]
        for at in todo:
            acts = {act for act, _ in self.plain.ways[at]}
            assert chosen <= acts
            for act in acts - chosen:
                for after in self._after(at, act):
                    for each in chosen:
                        swapped = {last for to in self._after(at, each) for last in self._after(to, act)}
                        assert self._after(after, each), "it stays possible"
                        assert self._after(after, each) <= swapped, "and can be taken first"
                    if after not in seen:
                        seen.add(after)
                        todo.append(after)

    def _after(self, state: int, act: Act) -> set[int]:
        return {to for each, to in self.plain.ways[state] if each == act}

    def renamed(self, columns: Sequence[int]) -> Plain:
        """Of states that differ in the order of these processes, one; whose step it is goes by its place there."""
        definition, plain = self.definition, self.plain
        first = [_least(definition, state, columns) for state in plain.states]
        numbers = {state.key: at for at, state in enumerate(plain.states)}
        places = [numbers[state.key] for state in first]
        return replace(
            plain,
            ways=[[(act, places[to]) for act, to in plain.ways[at]] for at in places],
            initial=sorted({places[at] for at in plain.initial}),
        )


def _least(definition: Definition, state: State, columns: Sequence[int]) -> State:
    """For processes that neither send nor know each other."""
    assert not any(state.pending)

    def exchanged(order: tuple[int, ...]) -> State:
        locals_ = list(state.locals)
        for place, column in zip(columns, order, strict=True):
            locals_[place] = state.locals[column]
        return State(tuple(locals_), state.pending, state.budget)

    return min((exchanged(order) for order in permutations(columns)), key=lambda each: encode(each.locals))


def _cells(state: tuple[object, object]) -> str:
    return repr(state)
