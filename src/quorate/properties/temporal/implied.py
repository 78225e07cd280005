"""Which formulas follow from which, by their shape alone. "No" only means that the shape does not show it."""

from __future__ import annotations

from functools import lru_cache

from quorate.properties.temporal.formula import Formula, Op, nnf


@lru_cache(maxsize=1 << 14)
def is_eventual(formula: Formula) -> bool:
    """Whether it stays true of longer words: if a suffix satisfies it, so does the whole word."""
    op, parts = formula.op, formula.parts
    if op is Op.F or op in (Op.TRUE, Op.FALSE):
        return True
    if op in (Op.AND, Op.OR, Op.G):
        return all(map(is_eventual, parts))
    if op in (Op.U, Op.R):
        return is_eventual(parts[1])
    return op is Op.W and all(map(is_eventual, parts))


@lru_cache(maxsize=1 << 14)
def is_universal(formula: Formula) -> bool:
    """Whether it stays true of what is left: if a word satisfies it, so does every suffix."""
    op, parts = formula.op, formula.parts
    if op is Op.G or op in (Op.TRUE, Op.FALSE):
        return True
    if op in (Op.AND, Op.OR, Op.F):
        return all(map(is_universal, parts))
    return op in (Op.U, Op.R, Op.W) and is_universal(parts[1])


@lru_cache(maxsize=1 << 15)
def implies(one: Formula, other: Formula) -> bool:
    """Whether every word of the one is a word of the other, both in negation normal form."""
    if one is other or one.op is Op.FALSE or other.op is Op.TRUE:
        return True
    op, parts = one.op, one.parts
    if op is Op.OR:
        return all(implies(part, other) for part in parts)
    if other.op is Op.AND:
        return all(implies(one, part) for part in other.parts)
    if op is Op.AND and any(implies(part, other) for part in parts):
        return True
    if op is Op.G and implies(parts[0], other):
        return True
    if op is Op.R and implies(parts[1], other):
        return True
    if op is Op.U and implies(parts[0], other) and implies(parts[1], other):
        return True
    if op is Op.W and implies(parts[0], other) and implies(parts[1], other):
        return True
    if op is Op.F and is_eventual(other) and implies(parts[0], other):
        return True
    if op is Op.U and is_eventual(other) and implies(parts[1], other):
        return True
    return _implied(one, other)


def _implied(one: Formula, other: Formula) -> bool:
    """The cases that look at the shape of what is to follow."""
    op, parts = other.op, other.parts
    if op is Op.OR:
        return any(implies(one, part) for part in parts)
    if op is Op.F:
        return implies(one, parts[0])
    if op is Op.G:
        return is_universal(one) and implies(one, parts[0])
    if op is Op.R:
        # p R q: from q for ever, from p and q at once, or from another release of less.
        if is_universal(one) and implies(one, parts[1]):
            return True
        if implies(one, parts[1]) and implies(one, parts[0]):
            return True
        return one.op is Op.R and implies(one.parts[0], parts[0]) and implies(one.parts[1], parts[1])
    if op in (Op.U, Op.W):
        if implies(one, parts[1]):
            return True
        if op is Op.W and is_universal(one) and implies(one, parts[0]):
            return True
        return one.op in (Op.U, op) and all(implies(a, b) for a, b in zip(one.parts, parts, strict=True))
    return False


def excludes(one: Formula, other: Formula) -> bool:
    """Whether the shape shows that no word satisfies both."""
    return implies(one, nnf(other, True))


def covers(one: Formula, other: Formula) -> bool:
    """Whether the shape shows that every word satisfies one of them."""
    return implies(nnf(one, True), other)


def without_implied(parts: list[Formula], *, conjunctive: bool) -> list[Formula]:
    """Leave out what the others say already; of two that say the same, the first stays."""
    kept = list(dict.fromkeys(parts))
    place = 0
    while place < len(kept):
        part = kept[place]
        others = kept[:place] + kept[place + 1 :]
        spare = any(implies(o, part) if conjunctive else implies(part, o) for o in others)
        if spare:
            kept.pop(place)
        else:
            place += 1
    return kept
