"""The graph of all states, for systems small enough that a picture of it says something."""

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


class Node(NamedTuple):
    state: State
    path: Path
    depth: int
    bad: bool
    end: bool


class Graph:
    """The graph as the page gets it: still to come, complete, or too large."""

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
    """All states with shortest paths to them, or that there are too many."""
    found = _Exploration(definition)
    if not found.explore():
        return {"status": "too large", "most": MOST_STATES}
    return {
        "status": "complete",
        "nodes": [
            {"id": short(n.state), "path": list(n.path), "depth": n.depth, "bad": n.bad, "end": n.end}
            for n in found.nodes
        ],
        "edges": sorted(found.edges),
    }


class _Exploration:
    def __init__(self, definition: Definition) -> None:
        self.definition = definition
        self.nodes: list[Node] = []
        self.edges: set[tuple[int, int]] = set()

    def explore(self) -> bool:
        """Breadth-first, so that paths are shortest; False once there are too many states."""
        number: dict[bytes, int] = {}
        todo: list[tuple[State, Path, int]] = []
        for initial, state in enumerate(initial_states(self.definition)):
            if state.key not in number:
                number[state.key] = len(number)
                todo.append((state, (initial,), 0))
        at = 0
        while at < len(todo):
            state, path, depth = todo[at]
            offered = tuple(step for step in steps(self.definition, state) if not step.cut)
            end = not enabled_protocol(offered)
            bad = any(step.failure is not None for step in offered) or self._bad(state, end)
            self.nodes.append(Node(state, path, depth, bad, end))
            for choice, step in enumerate(offered):
                if step.next is None:
                    continue
                if step.next.key not in number:
                    number[step.next.key] = len(number)
                    todo.append((step.next, (*path, choice), depth + 1))
                self.edges.add((at, number[step.next.key]))
            if len(todo) > MOST_STATES:
                return False
            at += 1
        return True

    def _bad(self, state: State, end: bool) -> bool:
        wanted = [*self.definition.invariants]
        if end and self.definition.final is not None:
            wanted.append(self.definition.final)
        return any(not evaluate(self.definition, prop, state.locals).value for prop in wanted)
