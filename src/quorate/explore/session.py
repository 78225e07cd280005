"""Where one can be in a system, and what can be done from there.

A position is a path: the number of an initial state, then the number of a step in each state. The semantics lists steps
in an order that depends on content alone, so a path means the same tomorrow, on another machine, in a link.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Literal, NamedTuple

from quorate.base.errors import QuorateError
from quorate.model.definition import Definition
from quorate.results.trace import Trace
from quorate.semantics.identity import Identity
from quorate.semantics.state import State, Step, initial_states
from quorate.semantics.steps import steps

Path = tuple[int, ...]

KEPT = 4_000
"""Positions whose steps are remembered; going back must not cost anything."""
LONGEST = 5_000


class WrongPathError(QuorateError):
    """A path that leads nowhere in this system."""

    default_code = "Q700"


class Position(NamedTuple):
    """A state that a path leads to. A failing step has no next state: then `failed` is that step."""

    path: Path
    state: State
    failed: Step | None = None


class Session:
    """One system being explored."""

    def __init__(self, definition: Definition) -> None:
        self.definition = definition
        self.initials = initial_states(definition)
        self._positions: OrderedDict[Path, Position] = OrderedDict()
        self._steps: OrderedDict[bytes, tuple[Step, ...]] = OrderedDict()

    def steps(self, state: State) -> tuple[Step, ...]:
        """What can happen in a state, a step that a bound cuts off excepted."""
        found = self._steps.get(state.key)
        if found is None:
            found = tuple(step for step in steps(self.definition, state) if not step.cut)
            self.definition.memory.require_unchanged()  # what is shown must not depend on what was looked at before
            self._steps[state.key] = found
            if len(self._steps) > KEPT:
                self._steps.popitem(last=False)
        else:
            self._steps.move_to_end(state.key)
        return found

    def at(self, path: Path) -> Position:
        """The position that a path leads to; steps along it that are known already are not taken again."""
        if not path:
            path = (0,)
        if len(path) > LONGEST:
            raise WrongPathError(f"a path of {len(path)} steps is too long")
        known = len(path)
        while known > 1 and path[:known] not in self._positions:
            known -= 1
        position = self._positions.get(path[:known]) or self._initial(path[0])
        for end in range(len(position.path) + 1, len(path) + 1):
            position = self._after(position, path[end - 1])
        return position

    def _initial(self, number: int) -> Position:
        if not 0 <= number < len(self.initials):
            raise WrongPathError(f"there is no initial state {number}")
        return self._keep(Position((number,), self.initials[number]))

    def _after(self, position: Position, number: int) -> Position:
        offered = self.steps(position.state) if position.failed is None else ()
        if not 0 <= number < len(offered):
            raise WrongPathError(f"after {len(position.path) - 1} steps there is no step {number}")
        step = offered[number]
        path = (*position.path, number)
        if step.next is None:
            return self._keep(Position(path, position.state, step))
        return self._keep(Position(path, step.next))

    def _keep(self, position: Position) -> Position:
        self._positions[position.path] = position
        if len(self._positions) > KEPT:
            self._positions.popitem(last=False)
        return position

    def run(self, path: Path, violates: str = "", loop_from: int | None = None) -> Trace:
        """The run along a path, to be drawn, perhaps as a lasso; or to be asked why it violates a property."""
        position = self.at(path[:1])
        taken: list[Step] = []
        for end in range(2, len(path) + 1):
            taken.append(self.steps(position.state)[path[end - 1]])
            position = self.at(path[:end])
        kind: Literal["violation", "witness"] = "violation" if violates else "witness"
        initial = self.at(path[:1]).state
        return Trace(kind, violates, (), self.definition, initial, tuple(taken), False, loop_from=loop_from)

    def path_of(self, trace: Trace) -> Path:
        """The path of a run that was found elsewhere, perhaps with another definition of the same system."""
        key = trace.initial.key
        number = next((n for n, state in enumerate(self.initials) if state.key == key), None)
        if number is None:
            raise WrongPathError("the run begins in a state that is not initial")
        path: Path = (number,)
        for step in trace.steps:
            state = self.at(path).state
            wanted = Identity.of(step)
            same = next((n for n, offered in enumerate(self.steps(state)) if wanted.matches(offered, state)), None)
            if same is None:
                raise WrongPathError(f"step {len(path)} of the run is not possible here")
            path = (*path, same)
        return path
