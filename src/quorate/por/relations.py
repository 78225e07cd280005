"""The interface of LPOR, section 4.2 of the thesis: what the user knows about pairs of transitions.

can-enable is definition 15, dependency definition 16, necessary enabling transitions (NET) definition 17, and
NET-transition-to-fire (Nttf) definition 22. Too many pairs in `dependent` and `can_enable`, or too few in `necessary`
and `to_fire`, cost reduction and never soundness. `verify_relations` looks for the opposite.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic

from quorate.por.errors import ReductionError
from quorate.por.system import T, bits, numbered, unknown


@dataclass(frozen=True)
class Relations(Generic[T]):
    """Read every pair as the sentence in its comment; the order of the two matters."""

    # t1 can disable t2, or t1 then t2 may end where t2 then t1 cannot, in a state in which both are enabled.
    dependent: Callable[[T, T], bool]
    # t2 is disabled in some state, and enabled after t1 was executed in it.
    can_enable: Callable[[T, T], bool]
    # Every run in which t1 becomes enabled, or is so from the start, has executed t2 before.
    necessary: Callable[[T, T], bool] | None = None
    # t may change what the property reads.
    visible: Callable[[T], bool] | None = None
    # t never has two outcomes in one state. Only `preserve="ctl"` asks.
    deterministic: Callable[[T], bool] | None = None
    # In this state t1 is disabled, and before it can be enabled t2 must be executed (again).
    to_fire: Callable[[Any, T, T], bool] | None = None
    # The pairs that `to_fire` is worth asking about, where they are more than `necessary` has. A guess: any are sound.
    candidates: Callable[[T, T], bool] | None = None

    @staticmethod
    def from_pairs(
        dependent: Collection[tuple[T, T]],
        can_enable: Collection[tuple[T, T]],
        necessary: Collection[tuple[T, T]] | None = None,
        visible: Collection[T] | None = None,
        deterministic: Collection[T] | None = None,
    ) -> Relations[T]:
        """Relations written down pair by pair."""

        def holds(pairs: Collection[tuple[T, T]]) -> Callable[[T, T], bool]:
            known = frozenset(pairs)
            return lambda first, second: (first, second) in known

        def among(some: Collection[T]) -> Callable[[T], bool]:
            known = frozenset(some)
            return lambda transition: transition in known

        return Relations(
            dependent=holds(dependent),
            can_enable=holds(can_enable),
            necessary=None if necessary is None else holds(necessary),
            visible=None if visible is None else among(visible),
            deterministic=None if deterministic is None else among(deterministic),
        )


class Table(Generic[T]):
    """The relations as masks, asked for once."""

    def __init__(self, transitions: Sequence[T], relations: Relations[T]) -> None:
        self.transitions = tuple(transitions)
        self.number = numbered(self.transitions)
        self.all = (1 << len(self.transitions)) - 1
        # By convention no transition depends on itself (definition 16), whatever the function says.
        self.depends_on = [
            self._mask(other for other in self.transitions if other != each and relations.dependent(other, each))
            for each in self.transitions
        ]
        self.enables = self._rows(relations.can_enable)
        self.necessary = _closed(self._rows(relations.necessary))
        self.candidates = self._rows(relations.candidates or relations.necessary)
        if relations.to_fire is not None and not (relations.candidates or relations.necessary):
            raise ReductionError(
                "`to_fire` is given without `necessary` or `candidates`, so it would never be asked",
                hint="`candidates=lambda t1, t2: ...` names the pairs for which t2 may have to come before t1",
            )

    def _mask(self, some: Iterable[T]) -> int:
        return sum(1 << self.number[each] for each in some)

    def _rows(self, relation: Callable[[T, T], bool] | None) -> list[int]:
        if relation is None:
            return [0] * len(self.transitions)
        return [self._mask(other for other in self.transitions if relation(each, other)) for each in self.transitions]

    def mask(self, some: Collection[T]) -> int:
        """The mask of some transitions, all of which must be known."""
        for each in some:
            if each not in self.number:
                raise unknown(each, self.transitions)
        return self._mask(set(some))

    def set(self, mask: int) -> frozenset[T]:
        """The transitions of a mask."""
        return frozenset(self.transitions[each] for each in bits(mask))


def is_transitive(depends_on: Sequence[int]) -> bool:
    """Whether dependence is transitive between distinct transitions.

    A dependency relation has no (t, t), so read strictly one with both (t, u) and (u, t) never would be.
    """
    return all(
        depends_on[second] & ~(1 << third) & ~depends_on[third] == 0
        for third in range(len(depends_on))
        for second in bits(depends_on[third])
    )


def _closed(rows: list[int]) -> list[int]:
    """The transitive closure, which for a NET relation is one too (remark after definition 17)."""
    closed = list(rows)
    for middle in range(len(rows)):
        for each in range(len(rows)):
            if closed[each] >> middle & 1:
                closed[each] |= closed[middle]
    return closed
