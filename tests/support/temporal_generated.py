"""Whole checks of temporal properties on generated protocols against the slow reference, through the public API.

python tests/support/temporal_generated.py 10      # minutes, by hand; figures at the end
"""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Hashable
from typing import Any

from generator import Look, Protocol, Tape, fitted, property_of, system, without_claims
from quorate import Process, QuorateError, System, check
from quorate.model.define import define
from quorate.properties.temporal.branching import linear
from quorate.properties.temporal.formula import Formula
from quorate.properties.temporal.parse import parse
from quorate.properties.temporal.refutation import refuted
from quorate.properties.temporal.stated import asked_for
from quorate.properties.temporal.translate import translate_negation
from quorate.results.result import Result
from temporal_reference import Graph, Step, check_ctl, check_ctl_star, check_ltl
from temporal_semantics import STRONG, UNFAIR, WEAK, Fairness, Plain, Reference, explore
from temporal_words import random_formula
from test_temporal_branching import random_ctl, random_state_formula

LEVELS = ("none", "progress", "process", "transition", "message", "strong")
SWITCHES: list[dict[str, Any]] = [
    {},
    {"quotient": "off", "dead_messages": "off", "symmetry": "none"},
    {"quotient": "off"},
    {"dead_messages": "off", "por": "lpor-net", "split": "combined"},
    {"por": "lpor-net", "split": "combined"},
    {"por": "lpor"},
    {"quotient": "off", "dead_messages": "off", "symmetry": "none", "por": "lpor-net"},
]
MOST_STATES = 120
NAMES = ("a", "b")
USUAL = [parse(text) for text in ("F a", "G F a", "F G a", "G(a -> F b)", "G F a -> G F b", "a U b", "G(a -> b W !a)")]


