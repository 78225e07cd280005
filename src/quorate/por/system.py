"""State transition systems (S, T, S0), section 2.1 of the thesis: each transition is a relation on states.

Nothing is assumed of them: transitions may be non-deterministic, states any hashable values, the graph cyclic.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from quorate.base.errors import did_you_mean
from quorate.por.errors import ReductionError

S = TypeVar("S", bound=Hashable)
T = TypeVar("T", bound=Hashable)


@dataclass(frozen=True)
class TransitionSystem(Generic[S, T]):
    """`successors(state, t)` are the outcomes of t, none where t is disabled; `enabled(state)` only saves asking them.

    The order of `transitions` settles every tie, so that a search visits the same states in every run.
    """

    transitions: Sequence[T]
    initial: Sequence[S]
    successors: Callable[[S, T], Iterable[S]]
    enabled: Callable[[S], Iterable[T]] | None = None

    def __post_init__(self) -> None:
        if not self.initial:
            raise ReductionError("the system has no initial state", hint="give at least one: `initial=[state]`")
        numbered(self.transitions)

    @staticmethod
    def from_edges(initial: Iterable[S], edges: Iterable[tuple[S, T, S]]) -> TransitionSystem[S, T]:
        """A system drawn as a graph: (state, transition, state) for every arrow."""
        outcomes: dict[tuple[S, T], list[S]] = {}
        for before, transition, after in edges:
            outcomes.setdefault((before, transition), []).append(after)
        transitions = list(dict.fromkeys(transition for _, transition in outcomes))
        return TransitionSystem(transitions, list(initial), lambda state, t: outcomes.get((state, t), ()))

    def outcomes(self, state: S, transition: T) -> tuple[S, ...]:
        """The states a transition may lead to, each once."""
        return tuple(dict.fromkeys(self.successors(state, transition)))

    def moves(self, state: S) -> dict[T, tuple[S, ...]]:
        """The enabled transitions, in order, with their outcomes."""
        asked: Iterable[T] = self.transitions
        if self.enabled is not None:
            claimed = set(self.enabled(state))
            if not claimed <= set(self.transitions):
                raise unknown(next(iter(claimed - set(self.transitions))), self.transitions)
            asked = [each for each in self.transitions if each in claimed]
        found = {each: self.outcomes(state, each) for each in asked}
        if self.enabled is not None and not all(found.values()):
            stuck = next(each for each, outcomes in found.items() if not outcomes)
            raise ReductionError(
                f"transition={stuck!r} is enabled but has no successor in state={state!r}",
                hint="`enabled` must name exactly the transitions for which `successors` yields a state",
            )
        return {each: outcomes for each, outcomes in found.items() if outcomes}


def numbered(transitions: Sequence[T]) -> dict[T, int]:
    """The position of each transition: sets of them are masks, in which bit i stands for the i-th."""
    numbers = {each: position for position, each in enumerate(transitions)}
    if len(numbers) != len(transitions):
        double = next(each for position, each in enumerate(transitions) if numbers[each] != position)
        raise ReductionError(
            f"transition={double!r} is given twice",
            hint="transitions are told apart by `==`; give each a name of its own",
        )
    return numbers


def unknown(transition: object, transitions: Iterable[object]) -> ReductionError:
    """The error for a transition that is not one of the system's."""
    return ReductionError(
        f"there is no transition={transition!r}", hint=did_you_mean(str(transition), map(str, transitions))
    )


def bits(mask: int) -> Iterator[int]:
    """The positions that are set, in ascending order."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest
