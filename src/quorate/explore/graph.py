"""The graph of all states; of a system with too many for a picture, a sample level by level."""

from __future__ import annotations

from typing import Any, NamedTuple

from quorate.explore.present import short
from quorate.explore.session import Path
from quorate.explore.worker import Worker
from quorate.model.definition import Definition
from quorate.properties import evaluate
from quorate.semantics.state import State, initial_states
from quorate.semantics.steps import enabled_protocol, steps

MOST_STATES = 600
SAMPLED = 24
"""States of a level that a sample goes on from."""


class Node(NamedTuple):
    state: State
    path: Path
    depth: int
    bad: bool
    end: bool


class Graph:
    """The graph as the page gets it: still to come, complete, or a sample."""

    def __init__(self, definition: Definition) -> None:
        self.definition = definition
        self.known: dict[str, Any] = {"status": "searching", "most": MOST_STATES}
        self._worker: Worker | None = None

    def start(self) -> None:
        self._worker = Worker(lambda connection: connection.send(explored(self.definition)))

    def stop(self) -> None:
        if self._worker is not None:
            self._worker.stop()

    def to_json(self) -> dict[str, Any]:
        if self._worker is not None:
            for answer in self._worker.received():
                self.known = answer
        return self.known


def explored(definition: Definition) -> dict[str, Any]:
    """All states with shortest paths to them, or some of each level if there are too many."""
    found = _Exploration(definition, None)
    status = "complete"
    if not found.explore():
        status = "sample"
        found = _Exploration(definition, SAMPLED)
        found.explore()
    return {
        "status": status,
        "most": MOST_STATES if status == "complete" else SAMPLED,
        "nodes": [
            {"id": short(n.state), "path": list(n.path), "depth": n.depth, "bad": n.bad, "end": n.end}
            for n in found.nodes
        ],
        "edges": sorted(found.edges),
    }


class _Exploration:
    """Breadth-first, so that paths are shortest: among all states, or among those of a sample."""

    def __init__(self, definition: Definition, width: int | None) -> None:
        self.definition = definition
        self.width = width
        """How many states of each level are kept; None: all of them."""
        self.nodes: list[Node] = []
        self.edges: set[tuple[int, int]] = set()

    def explore(self) -> bool:
        """False once there are too many states."""
        number: dict[bytes, int] = {}
        first: dict[bytes, tuple[State, Path]] = {}
        for initial, state in enumerate(initial_states(self.definition)):
            first.setdefault(state.key, (state, (initial,)))
        level = self._kept([*first.values()])
        depth = 0
        while level and len(number) + len(level) <= MOST_STATES:
            here = [number.setdefault(state.key, len(number)) for state, _ in level]
            after: dict[bytes, tuple[State, Path]] = {}
            edges: list[tuple[int, bytes]] = []
            for at, (state, path) in zip(here, level, strict=True):
                offered = tuple(step for step in steps(self.definition, state) if not step.cut)
                end = not enabled_protocol(offered)
                bad = any(step.failure is not None for step in offered) or self._bad(state, end)
                self.nodes.append(Node(state, path, depth, bad, end))
                for choice, step in enumerate(offered):
                    if step.next is not None:
                        edges.append((at, step.next.key))
                        if step.next.key not in number:
                            after.setdefault(step.next.key, (step.next, (*path, choice)))
            level = self._kept([*after.values()])
            room = len(number) + len(level) <= MOST_STATES
            coming = {state.key: len(number) + at for at, (state, _) in enumerate(level)} if room else {}
            places = ((at, number.get(key, coming.get(key))) for at, key in edges)
            self.edges |= {(at, to) for at, to in places if to is not None}
            depth += 1
        return not level

    def _kept(self, level: list[tuple[State, Path]]) -> list[tuple[State, Path]]:
        """Of a level in a sample: where something is wrong first, the others by a name that means nothing."""
        if self.width is None or len(level) <= self.width:
            return level
        kept = sorted(level, key=lambda each: (not self._bad(each[0], False), short(each[0])))[: self.width]
        return [each for each in level if each in kept]

    def _bad(self, state: State, end: bool) -> bool:
        wanted = [*self.definition.invariants]
        if end and self.definition.final is not None:
            wanted.append(self.definition.final)
        return any(not evaluate(self.definition, prop, state.locals, state.pending).value for prop in wanted)
