"""Where the closure does not end: reductions over a universe that is taken from the search itself.

The universe is seeded by simulation, and every combination of its local states and messages is evaluated. Where all
that is left to a search leads out of it, the universe grows by that. If what was decided by the smaller one stands, the
search goes on; otherwise it is void, and the next one starts over. The answer counts once a search stays inside. Why
that is sound is argued in docs/soundness.md, rule 24, and at length in `src/core/analysis/universe.hpp`.

Where the universe is given up, partial-order reduction goes by flows, which classes of messages processes send to whom.
They are taken from the search in the same way, and a search that meets another is void too
(`src/core/reduce/por/flows.hpp`).
"""

from __future__ import annotations

from quorate import _core
from quorate.base.words import names
from quorate.native.backend import Found
from quorate.native.model import Model
from quorate.reduce.interface import Basis
from quorate.reduce.reductions import Reductions

# The seed: what random walks meet.
WALKS = 1_000
WALK_STEPS = 200
# A void search goes on until it has twice as many states, plus this many, to meet what else lies outside.
VOID_STATES = 1_000
# What the universe may cost before it is given up: answers from Python for one process, searches that were void, and
# the states that they visited.
MOST_BEHAVIOURS = 30_000
MOST_ROUNDS = 60
MOST_VOID_STATES = 5_000_000
LITTLE = 1.1
"""A universe that merges and drops less is given up."""
MOST_EXTENSIONS = 60
"""Of one search: each looks at the whole universe again."""


class Universe:
    """The universe of one check, and what it has cost so far."""

    def __init__(self, model: Model, reductions: Reductions) -> None:
        self.model = model
        self.reductions = reductions
        self.rounds = 0
        self.void_states = 0
        self.extensions = 0
        """How often a search went on in a larger one."""
        self.given_up = ""
        """Why there is no universe any more."""
        self._extend()  # what was met so far

    def seed(self) -> None:
        """Begin with what random walks meet."""
        with self.model.spent.on("universe"):
            self.model.engine.simulate(self.model, WALKS, WALK_STEPS)
        self._extend()

    def outgrown(self) -> bool:
        """While a search waits for what lies outside: whether all that was decided stands with that inside."""
        if self.extensions >= MOST_EXTENSIONS * self.rounds:
            return False
        with self.model.spent.on("universe"):
            found = self.model.engine.outgrow(self.model, MOST_BEHAVIOURS)
        if found is None:
            return False
        evaluated, sizes = found
        self.extensions += 1
        self._describe(self.reductions, evaluated)
        for each in (self.reductions.quotient, self.reductions.dead_messages):
            each.apply(self.reductions.basis, sizes)
        return True

    def grow(self, found: Found) -> None:
        """Add what a void search has met."""
        self.void_states += found.states
        if not self.given_up:
            self._extend()
        self.model.engine.clear_answers()

    def _extend(self) -> None:
        self.reductions.symmetry.extend()
        self.model.engine.extend_universe()

    def prepare(self, reductions: Reductions) -> None:
        """Evaluate the universe and reduce by it, or by less if it is not worth its price."""
        why = self._too_much()
        self.rounds += 1
        if self.given_up:
            self._without(reductions, f"no universe is known, nor what processes send to whom: {why}" if why else "")
        elif why:
            self._give_up(reductions, why)
        else:
            found = self.evaluate(MOST_BEHAVIOURS)
            if all(column.index in found.as_is for column in self.model.definition.processes):
                self._give_up(reductions, "it would ask more of Python than it could save")
                return
            self._describe(reductions, found)
            reductions.apply()
            if self._saves_little(reductions):
                self._give_up(reductions, "it would save too little")

    def _saves_little(self, reductions: Reductions) -> bool:
        """Whether what is merged and dropped is not worth a search that may be void."""
        figures = [each.figures for each in (reductions.quotient, reductions.dead_messages) if each.ran]
        return not reductions.por.wanted and all(each["factor"] < LITTLE for each in figures)

    def evaluate(self, most_behaviours: int) -> _core.UniverseReport:
        """Every local state of the universe on every consumable set of its messages, whether met together or not."""
        with self.model.spent.on("universe"):
            while True:
                found = self.model.engine.evaluate_universe(self.model, most_behaviours)
                if found.complete:
                    return found
                self.reductions.symmetry.drop_broken()  # names that are told apart in a way that no search has met
                self._extend()

    def _too_much(self) -> str:
        if self.model.definition.shared:
            return "which values shared cells may hold is known to the search alone"
        if self.rounds >= MOST_ROUNDS:
            return f"it still grew after {self.rounds} searches"
        if self.void_states > MOST_VOID_STATES:
            return f"it still grew after {self.void_states:,} states"
        return ""

    def _describe(self, reductions: Reductions, found: _core.UniverseReport) -> None:
        reductions.decide()
        why = "taken from the search itself, since the closure did not end"
        left = [self.model.definition.columns[index].name for index in found.as_is]
        if left:
            why += f"; too large for it, so taken as it is: {names(left)}"
        reductions.basis = Basis("universe", found.local_states)
        reductions.universe = {
            "ran": True,
            "local_states": found.local_states,
            "messages": found.messages,
            "behaviours": found.enabled,
            "searches": self.rounds,
            "extensions": self.extensions,
            "why": why,
        }

    def _give_up(self, reductions: Reductions, why: str) -> None:
        self.model.engine.forget_universe()
        self.given_up = why
        self.rounds, self.void_states = 1, 0
        self._without(reductions, "")

    def _without(self, reductions: Reductions, no_flows: str) -> None:
        """Reduce without a universe, by flows if they are not given up too."""
        unknown = f"no universe is known: {self.given_up}"
        reductions.basis = Basis("universe", unknown=unknown)
        reductions.universe = {"ran": False, "why": self.given_up}
        reductions.decide(unknown)
        if reductions.por.wanted:  # nothing is proven for both
            reductions.close_symmetry()
        reductions.por.allow_flows(no_flows)
        reductions.apply()
