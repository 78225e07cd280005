"""Temporal formulas: LTL without next, and CTL* with its path quantifiers.

A formula is immutable, and equal ones are the same object, so that comparing and hashing cost nothing however large
they are. `&` and `|` have any number of operands and are never nested in themselves; otherwise a formula keeps the
shape in which it was written, and `str` prints it in one spelling, which `parse` reads back as the same formula.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from functools import lru_cache
from typing import Any
from weakref import WeakValueDictionary


class Op(Enum):
    """What a formula is at its top; the value is how it is written."""

    TRUE = "true"
    FALSE = "false"
    NAME = "name"
    NOT = "!"
    AND = "&"
    OR = "|"
    IMPLIES = "->"
    IFF = "<->"
    G = "G"
    F = "F"
    U = "U"
    R = "R"
    W = "W"
    A = "A"
    E = "E"

    __hash__ = object.__hash__  # members are single objects; Enum's own hash is a call of Python


QUANTIFIERS = frozenset({Op.A, Op.E})
UNARY = frozenset({Op.NOT, Op.G, Op.F, Op.A, Op.E})
TEMPORAL = frozenset({Op.G, Op.F, Op.U, Op.R, Op.W})
BINARY_TEMPORAL = frozenset({Op.U, Op.R, Op.W})

# How tightly an operator binds; `parse` reads by the same table.
BINDS = {Op.IMPLIES: 1, Op.IFF: 1, Op.OR: 2, Op.AND: 3, Op.U: 4, Op.R: 4, Op.W: 4} | dict.fromkeys(UNARY, 5)
TIGHTEST = 6

_known: WeakValueDictionary[tuple[Op, tuple[Formula, ...], str], Formula] = WeakValueDictionary()


class Formula:
    """One formula. Make it with the functions below, or with `parse`."""

    __slots__ = ("__weakref__", "_hash", "name", "op", "parts")

    op: Op
    parts: tuple[Formula, ...]
    name: str

    def __new__(cls, op: Op, parts: tuple[Formula, ...] = (), name: str = "") -> Formula:
        key = (op, parts, name)
        known = _known.get(key)
        if known is not None:
            return known
        made = super().__new__(cls)
        for slot, value in (("op", op), ("parts", parts), ("name", name), ("_hash", hash((op.value, parts, name)))):
            object.__setattr__(made, slot, value)
        return _known.setdefault(key, made)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a formula never changes")

    def __hash__(self) -> int:
        hashed: int = self._hash  # type: ignore[attr-defined]
        return hashed

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Formula):
            return NotImplemented
        # Two threads may have made the same formula at the same moment.
        return (self.op, self.name, self.parts) == (other.op, other.name, other.parts)

    def __reduce__(self) -> tuple[Any, ...]:
        return Formula, (self.op, self.parts, self.name)

    def __str__(self) -> str:
        return _written(self)

    def __repr__(self) -> str:
        return f"<{_written(self)}>"


TRUE = Formula(Op.TRUE)
FALSE = Formula(Op.FALSE)


def name(word: str) -> Formula:
    """A predicate."""
    return Formula(Op.NAME, (), word)


def negation(formula: Formula) -> Formula:
    return Formula(Op.NOT, (formula,))


def conjunction(parts: Iterable[Formula]) -> Formula:
    """All of them; nested conjunctions become one. The order stays, and nothing is simplified but none and one."""
    return _joined(Op.AND, parts, TRUE)


def disjunction(parts: Iterable[Formula]) -> Formula:
    """Any of them, likewise."""
    return _joined(Op.OR, parts, FALSE)


def _joined(op: Op, parts: Iterable[Formula], none: Formula) -> Formula:
    flat: list[Formula] = []
    for part in parts:
        flat.extend(part.parts if part.op is op else (part,))
    if not flat:
        return none
    return flat[0] if len(flat) == 1 else Formula(op, tuple(flat))


def rebuilt(formula: Formula, parts: Iterable[Formula]) -> Formula:
    """The same operator over other operands."""
    if formula.op is Op.AND:
        return conjunction(parts)
    if formula.op is Op.OR:
        return disjunction(parts)
    return Formula(formula.op, tuple(parts), formula.name)


def walk(formula: Formula) -> Iterator[Formula]:
    """Every subformula, each once, operands before what is made of them."""
    seen: set[Formula] = set()

    def visit(part: Formula) -> Iterator[Formula]:
        if part not in seen:
            seen.add(part)
            for operand in part.parts:
                yield from visit(operand)
            yield part

    return visit(formula)


def names(formula: Formula) -> tuple[str, ...]:
    """The predicates that occur, in the order of the text."""
    return tuple(dict.fromkeys(part.name for part in walk(formula) if part.op is Op.NAME))


def replaced(formula: Formula, by: Mapping[Formula, Formula]) -> Formula:
    """The formula with subformulas exchanged, outermost first."""
    if formula in by:
        return by[formula]
    if not formula.parts:
        return formula
    return rebuilt(formula, (replaced(part, by) for part in formula.parts))


@lru_cache(maxsize=1 << 14)
def has_quantifier(formula: Formula) -> bool:
    return formula.op in QUANTIFIERS or any(map(has_quantifier, formula.parts))


@lru_cache(maxsize=1 << 14)
def is_temporal(formula: Formula) -> bool:
    """Whether more than one moment counts: a temporal operator that no quantifier encloses."""
    if formula.op in QUANTIFIERS:
        return False
    return formula.op in TEMPORAL or any(map(is_temporal, formula.parts))


# --- negation normal form ----------------------------------------------------------------------------------------

# What the negation of an operator is over negated operands.
_DUAL = {
    Op.AND: Op.OR,
    Op.OR: Op.AND,
    Op.G: Op.F,
    Op.F: Op.G,
    Op.U: Op.R,
    Op.R: Op.U,
    Op.A: Op.E,
    Op.E: Op.A,
}


@lru_cache(maxsize=1 << 14)
def nnf(formula: Formula, negated: bool = False) -> Formula:
    """The same meaning (or its negation) with `!` before predicates only, and without `->` and `<->`."""
    op, parts = formula.op, formula.parts
    if op is Op.NAME:
        return negation(formula) if negated else formula
    if op in (Op.TRUE, Op.FALSE):
        return formula if not negated else FALSE if op is Op.TRUE else TRUE
    if op is Op.NOT:
        return nnf(parts[0], not negated)
    if op is Op.IMPLIES:
        left, right = nnf(parts[0], not negated), nnf(parts[1], negated)
        return conjunction((left, right)) if negated else disjunction((left, right))
    if op is Op.IFF:
        left, right = parts
        return disjunction(
            (
                conjunction((nnf(left), nnf(right, negated))),
                conjunction((nnf(left, True), nnf(right, not negated))),
            )
        )
    if op is Op.W and negated:
        # What p W q forbids: that p ends before q has come.
        not_right = nnf(parts[1], True)
        return Formula(Op.U, (not_right, conjunction((nnf(parts[0], True), not_right))))
    inner = (nnf(part, negated) for part in parts)
    if op is Op.AND or op is Op.OR:
        return _joined(_DUAL[op] if negated else op, inner, TRUE)
    return Formula(_DUAL[op] if negated else op, tuple(inner))


# --- the one spelling --------------------------------------------------------------------------------------------


@lru_cache(maxsize=1 << 12)
def _written(formula: Formula) -> str:
    op, parts = formula.op, formula.parts
    if op is Op.NAME:
        return formula.name
    if not parts:
        return str(op.value)
    if len(parts) > 1:
        return f" {op.value} ".join(_operand(op, part) for part in parts)
    (inner,) = parts
    text = _written(inner)
    if inner.op not in UNARY and inner.parts:
        return f"{op.value}({text})"
    if op is Op.NOT:
        return f"!{text}"
    # Quantifier and temporal operator are read as one, as in AG EF p.
    return f"{op.value}{text}" if op in QUANTIFIERS and inner.op in (Op.G, Op.F) else f"{op.value} {text}"


def _operand(op: Op, part: Formula) -> str:
    """In parentheses wherever two tools would read it differently, or a person would have to think."""
    text = _written(part)
    loose = bool(part.parts) and BINDS[part.op] <= max(BINDS[op], BINDS[Op.AND] if op is Op.OR else 0)
    if op in BINARY_TEMPORAL and _begins_with_quantifier(part):
        loose = True
    return f"({text})" if loose else text


def _begins_with_quantifier(part: Formula) -> bool:
    while part.op in UNARY:
        if part.op in QUANTIFIERS:
            return True
        part = part.parts[0]
    return False
