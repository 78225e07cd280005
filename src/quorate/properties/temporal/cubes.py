"""Conjunctions of literals as two masks: what must be true, what must be false."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Cube = tuple[int, int]


def contains(large: Cube, small: Cube) -> bool:
    """Whether every letter of the small cube is one of the large: it has all of the large one's literals."""
    return not (large[0] & ~small[0] or large[1] & ~small[1])


def meet(one: Cube, other: Cube) -> bool:
    """Whether some letter is in both."""
    return not (one[0] & other[1] or one[1] & other[0])


def covered(cube: Cube, by: Sequence[Cube]) -> bool:
    """Whether every letter of the cube is in one of the others: decided by cases until one of them has it all."""
    near = [other for other in by if meet(cube, other)]
    if any(contains(other, cube) for other in near):
        return True
    if len(near) < 2:
        return False
    true, false = cube
    asked = (near[0][0] | near[0][1]) & ~(true | false)
    bit = asked & -asked
    return covered((true | bit, false), near) and covered((true, false | bit), near)


def merged(cubes: Iterable[Cube]) -> set[Cube]:
    """The same letters in fewer cubes: two that differ in the sign of one literal only become one without it."""
    left = set(cubes)
    waiting = sorted(left)
    for cube in waiting:
        if cube not in left:
            continue
        true, false = cube
        for bit in _bits(true | false):
            twin = (true ^ bit, false ^ bit)
            if twin in left:
                left -= {cube, twin}
                left.add((true & ~bit, false & ~bit))
                waiting.append((true & ~bit, false & ~bit))
                break
    return left


def shortest(cubes: Sequence[Cube]) -> list[Cube]:
    """The same letters with as few literals as a simple search finds: for people, since cubes may then overlap."""
    grown = [_grown(cube, cubes) for cube in dict.fromkeys(cubes)]
    kept = sorted(dict.fromkeys(grown), key=_short_first)
    place = len(kept) - 1
    while place >= 0:
        rest = kept[:place] + kept[place + 1 :]
        if covered(kept[place], rest):
            kept = rest
        place -= 1
    return kept


def _short_first(cube: Cube) -> tuple[int, int, list[bool]]:
    """Few literals first, then early predicates, then what is true of the first predicate that differs."""
    asked = cube[0] | cube[1]
    return asked.bit_count(), asked, [bool(cube[1] & bit) for bit in _bits(asked)]


def _grown(cube: Cube, cubes: Sequence[Cube]) -> Cube:
    true, false = cube
    for bit in _bits(true | false):
        smaller = (true & ~bit, false & ~bit)
        if covered(smaller, cubes):
            true, false = smaller
    return true, false


def _bits(mask: int) -> list[int]:
    return [1 << number for number in range(mask.bit_length()) if mask >> number & 1]


def spelled(cube: Cube, names: Sequence[str]) -> list[str]:
    """Its literals, in the order of the predicates."""
    true, false = cube
    return [
        name if true >> number & 1 else f"!{name}" for number, name in enumerate(names) if (true | false) >> number & 1
    ]


def condition(cubes: Sequence[Cube], names: Sequence[str]) -> str:
    """Cubes as a formula for people."""
    found = [" & ".join(spelled(cube, names)) or "true" for cube in shortest(cubes)]
    return " | ".join(f"({text})" if len(found) > 1 and " & " in text else text for text in found)
