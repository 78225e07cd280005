"""What multiplies the states of a system: roles, fields, messages and transitions, measured on a sample of states.

The sample is drawn in the plain semantics, without any reduction: from the states met so far one is chosen at random
and its successors are added, so that it goes deep as well as wide. Then it is counted. A role: how many states there
are for each that differs elsewhere, what is pending for the role left out as well. A field: how many states there are
for each in which it has the value that it has most often, in one process. A message: how many states there are for each
that differs in other things than pending messages of that class. Of a sample that is not all there is these are
estimates, and rather too small than too large.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import asdict, dataclass
from random import Random
from time import perf_counter
from typing import Any

from quorate.base.values import encode
from quorate.language.system import System
from quorate.model.define import define
from quorate.model.definition import Definition
from quorate.model.environment import Environment
from quorate.semantics.state import State, initial_states
from quorate.semantics.steps import steps

MOST_STATES = 5_000
SECONDS = 20.0
SCHEMA = 1


@dataclass(frozen=True)
class RoleProfile:
    """The processes of one class, or a monitor."""

    role: str
    processes: int
    local_states: int
    """Distinct local states of one of them, at most."""
    cells: int
    """The same with what is pending: the more cells, the larger the tables."""
    saved: float
    """How many times fewer states there would be without them."""


@dataclass(frozen=True)
class FieldProfile:
    """A field of a role, or what is pending of one class of messages."""

    name: str
    values: int
    """Distinct values; of a message, distinct messages of that class."""
    saved: float
    """How many times fewer states there would be if it were fixed in one process, or never pending."""


@dataclass(frozen=True)
class TransitionProfile:
    name: str
    taken: int
    fresh: int
    """How often it led to a state that was not known."""


@dataclass(frozen=True)
class Profile:
    """What a sample of states shows."""

    system: str
    states: int
    complete: bool
    """Whether the sample is all there is."""
    roles: tuple[RoleProfile, ...]
    fields: tuple[FieldProfile, ...]
    messages: tuple[FieldProfile, ...]
    transitions: tuple[TransitionProfile, ...]

    def to_json(self) -> dict[str, Any]:
        return {"schema": SCHEMA, **asdict(self)}


def profile(
    system: System | type[System],
    environment: Environment | None = None,
    *,
    most_states: int = MOST_STATES,
    seconds: float = SECONDS,
) -> Profile:
    """Sample the states of a system, and say what multiplies them."""
    definition = define(system, environment or Environment())
    states, taken, fresh, complete = _sample(definition, most_states, perf_counter() + seconds)
    numbers = _Numbered(definition, states)
    total = len(states)
    fields: list[FieldProfile] = []
    roles: list[RoleProfile] = []
    for role in dict.fromkeys(column.cls for column in definition.columns):
        columns = [column for column in definition.columns if column.cls is role]
        indices = [column.index for column in columns]
        roles.append(
            RoleProfile(
                role.__name__,
                len(columns),
                max(len({state[0][index] for state in numbers.states}) for index in indices),
                max(len(numbers.cells(index)) for index in indices),
                total / numbers.without(indices),
            )
        )
        for place, name in enumerate(columns[0].fields[: columns[0].spec.visible]):
            counts = [Counter(state[0][index][place] for state in numbers.states) for index in indices]
            values = {value for each in counts for value in each}
            if any(len(each) > 1 for each in counts):
                saved = max(total / max(each.values()) for each in counts)
                fields.append(FieldProfile(f"{role.__name__}.{name}", len(values), saved))
    messages = [
        FieldProfile(cls.__name__, len(those), total / numbers.without_messages(those))
        for cls, those in numbers.classes.items()
    ]
    transitions = [TransitionProfile(name, taken[name], fresh[name]) for name in taken]
    return Profile(
        definition.name,
        total,
        complete,
        tuple(sorted(roles, key=lambda each: (-each.saved, each.role))),
        tuple(sorted(fields, key=lambda each: (-each.saved, each.name))),
        tuple(sorted(messages, key=lambda each: (-each.saved, each.name))),
        tuple(sorted(transitions, key=lambda each: (-each.fresh, each.name))),
    )


def _sample(definition: Definition, most: int, until: float) -> tuple[list[State], Counter[str], Counter[str], bool]:
    dice = Random(0)
    known = {state.key: state for state in initial_states(definition)}
    open_states = list(known.values())
    taken: Counter[str] = Counter()
    fresh: Counter[str] = Counter()
    while open_states and len(known) < most and perf_counter() < until:
        place = dice.randrange(len(open_states))
        open_states[place], open_states[-1] = open_states[-1], open_states[place]
        for step in steps(definition, open_states.pop()):
            if step.next is None:
                continue
            name = str(step.transition) if step.transition is not None else step.kind
            taken[name] += 1
            if step.next.key not in known:
                known[step.next.key] = step.next
                open_states.append(step.next)
                fresh[name] += 1
    return list(known.values()), taken, fresh, not open_states


Numbers = tuple[tuple[tuple[int, ...], ...], tuple[tuple[int, ...], ...], tuple[int, ...]]


class _Numbered:
    """The sampled states with numbers for values and messages, so that comparing them is cheap."""

    def __init__(self, definition: Definition, states: list[State]) -> None:
        known: dict[bytes, int] = {}
        self.classes: dict[type, set[int]] = {}
        self.states: list[Numbers] = []

        def number(value: object) -> int:
            return known.setdefault(encode(value), len(known))

        def message(held: object) -> int:
            found = number(held)
            self.classes.setdefault(type(held), set()).add(found)
            return found

        for state in states:
            locals = tuple(tuple([number(value) for value in local]) for local in state.locals)
            pending = tuple(tuple([message(each) for each in inbox]) for inbox in state.pending)
            self.states.append((locals, pending, state.budget))
        self._processes = [column.index for column in definition.processes]

    def cells(self, column: int) -> set[Hashable]:
        place = self._processes.index(column) if column in self._processes else None
        return {(state[0][column], () if place is None else state[1][place]) for state in self.states}

    def without(self, columns: list[int]) -> int:
        """How many states there are if some processes are not looked at, nor what is pending for them."""
        return len(
            {
                (
                    tuple(local for index, local in enumerate(locals) if index not in columns),
                    tuple(inbox for index, inbox in zip(self._processes, pending, strict=True) if index not in columns),
                    budget,
                )
                for locals, pending, budget in self.states
            }
        )

    def without_messages(self, left_out: set[int]) -> int:
        return len(
            {
                (locals, tuple(tuple([each for each in inbox if each not in left_out]) for inbox in pending), budget)
                for locals, pending, budget in self.states
            }
        )
