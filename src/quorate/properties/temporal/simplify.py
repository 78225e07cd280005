"""Rewriting that keeps the meaning, so that automata start from little.

The rules are data: each is two formulas over variables. `p q r` stand for any formula, `e` for one that is eventual
(true of a word if true of a suffix), `u` for a universal one (true of every suffix if true of a word), `s` for one that
is both, such as G F p, whose truth no finite beginning changes. `&` and `|` match any two operands, in any order.
Beside the rules, what other operands imply by their shape is left out (`implied`). Every rule makes fewer operators or
fewer obligations that are carried along, so that rewriting ends; where it does not after many rounds, it stops.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from itertools import permutations
from typing import NamedTuple

from quorate.properties.temporal.formula import (
    FALSE,
    TRUE,
    Formula,
    Op,
    conjunction,
    disjunction,
    nnf,
    rebuilt,
)
from quorate.properties.temporal.implied import (
    covers,
    excludes,
    implies,
    is_eventual,
    is_universal,
    without_implied,
)

RULES = (
    # constants
    ("G true", "true"),
    ("G false", "false"),
    ("F true", "true"),
    ("F false", "false"),
    ("p U true", "true"),
    ("p U false", "false"),
    ("true U p", "F p"),
    ("false U p", "p"),
    ("p R true", "true"),
    ("p R false", "false"),
    ("true R p", "p"),
    ("false R p", "G p"),
    ("p W true", "true"),
    ("true W p", "true"),
    ("false W p", "p"),
    ("p W false", "G p"),
    # what adds nothing
    ("F e", "e"),
    ("G u", "u"),
    ("p U e", "e"),
    ("p R u", "u"),
    ("p U p", "p"),
    ("p R p", "p"),
    ("p W p", "p"),
    ("F(p U q)", "F q"),
    ("G(p R q)", "G q"),
    ("G(p W q)", "G(p | q)"),
    ("F(p R q)", "F(G q | (p & q))"),
    ("G(p U q)", "G F q & G(p | q)"),
    ("p U (p U q)", "p U q"),
    ("p U (q U p)", "q U p"),
    ("(p U q) U q", "p U q"),
    ("p W (p W q)", "p W q"),
    ("p W (p U q)", "p W q"),
    ("p U (p W q)", "p W q"),
    ("(p W q) W q", "p W q"),
    ("p R (p R q)", "p R q"),
    ("u W p", "u | p"),
    # what no finite beginning changes goes out of the way
    ("G(p | s)", "G p | s"),
    ("F(p & s)", "F p & s"),
    ("p U (q & s)", "(p U q) & s"),
    ("p R (q & s)", "(p R q) & s"),
    ("p U (q | s)", "(p U q) | s"),
    ("p R (q | s)", "(p R q) | s"),
    ("p W (q | s)", "(p W q) | s"),
    ("(p & s) U q", "(p U q) & s | q"),
    # operands of & and |
    ("F p | F q", "F(p | q)"),
    ("G p & G q", "G(p & q)"),
    ("F p | s", "F(p | s)"),
    ("G F p | G F q", "G F(p | q)"),
    ("F G p & F G q", "F G(p & q)"),
    ("F G p & G F q", "F G(p & F q)"),
    ("(p U q) & (r U q)", "(p & r) U q"),
    ("(p U q) | (p U r)", "p U (q | r)"),
    ("(p W q) & (r W q)", "(p & r) W q"),
    ("(p W q) | (p W r)", "p W (q | r)"),
    ("(p R q) & (p R r)", "p R (q & r)"),
    ("(p U q) | G p", "p W q"),
    ("(p W q) & F q", "p U q"),
    ("(p W q) | F q", "G p | F q"),
)  # fmt: skip

ROUNDS = 200


class Rule(NamedTuple):
    """A rule, read: `left` is rewritten to `right`."""

    left: Formula
    right: Formula

    def __str__(self) -> str:
        return f"{self.left} = {self.right}"


def is_suspendable(formula: Formula) -> bool:
    """Whether no finite beginning of a word changes its truth."""
    return is_eventual(formula) and is_universal(formula)


# Which formulas a variable stands for.
VARIABLES: dict[str, Callable[[Formula], bool]] = {"e": is_eventual, "u": is_universal, "s": is_suspendable}


@cache
def rules() -> tuple[Rule, ...]:
    from quorate.properties.temporal.parse import parse

    return tuple(Rule(parse(left), parse(right)) for left, right in RULES)


@cache
def _rules_for(op: Op) -> tuple[Rule, ...]:
    return tuple(rule for rule in rules() if rule.left.op is op)


@lru_cache(maxsize=1 << 13)
def simplify(formula: Formula) -> Formula:
    """An LTL formula with the same words, in negation normal form and mostly smaller."""
    result = nnf(formula)
    for _ in range(ROUNDS):
        smaller = _round(result)
        if smaller is result:
            break
        result = smaller
    return result


@lru_cache(maxsize=1 << 14)
def _round(formula: Formula) -> Formula:
    """Once over the formula, from the inside out."""
    if not formula.parts or formula.op is Op.NOT:
        return formula
    return step(rebuilt(formula, map(_round, formula.parts)))


def step(formula: Formula) -> Formula:
    """One rewriting at the top, or the formula itself."""
    if formula.op in (Op.AND, Op.OR):
        return _junction(formula)
    for rule in _rules_for(formula.op):
        found = match(rule.left, formula)
        if found is not None:
            return substitute(rule.right, found)
    return _by_implication(formula)


def _by_implication(formula: Formula) -> Formula:
    if formula.op in (Op.U, Op.R, Op.W):
        left, right = formula.parts
        if formula.op is not Op.R and implies(left, right):
            return right  # also p W q: wherever p holds, q has come
        if formula.op is Op.R and implies(right, left):
            return right
        if formula.op is Op.W and covers(left, right):
            return TRUE
        if formula.op is Op.U and covers(left, right):
            return Formula(Op.F, (right,))
        if formula.op is Op.R and excludes(left, right):
            return Formula(Op.G, (right,))
    return formula


def _junction(formula: Formula) -> Formula:
    conjunctive = formula.op is Op.AND
    kept = without_implied(list(formula.parts), conjunctive=conjunctive)
    if conjunctive and any(excludes(a, b) for a, b in _pairs(kept)):
        return FALSE
    if not conjunctive and any(covers(a, b) for a, b in _pairs(kept)):
        return TRUE
    join = conjunction if conjunctive else disjunction
    for one, other in permutations(kept, 2):
        for rule in _rules_for(formula.op):
            found = _match_all(rule.left.parts, (one, other))
            if found is not None:
                result = substitute(rule.right, found)
                return join([result if part is one else part for part in kept if part is not other])
    return join(kept)


def _pairs(parts: list[Formula]) -> Iterator[tuple[Formula, Formula]]:
    for place, one in enumerate(parts):
        for other in parts[place + 1 :]:
            yield one, other


# --- matching ----------------------------------------------------------------------------------------------------

Binding = dict[str, Formula]


def match(pattern: Formula, formula: Formula, binding: Binding | None = None) -> Binding | None:
    """What the pattern's variables stand for, or None."""
    binding = {} if binding is None else binding
    if pattern.op is Op.NAME:
        bound = binding.get(pattern.name)
        if bound is not None:
            return binding if bound is formula else None
        fits = VARIABLES.get(pattern.name)
        return {**binding, pattern.name: formula} if fits is None or fits(formula) else None
    if pattern.op is not formula.op:
        return None
    if pattern.op in (Op.AND, Op.OR):
        return _match_junction(pattern, formula, binding)
    return _match_all(pattern.parts, formula.parts, binding)


def _match_all(
    patterns: tuple[Formula, ...], formulas: tuple[Formula, ...], binding: Binding | None = None
) -> Binding | None:
    found: Binding | None = {} if binding is None else binding
    for pattern, formula in zip(patterns, formulas, strict=True):
        found = match(pattern, formula, found)
        if found is None:
            return None
    return found


def _match_junction(pattern: Formula, formula: Formula, binding: Binding) -> Binding | None:
    """Within an operator: `s` takes all operands that no beginning changes, the other variable the rest."""
    first, second = pattern.parts
    assert second.op is Op.NAME
    assert second.name == "s"
    suspended = [part for part in formula.parts if is_suspendable(part)]
    rest = [part for part in formula.parts if not is_suspendable(part)]
    if not suspended or not rest:
        return None
    found = match(second, rebuilt(formula, suspended), binding)
    return None if found is None else match(first, rebuilt(formula, rest), found)


def substitute(pattern: Formula, binding: Binding) -> Formula:
    """The pattern with its variables replaced."""
    if pattern.op is Op.NAME:
        return binding[pattern.name]
    return rebuilt(pattern, (substitute(part, binding) for part in pattern.parts)) if pattern.parts else pattern
