"""What a formula says of one infinite word, straight from the definition of each operator.

A word is a lasso: letters that come once (the stem), then letters that repeat for ever (the loop). No automaton is
involved, so that automata, and the lassos which a search finds, are judged by something that shares no code with them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from quorate.properties.temporal.formula import Formula, Op, has_quantifier, walk


def holds(formula: Formula, stem: Sequence[Collection[str]], loop: Sequence[Collection[str]]) -> bool:
    """Whether a word satisfies an LTL formula. A letter is the names of the predicates that are true."""
    words = [dict.fromkeys(letter, 1) for letter in (*stem, *loop)]
    return bool(satisfied(formula, words, len(stem), 1))


def satisfied(formula: Formula, letters: Sequence[Mapping[str, int]], loop_from: int, everything: int) -> int:
    """Many words of the same shape at once: bit i of all the numbers is about word i.

    A letter says for each predicate in which words it is true there; `everything` has one bit a word.
    """
    if not 0 <= loop_from < len(letters):
        raise ValueError("the loop of a lasso has at least one letter")
    if has_quantifier(formula):
        raise ValueError("a word has no branches: this formula has path quantifiers")
    value: dict[Formula, list[int]] = {}
    places = range(len(letters))
    for part in walk(formula):
        of = [value[operand] for operand in part.parts]
        match part.op:
            case Op.TRUE:
                value[part] = [everything for _ in places]
            case Op.FALSE:
                value[part] = [0 for _ in places]
            case Op.NAME:
                value[part] = [letters[i].get(part.name, 0) for i in places]
            case Op.NOT:
                value[part] = [everything & ~of[0][i] for i in places]
            case Op.AND:
                value[part] = [_all(column[i] for column in of) for i in places]
            case Op.OR:
                value[part] = [_any(column[i] for column in of) for i in places]
            case Op.IMPLIES:
                value[part] = [(everything & ~of[0][i]) | of[1][i] for i in places]
            case Op.IFF:
                value[part] = [everything & ~(of[0][i] ^ of[1][i]) for i in places]
            case Op.F:
                value[part] = _until([everything for _ in places], of[0], loop_from, 0)
            case Op.G:
                value[part] = _until(of[0], [0 for _ in places], loop_from, everything)
            case Op.U:
                value[part] = _until(of[0], of[1], loop_from, 0)
            case Op.W:
                value[part] = _until(of[0], of[1], loop_from, everything)
            case Op.R:
                # q holds up to and including the first p, or for ever.
                both = [of[0][i] & of[1][i] for i in places]
                value[part] = _until(of[1], both, loop_from, everything)
            case _:
                raise AssertionError(part.op)
    return value[formula][0]


def _until(left: list[int], right: list[int], loop_from: int, never: int) -> list[int]:
    """Left until right, or left for ever if `never` allows it: from the back, and twice to go round the loop."""
    result = [0] * len(left)
    after = never
    for _ in range(2):
        for i in reversed(range(loop_from, len(left))):
            after = result[i] = right[i] | (left[i] & after)
    for i in reversed(range(loop_from)):
        after = result[i] = right[i] | (left[i] & after)
    return result


def _all(values: Iterable[int]) -> int:
    result = -1
    for value in values:
        result &= value
    return result


def _any(values: Iterable[int]) -> int:
    result = 0
    for value in values:
        result |= value
    return result
