"""What two graphs of states have in common: their runs up to stuttering, and their branching up to stuttering.

A graph has initial states, an observation per state and successors. A step that leaves the observation as it is cannot
be seen; a run that ends, and one that goes on for ever without anything to be seen, can.
"""

from __future__ import annotations

from dataclasses import dataclass

from quorate import _core
from quorate.native.model import Model

Observation = tuple[int, ...]


@dataclass
class Graph:
    initial: list[int]
    seen: list[Observation]
    after: list[set[int]]

    @classmethod
    def of(cls, model: Model) -> Graph:
        graph = model.engine.graph(model)
        after: list[set[int]] = [set() for _ in graph.states]
        for edge in graph.edges:
            after[edge.source].add(edge.target)
        return cls(list(range(graph.initial)), [tuple(node.observed) for node in graph.states], after)

    @classmethod
    def stored(cls, model: Model, full: _core.Graph) -> Graph:
        """The graph that temporal properties are checked on, as far as its edges lead somewhere."""
        seen = {repr(node.state): tuple(node.observed) for node in full.states}
        native = _core.Temporal(model.engine, [])
        explored = native.explore(model)
        after = [
            {edge.target for edge in native.steps(state) if edge.target is not None} for state in range(explored.states)
        ]
        states = [seen[repr(native.state(state))] for state in range(explored.states)]
        return cls(native.initial().states(), states, after)

    def silent(self, states: frozenset[int]) -> frozenset[int]:
        """These states and all that are reached from them unseen."""
        found, todo = set(states), list(states)
        while todo:
            here = todo.pop()
            for following in self.after[here]:
                if self.seen[following] == self.seen[here] and following not in found:
                    found.add(following)
                    todo.append(following)
        return frozenset(found)

    def may_stay(self, states: frozenset[int]) -> bool:
        """Whether there is a cycle among these states."""
        left = set(states)
        while True:
            kept = {state for state in left if self.after[state] & left}
            if kept == left:
                return bool(left)
            left = kept


def same_runs(one: Graph, other: Graph) -> bool:
    """The same sequences of changing observations, ending and going on unseen after the same of them."""
    pairs = {_start(one, seen): _start(other, seen) for seen in {one.seen[state] for state in one.initial}}
    if {one.seen[i] for i in one.initial} != {other.seen[i] for i in other.initial}:
        return False
    todo = list(pairs.items())
    known = set(todo)
    while todo:
        left, right = todo.pop()
        moves = []
        for graph, states in ((one, left), (other, right)):
            ends = any(not graph.after[state] for state in states)
            here = next(iter(states))
            found: dict[Observation, set[int]] = {}
            for state in states:
                for following in graph.after[state]:
                    if graph.seen[following] != graph.seen[here]:
                        found.setdefault(graph.seen[following], set()).add(following)
            moves.append((ends, graph.may_stay(states), found))
        if moves[0][:2] != moves[1][:2] or moves[0][2].keys() != moves[1][2].keys():
            return False
        for seen, reached in moves[0][2].items():
            pair = (one.silent(frozenset(reached)), other.silent(frozenset(moves[1][2][seen])))
            if pair not in known:
                known.add(pair)
                todo.append(pair)
    return True


def _start(graph: Graph, seen: Observation) -> frozenset[int]:
    return graph.silent(frozenset(state for state in graph.initial if graph.seen[state] == seen))


def same_branching(one: Graph, other: Graph) -> bool:
    """Stuttering bisimulation that respects ends and divergence, by refining a partition of both graphs together."""
    shift = len(one.seen)
    seen = [*one.seen, *other.seen]
    after = [*one.after, *({following + shift for following in each} for each in other.after)]
    block = _numbered([(each,) for each in seen])
    while True:
        refined = _numbered([(block[state], *_signature(state, block, after)) for state in range(len(seen))])
        if len(set(refined)) == len(set(block)):
            break
        block = refined
    return {block[i] for i in one.initial} == {block[i + shift] for i in other.initial}


def _signature(state: int, block: list[int], after: list[set[int]]) -> tuple[frozenset[int], bool, bool]:
    """The blocks that are reached through states of the own one, and whether one may end or stay for ever in that."""
    found, todo, exits = {state}, [state], set[int]()
    while todo:
        for following in after[todo.pop()]:
            if block[following] != block[state]:
                exits.add(block[following])
            elif following not in found:
                found.add(following)
                todo.append(following)
    ends = any(not after[each] for each in found)
    return frozenset(exits), ends, Graph([], [], after).may_stay(frozenset(found))


def _numbered(keys: list[tuple[object, ...]]) -> list[int]:
    numbers: dict[tuple[object, ...], int] = {}
    return [numbers.setdefault(key, len(numbers)) for key in keys]
