"""What a reduced search preserves: D1 and D2 alone, or with visibility, D3 and NB (section 4.3.3 of the thesis).

| preserve     | conditions on the sets                             | proviso of the search (`search.py`)     |
| ------------ | -------------------------------------------------- | --------------------------------------- |
| "deadlocks"  | D1, D2                                             | none                                    |
| "invariants" | D1, D2, V                                          | no transition is ignored for ever       |
| "ltl"        | D1, D2, D3, V, I                                   | every cycle has a state without a gap   |
| "ctl"        | D1, D2, NB: one alone, deterministic and invisible | the same                                |

V and I are Valmari's (1998). V: with one visible transition all visible ones are in the set. I: if an invisible
transition is enabled, one is in the set.

D3 asks that an infinite run outside the set can still follow after a key transition. Nothing has to be done for it: for
every finite piece of the run D1 and D2 provide a run that has the key transition in front; these runs form a tree, and
as a transition has finitely many outcomes, König's lemma finds an infinite one among them. (The thesis makes the
dependency relation symmetric for it, theorem 10. That is not needed here, and where a transition has infinitely many
outcomes it is not enough; see docs/por.md.)

NB asks that the one transition be super-deterministic. A deterministic one is: it stays enabled and commutes with every
step outside the set (corollary 3), and as it has one outcome only, the other side of each such square is determined.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, Generic, Literal, get_args

from quorate.por.errors import ReductionError, one_of
from quorate.por.relations import Relations
from quorate.por.stubborn import NOT_GIVEN, Form, Live, StubbornSets
from quorate.por.system import T, bits

Preserve = Literal["deadlocks", "invariants", "ltl", "ctl"]
Visibility = Literal["together", "thesis"]
Seed = Literal["first", "smallest"]


class Reduction(Generic[T]):
    """Stubborn sets that preserve what is asked for, from the initial transitions that are asked for.

    `seed` chooses the initial transition: "first" enabled one in the order of `transitions`, or a function that ranks
    them (lowest first), go on to the next where the set would be useless; "smallest" compares the sets of all.
    `visibility="thesis"` allows visible transitions only where all enabled ones are executed (section 4.5, ample set
    condition C2); "together" is V and I, which never leaves out less.
    """

    def __init__(
        self,
        transitions: Sequence[T],
        relations: Relations[T],
        *,
        preserve: Preserve = "invariants",
        form: Form | None = None,
        seed: Seed | Callable[[T], Any] = "smallest",
        visibility: Visibility = "together",
        transitive_shortcut: bool = True,
        skip_enabled: bool = True,
        limit: int = 64,
    ) -> None:
        one_of("preserve", preserve, get_args(Preserve))
        one_of("visibility", visibility, get_args(Visibility))
        if not callable(seed):
            one_of("seed", seed, get_args(Seed))
        if preserve != "deadlocks" and relations.visible is None:
            raise ReductionError(
                f"preserve={preserve!r} needs to know which transitions are `visible`",
                hint="`visible=lambda t: ...` says whether t may change what the property reads",
            )
        if preserve == "ctl" and relations.deterministic is None:
            raise ReductionError(
                "preserve='ctl' needs to know which transitions are `deterministic`",
                hint="`deterministic=lambda t: True` if none has ever two outcomes in a state",
            )
        self.preserve = preserve
        self._seed = seed
        self._visible = _those(transitions, relations.visible)
        self._deterministic = _those(transitions, relations.deterministic)
        # V by means of the dependency relation: if visible transitions depend on each other, then a set with one of
        # them also takes in every enabled transition that may lead to another.
        self._together = visibility == "together" and preserve in ("invariants", "ltl")
        extra = [self._visible & ~(1 << each) if self._visible >> each & 1 else 0 for each in range(len(transitions))]
        self.sets: StubbornSets[T] = StubbornSets(
            transitions,
            relations,
            form=form,
            transitive_shortcut=transitive_shortcut,
            skip_enabled=skip_enabled,
            limit=limit,
            dependent_too=extra if self._together else None,
        )

    def choices(
        self, enabled: Collection[T], *, fired: Collection[T] | None = None, state: Any = NOT_GIVEN
    ) -> Iterator[frozenset[T]]:
        """Sets that preserve the property and leave something out, the best first: for a search of your own.

        That search has to apply the proviso of `search.py`, and to execute everything where no set passes it. `fired`
        are the transitions on any one path to the state, for the path form; the state form reads the `state`.
        """
        table = self.sets.table
        self.sets.require(fired, state)
        for mask in self.candidates(table.mask(enabled), table.mask(fired or ()), state):
            yield table.set(mask)

    def candidates(self, enabled: int, fired: int, state: Any) -> Iterator[int]:
        """`choices` on masks."""
        live = self.sets.live(enabled, fired, state)
        if self._seed == "smallest":
            yield from sorted(dict.fromkeys(self._useful(bits(enabled), enabled, live)), key=int.bit_count)
            return
        order: Iterable[int] = bits(enabled)
        if callable(self._seed):
            rank, names = self._seed, self.sets.table.transitions
            order = sorted(order, key=lambda each: rank(names[each]))
        yield from self._useful(order, enabled, live)

    def _useful(self, seeds: Iterable[int], enabled: int, live: Live) -> Iterator[int]:
        for seed in seeds:
            chosen = self.sets.grow(seed, enabled, live)
            if chosen != enabled and self._allowed(chosen, enabled):
                yield chosen

    def _allowed(self, chosen: int, enabled: int) -> bool:
        match self.preserve:
            case "deadlocks":
                return True
            case "invariants" if self._together:
                return True  # V holds by construction
            case "ltl" if self._together:
                return not enabled & ~self._visible or chosen & ~self._visible != 0  # I
            case "ctl":
                return chosen.bit_count() == 1 and not chosen & self._visible and chosen & self._deterministic != 0
            case _:
                return not chosen & self._visible


def _those(transitions: Sequence[T], holds: Callable[[T], bool] | None) -> int:
    return 0 if holds is None else sum(1 << number for number, each in enumerate(transitions) if holds(each))
