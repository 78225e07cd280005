"""Temporal properties over the plain semantics, too simple to be wrong: sets, dictionaries, and every definition spelt
out. An automaton is (states, initial, number of acceptance sets, edges), as the core takes it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from quorate import _core
from quorate.base.values import encode
from quorate.model.definition import Definition, Property
from quorate.model.run import fire
from quorate.properties import evaluate
from quorate.semantics.firing import consumable, take
from quorate.semantics.state import State, initial_states, looked_at
from quorate.semantics.steps import steps

Act = tuple[int, str, int | None, tuple[bytes, ...], bool]
"""Column, kind, transition, what is consumed, whether an attacker has a say in it."""
Edge = tuple[int, int, int, int, int]
Automaton = tuple[int, int, int, list[Edge]]
Node = tuple[int, int]

UNFAIR, WEAK, STRONG = 0, 1, 2


@dataclass
class Plain:
    """The graph of a system: every state with its label and its steps."""

    states: list[State] = field(default_factory=list)
    labels: list[int] = field(default_factory=list)
    ways: list[list[tuple[Act, int]]] = field(default_factory=list)
    """Per state: act and target."""
    held: list[set[Act]] = field(default_factory=list)
    """Per state: what `within` cuts, or a full channel blocks."""
    cut: list[set[Act]] = field(default_factory=list)
    """Per state: what `within` cuts."""
    hidden: list[set[Act]] | None = None
    """Per state: what is possible and was left out; None if nothing was."""
    initial: list[int] = field(default_factory=list)


def explore(definition: Definition, predicates: Sequence[Property], most: int = 100_000) -> Plain:
    found = Plain()
    numbers: dict[bytes, int] = {}

    def number(state: State) -> int:
        if state.key not in numbers:
            numbers[state.key] = len(found.states)
            found.states.append(state)
            values = [evaluate(definition, each, state.locals) for each in predicates]
            assert all(value.failure is None for value in values)
            found.labels.append(sum(value.value << at for at, value in enumerate(values)))
        return numbers[state.key]

    found.initial = list(dict.fromkeys(number(state) for state in initial_states(definition)))
    for state in found.states:
        here = steps(definition, state)
        assert all(step.failure is None for step in here)
        found.ways.append([(_act(definition, step), number(step.next)) for step in here if step.next is not None])
        found.cut.append({_act(definition, step) for step in here if step.next is None})
        found.held.append(found.cut[-1] | _blocked(definition, state))
        assert len(found.states) <= most
    return found


def _act(definition: Definition, step: Any) -> Act:
    transition = step.transition.index if step.kind == "step" else None
    return named(definition, step.column, step.kind, transition, step.consumed if step.kind != "crash" else ())


def named(definition: Definition, column: int, kind: str, transition: int | None, consumed: Sequence[Any]) -> Act:
    optional = kind == "step" and any(definition.stands(definition.columns[column], each) for each in consumed)
    return column, kind, transition, tuple(sorted(map(encode, consumed))), optional


def _blocked(definition: Definition, state: State) -> set[Act]:
    """The protocol steps that a full channel holds up."""
    return {
        named(definition, column.index, "step", transition.index, consumed)
        for column in definition.processes
        for transition in definition.transitions(column)
        for consumed in consumable(definition, state, column, transition)
        for outcome in fire(column, transition, looked_at(definition, state, column), consumed)
        if take(definition, state, column, transition, consumed, outcome) is None
    }


@dataclass(frozen=True)
class Fairness:
    """A level, and what single transitions are said to be: (column, transition) -> unfair, weak or strong."""

    level: str = "message"
    steps: tuple[tuple[int, ...], ...] = ()
    discards: int = WEAK
    recoveries: int = UNFAIR
    stopped: frozenset[int] = frozenset()
    """Columns that have crashed implicitly."""

    def groups(self, act: Act) -> list[tuple[Any, ...]]:
        """The fair groups that a step belongs to, the strength of each first.

        The level says which steps count as one: that is a weakly fair group (at the level strong, a strongly fair one)
        of all fair steps there are. Of a transition that is said to be strongly fair this is assumed besides: of it as
        such, or with what it consumes if the level tells that apart.
        """
        column, kind, transition, consumed, optional = act
        if self.level == "none" or optional or not self.allows(act):
            return []
        strength = {"discard": self.discards, "recover": self.recoveries}.get(kind, UNFAIR)
        if kind == "step":
            assert transition is not None
            strength = self.steps[column][transition] if self.steps else WEAK
        if strength == UNFAIR:
            return []
        is_recovery = kind == "recover"
        whole: dict[str, tuple[Any, ...]] = {
            "progress": (is_recovery,),
            "process": (column, is_recovery),
            "transition": (column, kind, transition),
            "message": (column, kind, transition, consumed),
            "strong": (column, kind, transition, consumed),
        }
        found = [(STRONG if self.level == "strong" else WEAK, *whole[self.level])]
        if strength == STRONG:
            fine = self.level in ("message", "strong")
            found.append((STRONG, column, kind, transition, *((consumed,) if fine else ())))
        return found

    def allows(self, act: Act) -> bool:
        """Whether the step may occur on a loop."""
        return act[0] not in self.stopped or act[1] in ("lose", "duplicate")


class Reference:
    """One graph, one automaton."""

    def __init__(self, plain: Plain, automaton: Automaton) -> None:
        self.plain = plain
        self.automaton = automaton
        self.all = (1 << automaton[2]) - 1
        self.reachable = reachable([(state, automaton[1]) for state in plain.initial], lambda at: self.after(at))

    def moves(self, label: int, place: int) -> list[tuple[int, int]]:
        return [
            (target, acceptance)
            for source, must, must_not, target, acceptance in self.automaton[3]
            if source == place and label & must == must and not label & must_not
        ]

    def ways(self, node: Node) -> list[tuple[Act, int, Node]]:
        """What can be done: the act, the acceptance sets, where it leads."""
        state, place = node
        return [
            (act, acceptance, (target, to))
            for act, target in self.plain.ways[state]
            for to, acceptance in self.moves(self.plain.labels[state], place)
        ]

    def after(self, node: Node) -> list[Node]:
        return [to for _, _, to in self.ways(node)]

    def stays(self, node: Node) -> bool:
        state, place = node
        label = self.plain.labels[state]
        return accepts(self.automaton, [], [label], place)

    def enabled(self, state: int, fairness: Fairness) -> set[Hashable]:
        acts = {act for act, _ in self.plain.ways[state]} | self.plain.cut[state] | self.hidden(state)
        return {group for act in acts for group in fairness.groups(act)}

    def hidden(self, state: int) -> set[Act]:
        return set() if self.plain.hidden is None else self.plain.hidden[state]

    def is_open(self, node: Node) -> bool:
        """Whether a run may go on beyond a bound, in whatever way, so that the automaton accepts it."""
        state, place = node
        after = {target for target, _ in self.moves(self.plain.labels[state], place)}
        return bool(self.plain.cut[state]) and any(map(self.accepts_some, after))

    def accepts_some(self, place: int) -> bool:
        """Whether any word is accepted from here: some place comes back to itself by edges of all sets."""
        edges = [(source, to, sets) for source, must, must_not, to, sets in self.automaton[3] if not must & must_not]

        def after(at: tuple[int, int]) -> list[tuple[int, int]]:
            return [(to, at[1] | sets) for source, to, sets in edges if source == at[0]]

        return any(
            (at, self.all) in reachable([(to, sets) for source, to, sets in edges if source == at], after)
            for at in {here for here, _ in reachable([(place, 0)], after)}
        )

    def ends(self, state: int, fairness: Fairness) -> str:
        """Whether a run may stop here for ever: "yes", "no", or "bound" if only a bound is the reason."""
        possible = {act for act, _ in self.plain.ways[state]} | self.hidden(state)
        if any(fairness.groups(act) for act in possible):
            return "no"
        return "bound" if any(fairness.groups(act) for act in self.plain.held[state]) else "yes"

    def violated(self, fairness: Fairness, crashable: Sequence[int] = (), crashes: int = 0) -> str:
        """What there is: an "end", a "cycle", only a "bound"; or nothing."""
        sets = [frozenset(some) for size in range(crashes + 1) for some in combinations(crashable, size)]
        cases = [_with(fairness, some) for some in sets]
        good = [node for node in self.reachable if self.stays(node)]
        if any(self.ends(node[0], case) == "yes" for node in good for case in cases):
            return "end"
        if any(self.fair_part(set(self.reachable), case) for case in cases):
            return "cycle"
        if any(map(self.is_open, self.reachable)):
            return "bound"
        return "bound" if any(self.ends(node[0], case) == "bound" for node in good for case in cases) else ""

    def fair_part(self, nodes: set[Node], fairness: Fairness) -> bool:
        """Whether a fair accepted run can stay among these nodes."""
        for component in components(nodes, lambda at: [to for act, _, to in self.ways(at) if fairness.allows(act)]):
            inner = [
                (act, acceptance)
                for node in component
                for act, acceptance, to in self.ways(node)
                if to in component and fairness.allows(act)
            ]
            taken = {group for act, _ in inner for group in fairness.groups(act)}
            enabled = [self.enabled(state, fairness) for state, _ in component]
            accepted = 0
            for _, acceptance in inner:
                accepted |= acceptance
            if not inner or accepted != self.all:
                continue
            always: set[Any] = set.intersection(*enabled)
            if any(group[0] == WEAK and group not in taken for group in always):
                continue
            sometimes: set[Any] = set.union(*enabled)
            forbidden = {group for group in sometimes if group[0] == STRONG and group not in taken}
            if not forbidden:
                return True
            rest = {node for node in component if not self.enabled(node[0], fairness) & forbidden}
            if self.fair_part(rest, fairness):
                return True
        return False

    def begins(self, state: int, fairness: Fairness) -> bool:
        """Whether a fair run that the automaton accepts begins in this state."""
        there = reachable([(state, self.automaton[1])], self.after)
        if any(self.stays(node) and self.ends(node[0], fairness) == "yes" for node in there):
            return True
        return self.fair_part(set(there), fairness)


def _with(fairness: Fairness, stopped: frozenset[int]) -> Fairness:
    return Fairness(fairness.level, fairness.steps, fairness.discards, fairness.recoveries, stopped)


def accepts(automaton: Automaton, stem: Sequence[int], loop: Sequence[int], place: int | None = None) -> bool:
    """Whether the automaton accepts these labels, the loop repeated for ever."""
    word = [*stem, *loop]
    _, initial, sets, edges = automaton

    def ways(node: Node) -> list[tuple[int, Node]]:
        at, here = node
        after = at + 1 if at + 1 < len(word) else len(stem)
        return [
            (acceptance, (after, target))
            for source, must, must_not, target, acceptance in edges
            if source == here and word[at] & must == must and not word[at] & must_not
        ]

    nodes = reachable([(0, initial if place is None else place)], lambda at: [to for _, to in ways(at)])
    for component in components(set(nodes), lambda at: [to for _, to in ways(at)]):
        inner = [acceptance for node in component for acceptance, to in ways(node) if to in component]
        accepted = 0
        for acceptance in inner:
            accepted |= acceptance
        if inner and accepted == (1 << sets) - 1:
            return True
    return False


def reachable(start: Iterable[Node], after: Callable[[Node], Iterable[Node]]) -> list[Node]:
    found = dict.fromkeys(start)
    queue = list(found)
    for node in queue:
        for to in after(node):
            if to not in found:
                found[to] = None
                queue.append(to)
    return queue


def components(nodes: set[Node], after: Callable[[Node], Iterable[Node]]) -> list[set[Node]]:
    """Strongly connected components: what a node reaches and is reached from (Kosaraju)."""
    back: dict[Node, list[Node]] = {node: [] for node in nodes}
    order: list[Node] = []
    seen: set[Node] = set()
    inner = {node: [to for to in after(node) if to in nodes] for node in nodes}
    for node, following in inner.items():
        for to in following:
            back[to].append(node)
    for root in sorted(nodes):
        stack: list[tuple[Node, bool]] = [(root, False)]
        while stack:
            node, done = stack.pop()
            if done:
                order.append(node)
            elif node not in seen:
                seen.add(node)
                stack.append((node, True))
                stack += [(to, False) for to in inner[node]]
    found: list[set[Node]] = []
    seen.clear()
    for root in reversed(order):
        if root in seen:
            continue
        component = {root}
        seen.add(root)
        queue = [root]
        for node in queue:
            for to in back[node]:
                if to not in seen:
                    seen.add(to)
                    component.add(to)
                    queue.append(to)
        found.append(component)
    return found


# The same for the core

_STRENGTHS = {UNFAIR: _core.Strength.unfair, WEAK: _core.Strength.weak, STRONG: _core.Strength.strong}


def for_core(automaton: Automaton) -> _core.Automaton:
    states, initial, sets, edges = automaton
    made = [
        _core.AutomatonEdge(source=source, must=must, must_not=must_not, target=target, acceptance=acceptance)
        for source, must, must_not, target, acceptance in edges
    ]
    return _core.Automaton(states=states, initial=initial, sets=sets, edges=made)


def assumed(fairness: Fairness) -> _core.Assumption:
    strong = fairness.level == "strong"
    return _core.Assumption(
        level=_core.Level["message" if strong else fairness.level],
        strong=strong,
        steps=[[_STRENGTHS[each] for each in column] for column in fairness.steps],
        discards=_STRENGTHS[fairness.discards],
        recoveries=_STRENGTHS[fairness.recoveries],
    )
