"""From LTL to an automaton.

The states are sets of formulas that are still to be fulfilled. What a set asks of the present letter and of the rest
of the word is unfolded into terms: literals now, formulas for the next moment, and promises. p U q is q now, or p now
and p U q next with the promise that q will come. There is one acceptance set for each promise: the edges that do not
make it. So a run that promises for ever and never keeps it is not accepting (Couvreur 1999; Giannakopoulou and Lerda
2002).

A term is left out if others do as well: for each promise that it does not make there is another term which asks no more
of the present and of the future, and does not make that promise either. Why that is sound: an accepting run that takes
such a term can take, each time, the replacement for the acceptance set that it has waited for longest. So the
conjunction of k formulas G F p has one state and k + 1 edges, not 2^k. The argument is the same for the unions and
products that terms go through, so terms are left out early.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from quorate.base.errors import LimitError
from quorate.properties.temporal.automaton import MOST_NAMES, MOST_STATES, Automaton, Edge, check_limit
from quorate.properties.temporal.determinise import determinised
from quorate.properties.temporal.formula import Formula, Op, has_quantifier, names, negation, walk
from quorate.properties.temporal.reduce import reduced
from quorate.properties.temporal.simplify import simplify

MOST_TERMS = 1024  # of one state, and while they are multiplied; comparing more would take too long
MOST_EDGES = 1 << 17


class Term(NamedTuple):
    """One way to fulfil formulas, all in masks.

    What must be true now (the low half of `now`) and what false (the high half), what is left for later, and what is
    promised: bits of subformulas.
    """

    now: int
    later: int
    promises: int


NOW = Term(0, 0, 0)


def translate(formula: Formula, over: Sequence[str] | None = None) -> Automaton:
    """The automaton of an LTL formula; `over` are the predicates in the order of their bits, else those that occur."""
    return _translated(formula, tuple(over) if over is not None else names(formula))


def translate_negation(formula: Formula, over: Sequence[str] | None = None) -> Automaton:
    """The automaton of the words that violate a formula: what a search looks for in the system."""
    return translate(negation(formula), over)


def is_unsatisfiable(formula: Formula) -> bool:
    """Whether no word satisfies the formula."""
    return translate(formula).is_empty


def is_tautology(formula: Formula) -> bool:
    """Whether every word satisfies the formula."""
    return translate_negation(formula).is_empty


@lru_cache(maxsize=512)
def _translated(formula: Formula, over: tuple[str, ...]) -> Automaton:
    if has_quantifier(formula):
        raise ValueError("path quantifiers are taken apart by `branching` before automata are made")
    check_limit("predicates", len(over), MOST_NAMES)
    found = reduced(_Translation(simplify(formula), over).automaton(str(formula)))
    deterministic = determinised(found)
    if deterministic is not None and deterministic.states <= found.states:
        found = deterministic
    return found.within_limits()


class _Translation:
    def __init__(self, formula: Formula, over: tuple[str, ...]) -> None:
        self.formula = formula
        self.over = over
        self.half = len(over)
        self.bit = {name: 1 << number for number, name in enumerate(over)}
        self.parts = list(walk(formula))
        self.place = {part: 1 << number for number, part in enumerate(self.parts)}
        # Only what can be put off for ever needs a promise.
        promising = [part for part in self.parts if part.op in (Op.U, Op.F)]
        self.promise = {part: 1 << number for number, part in enumerate(promising)}
        self.every_promise = (1 << len(promising)) - 1
        # Beside G f, f need not be carried along.
        self.repeated = [
            (self.place[part], self._mask((part.parts[0], *_conjuncts(part.parts[0]))))
            for part in self.parts
            if part.op is Op.G
        ]
        self.unfolded: dict[Formula, list[Term]] = {}

    def automaton(self, written: str) -> Automaton:
        initial = self._unfold_all(self._mask(_conjuncts(self.formula)))
        # Sets with the same terms are the same state.
        number: dict[tuple[Term, ...], int] = {initial: 0}
        terms_of: dict[int, tuple[Term, ...]] = {}
        waiting = [initial]
        edges: list[Edge] = []
        for terms in waiting:
            source = number[terms]
            for term in terms:
                after = terms_of.get(term.later)
                if after is None:
                    after = terms_of[term.later] = self._unfold_all(term.later)
                if after not in number:
                    number[after] = len(number)
                    waiting.append(after)
                kept = self.every_promise & ~term.promises
                true, false = term.now & ((1 << self.half) - 1), term.now >> self.half
                edges.append(Edge(source, true, false, number[after], kept))
            check_limit("states", len(number), MOST_STATES)
            check_limit("edges", len(edges), MOST_EDGES)
        return Automaton(self.over, len(number), 0, tuple(edges), len(self.promise), written)

    def _mask(self, formulas: Iterable[Formula]) -> int:
        return sum(self.place[formula] for formula in set(formulas))

    def _unfold_all(self, formulas: int) -> tuple[Term, ...]:
        """The terms of a set of formulas, in an order that does not depend on how they came about."""
        terms = [NOW]
        for number, formula in enumerate(self.parts):
            if formulas >> number & 1:
                terms = self._product(terms, self._unfold(formula))
        return tuple(sorted(terms))

    def _unfold(self, formula: Formula) -> list[Term]:
        known = self.unfolded.get(formula)
        if known is None:
            known = self.unfolded[formula] = self._terms(formula)
        return known

    def _terms(self, formula: Formula) -> list[Term]:
        parts = formula.parts
        match formula.op:
            case Op.TRUE:
                return [NOW]
            case Op.FALSE:
                return []
            case Op.NAME:
                return [Term(self.bit[formula.name], 0, 0)]
            case Op.NOT:
                return [Term(self.bit[parts[0].name] << self.half, 0, 0)]
            case Op.AND:
                return self._all([NOW], parts)
            case Op.OR:
                return _necessary([term for part in parts for term in self._unfold(part)])
        again = [Term(0, self.place[formula], self.promise.get(formula, 0))]
        match formula.op:
            case Op.F:
                return _necessary([*self._unfold(parts[0]), *again])
            case Op.G:
                # Operand by operand, so that what G repeats anyway is left out before the operands are multiplied.
                return self._all(again, _conjuncts(parts[0]))
            case Op.U | Op.W:
                return _necessary([*self._unfold(parts[1]), *self._product(self._unfold(parts[0]), again)])
            case Op.R:
                both = self._product(self._unfold(parts[0]), self._unfold(parts[1]))
                return _necessary([*both, *self._product(self._unfold(parts[1]), again)])
        raise AssertionError(formula.op)

    def _all(self, terms: list[Term], formulas: Iterable[Formula]) -> list[Term]:
        for formula in formulas:
            terms = self._product(terms, self._unfold(formula))
        return terms

    def _product(self, left: Sequence[Term], right: Sequence[Term]) -> list[Term]:
        terms: dict[Term, None] = {}
        low = (1 << self.half) - 1
        for one in left:
            for other in right:
                now = one.now | other.now
                if not now & low & (now >> self.half):
                    terms[Term(now, self._tidy(one.later | other.later), one.promises | other.promises)] = None
        return _necessary(terms)

    def _tidy(self, formulas: int) -> int:
        """Leave out f beside G f: unfolding G f unfolds f, so the terms, with their promises, are the same without it.

        Other implications must not be used here. What follows from the rest may be left out as far as words go, but
        with it would go the promise to keep it, and an obligation could be handed on for ever.
        """
        kept = formulas
        for place, repeated in self.repeated:
            if formulas & place:
                kept &= ~repeated
        return kept


def _conjuncts(formula: Formula) -> tuple[Formula, ...]:
    return formula.parts if formula.op is Op.AND else () if formula.op is Op.TRUE else (formula,)


def _necessary(terms: Iterable[Term]) -> list[Term]:
    """Leave out the terms that others make up for."""
    # The most demanding first, so that what makes up for others is looked at last.
    kept = sorted(dict.fromkeys(terms), key=lambda term: -term.now.bit_count() - term.later.bit_count())
    place = 0
    while place < len(kept):
        now, later, promises = kept[place]
        missing = -1
        for number, other in enumerate(kept):
            if not (other[0] & ~now or other[1] & ~later) and number != place:
                missing &= other[2]
                if not missing & ~promises:
                    kept.pop(place)
                    break
        else:
            place += 1
        if place > MOST_TERMS:
            raise LimitError(
                f"the formula is too large: a state of its automaton has over {MOST_TERMS:,} edges",
                hint="split the property: each operand of & can be a property of its own",
                code="Q505",
            )
    return kept
