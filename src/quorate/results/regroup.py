"""Putting the steps of a run in an order that is easier to follow: one process does all it can before the next goes on.

Two steps may change places if neither has an effect on the other: they belong to different processes, neither touches
a channel that the other touches, and at most one of them is seen by monitors or draws on a budget. Runs that differ by
such exchanges are one trace in the sense of Mazurkiewicz (1987), and end in the same state. That is an argument, not a
proof for every network to come: so the new order is taken step by step through the plain semantics, and kept only if
every step has the same effect there and the last state is the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from quorate.language.pid import column_of
from quorate.results.claim import Claim
from quorate.semantics.follow import Differs, follow
from quorate.semantics.identity import Identity, same_effect
from quorate.semantics.state import Step

if TYPE_CHECKING:
    from quorate.results.trace import Trace

LONGEST = 300
"""Runs longer than this stay as they were found: nobody reads them step by step, and the work grows with the square."""


def regroup(trace: Trace) -> Trace:
    """The same run with fewer changes from one process to another, if there is one."""
    if not 2 < len(trace.steps) <= LONGEST or trace.loop_from is not None:
        return trace  # a loop means its states in their order
    order = _Order(trace)
    order.improve()
    if order.places == list(range(len(trace.steps))):
        return trace
    wanted = [Identity.of(trace.steps[place]) for place in order.places]
    found = follow(trace.definition, trace.initial, wanted)
    if isinstance(found, Differs) or not _same_run(trace, order.places, found.steps):
        return trace
    steps = found.steps
    # What the run is shown for must not be there before its end: the point of the last step would be lost.
    claim = Claim.of(trace)
    if any(step.next is not None and claim.shown_in(step.next) for step in steps[:-1]):
        return trace
    return replace(trace, steps=steps)


def _same_run(trace: Trace, places: Sequence[int], steps: tuple[Step, ...]) -> bool:
    same_steps = all(same_effect(trace.steps[place], step) for place, step in zip(places, steps, strict=True))
    return same_steps and trace.steps[-1].next == steps[-1].next


class _Order:
    """The steps of a run in some order, by their places in the run as it was found."""

    def __init__(self, trace: Trace) -> None:
        count = len(trace.steps)
        self.places = list(range(count))
        self.actor = [step.column for step in trace.steps]
        greedy = {
            step.column for step in trace.steps if step.transition is not None and step.transition.mode == "maximal"
        } | {column.index for column in trace.definition.columns if column.clean}
        touched = [_touched(step, greedy) for step in trace.steps]
        # Each pair once, by the places as they were found: the later step depends on the earlier one.
        self.depends = [
            [self.actor[i] == self.actor[j] or not touched[i].isdisjoint(touched[j]) for j in range(count)]
            for i in range(count)
        ]
        if trace.steps[-1].next is None:  # a failing step ends the run, and belongs there
            for place in range(count):
                self.depends[place][-1] = self.depends[-1][place] = True

    def improve(self) -> None:
        """Join a process's turn with its next one, the later brought forward or the earlier put off, while it helps."""
        improved = True
        while improved:
            improved = False
            turn = 0
            while turn < len(self.places):
                end = self._end_of_turn(turn)
                actor = self.actor[self.places[turn]]
                again = next((at for at in range(end, len(self.places)) if self.actor[self.places[at]] == actor), None)
                if again is not None and (self._bring_forward(again, end) or self._put_off(turn, again)):
                    improved = True
                else:
                    turn = end

    def _end_of_turn(self, start: int) -> int:
        """Where somebody else goes on."""
        end = start + 1
        while end < len(self.places) and self.actor[self.places[end]] == self.actor[self.places[start]]:
            end += 1
        return end

    def _bring_forward(self, start: int, position: int) -> bool:
        """Move as much as possible of the turn that begins at `start` to an earlier position."""
        end = start
        between = self.places[position:start]
        while end < self._end_of_turn(start) and not any(self.depends[p][self.places[end]] for p in between):
            end += 1
        return end > start and self._keep_if_better(
            [*self.places[:position], *self.places[start:end], *between, *self.places[end:]]
        )

    def _put_off(self, start: int, position: int) -> bool:
        """Move as much as possible of the end of the turn that begins at `start` to just before a later position."""
        end = first = self._end_of_turn(start)
        between = self.places[end:position]
        while first > start and not any(self.depends[self.places[first - 1]][p] for p in between):
            first -= 1
        return first < end and self._keep_if_better(
            [*self.places[:first], *between, *self.places[first:end], *self.places[position:]]
        )

    def _keep_if_better(self, places: list[int]) -> bool:
        if self._changes(places) >= self._changes(self.places):
            return False
        self.places = places
        return True

    def _changes(self, places: list[int]) -> int:
        """How often somebody else goes on."""
        return sum(self.actor[one] != self.actor[two] for one, two in pairwise(places))


def _touched(step: Step, greedy: set[int]) -> frozenset[object]:
    """What a step has an effect on, or depends on, besides its process: channels, monitors, budgets.

    A process that takes as many messages as there are looks at all that are sent to it.
    """
    touched: set[object] = {(column_of(message.sender), step.column) for message in step.consumed}
    if step.column in greedy:
        touched.add(step.column)
    if step.outcome is not None:
        touched |= {(column_of(message.sender), receiver) for receiver, message in step.outcome.sends}
        touched |= {receiver for receiver, _ in step.outcome.sends} & greedy
        if step.outcome.events or step.outcome.reads:
            touched.add("monitors")  # shared cells are among them
    if step.kind in ("lose", "duplicate", "crash"):
        touched.add("budget")
    return frozenset(touched)
