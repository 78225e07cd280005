"""Whether a recorded history has an order: just-in-time linearization with configurations that are remembered.

As in a search (`linearizability.py`), a configuration is a state of the object and the operations under way that have
taken effect. Of a recorded history all results are known, so an operation takes effect only where the specification
gives the result that it returned; and it does so no earlier than some operation has to that ends (Wing and Gong 1993;
Lowe 2017). An object whose parts do not know of one another, as the keys of a map, is judged part by part (Horn and
Kroening 2015).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from quorate.base.values import encode
from quorate.histories.checked import Checked
from quorate.language.operation import Operation


@dataclass(frozen=True)
class Call:
    """One operation of a history. Begin and end are places in the order of events; `end` is None if it never ended."""

    process: str
    operation: Operation
    begin: int
    end: int | None = None
    result: Any = None
    lines: tuple[int, int | None] = (0, None)
    """Where its begin and its end were read."""


@dataclass(frozen=True)
class Misplaced:
    """The first call that has no place in any order of those before it."""

    call: Call
    expected: tuple[Any, ...]
    """What it could have returned instead."""
    context: tuple[Call, ...]
    """The calls of the shortest prefix that has no order, those about another part of the object left out."""


def find_misplaced(specification: Checked, calls: Sequence[Call]) -> Misplaced | None:
    """None if the history is linearizable."""
    part = getattr(specification.specification, "part", None)
    groups: dict[bytes, list[Call]] = {}
    for call in calls:
        groups.setdefault(encode(part(call.operation)) if part is not None else b"", []).append(call)
    found = [one for group in groups.values() if (one := _Order(specification, group).find()) is not None]
    return min(found, key=lambda one: one.call.end or 0, default=None)


Configuration = tuple[int, frozenset[int]]


class _Order:
    """One history of one part. States, operations and results are numbered, so that equal ones are told fast."""

    def __init__(self, specification: Checked, calls: list[Call]) -> None:
        self.specification = specification
        self.calls = calls
        self._ids: dict[bytes, int] = {}
        self._values: list[Any] = []
        self._effects: dict[tuple[int, int], tuple[int, int] | None] = {}
        self._operations = [self._number(call.operation) for call in calls]
        reads = getattr(specification.specification, "reads", ())
        self._reads = [isinstance(call.operation, reads) for call in calls]
        self._free = -1
        """The call whose result does not count."""
        self._noted: set[int] = set()
        self._results = [-1 if call.end is None else self._number(call.result) for call in calls]

    def find(self) -> Misplaced | None:
        number = self._first_misplaced()
        if number is None:
            return None
        call = self.calls[number]
        # Once more, whatever it returned: what it could have returned is noted.
        self._free = number
        self._reads[number] = False
        found = self._first_misplaced(until=number)
        assert found is None, "with any result it has a place"
        values = sorted((self._values[each] for each in self._noted), key=encode)
        context = tuple(other for other in self.calls if other.begin <= (call.end or 0))
        return Misplaced(call, tuple(values), context)

    def _first_misplaced(self, until: int | None = None) -> int | None:
        """The number of the first call that ends without a place; the calls before the end of `until`, if given."""
        events: list[tuple[int, bool, int]] = []
        for number, call in enumerate(self.calls):
            events.append((call.begin, False, number))
            if call.end is not None:
                events.append((call.end, True, number))
        events.sort()
        configurations: set[Configuration] = {(self._number(self.specification.initial), frozenset())}
        under_way: dict[int, None] = {}
        for _, ends, number in events:
            if not ends:
                under_way[number] = None
                continue
            configurations = self._end(configurations, under_way, number)
            if number == until:
                self._noted = {-1 - each for _, done in configurations for each in done if each < 0}
                return None
            if not configurations:
                return number
            del under_way[number]
        return None

    def _end(self, before: set[Configuration], under_way: Iterable[int], number: int) -> set[Configuration]:
        """The configurations after a call has ended: it has taken effect, perhaps after others that it needs."""
        operations, results, effects = self._operations, self._results, self._effects
        found: set[Configuration] = set()
        seen = set(before)
        todo = list(before)
        while todo:
            state, done = todo.pop()
            # One that changes nothing in any state takes effect as soon as its result fits: nothing is lost by that.
            fits = [each for each in under_way if self._fits(each, state) and each not in done]
            if fits:
                done = done.union(fits)
            if number in done:
                found.add((state, done - {number}))
                continue
            for other in under_way:
                if other in done or self._reads[other]:
                    continue
                pair = (state, operations[other])
                effect = effects[pair] if pair in effects else self._effect(pair)
                if effect is None:
                    continue
                if other == self._free:  # any result will do, and is told by a negative number
                    after = (effect[0], done | {other, -1 - effect[1]})
                elif results[other] >= 0 and effect[1] != results[other]:
                    continue
                else:
                    after = (effect[0], done | {other})
                if after not in seen:
                    seen.add(after)
                    todo.append(after)
        return found

    def _fits(self, call: int, state: int) -> bool:
        if not self._reads[call]:
            return False
        effect = self._effect((state, self._operations[call]))
        return effect is not None and effect[1] == self._results[call]

    def _effect(self, pair: tuple[int, int]) -> tuple[int, int] | None:
        if pair not in self._effects:
            found = self.specification.apply(self._values[pair[0]], self._values[pair[1]])
            self._effects[pair] = None if found is None else (self._number(found[0]), self._number(found[1]))
        return self._effects[pair]

    def _number(self, value: Any) -> int:
        code = encode(value)
        found = self._ids.get(code)
        if found is None:
            found = self._ids[code] = len(self._values)
            self._values.append(value)
        return found
