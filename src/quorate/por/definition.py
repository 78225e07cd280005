"""Whether a set is stubborn by definition: D1, D2, D3 and strong (thesis section 2.5), commutativity (corollary 3).

The definitions speak about all sequences over the transitions outside the set, of any length. On a finite system that
is decidable: follow, for every sequence at once, the states it can lead to with and without the transition in front.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Generic, Literal

from quorate.por.errors import ReductionError
from quorate.por.system import S, T, TransitionSystem

Condition = Literal["D1", "D2", "D3", "strong", "commutes"]


@dataclass(frozen=True)
class Breach(Generic[T]):
    """A condition that a set does not meet, with a transition of the set and a sequence outside it that show so."""

    condition: Condition
    transition: T | None
    sequence: tuple[T, ...]


def breaches(
    system: TransitionSystem[S, T], state: S, chosen: Collection[T], *, budget: int = 100_000
) -> list[Breach[T]]:
    """What a set of transitions lacks of being a strong stubborn set in a state, by the definitions alone; for tests.

    The cost may grow exponentially with the states that can be reached outside the set.
    """
    return _Check(system, state, chosen, budget).breaches()


class _Check(Generic[S, T]):
    def __init__(self, system: TransitionSystem[S, T], state: S, chosen: Collection[T], budget: int) -> None:
        self._system = system
        self._state = state
        self._chosen = [each for each in system.transitions if each in chosen]
        self._budget = budget
        self._known: dict[S, dict[T, tuple[S, ...]]] = {}
        self._outside = self._reach_outside()

    def breaches(self) -> list[Breach[T]]:
        found = [breach for each in self._chosen for breach in self._d1_d3(each)]
        disabled = {each: self._disabled(each) for each in self._chosen}
        if self._moves(self._state):
            if not any(sequence is None for sequence in disabled.values()):
                found.append(Breach("D2", None, ()))
            for each, sequence in disabled.items():
                if sequence is not None and each in self._moves(self._state):
                    found.append(Breach("strong", each, sequence))
        return found + self._commutes()

    def _moves(self, state: S) -> dict[T, tuple[S, ...]]:
        if state not in self._known:
            if len(self._known) == self._budget:
                raise ReductionError(f"the check met more than {self._budget} states", hint="give a larger `budget`")
            self._known[state] = self._system.moves(state)
        return self._known[state]

    def _outer(self, state: S) -> dict[T, tuple[S, ...]]:
        return {each: outcomes for each, outcomes in self._moves(state).items() if each not in self._chosen}

    def _reach_outside(self) -> dict[S, tuple[T, ...]]:
        """The states that can be reached without the set, with a shortest sequence to each."""
        found: dict[S, tuple[T, ...]] = {self._state: ()}
        queue = deque(found)
        while queue:
            state = queue.popleft()
            for each, outcomes in self._outer(state).items():
                for after in outcomes:
                    if after not in found:
                        found[after] = (*found[state], each)
                        queue.append(after)
        return found

    def _disabled(self, transition: T) -> tuple[T, ...] | None:
        return next((way for state, way in self._outside.items() if transition not in self._moves(state)), None)

    def _post(self, states: Iterable[S], transition: T) -> frozenset[S]:
        return frozenset(after for state in states for after in self._moves(state).get(transition, ()))

    def _d1_d3(self, transition: T) -> list[Breach[T]]:
        """Follow every sequence outside the set from the state, and from the state after the transition.

        D1 fails where sequence-then-transition reaches a state that transition-then-sequence does not. D3 fails where
        nothing follows after the transition, yet without it the sequence goes on for ever. (Sequences that can be
        followed to any length can be followed for ever: outcomes are finitely many.)
        """
        found: dict[Condition, Breach[T]] = {}
        start = (frozenset([self._state]), self._post([self._state], transition))
        ways: dict[tuple[frozenset[S], frozenset[S]], tuple[T, ...]] = {start: ()}
        queue = deque([start])
        endless = self._endless()
        key = self._disabled(transition) is None
        while queue:
            pair = queue.popleft()
            without, behind = pair
            if not self._post(without, transition) <= behind:
                found.setdefault("D1", Breach("D1", transition, ways[pair]))
            if key and not behind and without & endless:
                found.setdefault("D3", Breach("D3", transition, ways[pair]))
            for each in self._system.transitions:
                after = (self._post(without, each), self._post(behind, each))
                if each not in self._chosen and after[0] and after not in ways:
                    ways[after] = (*ways[pair], each)
                    queue.append(after)
        return list(found.values())

    def _endless(self) -> frozenset[S]:
        """The states from which a sequence outside the set goes on for ever."""
        left = set(self._outside)
        while True:
            ended = {state for state in left if not any(left & set(after) for after in self._outer(state).values())}
            if not ended:
                return frozenset(left)
            left -= ended

    def _commutes(self) -> list[Breach[T]]:
        found: dict[T, Breach[T]] = {}
        for state, way in self._outside.items():
            for other, outcomes in self._outer(state).items():
                for each in set(self._chosen) & self._moves(state).keys():
                    other_way = self._post(self._moves(state)[each], other)
                    lost = any(each not in self._moves(after) for after in outcomes)
                    if lost or not self._post(outcomes, each) <= other_way:
                        found.setdefault(each, Breach("commutes", each, (*way, other)))
        return list(found.values())
