"""Whether a recorded history has an order: just-in-time linearization with configurations that are remembered.

As in a search (`linearizability.py`), a configuration is a state of the object and the operations under way that have
taken effect. Of a recorded history all results are known, so an operation takes effect only where the specification
gives the result that it returned; and it does so no earlier than some operation has to that ends (Wing and Gong 1993;
Lowe 2017). An object whose parts do not know of one another, as the keys of a map, is judged part by part (Horn and
Kroening 2015).

An operation that never ends may take effect or not. So where two configurations differ in those alone, the one in which
fewer of them have taken effect can go on as the other one does, and the other one is left out. Nor are those that do
the same told apart. A client that crashes leaves such an operation behind for the rest of the history.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, Literal

from quorate.base.values import encode, show
from quorate.histories.checked import Checked
from quorate.histories.specifications import NAMED
from quorate.language.operation import Operation

OURS = frozenset(NAMED.values())
ROOM = 1 << 30
"""How many bytes the configurations and the values of one history may take, roughly."""
OF_CONFIGURATION = 500
OF_VALUE = 300
LOOK = 1024
"""After how many configurations the clock is looked at."""


class UndecidedError(Exception):
    """A limit was reached. Up to the end of `call` the history has an order, if that is known."""

    def __init__(self, stopped_by: Literal["time", "memory"]) -> None:
        super().__init__(stopped_by)
        self.stopped_by = stopped_by
        self.call: Call | None = None


class UnfitError(Exception):
    """An operation of a recorded history is none of the object, or cannot be applied to its state."""

    def __init__(self, call: Call, state: Any, error: Exception) -> None:
        super().__init__(f"{show(call.operation)} cannot be applied to {show(state)}: {error}")
        self.call = call


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


def find_misplaced(specification: Checked, calls: Sequence[Call], *, timeout: float | None = None) -> Misplaced | None:
    """None if the history is linearizable. Raises `UndecidedError` if that takes more time, or more than `ROOM`."""
    until = None if timeout is None else perf_counter() + timeout
    part = getattr(specification.specification, "part", None)
    groups: dict[bytes, list[Call]] = {}
    for call in calls:
        try:
            key = encode(part(call.operation)) if part is not None else b""
        except KeyError as error:  # an operation of another object
            raise UnfitError(call, specification.initial, error) from None
        groups.setdefault(key, []).append(call)
    found: list[Misplaced] = []
    undecided: list[UndecidedError] = []
    for group in sorted(groups.values(), key=len):  # one that takes too long does not keep the others from being judged
        try:
            one = _Order(specification, group, until).find()
        except UndecidedError as stopped:
            undecided.append(stopped)
            continue
        if one is not None:
            found.append(one)
    if undecided and not found:
        first = min(undecided, key=lambda each: -1 if each.call is None else each.call.end or 0)
        if len(groups) > 1:
            first.call = None  # which is one of a part, and other parts were not looked at so far
        raise first
    return min(found, key=lambda one: one.call.end or 0, default=None)


Configuration = tuple[int, frozenset[int], frozenset[int]]
"""A state, and which calls under way have taken effect: of those that end, and of those that never do."""


class _Order:
    """One history of one part. States, operations and results are numbered, so that equal ones are told fast."""

    def __init__(self, specification: Checked, calls: list[Call], until: float | None = None) -> None:
        self.specification = specification
        self.calls = calls
        self._until = until
        self._used = 0
        """How many bytes the values take, roughly."""
        self._ids: dict[bytes, int] = {}
        self._values: list[Any] = []
        self._effects: dict[tuple[int, int], tuple[int, int] | None] = {}
        self._operations = [self._number(call.operation) for call in calls]
        reads = getattr(specification.specification, "reads", ())
        self._reads = [isinstance(call.operation, reads) for call in calls]
        self._free = -1
        """The call whose result does not count."""
        self._noted: set[int] = set()
        self._known = [-1 if call.end is None else self._number(call.result) for call in calls]
        self._results = self._known
        self._events = sorted(
            [(call.begin, False, number) for number, call in enumerate(calls)]
            + [(call.end, True, number) for number, call in enumerate(calls) if call.end is not None]
        )

    def find(self) -> Misplaced | None:
        number = self._first_misplaced()
        if number is None:
            return None
        # Results that come later may have been the reason. The shortest prefix without an order is one in which they
        # are not known; where all that are under way here have ended, it has none.
        here = self.calls[number]
        assert here.end is not None
        overlapping = (call.end for call in self.calls if call.end is not None and call.begin < here.end <= call.end)
        last = max(overlapping)
        ends = [(place, each) for place, ended, each in self._events if ended and here.end <= place <= last]
        at = bisect_left(range(len(ends) - 1), True, key=lambda each: self._breaks(ends[each][0]))
        return self._misplaced(ends[at][1])

    def _breaks(self, place: int) -> bool:
        """Whether the history has no order up to this place already."""
        self._forget(place)
        return self._first_misplaced(place=place) is not None

    def _forget(self, place: int) -> None:
        """The results of calls that end later."""
        pairs = zip(self.calls, self._known, strict=True)
        self._results = [-1 if call.end is None or call.end > place else result for call, result in pairs]

    def _misplaced(self, number: int) -> Misplaced:
        """Once more, whatever it returned: what it could have returned is noted."""
        call = self.calls[number]
        assert call.end is not None
        end = call.end
        self._forget(end)
        self._free = number
        self._reads[number] = False
        found = self._first_misplaced(until=number)
        assert found is None, "with any result it has a place"
        values = sorted((self._values[each] for each in self._noted), key=encode)
        context = tuple(
            other if other.end is not None and other.end <= end else replace(other, end=None, result=None)
            for other in self.calls
            if other.begin <= end
        )
        return Misplaced(call, tuple(values), context)

    def _first_misplaced(self, until: int | None = None, place: int | None = None) -> int | None:
        """The number of the first call that ends without a place.

        Only the calls before the end of `until` are looked at, or those up to `place`.
        """
        configurations: list[Configuration] = [(self._number(self.specification.initial), frozenset(), frozenset())]
        under_way: dict[int, None] = {}
        endless: dict[int, list[int]] = {}
        before: Call | None = None
        for at, ends, number in self._events:
            if place is not None and at > place:
                break
            if not ends:
                if self._results[number] >= 0:
                    under_way[number] = None
                elif not self._reads[number]:
                    endless.setdefault(self._operations[number], []).append(number)
                continue
            try:
                configurations = self._end(configurations, under_way, endless, number)
            except UndecidedError as stopped:
                stopped.call = before
                raise
            if number == until:
                self._noted = {-1 - each for _, done, _ in configurations for each in done if each < 0}
                return None
            if not configurations:
                return number
            del under_way[number]
            before = self.calls[number]
        return None

    def _look(self, configurations: int) -> None:
        if self._used + configurations * OF_CONFIGURATION > ROOM:
            raise UndecidedError("memory")
        if self._until is not None and perf_counter() > self._until:
            raise UndecidedError("time")

    def _end(
        self,
        before: list[Configuration],
        under_way: Iterable[int],
        endless: Mapping[int, Sequence[int]],
        number: int,
    ) -> list[Configuration]:
        """The configurations after a call has ended: it has taken effect, perhaps after others that it needs."""
        operations, results = self._operations, self._results
        found: list[Configuration] = []
        least: dict[tuple[int, frozenset[int]], list[frozenset[int]]] = {}
        todo: list[list[Configuration]] = [
            [] for _ in range(2 + max((len(spent) for _, _, spent in before), default=0))
        ]
        for one in before:
            todo[len(one[2])].append(one)
        fewest, steps = 0, 0
        while fewest < len(todo):  # those first of which fewer endless calls have taken effect
            if not todo[fewest]:
                fewest += 1
                continue
            if steps % LOOK == 0:
                self._look(steps + sum(map(len, todo)))
            steps += 1
            state, done, spent = todo[fewest].pop()
            # One that changes nothing in any state takes effect as soon as its result fits: nothing is lost by that.
            fits = [each for each in under_way if self._fits(each, state) and each not in done]
            if fits:
                done = done.union(fits)
            known = least.setdefault((state, done), [])
            if any(fewer <= spent for fewer in known):
                continue
            known.append(spent)
            if number in done:
                found.append((state, done - {number}, spent))
                continue
            for other in under_way:
                if other in done or self._reads[other]:
                    continue
                effect = self._effect((state, operations[other]))
                if effect is None:
                    continue
                if other == self._free:  # any result will do, and is told by a negative number
                    todo[fewest].append((effect[0], done | {other, -1 - effect[1]}, spent))
                elif effect[1] == results[other]:
                    todo[fewest].append((effect[0], done | {other}, spent))
            for operation, calls in endless.items():
                effect = self._effect((state, operation))
                another = next((each for each in calls if each not in spent), None)
                if effect is not None and another is not None and effect[0] != state:
                    if fewest + 1 == len(todo):
                        todo.append([])
                    todo[fewest + 1].append((effect[0], done, spent | {another}))
        return found

    def _fits(self, call: int, state: int) -> bool:
        if not self._reads[call]:
            return False
        effect = self._effect((state, self._operations[call]))
        return effect is not None and effect[1] == self._results[call]

    def _effect(self, pair: tuple[int, int]) -> tuple[int, int] | None:
        if pair not in self._effects:
            found = self._applied(pair)
            self._effects[pair] = None if found is None else (self._number(found[0]), self._number(found[1]))
        return self._effects[pair]

    def _applied(self, pair: tuple[int, int]) -> tuple[Any, Any] | None:
        state, operation = self._values[pair[0]], self._values[pair[1]]
        specification = self.specification.specification
        if type(specification) not in OURS:
            return self.specification.apply(state, operation)
        try:  # what is ours keeps its promises; what was recorded need not fit
            found: tuple[Any, Any] | None = specification.apply(state, operation)
        except TypeError as error:
            raise UnfitError(self.calls[self._operations.index(pair[1])], state, error) from None
        return found

    def _number(self, value: Any) -> int:
        code = encode(value)
        found = self._ids.get(code)
        if found is None:
            found = self._ids[code] = len(self._values)
            self._used += 3 * len(code) + OF_VALUE
            self._values.append(value)
        return found
