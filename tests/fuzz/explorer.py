"""The reference explorer: every reachable state, breadth first, and what that says of each property."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from .protocol import Property
from .system import State, System, TooLarge


@dataclass
class Exploration:
    """All that there is to know about a small system before anything is claimed of it."""

    depths: dict[State, int] = field(default_factory=dict)
    """Every reachable state, and how many steps lead to it."""
    levels: list[tuple[int, int, int]] = field(default_factory=list)
    """Per depth: states, steps from them, and how many of them are stuck."""
    stuck: dict[State, int] = field(default_factory=dict)
    failures: dict[str, int] = field(default_factory=dict)
    """assertion, exception -> depth of the first state in which a step fails so."""
    cut: bool = False
    """A step would have left the bound of `within`."""

    @property
    def states(self) -> int:
        return len(self.depths)

    @property
    def transitions(self) -> int:
        return sum(level[1] for level in self.levels)

    @property
    def depth(self) -> int:
        return len(self.levels) - 1


@dataclass
class Verdicts:
    """What an exploration says of the properties: always the depth of the first state that shows it."""

    broken: dict[str, int] = field(default_factory=dict)
    """Invariants, and `deadlock`."""
    reached: dict[str, int] = field(default_factory=dict)
    """What can happen."""
    raises: dict[str, int] = field(default_factory=dict)
    """Properties without an answer; `deadlock` if it is the one that says which final states are fine."""


def explore(system: System, most_states: int = 400) -> Exploration:
    """Every reachable state, level by level."""
    found = Exploration()
    level = list(dict.fromkeys(system.initial))
    found.depths.update(dict.fromkeys(level, 0))
    while level:
        depth = len(found.levels)
        following: list[State] = []
        transitions = stuck = 0
        for state in level:
            moves = False
            for step in system.steps(state):
                moves = moves or step.of_protocol
                if step.failure:
                    found.failures.setdefault(step.failure, depth)
                if step.next is None and not step.failure:
                    found.cut = True
                    continue
                transitions += 1
                if step.next is not None and step.next not in found.depths:
                    found.depths[step.next] = depth + 1
                    following.append(step.next)
            if not moves:
                stuck += 1
                found.stuck[state] = depth
            if len(found.depths) > most_states:
                raise TooLarge
        found.levels.append((len(level), transitions, stuck))
        level = following
    return found


def verdicts(system: System, found: Exploration, properties: Iterable[Property]) -> Verdicts:
    """What every state says of the properties."""
    result = Verdicts()
    final: Property | None = None
    for each in properties:
        if each.kind == "final":
            final = each
            continue
        for state, depth in found.depths.items():
            answer = system.judge(each.claim, state)
            if answer is None:
                result.raises.setdefault(each.name, depth)
            elif each.kind == "can" and answer:
                result.reached.setdefault(each.name, depth)
            elif each.kind == "invariant" and not answer:
                result.broken.setdefault(each.name, depth)
    for state, depth in found.stuck.items():
        fine = False if final is None else system.judge(final.claim, state)
        if fine is None:
            result.raises.setdefault("deadlock", depth)
        elif not fine:
            result.broken.setdefault("deadlock", depth)
    return result