class Generated:
    """A generated system with two predicates, and its plain graph."""

    def __init__(self, protocol: Protocol, dice: random.Random) -> None:
        columns = sum(role.number for role in protocol.roles) + (protocol.watch is not None)
        fields = ("x", "y", "crashed") if protocol.crashes else ("x", "y")
        # At times symmetric ones: who looks at single processes does without symmetry.
        symmetric = dice.random() < 0.5
        predicates = {
            name: self._fold(dice, fields, protocol.modulus)
            if symmetric
            else property_of(self._look(dice, fields, columns, protocol.modulus), columns)
            for name in NAMES
        }
        self.made: System = system(protocol, predicates)
        self.crashing = protocol.crashes > 0
        if dice.random() < 0.4:  # its classes were made for it alone
            for spec in dict.fromkeys(column.spec for column in define(self.made).processes):
                for transition in spec.transitions:
                    object.__setattr__(transition.declaration, "fair", dice.choice((False, True, True, "strong")))
        self.definition = define(self.made)
        strengths = {False: UNFAIR, True: WEAK, "strong": STRONG}
        self.strengths = tuple(
            tuple(strengths[each.declaration.fair] for each in self.definition.transitions(column))
            if not column.is_monitor
            else ()
            for column in self.definition.columns
        )
        (prop,) = asked_for(self.definition, ["G(a -> F b)"], "ltl")
        self.plain: Plain = explore(self.definition, [prop.predicates[name] for name in NAMES])
        self.bounded = any(self.plain.held)

    def _look(self, dice: random.Random, fields: tuple[str, ...], columns: int, modulus: int, depth: int = 0) -> Look:
        field = dice.choice(fields)
        value: Any = True if field == "crashed" else dice.randrange(modulus)
        deeper = depth == 0 and dice.random() < 0.4
        rest: Look | bool = self._look(dice, fields, columns, modulus, 1) if deeper else False
        return Look(column=dice.randrange(columns), field=field, value=value, then=True, otherwise=rest)  # type: ignore[arg-type]

    def _fold(self, dice: random.Random, fields: tuple[str, ...], modulus: int) -> Callable[[Any], bool]:
        field, fold = dice.choice(fields), dice.choice((any, all))
        value: Any = True if field == "crashed" else dice.randrange(modulus)
        return lambda self: fold(getattr(each, field) == value for each in self[Process])

    def graph(self, level: str) -> Graph:
        """For the second reference: groups by number."""
        fairness = Fairness(level, self.strengths)
        groups: dict[Hashable, int] = {}

        def numbers(acts: set[Any]) -> frozenset[int]:
            found = [group for act in acts for group in fairness.groups(act)]
            return frozenset(groups.setdefault(group, len(groups)) for group in found)

        edges = tuple(
            Step(at, to, numbers({act})) for at, here in enumerate(self.plain.ways) for act, to in dict.fromkeys(here)
        )
        enabled = tuple(numbers({act for act, _ in here}) for here in self.plain.ways)
        weak = frozenset(number for group, number in groups.items() if group[0] == WEAK)  # type: ignore[index]
        strong = frozenset(groups.values()) - weak
        return Graph(NAMES, tuple(self.plain.labels), edges, enabled, tuple(self.plain.initial), weak, strong)

    # One formula, both ways

    def compare(self, dice: random.Random) -> str:
        options = dice.choice(SWITCHES)
        # Partial orders run at three of the levels only, symmetry at two.
        level = dice.choice(LEVELS[:3] if dice.random() < (0.8 if "por" in options else 0.4) else LEVELS)
        kind = dice.choice(("ltl", "ltl", "ltl", "ctl", "ctl*"))
        if kind == "ltl":
            formula = random_formula(dice, dice.randint(1, 5), NAMES)
            if dice.random() < 0.3:
                formula = dice.choice(USUAL)
        else:
            formula = random_ctl(dice, 2) if kind == "ctl" else random_state_formula(dice, 3)
        asked: dict[str, Any] = {"ltl": str(formula)} if kind == "ltl" else {"ctl": str(formula)}
        result = check(self.made, **asked, fairness=level, **options)
        known = self.known(formula, kind, level)
        told = f"{kind} {formula} at {level} with {options}"
        if known is not None:
            assert result.verdict == known, f"{told}: {result.verdict} instead of {known}"
        if result.trace is not None:
            self.assert_refuted(result, asked, level)
        stopped = self.implicit(known, asked, level, options) if self.crashing and kind == "ltl" else ""
        ordered = ", partial orders" if result.reductions["por"]["ran"] else ""
        renamed = ", symmetry" if result.reductions["symmetry"]["ran"] else ""
        return f"{kind} {result.verdict if known is not None else 'not compared'}{ordered}{renamed}{stopped}"

    def implicit(self, known: str | None, asked: dict[str, Any], level: str, options: dict[str, Any]) -> str:
        """The same with implicit crashes: refused, not decided, or the same answer."""
        try:
            found = check(self.made, **asked, fairness=level, crash="implicit", **options)
        except QuorateError as refused:
            if refused.code != "Q601":
                raise
            return ", implicit refused"
        assert found.verdict in (known, "incomplete"), f"{asked} at {level}: {found.verdict} instead of {known}"
        return f", implicit {found.verdict}"

    def known(self, formula: Formula, kind: str, level: str) -> str | None:
        """By the references; None where they do not say."""
        plain = formula if kind == "ltl" else linear(formula)
        if plain is not None:
            automaton = translate_negation(plain, NAMES)
            edges = [(e.source, e.must_be_true, e.must_be_false, e.target, e.acceptance) for e in automaton.edges]
            described = (automaton.states, automaton.initial, automaton.sets, edges)
            found = Reference(self.plain, described).violated(Fairness(level, self.strengths))
            verdict = {"": "holds", "bound": "incomplete"}.get(found, "violated")
            if not self.bounded:
                assert check_ltl(self.graph(level), plain).holds == (verdict == "holds"), "the references disagree"
            return verdict
        if self.bounded:
            return None
        graph = self.graph(level)
        states = check_ctl_star(graph, formula)
        if kind == "ctl":
            assert states == check_ctl(graph, formula), "the references disagree"
        return "holds" if set(graph.initial) <= states else "violated"

    def assert_refuted(self, result: Result, asked: dict[str, Any], level: str) -> None:
        """The lasso by the definitions: it closes, it is fair, and the formula is false of it."""
        trace = result.trace
        assert trace is not None
        assert trace.loop_from is not None
        ((kind, text),) = asked.items()
        (prop,) = asked_for(trace.definition, [text], kind)  # type: ignore[arg-type]
        formula = linear(prop.formula)
        assert formula is not None
        why = refuted(trace.definition, prop, formula, trace.initial, trace.steps, trace.loop_from, level)
        assert why == "", why


def compared(protocol: Protocol, seed: int, times: int, most: int = MOST_STATES) -> Counter[str] | None:
    """How often which verdict was the same; None if the protocol is too large."""
    dice = random.Random(seed)
    smaller = fitted(without_claims(protocol), most)
    if smaller is None:
        return None
    generated = Generated(smaller, dice)
    return Counter(generated.compare(dice) for _ in range(times))


def main(minutes: float, first: int = 0) -> None:
    begin, seed = time.monotonic(), first
    found: Counter[str] = Counter()
    systems = 0
    while time.monotonic() - begin < 60 * minutes:
        seed += 1
        dice = random.Random(seed)
        protocol = Tape(dice.randbytes(Tape.LENGTH)).protocol()
        try:
            counts = compared(protocol, seed, 12)
        except AssertionError as error:
            print(f"seed {seed}: {error}")
            raise
        if counts is not None:
            systems += 1
            found += counts
    print(f"{systems} systems, {sum(found.values())} checks, seeds {first + 1} to {seed}")
    for what, number in sorted(found.items()):
        print(f"  {what}: {number}")


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)
