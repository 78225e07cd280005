"""Stubborn sets: algorithm 3 of the thesis (path-based) and algorithm 5 (generalised, state-conditional).

They are strong stubborn sets (theorem 9): with D1 and D2 of Valmari 1998 every transition of the set is a key
transition. Even more, each commutes step by step with every run outside the set (corollary 3), which is what keeps the
labels of states in step when the set is used for temporal logic.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, Final, Generic, Literal, get_args

from quorate.por.errors import ReductionError, one_of
from quorate.por.forward import ForwardSet, forward_enable_set
from quorate.por.relations import Relations, Table, is_transitive
from quorate.por.system import T, bits

Form = Literal["path", "state"]
NOT_GIVEN: Final = object()

# Of the tokens in a mask, those whose transition must be executed first in the present state.
Live = Callable[[int], int]


class StubbornSets(Generic[T]):
    """The forward-enable sets of a system, and from them a stubborn set for any state and initial transition.

    `form="path"` is algorithms 2 and 3: a necessary transition counts until it is on the path to the state.
    `form="state"` is algorithms 4 and 5: it counts as long as `to_fire` says so in the state itself.
    `dependent_too` are masks like `Table.depends_on`, joined to the dependency relation.
    """

    def __init__(
        self,
        transitions: Sequence[T],
        relations: Relations[T],
        *,
        form: Form | None = None,
        transitive_shortcut: bool = True,
        skip_enabled: bool = True,
        limit: int = 64,
        dependent_too: Sequence[int] | None = None,
    ) -> None:
        if form is None:
            form = "path" if relations.to_fire is None else "state"
        one_of("form", form, get_args(Form))
        if form == "state" and relations.necessary is not None and relations.to_fire is None:
            raise ReductionError(
                "form='state' needs `to_fire`, which says in which states a transition is still necessary",
                hint="with `necessary` alone, use form='path'",
            )
        self.form = form
        self.table = Table(transitions, relations)
        self.depends_on = [
            own | extra
            for own, extra in zip(self.table.depends_on, dependent_too or [0] * len(transitions), strict=True)
        ]
        # Section 4.3.2: what joins because of t1 would join because of t anyway, if t1 joined because of t.
        self.transitive = transitive_shortcut and is_transitive(self.depends_on)
        # Beyond the thesis: lemma 5 needs line 3.11 only for a t_dep that is disabled, an enabled one joins by itself.
        self._skip_enabled = skip_enabled
        self._to_fire = relations.to_fire
        self._tokens: list[tuple[int, int]] = []  # what bit k of an `en` stands for: (t1, t2), t2 necessary for t1
        self._tokens_of = [0] * len(transitions)  # for each t2 the tokens it stands in
        entering = self._number_tokens()
        self._forward = [
            forward_enable_set(each, self.table.enables, entering, limit) for each in range(len(transitions))
        ]
        self._reach = [sum(1 << each for each in entries) for entries in self._forward]

    def _number_tokens(self) -> list[int]:
        count = len(self.table.transitions)
        if self.form == "path":
            # Whether t2 is on the path does not depend on t1, so one token per t2 will do.
            self._tokens = [(each, each) for each in range(count)]
            self._tokens_of = [1 << each for each in range(count)]
            return self.table.necessary
        entering = [0] * count
        for first in range(count):
            for second in bits(self.table.candidates[first]):
                entering[first] |= 1 << len(self._tokens)
                self._tokens_of[second] |= 1 << len(self._tokens)
                self._tokens.append((first, second))
        return entering

    # --- what was computed once ----------------------------------------------------------------------------------

    def forward_enable_set(self, transition: T) -> frozenset[tuple[T, frozenset[Any]]]:
        """Pairs (t', en); `en` holds transitions in the path form, and pairs (t1, t2) in the state form."""
        names = self.table.transitions

        def shown(token: int) -> Any:
            first, second = self._tokens[token]
            return names[second] if self.form == "path" else (names[first], names[second])

        entries = self._entries(transition)
        return frozenset(
            (names[each], frozenset(map(shown, bits(needs)))) for each, all in entries.items() for needs in all
        )

    def forward_enable_index(self, transition: T, other: T) -> bool:
        """Whether the first can start a sequence of enabling transitions that ends in one the second depends on."""
        self.table.mask([transition, other])
        number = self.table.number
        return self._reach[number[transition]] & self.depends_on[number[other]] != 0

    def _entries(self, transition: T) -> ForwardSet:
        self.table.mask([transition])
        return self._forward[self.table.number[transition]]

    # --- what is computed in each state --------------------------------------------------------------------------

    def stubborn_set(
        self,
        seed: T,
        enabled: Collection[T],
        *,
        fired: Collection[T] | None = None,
        state: Any = NOT_GIVEN,
    ) -> frozenset[T]:
        """A strong stubborn set that has `seed` in it, the initial transition, and only enabled ones.

        The path form wants `fired`, the transitions on any one path to the state; the state form wants the `state`.
        """
        able = self.table.mask(enabled)
        if not self.table.mask([seed]) & able:
            # Theorem 9 says "for all t'", but D1 and D2 both fail for a set around a disabled transition.
            raise ReductionError(f"seed={seed!r} is not enabled", hint="start from an enabled transition")
        self.require(fired, state)
        live = self.live(able, self.table.mask(fired or ()), state)
        return self.table.set(self.grow(self.table.number[seed], able, live))

    def require(self, fired: Collection[T] | None, state: Any) -> None:
        """Refuse to guess what necessity depends on: a wrong guess would be unsound."""
        if self.form == "path" and fired is None and any(self.table.necessary):
            raise ReductionError("the path form needs `fired`", hint="`fired=[]` in an initial state")
        if self.form == "state" and state is NOT_GIVEN and self._tokens:
            raise ReductionError("the state form needs `state`, to ask `to_fire` about it")

    def live(self, enabled: int, fired: int, state: Any) -> Live:
        """Which tokens still stand for something that must happen; shared by all sets of one state."""
        if self.form == "path":
            return lambda tokens: tokens & ~fired
        names, known = self.table.transitions, dict[int, bool]()

        def must(token: int) -> bool:
            first, second = self._tokens[token]
            # By definition 22 nothing has to happen for what is enabled, even if the user's function forgets that.
            if enabled >> first & 1 or self._to_fire is None:
                return False
            if token not in known:
                known[token] = self._to_fire(state, names[first], names[second])
            return known[token]

        return lambda tokens: sum(1 << token for token in bits(tokens) if must(token))

    def grow(self, seed: int, enabled: int, live: Live) -> int:
        """Algorithms 3 and 5, on masks; transitions are taken in ascending order throughout."""
        chosen, pending = 1 << seed, [seed]
        done = live(self._tokens_of[seed])  # tokens (t1, t2) with t2 in the set and still to be executed before t1
        while pending:
            because = pending.pop(0)
            depends_on = self.depends_on[because]
            for each in bits(enabled & ~chosen):
                if depends_on >> each & 1:
                    joins, goes_on = True, not self.transitive
                else:
                    # Algorithm 5 has `if` here for the `else if` of algorithm 3. As t1 is in its own forward-enable
                    # set, that would take t1 up again and undo the transitive shortcut of line 5.9.
                    joins = goes_on = self._starts_enabling(each, depends_on, enabled, done)
                if joins:
                    chosen |= 1 << each
                    done |= live(self._tokens_of[each])
                if goes_on:
                    pending.append(each)
        return chosen

    def _starts_enabling(self, first: int, depends_on: int, enabled: int, done: int) -> bool:
        """Lines 3.10 to 3.12: whether `first` may lead, outside the set, to a transition that is depended on."""
        ends = self._reach[first] & depends_on
        if self._skip_enabled:
            ends &= ~enabled
        forward = self._forward[first]
        return any(needs & done == 0 for end in bits(ends) for needs in forward[end])
