"""Depth-first and breadth-first search over stubborn sets, with the proviso that solves the ignoring problem.

D1 and D2 preserve deadlocks, but on a cycle they may put off a transition for ever. The proviso forbids it:

* For invariants, each state whose successors are not all visited has a transition in its set all of whose outcomes are
  later than the state: not on the stack (depth-first), not yet expanded (breadth-first). A run to a violation either
  uses a transition of the set and gets shorter, or commutes with that one and goes on from a later state; this ends.
  Holzmann and Peled 1994 and Bosnacki and Holzmann 2005 ask for one later successor, which is enough for deterministic
  transitions. A non-deterministic one keeps the run alive after some outcome only, so all its outcomes must be later.
* For temporal logic every outcome of the set is later. Then every cycle of the reduced graph has a state with all its
  enabled transitions: that of the cycle which was finished first (depth-first) or expanded last (breadth-first) leads
  to an earlier one.

A state for which no set will do is expanded in full.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Generic, Literal, get_args

from quorate.por.errors import ReductionError, one_of
from quorate.por.expansion import Reduction
from quorate.por.run import Run, Tree
from quorate.por.system import S, T, TransitionSystem, numbered

Order = Literal["depth-first", "breadth-first"]


@dataclass(frozen=True)
class SearchResult(Generic[S, T]):
    """What a search met. `graph` is the graph it followed: for each expanded state the steps it took."""

    graph: dict[S, tuple[tuple[T, S], ...]] = field(repr=False)
    states: int
    deadlocks: tuple[S, ...]
    violation: Run[S, T] | None
    complete: bool  # False if `limit` was reached; after a violation the search stops and is complete
    reduced: int  # states of which some enabled transition was left out
    refused: int  # states expanded in full because the proviso refused every set

    @property
    def transitions(self) -> int:
        return sum(map(len, self.graph.values()))

    @property
    def ok(self) -> bool:
        """Whether every state was met and none violates the invariant."""
        return self.complete and self.violation is None


def search(
    system: TransitionSystem[S, T],
    reduction: Reduction[T] | None = None,
    *,
    order: Order = "depth-first",
    invariant: Callable[[S], bool] | None = None,
    limit: int = 1_000_000,
) -> SearchResult[S, T]:
    """Visit the reachable states, or with a reduction enough of them; stop at a state that violates the invariant."""
    one_of("order", order, get_args(Order))
    if reduction is not None and reduction.preserve == "deadlocks" and invariant is not None:
        raise ReductionError(
            "a reduction that preserves only deadlocks may miss a violation of the invariant",
            hint="`Reduction(..., preserve='invariants')`, with `visible` in the relations",
        )
    if reduction is not None and reduction.sets.table.transitions != tuple(system.transitions):
        raise ReductionError("the reduction was made for other transitions, or for another order of them")
    walk = _Walk(system, reduction, invariant, limit)
    walk.depth_first() if order == "depth-first" else walk.breadth_first()
    return walk.result()


class _Walk(Generic[S, T]):
    def __init__(
        self,
        system: TransitionSystem[S, T],
        reduction: Reduction[T] | None,
        invariant: Callable[[S], bool] | None,
        limit: int,
    ) -> None:
        self._system = system
        self._reduction = reduction
        self._invariant = invariant
        self._limit = limit
        self._number = numbered(system.transitions)
        # Also the source of `fired`: by theorem 5 any one path to a state will do, so the first is as good as others.
        self._parents: Tree[S, T] = Tree()
        self._graph: dict[S, tuple[tuple[T, S], ...]] = {}
        self._deadlocks: list[S] = []
        self._violations: list[S] = []
        self._complete = True
        self._reduced = 0
        self._refused = 0

    def depth_first(self) -> None:
        for initial in self._system.initial:
            if not self._meet(initial, None):
                continue
            on_stack = {initial}
            stack = [(initial, 0, self._expand(initial, 0, on_stack.__contains__))]
            while stack and not self._stopped():
                state, fired, steps = stack[-1]
                for transition, after in steps:
                    if self._meet(after, (state, transition)):
                        along = fired | 1 << self._number[transition]
                        on_stack.add(after)
                        stack.append((after, along, self._expand(after, along, on_stack.__contains__)))
                        break
                else:
                    on_stack.remove(state)
                    stack.pop()

    def breadth_first(self) -> None:
        queue = deque((initial, 0) for initial in self._system.initial if self._meet(initial, None))
        expanded: set[S] = set()
        while queue and not self._stopped():
            state, fired = queue.popleft()
            expanded.add(state)  # before it is: a self-loop does not lead to a later state
            steps = self._expand(state, fired, expanded.__contains__)
            for transition, after in steps:
                if self._meet(after, (state, transition)):
                    queue.append((after, fired | 1 << self._number[transition]))

    def _meet(self, state: S, parent: tuple[S, T] | None) -> bool:
        """Whether the state is new, and may be expanded."""
        if state in self._parents or self._stopped():
            return False
        if len(self._parents) == self._limit:
            self._complete = False
            return False
        self._parents[state] = parent
        if self._invariant is not None and not self._invariant(state):
            self._violations.append(state)
            return False
        return True

    def _stopped(self) -> bool:
        return bool(self._violations) or not self._complete

    def _expand(self, state: S, fired: int, earlier: Callable[[S], bool]) -> Iterator[tuple[T, S]]:
        moves = self._system.moves(state)
        if not moves:
            self._deadlocks.append(state)
        chosen = self._choose(moves, state, fired, earlier)
        self._reduced += len(chosen) < len(moves)
        steps = tuple((transition, after) for transition, outcomes in chosen.items() for after in outcomes)
        self._graph[state] = steps
        return iter(steps)

    def _choose(
        self, moves: dict[T, tuple[S, ...]], state: S, fired: int, earlier: Callable[[S], bool]
    ) -> dict[T, tuple[S, ...]]:
        if self._reduction is None or len(moves) < 2:
            return moves
        refused = False
        enabled = sum(1 << self._number[each] for each in moves)
        for mask in self._reduction.candidates(enabled, fired, state):
            chosen = {each: outcomes for each, outcomes in moves.items() if mask >> self._number[each] & 1}
            if self._proviso(chosen, earlier):
                return chosen
            refused = True
        self._refused += refused
        return moves

    def _proviso(self, chosen: dict[T, tuple[S, ...]], earlier: Callable[[S], bool]) -> bool:
        assert self._reduction is not None
        later = (not any(map(earlier, outcomes)) for outcomes in chosen.values())
        match self._reduction.preserve:
            case "deadlocks":
                return True
            case "invariants":
                return any(later)
            case _:
                return all(later)

    def result(self) -> SearchResult[S, T]:
        return SearchResult(
            graph=self._graph,
            states=len(self._parents),
            deadlocks=tuple(self._deadlocks),
            violation=self._parents.run_to(self._violations[0]) if self._violations else None,
            complete=self._complete,
            reduced=self._reduced,
            refused=self._refused,
        )
