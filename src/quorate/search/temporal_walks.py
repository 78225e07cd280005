"""Temporal properties in random runs, with a bound on steps: runs that end, and runs that come back to a state.

A walk goes through the plain semantics, so a lasso is one of the system itself: nothing is reduced. Where a run could
stop for ever, and wherever it is back in a state that it has been in, that is a lasso. If it is fair and a formula is
false of it, it is a violation, by the same definitions by which every lasso of a check is confirmed. That none is found
proves nothing: most loops of a random run are not fair, and what comes after the bound is not seen.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from quorate import _core
from quorate.base.watchdog import Halted
from quorate.model.definition import Definition
from quorate.properties import explain
from quorate.properties.evaluate import evaluate
from quorate.properties.temporal.branching import linear
from quorate.properties.temporal.fairness import STRONG, Group, fairness_of, groups_of
from quorate.properties.temporal.formula import Formula, names
from quorate.properties.temporal.refutation import refuted
from quorate.properties.temporal.stated import TemporalProperty
from quorate.properties.temporal.words import holds
from quorate.results.simulation import Walks
from quorate.results.trace import Trace
from quorate.search.limits import Watcher
from quorate.search.rebuild import ReplayError
from quorate.semantics.state import State, Step, initial_states
from quorate.semantics.steps import steps

MOST_STEPS = 100_000
"""Of all walks together, where runs were counted and not timed: each is some hundred times as dear as a native one."""


@dataclass
class _Walk:
    """One run so far. Of each state: what is offered there to fairness, and which predicates hold."""

    states: list[State]
    taken: list[Step] = field(default_factory=list)
    offered: list[frozenset[Group]] = field(default_factory=list)
    done: list[frozenset[Group]] = field(default_factory=list)
    letters: list[frozenset[tuple[str, str]]] = field(default_factory=list)

    def is_fair(self, loop_from: int) -> bool:
        """Whether every group is done on the loop, or not offered all the time (strong ones: at all)."""
        done = frozenset[Group]().union(*self.done[loop_from:])
        offered = self.offered[loop_from : max(len(self.taken), loop_from + 1)]
        always = offered[0].intersection(*offered[1:])
        ever = offered[0].union(*offered[1:])
        return not any(each not in done for each in always) and not any(
            each.strength == STRONG and each not in done for each in ever
        )


class TemporalWalks:
    """The walks of one simulation. Walk n of a seed is the same one whenever it is taken."""

    def __init__(
        self,
        definition: Definition,
        asked: Sequence[TemporalProperty],
        level: str,
        *,
        depth: int,
        seed: int,
        watcher: Watcher,
    ) -> None:
        self.definition = definition
        self.formulas: list[tuple[TemporalProperty, Formula]] = []
        for each in asked:
            formula = linear(each.formula)
            if formula is not None:
                self.formulas.append((each, formula))
        self.level = level
        self.fairness = fairness_of(definition, level)
        self.depth = depth
        self.seed = seed
        self.watcher = watcher
        self.found = Walks(tuple(prop.name for prop, _ in self.formulas), depth=depth, level=level)

    def run(self, runs: int | None, until: float | None) -> tuple[Walks, Trace | None]:
        """So many walks, or until the watcher's clock says so; or until one shows a violation."""
        trace: Trace | None = None
        self.until = until
        try:
            while self.formulas and trace is None and (runs is None or self.found.runs < runs) and not self._over():
                trace = self._walk(self.found.runs)
                self.found = replace(self.found, runs=self.found.runs + 1)
        except Halted:
            pass
        if trace is not None:
            self.found = replace(self.found, property=trace.property, run=self.found.runs - 1)
        return self.found, trace

    def _over(self) -> bool:
        if self.watcher(0, self.found.steps, 0, 0, _core.resident_bytes()):
            return True
        return self.watcher.seconds >= self.until if self.until is not None else self.found.steps >= MOST_STEPS

    def _walk(self, number: int) -> Trace | None:
        dice = random.Random(f"{self.seed} {number}")
        state = dice.choice(initial_states(self.definition))
        walk = _Walk([state])
        met: dict[State, list[int]] = {}
        seen: set[tuple[State, frozenset[frozenset[tuple[str, str]]]]] = set()
        """Fair loops by where they begin and what is true on them: one of each is enough."""
        while True:
            possible = list(steps(self.definition, state))
            walk.offered.append(frozenset(group for step in possible for group in self._groups(step)))
            walk.letters.append(self._letters(state))
            if not walk.offered[-1]:  # nothing has to happen here
                self.found = replace(self.found, ends=self.found.ends + 1)
                if trace := self._violated(walk, len(walk.taken)):
                    return trace
            met.setdefault(state, []).append(len(walk.taken))
            moves = [step for step in possible if step.next is not None]
            if not moves or len(walk.taken) >= self.depth or (len(walk.taken) % 64 == 63 and self._over()):
                return None
            step = dice.choice(moves)
            walk.taken.append(step)
            walk.done.append(frozenset(self._groups(step)))
            self.found = replace(self.found, steps=self.found.steps + 1)
            assert step.next is not None
            state = step.next
            walk.states.append(state)
            for loop_from in self._loops(walk, met.get(state, [])):
                self.found = replace(self.found, loops=self.found.loops + 1)
                if not walk.is_fair(loop_from):
                    continue
                letters = frozenset(walk.letters[loop_from:])
                if (state, letters) not in seen and (trace := self._violated(walk, loop_from)):
                    return trace
                seen.add((state, letters))

    def _loops(self, walk: _Walk, met: Sequence[int]) -> list[int]:
        """Where a loop may begin: the longest is the likeliest to be fair, the shortest to avoid what would make the
        formula true. A longest one is looked at again once it is twice as long, so that long walks are no more work."""
        if not met:
            return []
        longest, shortest = met[0], met[-1]
        length, before = len(walk.taken) - longest, met[-1] - longest
        doubled = length.bit_length() > before.bit_length()
        return [longest, shortest] if doubled and longest != shortest else [shortest]

    def _groups(self, step: Step) -> list[Group]:
        return list(groups_of(self.definition, self.fairness, step))

    def _letters(self, state: State) -> frozenset[tuple[str, str]]:
        return frozenset(
            (prop.name, name)
            for prop, formula in self.formulas
            for name in names(formula)
            if evaluate(self.definition, prop.predicates[name], state.locals, state.pending).value
        )

    def _violated(self, walk: _Walk, loop_from: int) -> Trace | None:
        """The first property that this lasso violates: tried on the letters, and confirmed by the definitions."""
        for prop, formula in self.formulas:
            letters = [[name for owner, name in letter if owner == prop.name] for letter in walk.letters]
            if holds(formula, letters[:loop_from], letters[loop_from:]):
                continue
            why = refuted(self.definition, prop, formula, walk.states[0], walk.taken, loop_from, self.level)
            if why:
                raise ReplayError(
                    f"a random run that violates a temporal property does not replay: {why}",
                    hint="this is a defect of Quorate; please report it with the model",
                )
            last = walk.states[-1]
            values = dict.fromkeys(
                line
                for name in names(formula)
                for line in explain(self.definition, prop.predicates[name], last.locals, last.pending)
            )
            return Trace(
                "violation",
                prop.name,
                (f"{prop.formula} is false of this run", *values),
                self.definition,
                walk.states[0],
                tuple(walk.taken),
                False,
                loop_from=loop_from,
                fairness=self.level,
            )
        return None
