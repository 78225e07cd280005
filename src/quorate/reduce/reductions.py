"""All reductions of one check: what they argue about is found first, then each decides, then they are applied."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from quorate import _core
from quorate.language.pid import DecompositionError
from quorate.native.backend import Found
from quorate.native.model import Model
from quorate.options import Options
from quorate.properties.kinds import ASSERTIONS, Kept, kind_of
from quorate.reduce.dead_messages import DeadMessages
from quorate.reduce.growth import growth
from quorate.reduce.interface import Basis, Reduction
from quorate.reduce.partial_orders import DynamicPartialOrders, PartialOrders, Split
from quorate.reduce.piling import piling
from quorate.reduce.quotient import Quotient
from quorate.reduce.share import share
from quorate.reduce.symmetry import Symmetry

# The closure asks about combinations that no run may meet, and nobody knows beforehand what it costs, or whether it
# ends. It must not cost much where the search alone would do. So it gets a little first; if it has not ended then, it
# goes on beside the search, for a share of what that costs (`share`).
FIRST_BEHAVIOURS = 4_000
FEW_BEHAVIOURS = 1_000
MANY_ROUNDS = 40
"""But if a few took so many rounds, each about what the one before has led to, something counts: the rest can wait."""
FIRST_STATES = 2_000_000
"""After so many the search takes itself for a universe, if the closure has not ended by then."""
WORTH_DROPPING = 10
"""But not before it is expected to have so many times as many: several searches may be void, and all start over."""
MOST_BEHAVIOURS = 60_000
"""For whoever has no search to compare with: a plan, and processes that are taken apart, which is tried first."""


ALL: tuple[type[Reduction], ...] = (Quotient, DeadMessages, Symmetry, PartialOrders, Split)
"""Every reduction that an option switches; dynamic partial orders by the same one as static ones."""


RANKS_EXACT = (
    "exact: one state stands for all with ranks in the same order, and later() was always taken of the highest one"
)
RANKS_BEYOND = (
    "an over-approximation: one state stands for all with ranks in the same order; later() is the next number, which "
    "may be the next rank there is or come before it, and both are tried: what holds, holds, and a run that is shown "
    "was taken with numbers"
)


class Reductions:
    """The reductions of one check, in the order in which they are told."""

    def __init__(self, model: Model, options: Options, wanted: frozenset[Kept] | None = None) -> None:
        """`wanted`: what has to be kept; if nothing is said, what the properties of the model need."""
        self.model = model
        self.options = options
        self.quotient = Quotient(model, options)
        self.dead_messages = DeadMessages(model, options)
        self.por = (DynamicPartialOrders if options.por == "dpor" else PartialOrders)(model, options)
        self.symmetry = Symmetry(model, options)
        self.closure: _core.UniverseReport | None = None
        """What the core says of the closure, if anything needs it."""
        self.universe: dict[str, Any] | None = None
        """What is told of the optimistic universe, if the closure did not end."""
        self.basis = Basis("closure")
        # Handlers may fail whatever is asked for.
        needs = [kind_of(each).needs for each in model.properties] if wanted is None else [wanted]
        self.wanted = ASSERTIONS.needs.union(*needs)

    def __iter__(self) -> Iterator[Reduction]:
        return iter((self.quotient, self.dead_messages, self.por, self.symmetry, self.por.split))

    @property
    def ran(self) -> tuple[str, ...]:
        """The names of those that run."""
        return tuple(each.name for each in self if each.ran)

    @property
    def dynamic(self) -> bool:
        """Whether dynamic partial-order reduction runs."""
        return isinstance(self.por, DynamicPartialOrders) and self.por.ran

    @property
    def unfinished(self) -> bool:
        """Whether the closure ran out of its budget."""
        return self.closure is not None and not self.closure.complete

    def analyse(self, most_behaviours: int | None = None) -> None:
        """Close the model, and reduce it as far as the options and the network allow."""
        self.decide()
        kind = "dynamic partial-order reduction" if self.dynamic else "a stateless search"
        self.symmetry.stores_nothing = kind if self.dynamic or self.options.stateless else ""
        self.por.split.decide(self.wanted, "switched off")
        ranked = self.model.definition.ranked
        unknown = "ranks have no closure to compare processes with" if ranked else ""
        families = [] if ranked else self.symmetry.proposed()
        if families or self.quotient.ran or self.dead_messages.ran or (self.por.ran and not self.dynamic):
            most = self.options.max_behaviours or MOST_BEHAVIOURS
            most = most if most_behaviours is None else most_behaviours
            first = most <= FIRST_BEHAVIOURS and not self.options.max_behaviours
            with self.model.spent.on("closure"):
                self.closure = self.model.engine.close(self.model, min(most, FEW_BEHAVIOURS) if first else most)
                if first and not self.closure.complete and self.closure.rounds <= MANY_ROUNDS:
                    self.closure = self.model.engine.close(self.model, most)
            if not self.closure.complete:
                unknown = f"the closure is not complete: {self.closure.why}"
                self.decide(unknown)
            self.basis = Basis("closure", self.closure.local_states, unknown)
        self.symmetry.decide(self.wanted, unknown)
        with self.model.spent.on("symmetry"):
            self.symmetry.check(families)
        self.apply()

    def leave_out(self, why: str) -> None:
        """Do without partial orders, which go by flows where nothing else is known."""
        if self.por.ran:
            self.por.leave_out(why)
            self.model.engine.unrelate()

    def open_symmetry(self) -> None:
        """Although the closure has not ended: what the search asks for is compared as it asks."""
        if not self.options.coverage:
            with self.model.spent.on("symmetry"):
                self.symmetry.open(self.wanted)
            self.apply()

    def close_symmetry(self) -> None:
        """The search that compared what it asked for is over, and another one begins."""
        self.symmetry.close("what is to be compared is not known")

    def go_on(self, transitions: int, expected: int) -> bool:
        """Go on with the closure while a search rests that has made so many transitions, and is expected to make so
        many in all; whether it has ended."""
        most = self.options.max_behaviours or share(transitions, expected, self.closure.rounds if self.closure else 0)
        with self.model.spent.on("closure"):
            self.closure = self.model.engine.close(self.model, most, aside=True)
        return self.closure.complete

    def decide(self, unknown: str = "") -> None:
        """Which of those that may be decided again do run; none of them if it is `unknown` what to reason about."""
        for each in (self.quotient, self.dead_messages, self.por):
            each.decide(self.wanted, unknown)

    def apply(self) -> None:
        """Apply the reductions that run; again whenever more fields turned out to be observed."""
        # What a property turns out to read also decides which steps are visible to it.
        self.model.restart_on_new_reads = self.quotient.ran or self.por.ran or self.symmetry.ran
        self.model.engine.observe(self.model.observed)
        with self.model.spent.on("quotient and dead messages"):
            sizes = self.model.engine.reduce(self.quotient.ran, self.dead_messages.ran)
        with self.model.spent.on("partial orders"):
            for each in self:
                each.apply(self.basis, sizes)

    def apply_again(self) -> None:
        """After a search whose properties read more than was observed, or told interchangeable processes apart."""
        self.symmetry.drop_broken()
        self.model.engine.clear_answers()
        self.apply()

    def searched(self, found: Found) -> None:
        for each in self:
            each.searched(found)

    def require_decomposed(self) -> None:
        """Raises DecompositionError if taking processes apart gains no symmetry, or would not be the same system."""
        if not self.symmetry.ran:
            raise DecompositionError(f"symmetry was left out: {self.symmetry.why}")
        if self.model.whole is not None:
            self.model.whole.require_messages(self.model.numbered_messages)

    def to_json(self) -> dict[str, dict[str, Any]]:
        """What a result says of them, and of what they argue about."""
        closure: dict[str, Any] = {"ran": False, "why": "no reduction needs it"}
        if self.closure is not None:
            names = ("complete", "why", "local_states", "messages", "behaviours")
            closure = {name: getattr(self.closure, name) for name in names}
            closure |= {"ran": self.closure.complete, "why": self.closure.why or "bounds what any run can meet"}
            if self.unfinished:
                closure["grew"] = [each.to_json() for each in growth(self.model)]
            elif piles := piling(self.model, self.closure.behaviours):
                closure["piles"] = [each.to_json() for each in piles]
        told = {"closure": closure, **{each.name: each.to_json() for each in self}}
        if self.model.definition.ranked:
            inexact = self.model.inexact_ranks
            told["ranks"] = {"ran": True, "exact": not inexact, "why": RANKS_BEYOND if inexact else RANKS_EXACT}
        return told if self.universe is None else {**told, "universe": self.universe}
