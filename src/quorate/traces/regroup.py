"""Putting the steps of a run in an order that is easier to follow: one process does all it can before the next goes on.

Two adjacent steps change places only if the plain semantics, asked again, allows both in the other order, with the same
effect on every process and every inbox. So every run in between ends in the same state by the same steps: in the words
of the theory, it is of the same trace (Mazurkiewicz 1987). No relation computed in advance is trusted here.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from quorate.language.values import encode
from quorate.semantics import State, Step, repeat
from quorate.traces.claim import Claim

if TYPE_CHECKING:
    from quorate.traces.trace import Trace

LONGEST = 200
"""Runs longer than this stay as they were found: nobody reads them step by step, and the work grows with the square."""


def regroup(trace: Trace) -> Trace:
    """The same run with fewer changes from one process to another, if there is one."""
    if not 2 < len(trace.steps) <= LONGEST:
        return trace
    steps = _grouped(trace)
    if _changes(steps) >= _changes(trace.steps):
        return trace
    # What the run is shown for must not be there before its end: the point of the last step would be lost.
    claim = Claim.of(trace)
    if any(step.next is not None and claim.shown_in(step.next) for step in steps[:-1]):
        return trace
    return replace(trace, steps=steps)


def _changes(steps: Sequence[Step]) -> int:
    """How often somebody else goes on."""
    return sum(one.column != two.column for one, two in itertools.pairwise(steps))


def _grouped(trace: Trace) -> tuple[Step, ...]:
    """Join a process's turn with its next one, the later brought forward or the earlier put off, while that helps."""
    run = _Run(trace)
    turn = 0
    while turn < len(run.steps):
        end = run.end_of_turn(turn)
        again = next((at for at in range(end, len(run.steps)) if run.steps[at].column == run.steps[turn].column), None)
        if again is not None and (run.attempt(run.bring_forward, again, end) or run.attempt(run.put_off, turn, again)):
            turn = 0  # joined turns may let others join that came before
        else:
            turn = end
    return tuple(run.steps)


class _Run:
    """A run in the making: `states[i]` is where `steps[i]` is taken."""

    def __init__(self, trace: Trace) -> None:
        self.definition = trace.definition
        self.steps = list(trace.steps)
        self.states: list[State] = list(trace.states[: len(self.steps)])

    def end_of_turn(self, start: int) -> int:
        """Where somebody else goes on."""
        end = start + 1
        while end < len(self.steps) and self.steps[end].column == self.steps[start].column:
            end += 1
        return end

    def attempt(self, move: Callable[[int, int], bool], start: int, position: int) -> bool:
        """Keep what a move made if all of it was possible, and if somebody else goes on less often now."""
        steps, states, changes = self.steps[:], self.states[:], _changes(self.steps)
        if move(start, position) and _changes(self.steps) < changes:
            return True
        self.steps, self.states = steps, states
        return False

    def bring_forward(self, start: int, position: int) -> bool:
        """Move the turn that begins at `start` to an earlier position."""
        for step in range(start, self.end_of_turn(start)):
            for at in range(step, position, -1):
                if not self._swap(at - 1):
                    return step > start  # a part of the turn is better than nothing
            position += 1
        return True

    def put_off(self, start: int, position: int) -> bool:
        """Move the turn that begins at `start` to just before a later position."""
        last = self.end_of_turn(start) - 1
        for step in range(last, start - 1, -1):
            for at in range(step, position - 1):
                if not self._swap(at):
                    return step < last
            position -= 1
        return True

    def _swap(self, at: int) -> bool:
        """Let the steps `at` and `at + 1` change places, if that comes to the same."""
        swapped = self._swapped(self.states[at], self.steps[at], self.steps[at + 1])
        if swapped is None:
            return False
        self.steps[at], self.steps[at + 1] = swapped
        assert swapped[0].next is not None
        self.states[at + 1] = swapped[0].next
        return True

    def _swapped(self, state: State, first: Step, second: Step) -> tuple[Step, Step] | None:
        """The two steps in the other order from the same state, if that comes to the same."""
        if first.column == second.column or second.next is None:
            return None  # a failing step ends the run, and belongs there
        sooner = repeat(self.definition, state, second)
        if sooner is None or sooner.next is None or not _same_effect(sooner, second):
            return None
        later = repeat(self.definition, sooner.next, first)
        if later is None or later.next != second.next or not _same_effect(later, first):
            return None
        return sooner, later


def _same_effect(one: Step, two: Step) -> bool:
    """Whether the process did, sent and told the same. What that made of the state is compared apart."""
    if one.outcome is None or two.outcome is None:
        return one.outcome is two.outcome
    return encode(one.outcome[:3]) == encode(two.outcome[:3])
