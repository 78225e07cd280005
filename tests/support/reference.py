"""The reference explorer: breadth-first over the plain semantics, too simple to be wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from quorate.base.failures import Failure
from quorate.model.definition import Definition
from quorate.properties import evaluate
from quorate.semantics.state import State, Step, initial_states
from quorate.semantics.steps import enabled_protocol, steps


@dataclass
class Exploration:
    """All there is to know about a small system."""

    states: int = 0
    transitions: int = 0
    depth: int = 0
    reachable: set[bytes] = field(default_factory=set)
    deadlocks: set[bytes] = field(default_factory=set)
    violations: dict[str, int] = field(default_factory=dict)
    """Property -> depth of the first state that violates it; `deadlock` among them if there is a @final."""
    witnesses: dict[str, int] = field(default_factory=dict)
    """`can` property -> depth of the first state that satisfies it."""
    failures: dict[Failure, int] = field(default_factory=dict)
    """Failure of a handler, monitor or property -> depth of the first state in which it happens."""
    cut: set[str] = field(default_factory=set)
    """The classes whose `within` cut something."""
    levels: list[tuple[int, int, int]] = field(default_factory=list)
    """Per depth: states, steps from them, and how many of them are deadlocks."""

    @property
    def ok(self) -> bool:
        return not self.violations and not self.failures


Visitor = Callable[[State, int, tuple[Step, ...]], object]


def explore(definition: Definition, *, max_states: int = 1_000_000, visit: Visitor = lambda *_: None) -> Exploration:
    """Visit every reachable state, level by level; `visit` is told of each, with its depth and its steps."""
    found = Exploration()
    level = _new(found, initial_states(definition))
    while level:
        following: list[State] = []
        transitions, deadlocks = found.transitions, len(found.deadlocks)
        for state in level:
            _judge(definition, found, state)
            here = steps(definition, state)
            visit(state, found.depth, here)
            for step in here:
                if step.failure is not None:
                    found.failures.setdefault(step.failure, found.depth)
                if step.cut:
                    found.cut.add(definition.columns[step.column].cls.__name__)
                if step.next is not None or step.failure is not None:
                    found.transitions += 1
                if step.next is not None:
                    following += _new(found, [step.next])
            if not enabled_protocol(here):
                found.deadlocks.add(state.key)
                _judge_end(definition, found, state)
        found.levels.append((len(level), found.transitions - transitions, len(found.deadlocks) - deadlocks))
        if len(found.reachable) > max_states:
            raise RuntimeError(f"more than {max_states} states")
        level = following
        found.depth += 1 if level else 0
    found.states = len(found.reachable)
    return found


def _new(found: Exploration, states: Iterable[State]) -> list[State]:
    fresh: list[State] = []
    for state in states:
        if state.key not in found.reachable:
            found.reachable.add(state.key)
            fresh.append(state)
    return fresh


def _judge(definition: Definition, found: Exploration, state: State) -> None:
    for prop in definition.properties:
        result = evaluate(definition, prop, state.locals, state.pending)
        if result.failure is not None:
            found.failures.setdefault(result.failure, found.depth)
        elif prop.kind == "can" and result.value:
            found.witnesses.setdefault(prop.name, found.depth)
        elif prop.kind == "invariant" and not result.value:
            found.violations.setdefault(prop.name, found.depth)


def _judge_end(definition: Definition, found: Exploration, state: State) -> None:
    if definition.final is not None:
        result = evaluate(definition, definition.final, state.locals, state.pending)
        if result.failure is not None:
            found.failures.setdefault(result.failure, found.depth)
        elif not result.value:
            found.violations.setdefault("deadlock", found.depth)
