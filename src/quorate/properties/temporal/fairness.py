"""What is assumed of runs: from the level that was asked for and what the model says of its steps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from quorate.base.values import encode
from quorate.model.definition import Column, Definition, Transition
from quorate.model.renumbering import without_ranks
from quorate.semantics.state import State, Step
from quorate.semantics.steps import steps

UNFAIR, WEAK, STRONG = 0, 1, 2
COARSE = ("progress", "process")
"""The levels whose groups hold more than one transition."""


@dataclass(frozen=True)
class Fairness:
    """What is assumed of runs: which steps are taken if they stay possible (weak), or become possible again and again
    (strong). `level` says what counts as one step; of what is strongly fair, a transition counts at least."""

    level: str
    steps: tuple[tuple[int, ...], ...]
    """By column and transition: unfair, weak or strong."""
    recoveries: int = UNFAIR


_TOLD = {
    "none": "nothing: a run may stop at any time",
    "progress": "some step is taken as long as one is possible",
    "process": "a process that can always go on does go on (weak fairness of processes)",
    "transition": "a transition that stays possible is taken (weak fairness of transitions)",
    "message": "every step that stays possible is taken (weak fairness)",
    "strong": "every step that is possible again and again is taken (strong fairness)",
}


def fairness_of(definition: Definition, level: str) -> Fairness:
    """By transition: what the model says with `fair=`, and fair-lossy channels, which make consuming strongly fair."""
    steps = tuple(
        tuple(_strength(definition, column, each) for each in definition.transitions(column))
        if not column.is_monitor
        else ()
        for column in definition.columns
    )
    return Fairness(level, steps, WEAK if definition.faults.recover == "fair" else UNFAIR)


def _strength(definition: Definition, column: Column, transition: Transition) -> int:
    said = transition.declaration.fair
    if said is False or _is_byzantine(definition, column):
        return UNFAIR
    if said == "strong" or (definition.network.fair and transition.message is not None):
        return STRONG
    return WEAK


def _is_byzantine(definition: Definition, column: Column) -> bool:
    """Whether a process is an attacker, or one that was written to misbehave: what it can do, it need not do."""
    return column.index in definition.attackers or (not column.is_monitor and column.cls._byzantine)


def assumed(definition: Definition, level: str) -> str:
    """The assumption in words, as every temporal verdict prints it."""
    told = _TOLD[level]
    if level == "none":
        return told
    if definition.ranked and level in ("message", "strong"):
        told += ", whatever the ranks of what it consumes"
    specs = dict.fromkeys(column.spec for column in definition.processes)
    transitions = list(dict.fromkeys(each for spec in specs for each in spec.transitions))
    unfair = [str(each) for each in transitions if each.declaration.fair is False]
    strong = [str(each) for each in transitions if each.declaration.fair == "strong"]
    coarse = level in COARSE
    if unfair and coarse:  # whoever takes no other step does nothing
        told += f", but {_listed(unfair)} {'does' if len(unfair) == 1 else 'do'} not count"
    elif unfair:
        told += f", but {_listed(unfair)} need not be"
    if any(_is_byzantine(definition, column) for column in definition.processes):
        told += "; Byzantine processes need not do anything"
    if strong and coarse:
        told += f"; {_listed(strong)} {'is' if len(strong) == 1 else 'are'} taken if possible again and again"
    elif strong and level != "strong":
        told += f"; {_listed(strong)} also if possible again and again"
    if definition.network.fair and level in ("message", "strong"):
        told += "; what is sent again and again is received"
    elif definition.network.fair:
        told += "; a transition that can receive again and again does"
    if definition.faults.recover == "fair":
        told += (
            "; one of those that have crashed comes back" if level == "progress" else "; a crashed process comes back"
        )
    if definition.network.copies_for_ever:
        told += "; what was received once can be received again"
    return told


def starved(
    definition: Definition, level: str, states: Iterable[State], taken: Iterable[Step], stopped: Iterable[int] = ()
) -> list[str]:
    """The fair groups that a loop treats unfairly, straight from the definition; empty if the loop is fair.

    `states` are those of the loop, `taken` its steps, `stopped` the columns that have crashed for good.
    """
    fairness = fairness_of(definition, level)
    gone = set(stopped)
    offered = [
        {
            group: None
            for step in steps(definition, state)
            if step.column not in gone
            for group in groups_of(definition, fairness, step)
        }
        for state in states
    ]
    done = {group for step in taken for group in groups_of(definition, fairness, step)}
    found: list[str] = []
    for group in sorted(set().union(*offered), key=repr):
        possible = [group in enabled for enabled in offered]
        neglected = any(possible) if group.strength == STRONG else all(possible)
        if neglected and group not in done:
            found.append(group.told(definition))
    return found


def undone(
    definition: Definition, states: Iterable[State], taken: Iterable[Step], stopped: Iterable[int] = ()
) -> list[str]:
    """What could be done in the states of a loop and never is: how often, and whether it need be, in words."""
    fairness = fairness_of(definition, "message")
    gone = set(stopped)
    offered: list[dict[Group, int]] = []
    for state in states:
        offered.append({})
        for step in steps(definition, state):
            if act := _act(definition, fairness, step):
                offered[-1][act[0]] = act[1]
    done = {act[0] for step in taken if (act := _act(definition, fairness, step))}
    found: dict[str, None] = {}
    strengths = {group: strength for enabled in offered for group, strength in enabled.items()}
    for group in sorted(strengths, key=lambda each: (each.column or 0, each.transition or 0)):
        if group in done or group.column in gone:
            continue
        how = "all the time" if all(group in enabled for enabled in offered) else "again and again"
        how += "; it need not be" if strengths[group] == UNFAIR and group.kind == "step" else ""
        found.setdefault(f"{group.told(definition)} ({how})")
    return list(found)


def _act(definition: Definition, fairness: Fairness, step: Step) -> tuple[Group, int] | None:
    """A step of the protocol or a recovery, with what it consumes; and whether it is assumed to be taken."""
    column = definition.columns[step.column]
    if step.kind not in ("step", "discard", "recover"):
        return None
    if any(definition.stands(column, message) for message in step.consumed):
        return None
    transition = step.transition.index if step.transition is not None and step.kind == "step" else None
    due = WEAK if transition is None else fairness.steps[step.column][transition]
    return Group(0, step.column, step.kind, transition, tuple(sorted(map(encode, step.consumed)))), due


class Group(NamedTuple):
    """Steps that are fair together."""

    strength: int
    column: int | None
    """None: those of all processes."""
    kind: str = "step"
    transition: int | None = None
    consumed: tuple[bytes, ...] = ()

    def told(self, definition: Definition) -> str:
        if self.column is None:
            return "any step"
        column = definition.columns[self.column]
        if self.transition is None:
            return column.name if self.kind == "step" else f"{column.name} {self.kind}"
        return f"{column.name}.{definition.transitions(column)[self.transition].name}"


def groups_of(definition: Definition, fairness: Fairness, step: Step) -> Iterator[Group]:
    """The fair groups that a step belongs to, if any. What a bound cuts off is possible all the same.

    What an attacker may say it need not say: nothing is assumed of a step that consumes it. A coarse group is weakly
    fair, even if steps of it are strongly fair: these are in a group of their transition besides, and only they.
    """
    strength = UNFAIR
    column = definition.columns[step.column]
    if any(definition.stands(column, message) for message in step.consumed):
        return
    if step.kind == "recover":
        strength = fairness.recoveries
    elif step.kind == "discard":
        strength = WEAK
    elif step.kind == "step" and step.transition is not None:
        strength = fairness.steps[step.column][step.transition.index]
    if strength == UNFAIR or fairness.level == "none":
        return
    transition = step.transition.index if step.transition is not None else None
    if fairness.level in COARSE:
        kind = "recover" if step.kind == "recover" else "step"
        yield Group(WEAK, None if fairness.level == "progress" else step.column, kind)
        if strength == STRONG:
            yield Group(STRONG, step.column, step.kind, transition)
        return
    messages = step.consumed if fairness.level in ("message", "strong") else ()
    # Of messages that differ in their ranks alone one is as good as another: their numbers never come again.
    if definition.ranked:
        consumed = tuple(sorted(encode(without_ranks(each)) for each in messages))
    else:
        consumed = tuple(map(encode, messages))
    yield Group(STRONG if fairness.level == "strong" else strength, step.column, step.kind, transition, consumed)


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
